// jit/capture/calls.cpp -- what a call means: an operation, a mathematical function, or code to be inlined.
#include "jit/capture/walker.hpp"

#include <clang/Basic/Builtins.h>

namespace trilith::capture {

using codegen::Op;
using codegen::Type;

namespace {

/// C's mathematical functions that mean exactly one operation.
std::optional<Op> math_op(llvm::StringRef name) {
  struct Row {
    const char* name;
    Op op;
  };
  static constexpr Row table[] = {
      {"sqrt", Op::Sqrt},   {"exp", Op::Exp},        {"exp2", Op::Exp2},   {"expm1", Op::Expm1},
      {"log", Op::Log},     {"log2", Op::Log2},      {"log1p", Op::Log1p}, {"sin", Op::Sin},
      {"cos", Op::Cos},     {"tanh", Op::Tanh},      {"erf", Op::Erf},     {"floor", Op::Floor},
      {"ceil", Op::Ceil},   {"round", Op::Round},    {"rint", Op::Rint},   {"trunc", Op::Trunc},
      {"fabs", Op::Abs},    {"abs", Op::Abs},        {"labs", Op::Abs},    {"llabs", Op::Abs},
      {"pow", Op::Pow},     {"fmod", Op::Fmod},      {"fma", Op::Fma},     {"isnan", Op::IsNan},
      {"isinf", Op::IsInf}, {"nearbyint", Op::Rint},
  };
  name.consume_front("__builtin_");
  for (const Row& row : table)
    if (name == row.name) return row.op;
  if (name.consume_back("f"))
    for (const Row& row : table)
      if (name == row.name) return row.op;
  return std::nullopt;
}

}  // namespace

codegen::Expr Walker::call(const clang::CallExpr* call) {
  const clang::FunctionDecl* function = call->getDirectCallee();
  if (function == nullptr)
    refuse(call, "a call through a pointer in a kernel",
           "call a function, a lambda or a pl::jit.inline_ helper by name");
  const llvm::ArrayRef<const clang::Expr*> arguments(call->getArgs(), call->getNumArgs());
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function);
  if (const auto* op = llvm::dyn_cast<clang::CXXOperatorCallExpr>(call)) {
    // Without the conversion to a base class: InCore<F> inherits its call operator.
    const Meaning object = meaning_of(arguments[0]->IgnoreParenImpCasts()->getType(), context_);
    if (op->getOperator() == clang::OO_Call) {
      if (object.kind == Kind::Closure)
        return inline_call(call, function, arguments.drop_front(), closure_value(arguments[0]));
      if (object.kind == Kind::Helper)
        return inline_call(call, helper_target(call, object.closure), arguments.drop_front(),
                           closure_value(arguments[0]));
      if (object.kind == Kind::Kernel)
        refuse(
            call, "a kernel called from an in-core kernel",
            "make the shared part a helper with pl::jit.inline_, or call both kernels from a pl::jit entry");
    }
    if (is_in_pl(function) || (method != nullptr && is_in_pl(method->getParent())) ||
        object.kind == Kind::Tensor || object.kind == Kind::Tile)
      return pl_operator(op);
    if (op->getOperator() == clang::OO_Subscript) return table_element(call, arguments[0], arguments[1]);
    if (method == nullptr && function->hasBody()) return inline_call(call, function, arguments, nullptr);
    refuse(call,
           std::string("the operator '") + clang::getOperatorSpelling(op->getOperator()) + "' of '" +
               arguments[0]->getType().getUnqualifiedType().getAsString(context_.getPrintingPolicy()) + "'",
           "kernels calculate with bool, integers, floats and tiles");
  }
  if (const auto* member = llvm::dyn_cast<clang::CXXMemberCallExpr>(call)) {
    const clang::Expr* object = member->getImplicitObjectArgument();
    const Meaning meaning = meaning_of(object->getType(), context_);
    if (method != nullptr && is_pl_class(method->getParent(), "Jit"))
      refuse(call, "pl::jit." + method->getNameAsString() + " inside a kernel",
             "define it outside of the kernel");
    if (meaning.kind == Kind::Scalar || meaning.kind == Kind::Tensor || meaning.kind == Kind::Tile)
      return pl_member(member);
    if (meaning.kind == Kind::Closure && method->getNameAsString() == "operator()")
      return inline_call(call, function, arguments, closure_value(object));
    if (method != nullptr && method->isStatic() && function->hasBody())
      return inline_call(call, function, arguments, nullptr);
    refuse(call, "a call of the member function '" + function->getQualifiedNameAsString() + "' in a kernel",
           "use a free function, a lambda or a pl::jit.inline_ helper");
  }
  if (is_in_pl(function)) return pl_function(call, function);
  if (std::optional<Expr> math = math_function(call, function)) return *std::move(math);
  if (function->getBuiltinID() == 0 && function->hasBody())
    return inline_call(call, function, arguments, nullptr);
  refuse(
      call, "a call of '" + function->getQualifiedNameAsString() + "', whose body is not visible here",
      "use an operation of namespace pl, or a constexpr or inline function defined in this file or a header");
}

std::optional<codegen::Expr> Walker::math_function(const clang::CallExpr* call,
                                                   const clang::FunctionDecl* function) {
  if (function->getBuiltinID() == 0 || function->getIdentifier() == nullptr) return std::nullopt;
  const std::optional<Op> op = math_op(function->getName());
  if (!op) return std::nullopt;
  const clang::SourceLocation where = call->getExprLoc();
  std::vector<Expr> values =
      operands(llvm::ArrayRef<const clang::Expr*>(call->getArgs(), call->getNumArgs()));
  for (const Expr& value : values)
    if (!value.type.is_scalar())
      refuse(call, "a C function on something that is no scalar", "use pl's operation of that name");
  if (*op == Op::IsNan || *op == Op::IsInf) {
    Expr test = make(*op, Type::scalar(DType::Bool), std::move(values), where);
    const auto dtype = dtype_of(call->getType(), context_);
    return dtype ? convert(std::move(test), *dtype, where) : test;
  }
  return make(*op, type_of(call->getType(), where), std::move(values), where);
}

}  // namespace trilith::capture
