// jit/compiler/compile.hpp -- one run of Clang over a source text in memory.
#pragma once

#include "jit/compiler/abi.h"

#include <string>

namespace trilith::jit::compiler {

struct Output {
  trilith_compiler_status status = trilith_compiler_ok;
  std::string bytes, messages, first_error, ir, assembly, dependencies;
  double frontend_seconds = 0;
  double backend_seconds = 0;
};

/// Not guarded: runs on the calling thread and dies with LLVM. `output` is filled as far as the run came.
void compile(const trilith_compiler_request& request, Output& output);

}  // namespace trilith::jit::compiler
