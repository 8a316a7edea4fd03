// jit/capture/modified.cpp -- may this piece of code change that variable?
#include "jit/capture/walker.hpp"

#include <clang/AST/RecursiveASTVisitor.h>

namespace trilith::capture {
namespace {

/// Finds a use of the variable that is not plainly a read: an assignment, an increment, a binding to a
/// non-const reference, its address.
class WriteFinder : public clang::RecursiveASTVisitor<WriteFinder> {
 public:
  explicit WriteFinder(const clang::ValueDecl* variable) : variable_(variable) {}
  bool found = false;

  bool TraverseImplicitCastExpr(clang::ImplicitCastExpr* cast) {
    const bool reads = cast->getCastKind() == clang::CK_LValueToRValue ||
                       (cast->getCastKind() == clang::CK_NoOp && cast->getType().isConstQualified());
    if (reads && names_variable(cast->getSubExpr())) return true;
    return RecursiveASTVisitor::TraverseImplicitCastExpr(cast);
  }
  // The form as it is written lacks the conversions that tell a read from a binding.
  bool TraverseInitListExpr(clang::InitListExpr* list) {
    if (list->isSyntacticForm() && list->getSemanticForm() != nullptr) list = list->getSemanticForm();
    for (clang::Stmt* child : list->children())
      if (!TraverseStmt(child)) return false;
    return true;
  }
  // A capture is no write; what the lambda does with it is seen in its body.
  bool TraverseLambdaCapture(clang::LambdaExpr* lambda, const clang::LambdaCapture* capture,
                             clang::Expr* init) {
    if (!lambda->isInitCapture(capture)) return true;
    return RecursiveASTVisitor::TraverseLambdaCapture(lambda, capture, init);
  }
  bool VisitDeclRefExpr(clang::DeclRefExpr* name) {
    if (name->getDecl() == variable_) found = true;
    return !found;
  }

 private:
  bool names_variable(const clang::Expr* expression) const {
    const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(expression->IgnoreParens());
    return name != nullptr && name->getDecl() == variable_;
  }
  const clang::ValueDecl* variable_;
};

/// Finds another name through which the variable may be changed: a reference, or a lambda that captures it by one.
class AliasFinder : public clang::RecursiveASTVisitor<AliasFinder> {
 public:
  explicit AliasFinder(const clang::ValueDecl* variable) : variable_(variable) {}
  bool found = false;

  bool VisitLambdaExpr(clang::LambdaExpr* lambda) {
    for (const clang::LambdaCapture& capture : lambda->captures())
      if (capture.capturesVariable() && capture.getCapturedVar() == variable_ &&
          capture.getCaptureKind() == clang::LCK_ByRef && may_modify(lambda->getBody(), variable_))
        found = true;
    return !found;
  }
  bool VisitVarDecl(clang::VarDecl* declared) {
    const clang::QualType type = declared->getType();
    if (!type->isReferenceType() || type.getNonReferenceType().isConstQualified() ||
        declared->getInit() == nullptr)
      return true;
    const auto* name = llvm::dyn_cast<clang::DeclRefExpr>(bare(declared->getInit()));
    if (name != nullptr && name->getDecl() == variable_) found = true;
    return !found;
  }

 private:
  const clang::ValueDecl* variable_;
};

}  // namespace

bool has_alias(const clang::Stmt* function_body, const clang::ValueDecl* variable) {
  if (function_body == nullptr) return false;
  AliasFinder finder(variable);
  finder.TraverseStmt(const_cast<clang::Stmt*>(function_body));
  return finder.found;
}

bool may_modify(const clang::Stmt* body, const clang::ValueDecl* variable) {
  if (body == nullptr) return false;
  WriteFinder finder(variable);
  finder.TraverseStmt(const_cast<clang::Stmt*>(body));
  return finder.found;
}

}  // namespace trilith::capture
