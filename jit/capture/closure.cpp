// jit/capture/closure.cpp -- are a lambda's captures readable, and laid out alike by every compiler?
//
// g++ and clang agree on explicit captures and on implicit ones of names in evaluated code. They disagree on
// names that stand only in a discarded `if constexpr` branch, and g++ also captures constants that a
// dependent expression names: same source, other closure layout, and a wrong number without any error. So the
// order of all enclosing locals named anywhere in the body is compared with clang's captures.
#include "jit/capture/identity.hpp"

#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>

namespace trilith::capture {
namespace {

struct Naming {
  clang::SourceLocation
      declared;  ///< where the variable is declared: the same in a template and its instantiation
  clang::SourceLocation named;
  std::string name;
  bool constant = false;   ///< usable in constant expressions: no capture where it is only read
  bool uncertain = false;  ///< in a discarded branch, an unevaluated operand or a dependent expression
};

/// Collects every local variable of an enclosing function that a lambda body names.
class NamingFinder : public clang::RecursiveASTVisitor<NamingFinder> {
  using Base = clang::RecursiveASTVisitor<NamingFinder>;

 public:
  NamingFinder(clang::ASTContext& context, const clang::CXXMethodDecl* lambda)
      : context_(context), lambda_(lambda) {}
  std::vector<Naming> found;

  bool TraverseStmt(clang::Stmt* stmt) {
    if (stmt == nullptr) return true;
    const auto* expression = llvm::dyn_cast<clang::Expr>(stmt);
    const bool dependent = expression != nullptr && expression->isInstantiationDependent() &&
                           !llvm::isa<clang::LambdaExpr>(expression) &&
                           !llvm::isa<clang::DeclRefExpr>(expression);
    uncertain_ += dependent ? 1 : 0;
    const bool result = Base::TraverseStmt(stmt);
    uncertain_ -= dependent ? 1 : 0;
    return result;
  }
  bool TraverseIfStmt(clang::IfStmt* stmt) {
    if (!stmt->isConstexpr()) return Base::TraverseIfStmt(stmt);
    TraverseStmt(stmt->getInit());
    TraverseStmt(stmt->getConditionVariableDeclStmt());
    ++uncertain_;
    TraverseStmt(stmt->getCond());
    --uncertain_;
    // Only a branch that is certainly taken is certain.
    std::optional<const clang::Stmt*> taken;
    if (!stmt->getCond()->isValueDependent()) taken = stmt->getNondiscardedCase(context_);
    for (clang::Stmt* branch : {stmt->getThen(), stmt->getElse()}) {
      const bool certain = taken && *taken == branch;
      uncertain_ += certain ? 0 : 1;
      TraverseStmt(branch);
      uncertain_ -= certain ? 0 : 1;
    }
    return true;
  }
  bool TraverseUnaryExprOrTypeTraitExpr(clang::UnaryExprOrTypeTraitExpr* trait) {
    return unevaluated([&] { return Base::TraverseUnaryExprOrTypeTraitExpr(trait); });
  }
  bool TraverseCXXNoexceptExpr(clang::CXXNoexceptExpr* test) {
    return unevaluated([&] { return Base::TraverseCXXNoexceptExpr(test); });
  }
  bool TraverseCXXTypeidExpr(clang::CXXTypeidExpr* test) {
    return unevaluated([&] { return Base::TraverseCXXTypeidExpr(test); });
  }
  bool TraverseRequiresExpr(clang::RequiresExpr* test) {
    return unevaluated([&] { return Base::TraverseRequiresExpr(test); });
  }
  bool TraverseDecltypeTypeLoc(clang::DecltypeTypeLoc type) {
    return unevaluated([&] { return Base::TraverseDecltypeTypeLoc(type); });
  }
  bool VisitDeclRefExpr(clang::DeclRefExpr* name) {
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(name->getDecl());
    if (variable == nullptr || !variable->hasLocalStorage()) return true;
    // Declared inside the body or as a parameter: not a capture.
    if (variable->getDeclContext()->Equals(lambda_) || lambda_->Encloses(variable->getDeclContext()))
      return true;
    found.push_back({variable->getLocation(), name->getLocation(), variable->getNameAsString(),
                     is_constant(variable), uncertain_ > 0});
    return true;
  }

