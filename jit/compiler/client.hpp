// jit/compiler/client.hpp -- Trilith's side of libtrilith-compiler.so: opened at the first compile, never
// closed.
#pragma once

#include "jit/compiler/abi.h"

#include <string>
#include <string_view>
#include <vector>

namespace trilith::jit {

/// What a run gave back, in Trilith's own memory.
struct CompilerOutput {
  trilith_compiler_status status = trilith_compiler_ok;
  std::string bytes, messages, first_error, ir, assembly, dependencies;
  double frontend_seconds = 0;
  double backend_seconds = 0;
};

struct CompilerInput {
  trilith_compiler_action action = trilith_compile_object;
  std::string source;
  std::string file_name;
  std::vector<std::string> arguments;
  std::string header_path;  ///< what the precompiled header is called; empty: none
  std::string_view header;  ///< its bytes
  bool want_listings = false;
  bool want_dependencies = false;
  std::uint32_t injected_failure = 0;
};

/// The library's table; null and `reason` filled when it cannot be opened.
[[nodiscard]] const trilith_compiler* open_compiler(std::string& reason);

[[nodiscard]] CompilerOutput run_compiler(const trilith_compiler& compiler, const CompilerInput& input);

}  // namespace trilith::jit
