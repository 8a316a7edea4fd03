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
      const std::vector<Place> to = places(inner);
      Expr before = to.empty() ? expression(inner) : read(to, where);
      if (op->isPostfix()) before = snapshot(std::move(before), "before", where);
      Expr one = number(*dtype, 1, where);
      Expr after = assign(
          inner, to,
          make(op->isIncrementOp() ? Op::Add : Op::Sub, Type::scalar(*dtype), {before, one}, where), where);
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
  const std::vector<Place> to = places(op->getLHS());
  Expr left = convert(to.empty() ? expression(op->getLHS()) : read(to, where), *computed, where);
  right = convert(std::move(right), *computed, where);
  return assign(op->getLHS(), to,
                make(*meaning, Type::scalar(*computed), {std::move(left), std::move(right)}, where), where);
}

codegen::Expr Walker::short_circuit(const clang::Expr* at, const clang::Expr* left, const clang::Expr* right,
                                    bool is_and) {
  const clang::SourceLocation where = at->getExprLoc();
  Expr first = condition(left);
  if (first.is_constant()) return (first.value.bits != 0) == is_and ? condition(right) : first;
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

}  // namespace trilith::capture
