// jit/capture/inlining.cpp -- helpers, functions and lambdas become part of the kernel that calls them.
#include "jit/capture/walker.hpp"

#include <clang/AST/RecursiveASTVisitor.h>

#include <utility>

namespace trilith::capture {

using codegen::StatementKind;
using codegen::TypeKind;
using codegen::VariableKind;

namespace {

/// The return statements of a function, not of lambdas inside it.
class ReturnFinder : public clang::RecursiveASTVisitor<ReturnFinder> {
 public:
  std::vector<const clang::ReturnStmt*> found;
  bool VisitReturnStmt(clang::ReturnStmt* stmt) {
    found.push_back(stmt);
    return true;
  }
  bool TraverseLambdaExpr(clang::LambdaExpr*) { return true; }
  bool TraverseDecl(clang::Decl* decl) {
    return llvm::isa_and_nonnull<clang::TagDecl>(decl) || RecursiveASTVisitor::TraverseDecl(decl);
  }
};

/// Finds the call of the closure's operator() in the wrapper that pl::jit.inline_ returned.
class TargetFinder : public clang::RecursiveASTVisitor<TargetFinder> {
 public:
  explicit TargetFinder(const clang::CXXRecordDecl* closure) : closure_(closure->getCanonicalDecl()) {}
  const clang::FunctionDecl* target = nullptr;
  bool shouldVisitImplicitCode() const { return true; }
  bool VisitCallExpr(clang::CallExpr* call) {
    const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(call->getDirectCallee());
    if (method != nullptr && method->getParent()->getCanonicalDecl() == closure_) target = method;
    // std::invoke(lambda, ...) and the like: look inside.
    if (target == nullptr && depth_ < 4 && call->getDirectCallee() != nullptr &&
        call->getDirectCallee()->hasBody()) {
      ++depth_;
      TraverseStmt(call->getDirectCallee()->getBody());
      --depth_;
    }
    return target == nullptr;
  }

