// jit/capture/expressions.cpp -- C++ expressions become IR expressions; effects become statements before
// them.
#include "jit/capture/walker.hpp"

#include <clang/AST/Expr.h>

namespace trilith::capture {

using codegen::Type;
using codegen::TypeKind;
using codegen::VariableKind;

codegen::Expr Walker::expression(const clang::Expr* expression) {
  if (std::optional<Expr> folded = fold(expression)) return *std::move(folded);
  return expression_unfolded(bare(expression));
}

codegen::Expr Walker::expression_unfolded(const clang::Expr* expression) {
  const clang::SourceLocation where = expression->getExprLoc();
  if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(expression)) return name_expression(name);
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(expression)) return cast_expression(cast);
  if (const auto* assignment = llvm::dyn_cast<clang::CompoundAssignOperator>(expression))
    return compound_assignment(assignment);
  if (const auto* op = llvm::dyn_cast<clang::BinaryOperator>(expression)) return binary(op);
  if (const auto* op = llvm::dyn_cast<clang::UnaryOperator>(expression)) return unary(op);
  if (const auto* op = llvm::dyn_cast<clang::AbstractConditionalOperator>(expression)) return conditional(op);
  if (const auto* rewritten = llvm::dyn_cast<clang::CXXRewrittenBinaryOperator>(expression))
    return this->expression(rewritten->getSemanticForm());
  if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(expression)) return construct(made);
  // `void()`, which a fold over an empty pack with the comma operator is.
  if (llvm::isa<clang::CXXScalarValueInitExpr>(expression) && expression->getType()->isVoidType()) return {};
  if (const clang::Expr* moved = moved_argument(expression)) return this->expression(moved);
  if (const std::optional<Binding> named = find(expression); named && !named->closure && !named->compound) {
    Expr value = named->expression;
    value.location = location(where);
    return value;
  }
  if (const auto* called = llvm::dyn_cast<clang::CallExpr>(expression)) {
    const Binding result = call(called);
    if (result.closure) refuse(expression, "a lambda used as a value", "call it");
    return result.expression;
  }
  if (const auto subscript = subscript_of(expression)) return element(expression, *subscript).expression;
  if (const auto* member = llvm::dyn_cast<clang::MemberExpr>(expression)) return part(member).expression;
  if (const auto* list = llvm::dyn_cast<clang::InitListExpr>(expression)) {
    if (list->getNumInits() == 1 && meaning_of(list->getType(), context_).kind == Kind::Scalar)
      return this->expression(list->getInit(0));
  }
  if (llvm::isa<clang::CXXThisExpr>(expression))
    refuse(expression, "a member of an object in a kernel",
           "copy the value into a local variable in front of the lambda and capture that");
  if (llvm::isa<clang::CXXNewExpr>(expression) || llvm::isa<clang::CXXDeleteExpr>(expression))
    refuse(expression, "new and delete in a kernel", "tiles and scalars are plain local variables");
  if (llvm::isa<clang::CXXThrowExpr>(expression))
    refuse(expression, "throw in a kernel", "return early, or check on the host before the call");
  if (llvm::isa<clang::StringLiteral>(expression))
    refuse(expression, "a string in a kernel", "remove it; pl::print takes a tile or a scalar");
  if (llvm::isa<clang::ArraySubscriptExpr>(expression))
    refuse(expression, "an element behind a pointer in a kernel",
           "load a tile with pl::load, or one element with pl::read(x, {i, j})");
  if (llvm::isa<clang::LambdaExpr>(expression))
    refuse(expression, "a lambda used as a value here", "give it a name with auto, or call it in place");
  refuse(expression,
         std::string("this C++ expression (clang: ") + expression->getStmtClassName() +
             ") is not part of the kernel language",
         "see runtime/language.md; move what does not depend on tiles out of the kernel");
}

std::optional<codegen::Expr> Walker::fold(const clang::Expr* expression) {
  if (expression->isValueDependent() || expression->isTypeDependent()) return std::nullopt;
  const clang::QualType type = expression->getType();
  if (!dtype_of(type, context_)) return std::nullopt;
  // What assigns must stay; the evaluator refuses side effects, this only saves its time.
  clang::Expr::EvalResult result;
  if (!expression->EvaluateAsRValue(result, context_) || result.HasSideEffects) return std::nullopt;
  if (!result.Val.isInt() && !result.Val.isFloat() && !result.Val.isStruct()) return std::nullopt;
  return constant(result.Val, type, expression->getExprLoc());
}

