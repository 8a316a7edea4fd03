// jit/capture/identity.hpp -- private: how each compiler spells the place and the type of a kernel.
#pragma once

#include "jit/capture/frontend.hpp"
#include "jit/capture/walker.hpp"

namespace trilith::capture {

/// How often a lambda was seen in each scope, in the order the translation unit is read: g++ numbers closures so.
class LambdaNumbers {
 public:
  void add(const clang::CXXRecordDecl* closure, const clang::Decl* scope);
  /// -1: not seen.
  [[nodiscard]] int number(const clang::CXXRecordDecl* closure) const;
  [[nodiscard]] const clang::Decl* scope(const clang::CXXRecordDecl* closure) const;

 private:
  struct Entry {
    const clang::Decl* scope;
    int number;
  };
  std::map<const clang::CXXRecordDecl*, Entry> entries_;
  std::map<const clang::Decl*, int> next_;
};

/// Fills file, places and type names.
void identify(CapturedKernel& kernel, const Site& site, const clang::CXXMethodDecl* call_operator,
              const LambdaNumbers& numbers, clang::ASTContext& context);

}  // namespace trilith::capture