 private:
  const clang::CXXRecordDecl* closure_;
  int depth_ = 0;
};

}  // namespace

const clang::FunctionDecl* Walker::helper_target(const clang::CallExpr* call,
                                                 const clang::CXXRecordDecl* closure) {
  const clang::FunctionDecl* wrapper = call->getDirectCallee();
  if (wrapper != nullptr && wrapper->hasBody()) {
    TargetFinder finder(closure);
    finder.TraverseStmt(wrapper->getBody());
    if (finder.target != nullptr) return finder.target;
  }
  refuse(call, "a helper whose lambda cannot be found",
         "define it with pl::jit.inline_([](...) { ... }) in this file or a header");
}

namespace {

/// A function of pl::composed: an operation of the language that is written in others.
bool is_in_composed(const clang::FunctionDecl* function) {
  const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(function->getDeclContext()->getRedeclContext());
  return space != nullptr && space->getName() == "composed" && is_in_pl(space);
}

}  // namespace

Binding Walker::inline_call(const clang::Expr* where, const clang::FunctionDecl* function,
                            llvm::ArrayRef<const clang::Expr*> arguments,
                            const std::shared_ptr<ClosureValue>& closure, std::optional<Binding> object) {
  constexpr std::size_t deepest = 64;
  const clang::SourceLocation at = where->getExprLoc();
  const clang::FunctionDecl* definition = nullptr;
  const clang::Stmt* body = function->getBody(definition);
  const std::string name = function->getQualifiedNameAsString();
  if (body == nullptr)
    refuse(where, "a call of '" + name + "', whose body is not visible here",
           "define it in this file or a header");
  if (definition->isVariadic())
    refuse(where, "a call of '" + name + "', which has C variadic arguments", "give it named parameters");
  for (const Frame& frame : frames_)
    if (frame.function == definition) refuse(where, "recursion: '" + name + "' calls itself", "write a loop");
  if (frames_.size() > deepest)
    refuse(where, "helpers that call each other more than 64 deep", "write a loop");

  // Arguments are the user's code, the body of our own compositions is not: all of it stands at the call.
  const std::optional<codegen::SourceLocation> outer_call = composed_;
  const bool is_composed = is_in_composed(definition);
  const codegen::SourceLocation call_place = location(at);

  // The lambda's own copies hide the outer variables of the same declaration while its body is walked.
  std::map<const clang::ValueDecl*, std::optional<Binding>> hidden;
  std::vector<std::pair<const clang::ParmVarDecl*, Binding>> bound;
  unsigned next = 0;
  for (const clang::ParmVarDecl* parameter : definition->parameters()) {
    const clang::Expr* argument = next < arguments.size() ? arguments[next] : parameter->getDefaultArg();
    ++next;
    if (argument == nullptr) refuse(where, "a call without all arguments", "give every argument");
    if (parameter->getType()->getAsCXXRecordDecl() != nullptr &&
        parameter->getType()->getAsCXXRecordDecl()->getName() == "source_location")
      continue;
    bind_argument(parameter, argument, body);
  }
  if (closure)
    for (const auto& [declaration, binding] : closure->copies) {
      const auto outer = bindings_.find(declaration);
      hidden[declaration] = outer == bindings_.end() ? std::nullopt : std::optional(outer->second);
      bindings_[declaration] = binding;
    }

  if (is_composed) composed_ = call_place;
  ReturnFinder returns;
  returns.TraverseStmt(const_cast<clang::Stmt*>(body));
  const auto* compound = llvm::dyn_cast<clang::CompoundStmt>(body);
  const clang::Stmt* last = compound != nullptr && !compound->body_empty() ? compound->body_back() : nullptr;
  const bool straight = returns.found.empty() || (returns.found.size() == 1 && returns.found.front() == last);

  const auto* constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(definition);
  Frame frame;
  frame.function = definition;
  frame.called_at = at;
  frame.object = std::move(object);
  frame.type = definition->getReturnType();
  if (straight) {
    frame.block = -1;
    frames_.push_back(std::move(frame));
    if (constructor != nullptr) initialise(constructor);
    statement(body);
  } else {
    frame.block = next_block_++;
    if (!frame.type->isVoidType())
      frame.result = storage(
          frame.type.getNonReferenceType(),
          function->getDeclName().isIdentifier() ? function->getNameAsString() + "_result" : "result", at);
    Statement block;
    block.kind = StatementKind::Block;
    block.location = location(at);
    block.block = frame.block;
    frames_.push_back(std::move(frame));
    Statements* const outer = std::exchange(current_, &block.body);
    if (constructor != nullptr) initialise(constructor);
    statement(body);
    current_ = outer;
    emit(std::move(block));
  }
  const Frame finished = std::move(frames_.back());
  frames_.pop_back();
  composed_ = outer_call;
  for (auto& [declaration, binding] : hidden) {
    if (binding)
      bindings_[declaration] = *binding;
    else
      bindings_.erase(declaration);
  }
  if (finished.result) return *finished.result;
  if (finished.direct) return *finished.direct;
  return {};
}

/// A reference names one object: an element that only the run knows is none.
void Walker::require_no_reference(clang::QualType type, const clang::Expr* object) {
  if (!type->isLValueReferenceType() || type.getNonReferenceType().isConstQualified()) return;
  if (!object->isLValue() || !subscript_of(object)) return;
  refuse(object, "a reference to an element whose index is known only when the kernel runs",
         "copy the element, and write it back with array[i] = copy");
}

void Walker::bind_argument(const clang::ParmVarDecl* parameter, const clang::Expr* argument,
                           const clang::Stmt* body) {
  const clang::QualType type = parameter->getType();
  const clang::SourceLocation where = argument->getExprLoc();
  const Meaning meaning = meaning_of(type, context_);
  if (meaning.kind == Kind::Closure || meaning.kind == Kind::Helper) {
    bindings_[parameter] = {{}, closure_value(argument)};
    return;
  }
  if (meaning.kind == Kind::Index) {
    bindings_[parameter] = {snapshot(index_list(argument), "extent", where), nullptr};
    return;
  }
  if (meaning.kind == Kind::Compound) {
    std::optional<Binding> named;
    if (type->isReferenceType()) named = find(argument);
    if (!named) require_no_reference(type, argument);
    bindings_[parameter] =
        named ? *named
              : copy_of(value(argument), type.getNonReferenceType(), parameter->getNameAsString(), where);
    return;
  }
  if (meaning.kind == Kind::Kernel)
    refuse(argument, "a kernel as an argument inside a kernel", "pass a lambda or a pl::jit.inline_ helper");
  if (meaning.kind == Kind::Other || meaning.kind == Kind::Dynamic) {
    const clang::CXXRecordDecl* record = type.getNonReferenceType()->getAsCXXRecordDecl();
    const bool stream = is_std_class(record, "basic_ostream");
    refuse(argument,
           "an argument of type '" +
               type.getNonReferenceType().getUnqualifiedType().getAsString(context_.getPrintingPolicy()) +
               "' in a kernel",
           stream ? "print with pl::print(tile or scalar)"
                  : "pass tiles, tensors, bool, integers and floats, or structs and lambdas that hold them");
  }
  const codegen::Type variable_type =
      type_of(meaning.kind == Kind::Void ? Meaning{} : meaning, parameter->getLocation());
  if (type->isReferenceType()) {
    if (const auto id = place(argument)) {
      bindings_[parameter] = {variable(*id, where), nullptr};
      return;
    }
    require_no_reference(type, argument);
  }
  Expr value = expression(argument);
  if (variable_type.is_scalar()) value = convert(std::move(value), variable_type.dtype, where);
  const bool fixed =
      value.is_constant() ||
      (value.op == Op::Variable &&
       kernel_.variables[static_cast<std::size_t>(value.variable)].kind != VariableKind::Local);
  // A parameter that is never written may stand for what never changes; a tensor parameter is itself.
  const bool same_annotation =
      value.type.any_shape == variable_type.any_shape && value.type.shape == variable_type.shape;
  const bool unchanged = type.getNonReferenceType().isConstQualified() || !may_modify(body, parameter);
  if (fixed && (variable_type.is_tensor() ? variable_type.any_shape || same_annotation : unchanged)) {
    bindings_[parameter] = {std::move(value), nullptr};
    return;
  }
  std::string name = parameter->getNameAsString();
  if (name.empty()) name = "argument";
  const codegen::VariableId id =
      add_variable(name, variable_type, VariableKind::Local, parameter->getLocation());
  emit_assign(id, std::move(value), where);
  bindings_[parameter] = {variable(id, where), nullptr};
}

namespace {

/// A lambda that captures nothing: any object of its type is as good as another.
std::shared_ptr<ClosureValue> stateless(const clang::CXXRecordDecl* closure) {
  auto value = std::make_shared<ClosureValue>();
  value->record = closure;
  return value;
}

}  // namespace

std::shared_ptr<ClosureValue> Walker::closure_value(const clang::Expr* expression) {
  expression = bare(expression);
  const Meaning meaning = meaning_of(expression->getType(), context_);
  if (const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(expression)) {
    const auto found = bindings_.find(name->getDecl());
    if (found != bindings_.end() && found->second.closure) return found->second.closure;
    if (meaning.closure != nullptr && meaning.closure->captures_begin() == meaning.closure->captures_end())
      return stateless(meaning.closure);
    refuse(
        name,
        "the helper '" + name->getDecl()->getNameAsString() + "', which captures values, named from outside",
        "capture the helper itself by value, or pass the values as arguments");
  }
  if (const auto* called = llvm::dyn_cast<clang::CallExpr>(expression);
      called != nullptr && !llvm::isa<clang::CXXMemberCallExpr>(called) &&
      moved_argument(expression) == nullptr)
    if (const Binding result = call(called); result.closure) return result.closure;
  if (const auto* made = llvm::dyn_cast<clang::CXXConstructExpr>(expression)) {
    if (made->getNumArgs() >= 1) return closure_value(made->getArg(0));
    return stateless(meaning.closure);  // decltype(f){}, F h: C++ makes none of a lambda that captures
  }
  if (llvm::isa<clang::CXXScalarValueInitExpr>(expression)) return stateless(meaning.closure);
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(expression))
    return closure_value(cast->getSubExpr());
  if (const auto* made = llvm::dyn_cast<clang::CXXMemberCallExpr>(expression))
    if (is_pl_class(made->getMethodDecl()->getParent(), "Jit") &&
        made->getMethodDecl()->getNameAsString() == "inline_")
      return closure_value(made->getArg(0));
  if (const clang::Expr* moved = moved_argument(expression)) return closure_value(moved);
  if (const std::optional<Binding> named = find(expression); named && named->closure) return named->closure;
  const auto* lambda = llvm::dyn_cast<clang::LambdaExpr>(expression);
  if (lambda == nullptr)
    refuse(expression, "a lambda that comes out of an expression",
           "name the lambda with auto and call that name");