codegen::Expr Walker::constant(const clang::APValue& value, clang::QualType type,
                               clang::SourceLocation where) {
  const std::optional<DType> dtype = dtype_of(type, context_);
  if (!dtype)
    refuse(where, "a constant of type '" + type.getAsString() + "'",
           "use int, std::int64_t, float or double");
  Expr result;
  result.location = location(where);
  result.type = Type::scalar(*dtype);
  result.value.dtype = *dtype;
  if (value.isInt()) {
    const llvm::APSInt& integer = value.getInt();
    result.value.bits = *dtype == DType::Bool ? (integer != 0 ? 1u : 0u)
                        : integer.isSigned()  ? static_cast<std::uint64_t>(integer.getSExtValue())
                                              : integer.getZExtValue();
    if (*dtype != DType::Bool)
      result.value = codegen::Constant::of(*dtype, static_cast<std::int64_t>(result.value.bits));
  } else if (value.isStruct()) {  // pl::half or pl::bfloat16: its pattern
    result.value.bits = value.getStructField(0).getInt().getZExtValue();
  } else {
    result.value.bits = value.getFloat().bitcastToAPInt().getZExtValue();
  }
  return result;
}

codegen::Expr Walker::int64(std::int64_t value, clang::SourceLocation where) {
  Expr result;
  result.location = location(where);
  result.value = codegen::Constant::of(value);
  result.type = Type::scalar(DType::Int64);
  return result;
}

codegen::Expr Walker::number(DType dtype, std::int64_t value, clang::SourceLocation where) {
  Expr result = int64(value, where);
  result.value = codegen::Constant::of(dtype, value);
  result.type.dtype = dtype;
  return result;
}

codegen::Expr Walker::boolean(bool value, clang::SourceLocation where) {
  Expr result = int64(0, where);
  result.value = codegen::Constant::of(value);
  result.type = Type::scalar(DType::Bool);
  return result;
}

codegen::Expr Walker::make(Op op, Type type, std::vector<Expr> operands, clang::SourceLocation where) {
  Expr result;
  result.op = op;
  result.type = std::move(type);
  result.operands = std::move(operands);
  result.location = location(where);
  return result;
}

codegen::Expr Walker::name_expression(const clang::DeclRefExpr* name) {
  const clang::ValueDecl* declaration = name->getDecl();
  const auto found = bindings_.find(declaration);
  if (found != bindings_.end()) {
    if (found->second.closure)
      refuse(name, "the lambda '" + declaration->getNameAsString() + "' used as a value", "call it");
    if (found->second.compound)
      refuse(name, "'" + declaration->getNameAsString() + "' as a whole here", "name the part that is meant");
    Expr value = found->second.expression;
    value.location = location(name->getLocation());
    return value;
  }
  const std::string spelling = "'" + declaration->getNameAsString() + "'";
  if (meaning_of(name->getType(), context_).kind == Kind::Dynamic) {
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration);
    const clang::APValue* value = variable == nullptr ? nullptr : variable->evaluateValue();
    if (value != nullptr && value->isStruct())
      return this->variable(extent_variable(*value, name->getLocation()), name->getLocation());
  }
  const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration);
  if (variable != nullptr && variable->hasGlobalStorage())
    refuse(name, spelling + " is a global or static variable: a kernel reads what it is given",
           "pass it as a pl::Scalar or pl::Tensor argument, or make it constexpr");
  if (variable != nullptr)
    refuse(name, spelling + " has no value the kernel can read here",
           "pass it as an argument, or capture it by value");
  refuse(name, spelling + " is not part of the kernel language",
         "call a function of namespace pl, or a helper whose body is visible");
}

codegen::Expr Walker::cast_expression(const clang::CastExpr* cast) {
  const clang::Expr* inner = cast->getSubExpr();
  const clang::SourceLocation where = cast->getExprLoc();
  switch (cast->getCastKind()) {
    case clang::CK_NoOp:
    case clang::CK_LValueToRValue:
    case clang::CK_UserDefinedConversion:
    case clang::CK_DerivedToBase:
    case clang::CK_UncheckedDerivedToBase: return expression(inner);
    case clang::CK_ConstructorConversion: return expression(inner);
    case clang::CK_IntegralCast:
    case clang::CK_BooleanToSignedIntegral:
    case clang::CK_FloatingCast:
    case clang::CK_IntegralToFloating:
    case clang::CK_FloatingToIntegral: {
      const auto dtype = dtype_of(cast->getType(), context_);
      if (!dtype) break;
      return convert(expression(inner), *dtype, where);
    }
    case clang::CK_IntegralToBoolean:
    case clang::CK_FloatingToBoolean: return to_bool(expression(inner), where);
    case clang::CK_ToVoid: {
      emit_effect(inner);
      return {};
    }
    default: break;
  }
  refuse(cast,
         "a conversion to '" + cast->getType().getAsString(context_.getPrintingPolicy()) + "' in a kernel",
         "kernels convert between bool, integers and floats, and with pl::cast");
}

