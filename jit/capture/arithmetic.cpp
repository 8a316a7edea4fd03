// jit/capture/arithmetic.cpp -- C++'s own operators on scalars: arithmetic, comparison, && || ?:, ++, +=,
// tables.
#include "jit/capture/walker.hpp"

namespace trilith::capture {

using codegen::Op;
using codegen::Type;
using codegen::VariableKind;

namespace {

std::optional<Op> op_of(clang::BinaryOperatorKind kind) {
  switch (kind) {
    case clang::BO_Add:
    case clang::BO_AddAssign: return Op::Add;
    case clang::BO_Sub:
    case clang::BO_SubAssign: return Op::Sub;
    case clang::BO_Mul:
    case clang::BO_MulAssign: return Op::Mul;
    case clang::BO_Div:
    case clang::BO_DivAssign: return Op::Div;
    case clang::BO_Rem:
    case clang::BO_RemAssign: return Op::Fmod;
    case clang::BO_And:
    case clang::BO_AndAssign: return Op::BitAnd;
    case clang::BO_Or:
    case clang::BO_OrAssign: return Op::BitOr;
    case clang::BO_Xor:
    case clang::BO_XorAssign: return Op::BitXor;
    case clang::BO_Shl:
    case clang::BO_ShlAssign: return Op::Shl;
    case clang::BO_Shr:
    case clang::BO_ShrAssign: return Op::Shr;
    case clang::BO_EQ: return Op::Eq;
    case clang::BO_NE: return Op::Ne;
    case clang::BO_LT: return Op::Lt;
    case clang::BO_LE: return Op::Le;
    case clang::BO_GT: return Op::Gt;
    case clang::BO_GE: return Op::Ge;
    default: return std::nullopt;
  }
}

}  // namespace

codegen::Expr Walker::binary(const clang::BinaryOperator* op) {
  const clang::SourceLocation where = op->getOperatorLoc();
  const clang::Expr* left = op->getLHS();
  const clang::Expr* right = op->getRHS();
  switch (op->getOpcode()) {
    case clang::BO_Comma: emit_effect(left); return expression(right);
    case clang::BO_LAnd: return short_circuit(op, left, right, true);
    case clang::BO_LOr: return short_circuit(op, left, right, false);
    case clang::BO_Assign: return assign(left, expression(right), where);
    default: break;
  }
  const std::optional<Op> meaning = op_of(op->getOpcode());
  const auto dtype = dtype_of(op->getType(), context_);
  if (!meaning || !dtype || !dtype_of(left->getType(), context_) || !dtype_of(right->getType(), context_))
    refuse(op, "the operator '" + op->getOpcodeStr().str() + "' on these operands",
           "kernels calculate with bool, integers, floats and tiles; pointers have no place in them");
  std::vector<Expr> sides = operands({left, right});
  // The shift amount keeps its own type in C++; the operation wants one dtype.
  if (op->isShiftOp()) sides[1] = convert(std::move(sides[1]), sides[0].type.dtype, where);
  if (sides[0].type.dtype == DType::Bool && (op->isRelationalOp())) {
    sides[0] = convert(std::move(sides[0]), DType::Int32, where);
    sides[1] = convert(std::move(sides[1]), DType::Int32, where);
  }
  return make(*meaning, Type::scalar(*dtype), std::move(sides), where);
}

codegen::Expr Walker::unary(const clang::UnaryOperator* op) {
  const clang::SourceLocation where = op->getOperatorLoc();
  const clang::Expr* inner = op->getSubExpr();
  const auto dtype = dtype_of(op->getType(), context_);
  switch (op->getOpcode()) {
    case clang::UO_Plus: return expression(inner);
    case clang::UO_Extension: return expression(inner);
    case clang::UO_LNot: return negate(condition(inner));
    case clang::UO_Minus:
      if (dtype) return make(Op::Neg, Type::scalar(*dtype), operands({inner}), where);
      break;
    case clang::UO_Not:
      if (dtype) return make(Op::BitNot, Type::scalar(*dtype), operands({inner}), where);
      break;
    case clang::UO_PreInc:
    case clang::UO_PreDec:
    case clang::UO_PostInc:
    case clang::UO_PostDec: {
      if (!dtype) break;
      Expr before = expression(inner);
      if (op->isPostfix()) before = snapshot(std::move(before), "before", where);
      Expr one = convert(int64(1, where), *dtype, where);
      if (one.type.dtype != *dtype) {
        one.value = *dtype == DType::Float32 ? codegen::Constant::of(1.0f) : codegen::Constant::of(1.0);
        one.type.dtype = *dtype;
      }
      Expr after = assign(
          inner, make(op->isIncrementOp() ? Op::Add : Op::Sub, Type::scalar(*dtype), {before, one}, where),
          where);
      return op->isPostfix() ? before : after;
    }
    case clang::UO_AddrOf:
    case clang::UO_Deref:
      refuse(op, "a pointer in a kernel", "read and write memory with pl::load and pl::store");
    default: break;
  }
  refuse(op,
         "the operator '" + clang::UnaryOperator::getOpcodeStr(op->getOpcode()).str() + "' on this operand",
         "kernels calculate with bool, integers, floats and tiles");
}

codegen::Expr Walker::compound_assignment(const clang::CompoundAssignOperator* op) {
  const clang::SourceLocation where = op->getOperatorLoc();
  const std::optional<Op> meaning = op_of(op->getOpcode());
  const auto computed = dtype_of(op->getComputationLHSType(), context_);
  if (!meaning || !computed)
    refuse(op, "the operator '" + op->getOpcodeStr().str() + "' on these operands",
           "kernels calculate with bool, integers, floats and tiles");
  Expr right = expression(op->getRHS());
  Expr left = convert(expression(op->getLHS()), *computed, where);
  right = convert(std::move(right), *computed, where);
  return assign(op->getLHS(),
                make(*meaning, Type::scalar(*computed), {std::move(left), std::move(right)}, where), where);
}

codegen::Expr Walker::short_circuit(const clang::Expr* at, const clang::Expr* left, const clang::Expr* right,
                                    bool is_and) {
  const clang::SourceLocation where = at->getExprLoc();
  Expr first = condition(left);
  Statements effects;
  Statements* const outer = current_;
  current_ = &effects;
  Expr second = condition(right);
  current_ = outer;
  if (effects.empty()) {
    Expr fixed = boolean(!is_and, where);
    std::vector<Expr> parts;
    parts.push_back(std::move(first));
    parts.push_back(is_and ? std::move(second) : fixed);
    parts.push_back(is_and ? fixed : std::move(second));
    return make(Op::Conditional, Type::scalar(DType::Bool), std::move(parts), where);
  }
  // The right side has effects: it may run only when the left side says so.
  const codegen::VariableId result =
      add_variable(is_and ? "and" : "or", Type::scalar(DType::Bool), VariableKind::Local, where);
  emit_assign(result, std::move(first), where);
  Statement branch;
  branch.kind = codegen::StatementKind::If;
  branch.location = location(where);
  branch.value = is_and ? variable(result, where) : negate(variable(result, where));
  current_ = &effects;
  emit_assign(result, std::move(second), where);
  current_ = outer;
  branch.body = std::move(effects);
  emit(std::move(branch));
  return variable(result, where);
}

codegen::Expr Walker::conditional(const clang::AbstractConditionalOperator* op) {
  const clang::SourceLocation where = op->getQuestionLoc();
  if (llvm::isa<clang::BinaryConditionalOperator>(op))
    refuse(op, "'a ?: b' is not standard C++", "write a ? a : b");
  Expr chosen_by = condition(op->getCond());
  const Type type = type_of(op->getType(), where);
  Statements* const outer = current_;
  Statements first_effects, second_effects;
  current_ = &first_effects;
  Expr first = expression(op->getTrueExpr());
  current_ = &second_effects;
  Expr second = expression(op->getFalseExpr());
  current_ = outer;
  if (type.is_scalar() && first_effects.empty() && second_effects.empty())
    return make(Op::Conditional, type, {std::move(chosen_by), std::move(first), std::move(second)}, where);
  Statement branch;
  branch.kind = codegen::StatementKind::If;
  branch.location = location(where);
  branch.value = std::move(chosen_by);
  codegen::VariableId result = codegen::no_variable;
  if (type.kind != codegen::TypeKind::Void) {
    result = add_variable("chosen", type, VariableKind::Local, where);
    current_ = &first_effects;
    emit_assign(result, std::move(first), op->getTrueExpr()->getExprLoc());
    current_ = &second_effects;
    emit_assign(result, std::move(second), op->getFalseExpr()->getExprLoc());
    current_ = outer;
  }
  branch.body = std::move(first_effects);
  branch.else_body = std::move(second_effects);
  emit(std::move(branch));
  return result == codegen::no_variable ? Expr{} : variable(result, where);
}

namespace {

/// The value of a constexpr array, plain or std::array.
const clang::APValue* constant_array(const clang::Expr* table) {
  table = table->IgnoreParenImpCasts();
  const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(table);
  const auto* variable = name == nullptr ? nullptr : llvm::dyn_cast<clang::VarDecl>(name->getDecl());
  if (variable == nullptr || !variable->isConstexpr()) return nullptr;
  const clang::APValue* value = variable->evaluateValue();
  if (value != nullptr && value->isStruct() && value->getStructNumFields() == 1)
    value = &value->getStructField(0);
  return value != nullptr && value->isArray() ? value : nullptr;
}

}  // namespace

codegen::Expr Walker::table_element(const clang::Expr* at, const clang::Expr* table,
                                    const clang::Expr* index) {
  // Longer tables belong in a tensor; the chain below is linear.
  constexpr unsigned longest = 64;
  const clang::SourceLocation where = at->getExprLoc();
  const clang::APValue* array = constant_array(table);
  if (array == nullptr)
    refuse(at, "an element of an array that is not constexpr",
           "use a constexpr array of numbers, or pass the values as a tensor");
  const unsigned size = array->getArraySize();
  if (size == 0 || size > longest)
    refuse(at, "a table of " + std::to_string(size) + " elements indexed at run time",
           "tables in kernels have 1 to 64 elements; pass it as a tensor");
  // std::array's operator[] takes std::size_t: look through that conversion.
  Expr position = expression(index->IgnoreParenImpCasts());
  if (position.type.dtype != DType::Int32 && position.type.dtype != DType::Int64)
    refuse(index, "an index that is no int or std::int64_t", "index with a signed integer");
  position = snapshot(convert(std::move(position), DType::Int64, where), "position", where);
  const auto element = [&](unsigned i) {
    const clang::APValue& value =
        i < array->getArrayInitializedElts() ? array->getArrayInitializedElt(i) : array->getArrayFiller();
    if (!value.isInt() && !value.isFloat())
      refuse(at, "a table whose elements are no numbers", "use a constexpr array of numbers");
    return constant(value, at->getType(), where);
  };
  Expr result = element(size - 1);
  for (unsigned i = size - 1; i-- > 0;) {
    Expr here = make(Op::Eq, Type::scalar(DType::Bool), {position, int64(i, where)}, where);
    Type type = result.type;
    result = make(Op::Conditional, std::move(type), {std::move(here), element(i), std::move(result)}, where);
  }
  return result;
}

}  // namespace trilith::capture