  auto value = std::make_shared<ClosureValue>();
  value->record = lambda->getLambdaClass();
  auto init = lambda->capture_init_begin();
  for (const clang::LambdaCapture& capture : lambda->captures()) {
    const clang::Expr* initialiser = *init++;
    if (!capture.capturesVariable())
      refuse(capture.getLocation(), "a capture of 'this' in a kernel", "capture the values it needs");
    const clang::ValueDecl* captured = capture.getCapturedVar();
    const auto* variable_decl = llvm::dyn_cast<clang::VarDecl>(captured);
    const bool is_init = variable_decl != nullptr && variable_decl->isInitCapture();
    if (capture.getCaptureKind() == clang::LCK_ByRef) {
      if (!is_init) continue;  // its name finds the variable itself
      const std::optional<Binding> named = find(initialiser);
      if (!named)
        refuse(capture.getLocation(), "a reference capture of no local variable", "capture it by value");
      value->copies[captured] = *named;
      continue;
    }
    if (lambda->isMutable())
      refuse(lambda, "a 'mutable' lambda with captured copies in a kernel",
             "capture by reference, or use a local variable");
    const clang::SourceLocation where =
        capture.getLocation().isValid() ? capture.getLocation() : lambda->getBeginLoc();
    const Meaning kind = meaning_of(captured->getType(), context_);
    if (!is_init) {
      const auto outer = bindings_.find(captured);
      if (outer == bindings_.end()) continue;  // a constant: folded where it is named
      if (outer->second.closure) {
        value->copies[captured] = outer->second;
        continue;
      }
      if (outer->second.compound) {
        value->copies[captured] = copy_of(outer->second, captured->getType().getNonReferenceType(),
                                          captured->getNameAsString(), where);
        continue;
      }
      value->copies[captured] = {snapshot(outer->second.expression, captured->getNameAsString(), where),
                                 nullptr};
    } else if (kind.kind == Kind::Closure || kind.kind == Kind::Helper) {
      value->copies[captured] = {{}, closure_value(initialiser)};
    } else if (kind.kind == Kind::Compound) {
      value->copies[captured] =
          copy_of(this->value(initialiser), captured->getType(), captured->getNameAsString(), where);
    } else {
      value->copies[captured] = {snapshot(this->expression(initialiser), captured->getNameAsString(), where),
                                 nullptr};
    }
  }
  return value;
}

}  // namespace trilith::capture
