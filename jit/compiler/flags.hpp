// jit/compiler/flags.hpp -- the `clang -cc1` arguments that emitted code is compiled with. They are part of
// the key.
#pragma once

#include "jit/compiler/header_pack.hpp"
#include "jit/loader/host_cpu.hpp"

#include <string>
#include <vector>

namespace trilith::jit {

/// What the precompiled header is made of (emitted code includes the same two), and the name it has for
/// Clang.
inline constexpr const char* device_header_name = "/trilith/device_header.hpp";
inline constexpr const char* device_header_source =
    "#include \"pl/abi.hpp\"\n#include \"trilith/device.hpp\"\n";

/// Raised when the same source and flags would give another object: part of every key.
inline constexpr const char* compiler_revision = "1";

struct CompileOptions {
  bool fast_math = false;
  bool debug = false;
};

/// Arguments that the precompiled header and the kernels share; they contain no path, so that a key does not
/// depend on where Trilith is installed.
[[nodiscard]] std::vector<std::string> language_arguments(const TargetCpu& target,
                                                          const CompileOptions& options);

/// The include roots of a pack, and nothing of the machine's own headers.
[[nodiscard]] std::vector<std::string> header_arguments(const HeaderPack& pack);

}  // namespace trilith::jit
