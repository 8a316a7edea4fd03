// codegen/cpp_printer.hpp -- a captured kernel as the C++ that a person would write: to paste a failing random
// program into a test, and to send random programs through capture and build.
//
//   auto random_7 = [](std::int64_t c0) { return pl::jit.incore([c0](pl::Tensor<float, 8, N> x, …) { … }); };
//
// Captured stage only. What the language cannot say (a jump out of two blocks at once, a variable that is first
// assigned in a branch and read outside) is a pl::UserError. Pure functions.
#pragma once

#include "codegen/ir.hpp"

#include <string>

namespace trilith::codegen {

/// The named extents as `constexpr auto N = pl::dynamic("N");`, a line each, then `auto <name> = …;`: a function
/// of the captured values that gives the kernel.
[[nodiscard]] std::string to_cpp(const Kernel& kernel);

}  // namespace trilith::codegen
