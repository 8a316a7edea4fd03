// runtime/external_kernel.hpp -- a hand-written kernel: its file read, its signature as IR without a body, and the
// translation unit that is compiled of it.
#pragma once

#include "codegen/specialise.hpp"
#include "jit/engine.hpp"
#include "pl/detail/kernel_object.hpp"
#include "runtime/captured_kernel.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pl::detail {

/// The file as it was when the kernel was first needed: later changes do not reach a running kernel.
struct ExternalUnit {
  std::string file, entry, text;
  std::string signature;                   ///< given in the program: "float[any], out float[any], int32"
  Location named_at;                       ///< the line of the program that names the file
  std::vector<trilith::jit::KeyPart> key;  ///< text, included files, entry, place
  std::vector<std::string> includes;
};

/// Reads the file. Throws SourceError when there is none or the entry is no name.
[[nodiscard]] std::shared_ptr<const CapturedKernel> external_kernel(
    const ExternalSource& source, std::span<const ParameterInfo> parameters);

/// "2, 2": of the tensor arguments, which the code is compiled for.
[[nodiscard]] std::string ranks_of(const trilith::codegen::Signature& signature);

[[nodiscard]] trilith::jit::Source external_source(const ExternalUnit& unit, const std::string& ranks);

/// Throws what Clang or the loader said of the file as the user's error, at the file's line.
[[noreturn]] void throw_rejected(const ExternalUnit& unit, const trilith::jit::RejectedError& error);

}  // namespace pl::detail