codegen::Expr Walker::convert(Expr value, DType dtype, clang::SourceLocation where) {
  if (!value.type.is_scalar() || value.type.dtype == dtype) return value;
  const DType from = value.type.dtype;
  if (value.is_constant() && !codegen::is_floating(from) && codegen::is_integer(dtype)) {
    // Integer constants convert as C++ does: modulo the width.
    value.type.dtype = dtype;
    value.value = codegen::Constant::of(dtype, value.value.as_int64());
    return value;
  }
  // From 64-bit integers the way over double would round twice.
  if (value.is_constant() && codegen::is_floating(dtype) &&
      (codegen::is_floating(from) || codegen::size_of(from) <= 4 || dtype == DType::Float64)) {
    value.value = codegen::Constant::rounded(dtype, value.value.as_double());
    value.type.dtype = dtype;
    return value;
  }
  // int64(int32(i)) of a counter that is known to fit in that dtype: the counter itself.
  if (dtype == DType::Int64 && value.op == Op::Cast && value.operands.front().op == Op::Variable &&
      narrow_counters_.contains(value.operands.front().variable)) {
    Expr counter = value.operands.front();
    return counter;
  }
  if (dtype == DType::Bool) return to_bool(std::move(value), where);
  Expr result = make(Op::Cast, Type::scalar(dtype), {std::move(value)}, where);
  // C++ truncates towards zero from float to integer; every other conversion rounds to nearest.
  if (codegen::is_floating(from) && !codegen::is_floating(dtype))
    result.attributes.mode = codegen::CastMode::Trunc;
  return result;
}

codegen::Expr Walker::to_bool(Expr value, clang::SourceLocation where) {
  if (value.type.dtype == DType::Bool) return value;
  Expr zero = number(value.type.dtype, 0, where);
  return make(Op::Ne, Type::scalar(DType::Bool), {std::move(value), std::move(zero)}, where);
}

codegen::Expr Walker::negate(Expr value) {
  if (value.is_constant()) {
    value.value.bits = value.value.bits == 0 ? 1u : 0u;
    return value;
  }
  Expr result;
  result.op = Op::LogicalNot;
  result.type = Type::scalar(DType::Bool);
  result.location = value.location;
  result.operands.push_back(std::move(value));
  return result;
}

codegen::Expr Walker::condition(const clang::Expr* expression) {
  Expr value = this->expression(expression);
  if (!value.type.is_scalar())
    refuse(expression, "a condition that is no scalar",
           "reduce the tile, or choose per element with pl::where");
  return to_bool(std::move(value), expression->getExprLoc());
}

codegen::Expr Walker::snapshot(Expr value, const std::string& name, clang::SourceLocation where) {
  if (value.is_constant() || value.type.kind == TypeKind::Void) return value;
  if (value.op == Op::Variable &&
      kernel_.variables[static_cast<std::size_t>(value.variable)].kind != VariableKind::Local)
    return value;
  if (value.type.kind == TypeKind::List) {
    for (Expr& element : value.operands) element = snapshot(std::move(element), name, where);
    return value;
  }
  const codegen::VariableId id = add_variable(name, value.type, VariableKind::Local, where);
  emit_assign(id, std::move(value), where);
  return variable(id, where);
}

std::vector<codegen::Expr> Walker::operands(llvm::ArrayRef<const clang::Expr*> expressions) {
  std::vector<Expr> results;
  for (const clang::Expr* operand : expressions) {
    Statements effects;
    Statements* const outer = current_;
    current_ = &effects;
    Expr value = expression(operand);
    current_ = outer;
    if (!effects.empty()) {
      for (Expr& earlier : results) earlier = snapshot(std::move(earlier), "operand", operand->getExprLoc());
      for (Statement& effect : effects) emit(std::move(effect));
    }
    results.push_back(std::move(value));
  }
  return results;
}

std::optional<codegen::VariableId> Walker::place(const clang::Expr* expression) {
  const std::optional<Binding> named = find(expression);
  if (!named || named->closure || named->compound) return std::nullopt;
  return named->expression.variable;
}

}  // namespace trilith::capture
