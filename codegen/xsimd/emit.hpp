// codegen/xsimd/emit.hpp -- a specialised kernel as C++ on xsimd::batch, for the CPU simulator.
#pragma once

#include "codegen/ir.hpp"
#include "codegen/specialise.hpp"

#include <string>
#include <utility>
#include <vector>

namespace trilith::codegen::xsimd {

struct Emitted {
  std::string text;    ///< the whole translation unit; includes only the device header
  std::string symbol;  ///< the extern "C" entry, ABI of runtime/pl/abi.hpp
  /// Pairs of parameter indices (input, output) that may be the very same memory: the kernel reads each
  /// element of the input before it writes that element of the output, and nowhere else.
  std::vector<std::pair<int, int>> in_place;
};

/// Deterministic to the byte: equal kernel and signature, equal text.
[[nodiscard]] Emitted emit(const Kernel& specialised, const Signature& signature);

}  // namespace trilith::codegen::xsimd
