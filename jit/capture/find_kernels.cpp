// jit/capture/find_kernels.cpp -- every `pl::jit.incore(lambda)` and `pl::at(level, lambda)` of a translation unit.
#include "jit/capture/find_kernels.hpp"

#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>

#include <set>

namespace trilith::capture {
namespace {

class Finder : public clang::RecursiveASTVisitor<Finder> {
  using Base = clang::RecursiveASTVisitor<Finder>;

 public:
  Finder(clang::ASTContext& context, Found& found) : context_(context), found_(found) {}

  bool shouldVisitTemplateInstantiations() const { return true; }

  bool TraverseDecl(clang::Decl* decl) {
    if (decl == nullptr) return true;
    // The standard library has no kernels, and most of the nodes.
    if (const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(decl))
      if (space->isStdNamespace() || space->getName().starts_with("__gnu")) return true;
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(decl);
    const auto* field = llvm::dyn_cast<clang::FieldDecl>(decl);
    const auto* function = llvm::dyn_cast<clang::FunctionDecl>(decl);
    const bool named = (variable != nullptr && !llvm::isa<clang::ParmVarDecl>(decl)) || field != nullptr ||
                       (function != nullptr && function->getIdentifier() != nullptr);
    const bool scope = function != nullptr || (variable != nullptr && !variable->isLocalVarDeclOrParm());
    if (named) names_.push_back(llvm::cast<clang::NamedDecl>(decl)->getNameAsString());
    if (scope) scopes_.push_back(decl);
    const bool result = Base::TraverseDecl(decl);
    if (scope) scopes_.pop_back();
    if (named) names_.pop_back();
    return result;
  }

  bool TraverseLambdaExpr(clang::LambdaExpr* lambda) {
    const clang::CXXRecordDecl* closure = lambda->getLambdaClass();
    if (closure->isDependentContext()) found_.numbers.add_pattern(closure);
    if (!scopes_.empty()) found_.numbers.add(closure, scopes_.back());
    scopes_.push_back(lambda->getCallOperator());
    const bool result = Base::TraverseLambdaExpr(lambda);
    scopes_.pop_back();
    if (const clang::FunctionTemplateDecl* generic = closure->getDependentLambdaCallOperator())
      for (clang::FunctionDecl* instance : generic->specializations())
        if (instance->isThisDeclarationADefinition() || instance->hasBody()) TraverseDecl(instance);
    return result;
  }

  bool VisitCXXMemberCallExpr(clang::CXXMemberCallExpr* call) {
    const clang::CXXMethodDecl* method = call->getMethodDecl();
    if (method == nullptr || method->getIdentifier() == nullptr || method->getName() != "incore" ||
        !is_pl_class(method->getParent(), "Jit") || call->getNumArgs() == 0 ||
        call->isInstantiationDependent())
      return true;
    const clang::CXXRecordDecl* closure =
        call->getArg(0)->getType().getNonReferenceType()->getAsCXXRecordDecl();
    if (closure != nullptr && closure->isDependentContext()) return true;
    add_site(call, closure, false);
    return true;
  }

  bool VisitCallExpr(clang::CallExpr* call) {
    const clang::FunctionDecl* function = call->getDirectCallee();
    if (function == nullptr || function->getIdentifier() == nullptr || function->getName() != "at" ||
        llvm::isa<clang::CXXMethodDecl>(function) || !is_in_pl(function) || call->getNumArgs() < 2 ||
        call->isInstantiationDependent())
      return true;
    const clang::CXXRecordDecl* closure =
        call->getArg(1)->getType().getNonReferenceType()->getAsCXXRecordDecl();
    if (closure == nullptr || !closure->isDependentContext()) add_site(call, closure, true);
    return true;
  }

 private:
  void add_site(const clang::CallExpr* call, const clang::CXXRecordDecl* closure, bool is_at_body) {
    // An explicit instantiation is met twice; one lambda may be given to incore in two places.
    if (!seen_.insert({call, closure}).second) return;
    Site site;
    site.call = call;
    site.closure = closure != nullptr && closure->isLambda() ? closure : nullptr;
    site.is_at_body = is_at_body;
    const std::string line =
        std::to_string(context_.getSourceManager().getPresumedLineNumber(call->getBeginLoc()));
    site.name = names_.empty() ? (is_at_body ? "at_" : "kernel_") + line
                               : names_.back() + (is_at_body ? "_at_" + line : std::string());
    found_.sites.push_back(std::move(site));
  }

  clang::ASTContext& context_;
  Found& found_;
  std::vector<const clang::Decl*> scopes_;
  std::vector<std::string> names_;
  std::set<std::pair<const clang::CallExpr*, const clang::CXXRecordDecl*>> seen_;
};

}  // namespace

Found find_kernels(clang::ASTContext& context) {
  Found found;
  Finder(context, found).TraverseDecl(context.getTranslationUnitDecl());
  return found;
}

}  // namespace trilith::capture