 private:
  template <class Function>
  bool unevaluated(Function function) {
    ++uncertain_;
    const bool result = function();
    --uncertain_;
    return result;
  }
  bool is_constant(const clang::VarDecl* variable) const {
    if (variable->isConstexpr()) return true;
    if (variable->getInit() == nullptr || variable->getInit()->isValueDependent()) return false;
    return variable->isUsableInConstantExpressions(context_);
  }
  clang::ASTContext& context_;
  const clang::CXXMethodDecl* lambda_;
  int uncertain_ = 0;
};

[[noreturn]] void refuse_layout(clang::ASTContext& context, clang::SourceLocation where,
                                const std::string& name) {
  refuse(context, where,
         "compilers may lay out the captures of this lambda differently: '" + name +
             "' is named where it may or may not be captured (a discarded branch, an unevaluated operand, a "
             "dependent "
             "expression), or the order of the captures depends on that",
         "list the captures explicitly, as [" + name + "](...) { ... }");
}

void check_capture_types(const clang::CXXRecordDecl* closure, clang::ASTContext& context);

void check_capture(const clang::LambdaCapture& capture, const clang::FieldDecl* field,
                   clang::SourceLocation fallback, clang::ASTContext& context) {
  const clang::SourceLocation where = capture.getLocation().isValid() ? capture.getLocation() : fallback;
  if (capture.capturesThis())
    refuse(context, where, "the kernel captures 'this'",
           "copy the values it needs: [value = member](...) { ... }");
  if (!capture.capturesVariable())
    refuse(context, where, "the kernel captures the size of an array", "use a constexpr size");
  const std::string name = capture.getCapturedVar()->getNameAsString();
  const clang::QualType type = field->getType();
  const std::string spelling = type.getAsString(context.getPrintingPolicy());
  if (capture.getCaptureKind() == clang::LCK_ByRef)
    refuse(context, where,
           "the kernel captures '" + name + "' by reference: it may run later, on another device",
           "capture it by value: [" + name + "], or pass it as an argument");
  if (type->isArrayType() && context.getBaseElementType(type).isConstQualified())
    refuse(context, where, "the kernel captures the array '" + name + "' of type '" + spelling + "'",
           "where its elements are constants, declare it static constexpr: then it is no capture; else pass "
           "memory as a "
           "pl::Tensor argument");
  if (type->isPointerType() || type->isArrayType())
    refuse(context, where, "the kernel captures '" + name + "' of type '" + spelling + "'",
           "kernels capture integers, floats, bools and enums; pass memory as a pl::Tensor argument");
  const Meaning meaning = meaning_of(type, context);
  switch (meaning.kind) {
    case Kind::Scalar: return;
    case Kind::Closure:
    case Kind::Helper: check_capture_types(meaning.closure, context); return;
    case Kind::Kernel:
      if (meaning.closure != nullptr && is_pl_class(type->getAsCXXRecordDecl(), "InCore") &&
          meaning.closure->captures_begin() == meaning.closure->captures_end())
        return;
      refuse(context, where, "the kernel captures '" + name + "' of type '" + spelling + "'",
             "kernels capture in-core kernels that capture nothing themselves; share other code with a "
             "pl::jit.inline_ helper");
    case Kind::Tensor:
    case Kind::Tile:
      refuse(context, where, "the kernel captures '" + name + "' of type '" + spelling + "'",
             "pass it as an argument");
    default:
      refuse(context, where, "the kernel captures '" + name + "' of type '" + spelling + "'",
             "kernels capture integers, floats, bools, enums and helpers, by value; of a struct capture the "
             "members, as [low = " +
                 name + ".low]");
  }
}

void check_capture_types(const clang::CXXRecordDecl* closure, clang::ASTContext& context) {
  auto field = closure->field_begin();
  for (const clang::LambdaCapture& capture : closure->captures())
    check_capture(capture, *field++, closure->getLocation(), context);
}

}  // namespace

void check_closure_layout(const Site& site, const clang::CXXRecordDecl* written, clang::ASTContext& context) {
  const clang::CXXRecordDecl* closure = site.closure;
  if (!site.is_at_body) check_capture_types(closure, context);
  if (closure->getLambdaCaptureDefault() == clang::LCD_None) return;

  // A template's instantiation has lost the discarded branches: look at what is written.
  const clang::CXXMethodDecl* method = written->getLambdaCallOperator();
  if (method == nullptr || method->getBody() == nullptr) return;
  NamingFinder finder(context, method);
  finder.TraverseStmt(method->getBody());

  std::vector<Naming> namings = std::move(finder.found);
  const clang::SourceManager& sources = context.getSourceManager();
  std::sort(namings.begin(), namings.end(), [&](const Naming& a, const Naming& b) {
    return sources.isBeforeInTranslationUnit(a.named, b.named);
  });
  std::vector<clang::SourceLocation> explicit_captures, implicit_captures;
  for (const clang::LambdaCapture& capture : closure->captures())
    (capture.isExplicit() ? explicit_captures : implicit_captures)
        .push_back(capture.getCapturedVar()->getLocation());

  std::vector<const Naming*> expected;
  for (const Naming& naming : namings) {
    if (naming.constant && !naming.uncertain &&
        std::find(implicit_captures.begin(), implicit_captures.end(), naming.declared) ==
            implicit_captures.end())
      continue;  // read as a constant: neither compiler captures it
    if (std::find(explicit_captures.begin(), explicit_captures.end(), naming.declared) !=
        explicit_captures.end())
      continue;
    const auto same = [&](const Naming* other) { return other->declared == naming.declared; };
    if (std::none_of(expected.begin(), expected.end(), same)) expected.push_back(&naming);
  }
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (i >= implicit_captures.size() || implicit_captures[i] != expected[i]->declared)
      refuse_layout(context, expected[i]->named, expected[i]->name);
  if (implicit_captures.size() > expected.size()) refuse_layout(context, method->getLocation(), "...");
}

}  // namespace trilith::capture
