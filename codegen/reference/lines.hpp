// codegen/reference/lines.hpp -- a tile as lines of elements along one axis; shared by the reference only.
#pragma once

#include "codegen/value.hpp"

namespace trilith::codegen::reference {

/// `outer` × `inner` lines along an axis, each of `extent` elements that are `inner` apart.
struct Lines {
  std::int64_t outer = 1, extent = 1, inner = 1;

  Lines(const Shape& shape, std::size_t axis) : extent(shape[axis]) {
    for (std::size_t i = 0; i < axis; ++i) outer *= shape[i];
    for (std::size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  }
  /// Element `at` of line (o, i), counted in the whole tile.
  [[nodiscard]] std::int64_t element(std::int64_t o, std::int64_t at, std::int64_t i) const {
    return (o * extent + at) * inner + i;
  }
};

/// Calls function(o, i) for each line.
template <class Function>
void for_each_line(const Lines& lines, const Function& function) {
  for (std::int64_t o = 0; o < lines.outer; ++o)
    for (std::int64_t i = 0; i < lines.inner; ++i) function(o, i);
}

}  // namespace trilith::codegen::reference
