// codegen/print_limits.hpp -- how much of a tile pl::print shows, on every target: a screen's worth, so that a large tile does not
// bury the terminal. What is more is only counted.
#pragma once

#include <cstdint>

namespace trilith::codegen {

inline constexpr std::int64_t most_printed_rows = 16, most_printed_columns = 64;

}  // namespace trilith::codegen
