// runtime/pl/ops_layout.hpp -- operations that move the elements of tiles and change none.
//
//   auto t = pl::transpose(x);          // [R, C] -> [C, R]
//   auto u = pl::transpose(x, 0, 2);    // any two axes
//
// Tiles of every dtype. Axes are constants; negative ones count from the end. The result is a tile of its own:
// nothing is shared. Errors: ShapeError for an axis that is not there.
#pragma once

#include "pl/detail/tile_call.hpp"

namespace pl {

/// x with two axes exchanged, by default the last two: result[.., j, .., i, ..] = x[.., i, .., j, ..].
template <class T>
[[nodiscard]] Tile<T> transpose(const Tile<T>& x, int axis = -2, int axis2 = -1,
                                std::source_location where = std::source_location::current()) {
  detail::Attributes attributes;
  attributes.axis = axis;
  attributes.axis2 = axis2;
  return detail::tile_call<T>(detail::Op::Transpose, {x.value()}, attributes, where);
}

}  // namespace pl
