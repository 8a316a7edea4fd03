// codegen/ascendc/package_files.hpp -- the texts of a package, one function a file.
#pragma once

#include "codegen/ascendc/package.hpp"

#include <string>

namespace trilith::codegen::ascendc {

/// What a kernel is called in the package: its symbol, numbered where two kernels have one symbol.
[[nodiscard]] std::vector<std::string> file_names(const Package& package);

/// tiling/<name>.hpp: what a launch of the kernel needs.
[[nodiscard]] std::string tiling_header(const PackagedKernel& kernel, const std::string& file_name);
/// host/acl_runtime.hpp: devices, memory and kernels as C++ objects over the ACL interface; the same in each package.
[[nodiscard]] std::string acl_runtime_header();
/// host/main.cpp: the recorded plan, rank by rank.
[[nodiscard]] std::string launcher(const Package& package);
[[nodiscard]] std::string manifest(const Package& package);
[[nodiscard]] std::string build_file(const Package& package);
[[nodiscard]] std::string read_me(const Package& package);

/// The largest workspace that a kernel of this rank needs, in bytes.
[[nodiscard]] std::int64_t workspace_of(const Package& package, int rank);

}  // namespace trilith::codegen::ascendc
