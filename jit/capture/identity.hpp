// jit/capture/identity.hpp -- private: how each compiler spells the place and the type of a kernel.
#pragma once

#include "jit/capture/frontend.hpp"
#include "jit/capture/walker.hpp"

namespace trilith::capture {

/// How often a lambda was seen in each scope, in the order the translation unit is read: g++ numbers closures
/// so.
class LambdaNumbers {
 public:
  void add(const clang::CXXRecordDecl* closure, const clang::Decl* scope);
  /// -1: not seen.
  [[nodiscard]] int number(const clang::CXXRecordDecl* closure) const;
  [[nodiscard]] const clang::Decl* scope(const clang::CXXRecordDecl* closure) const;
  /// A lambda as it is written in a template; clang keeps no link to it from the lambdas of instantiations.
  void add_pattern(const clang::CXXRecordDecl* pattern) {
    patterns_.emplace(pattern->getLocation(), pattern);
  }
  /// The lambda as it is written: its template's, or itself.
  [[nodiscard]] const clang::CXXRecordDecl* written(const clang::CXXRecordDecl* closure) const {
    const auto found = patterns_.find(closure->getLocation());
    return found == patterns_.end() ? closure : found->second;
  }

 private:
  struct Entry {
    const clang::Decl* scope;
    int number;
  };
  std::map<const clang::CXXRecordDecl*, Entry> entries_;
  std::map<const clang::Decl*, int> next_;
  std::map<clang::SourceLocation, const clang::CXXRecordDecl*> patterns_;
};

/// Refuses a lambda whose captures g++ and clang may lay out differently, or that has captures we cannot
/// read.
void check_closure_layout(const Site& site, const clang::CXXRecordDecl* written, clang::ASTContext& context);

/// Fills file, places and type names.
void identify(CapturedKernel& kernel, const Site& site, const clang::CXXMethodDecl* call_operator,
              const LambdaNumbers& numbers, clang::ASTContext& context);

}  // namespace trilith::capture
