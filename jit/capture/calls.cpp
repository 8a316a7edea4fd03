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

Binding Walker::call(const clang::CallExpr* call) {
  const clang::FunctionDecl* function = call->getDirectCallee();
  if (function == nullptr)
    refuse(call, "a call through a pointer in a kernel",
           "call a function, a lambda or a pl::jit.inline_ helper by name");
  const llvm::ArrayRef<const clang::Expr*> arguments(call->getArgs(), call->getNumArgs());
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function);
  if (method != nullptr && method->isVirtual())
    refuse(call, "a call of the virtual function '" + function->getQualifiedNameAsString() + "' in a kernel",
           "call a function, a lambda or a pl::jit.inline_ helper, which is known when the program is built");
  if (const auto subscript = subscript_of(call)) return element(call, *subscript);
  if (std::optional<Binding> made = compound_call(call)) return *std::move(made);
  if (const auto* op = llvm::dyn_cast<clang::CXXOperatorCallExpr>(call)) {
    // Without the conversion to a base class: InCore<F> inherits its call operator.
    const Meaning object = meaning_of(arguments[0]->IgnoreParenImpCasts()->getType(), context_);
    if (op->getOperator() == clang::OO_Call) {
      if (object.kind == Kind::Closure)
        return inline_call(call, function, arguments.drop_front(), closure_value(arguments[0]));
      if (object.kind == Kind::Helper)
        return inline_call(call, helper_target(call, object.closure), arguments.drop_front(),
                           closure_value(arguments[0]));
      if (object.kind == Kind::Kernel) return kernel_call(op);
    }
    if (is_in_pl(function) || (method != nullptr && is_in_pl(method->getParent())) ||
        object.kind == Kind::Tensor || object.kind == Kind::Tile)
      return pl_operator(op);
    if (object.kind == Kind::Compound && method != nullptr) {
      const std::optional<Binding> named = find(arguments[0]);
      const bool std_class = method->getParent()->isInStdNamespace();
      if (op->getOperator() == clang::OO_Equal && (std_class || !method->isUserProvided())) {
        const clang::SourceLocation where = op->getOperatorLoc();
        // The whole value first: it may be made of the very parts that are written.
        const clang::QualType given = arguments[1]->getType().getNonReferenceType();
        const Binding assigned = copy_of(value(arguments[1]), given, "assigned", where);
        if (!named && places(arguments[0]).size() > 1)
          refuse(call, "a struct assigned to an element whose index is known only when the kernel runs",
                 "assign its members one by one");
        const Binding target = named ? *named : compound_value(arguments[0]);
        assign_parts(target, assigned, where);
        return target;
      }
      if (!std_class && function->hasBody())
        return inline_call(call, function, arguments.drop_front(), nullptr,
                           named ? *named : compound_value(arguments[0]));
    }
    if (method == nullptr && function->hasBody()) return inline_call(call, function, arguments, nullptr);
    if (method != nullptr && method->getParent()->getName() == "TypedKernel")
      refuse(call, "a kernel written by hand as a part of another one",
             "call it from a pl::jit entry or from ordinary C++");
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
    if (meaning.kind == Kind::Compound && method != nullptr && !method->isStatic()) {
      const std::optional<Binding> named =
          llvm::isa<clang::CXXThisExpr>(bare(object)) ? frames_.back().object : find(object);
      const Binding whole = named ? *named : compound_value(object);
      if (is_std_class(method->getParent(), "array") && method->getNameAsString() == "fill") {
        const Binding filling = value(arguments[0]);
        for (const Binding& part : whole.compound->parts) assign_parts(part, filling, call->getExprLoc());
        return {};
      }
      if (!method->getParent()->isInStdNamespace() && function->hasBody())
        return inline_call(call, function, arguments, nullptr, whole);
    }
    if (method != nullptr && method->isStatic() && function->hasBody())
      return inline_call(call, function, arguments, nullptr);
    refuse(call, "a call of the member function '" + function->getQualifiedNameAsString() + "' in a kernel",
           "use a free function, a lambda or a pl::jit.inline_ helper");
  }
  if (is_in_pl(function)) {
    if (std::optional<Binding> sorted = sorted_call(call, function)) return *std::move(sorted);
    return pl_function(call, function);
  }
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

/// A kernel that calls another: the other becomes part of it.
Binding Walker::kernel_call(const clang::CXXOperatorCallExpr* call) {
  const clang::Expr* callee = call->getArg(0)->IgnoreParenImpCasts();
  const auto* record = callee->getType()->getAsCXXRecordDecl();
  const clang::CXXRecordDecl* closure = meaning_of(callee->getType(), context_).closure;
  if (closure == nullptr || !is_pl_class(record, "InCore"))
    refuse(call,
           "a call of a '" +
               callee->getType().getUnqualifiedType().getAsString(context_.getPrintingPolicy()) +
               "' in an in-core kernel",
           "call in-core kernels and pl::jit.inline_ helpers by name; orchestrators call kernels, not the "
           "other way");
  if (closure->captures_begin() != closure->captures_end())
    refuse(call, "a call of a kernel that captures values, inside another kernel",
           "give the values to it as pl::Scalar arguments, or make it a helper with pl::jit.inline_");
  std::vector<const clang::Expr*> arguments;
  for (const clang::Expr* argument : llvm::drop_begin(call->arguments())) {
    const clang::Expr* given = bare(argument);
    // A parameter of a non-generic kernel stands behind a class that knows the caller's line.
    while (const auto* cast = llvm::dyn_cast<clang::ImplicitCastExpr>(given))
      given = bare(cast->getSubExpr());
    const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(given);
    if (made != nullptr && made->getConstructor()->getParent()->getIdentifier() != nullptr &&
        made->getConstructor()->getParent()->getName() == "Given")
      given = made->getArg(0);
    if (is_std_class(given->getType()->getAsCXXRecordDecl(), "source_location")) continue;
    arguments.push_back(given);
  }
  const clang::FunctionTemplateDecl* generic = closure->getDependentLambdaCallOperator();
  if (generic == nullptr) return inline_call(call, closure->getLambdaCallOperator(), arguments, nullptr);
  const auto plain = [&](clang::QualType type) {
    return type.getNonReferenceType().getCanonicalType().getUnqualifiedType();
  };
  for (const clang::FunctionDecl* instance : generic->specializations()) {
    bool fits = instance->hasBody() && instance->getNumParams() == arguments.size();
    for (std::size_t i = 0; fits && i < arguments.size(); ++i)
      fits = plain(instance->getParamDecl(static_cast<unsigned>(i))->getType()) ==
             plain(arguments[i]->getType());
    if (fits) return inline_call(call, instance, arguments, nullptr);
  }
  refuse(call, "a call of a generic kernel with arguments that have to be converted",
         "give arguments of the types of its parameters, or name the types in the kernel");
}

}  // namespace trilith::capture
