// jit/capture/find_kernels.hpp -- private: every `pl::jit.incore(lambda)` of a translation unit.
#pragma once

#include "jit/capture/identity.hpp"

namespace trilith::capture {

struct Found {
  std::vector<Site> sites;
  LambdaNumbers numbers;
};

/// Also in templates (each instantiation), lambdas, class members and variable initialisers.
[[nodiscard]] Found find_kernels(clang::ASTContext& context);

}  // namespace trilith::capture
