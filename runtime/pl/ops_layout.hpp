// runtime/pl/ops_layout.hpp -- operations that move the elements of tiles and change none.
//
//   auto t = pl::transpose(x);                       // [R, C] -> [C, R]
//   auto u = pl::transpose(x, 0, 2);                 // any two axes
//   auto s = pl::slice(x, {0, 8}, {4, 8});           // a region of a tile
//   auto a = pl::assemble(x, block, {4, 0});         // x with a region replaced
//   auto c = pl::concat({p, q, r}, {.axis = 0});     // one behind the other
//
// Tiles of every dtype and rank. Axes are constants; negative ones count from the end. Offsets and extents may be
// run-time integers. The result is a tile of its own: nothing is shared. Errors: ShapeError for an axis, a region or
// a shape that does not fit, where it is known: at specialisation, or by the compiled kernel before it touches memory.
#pragma once

#include "pl/detail/tile_call.hpp"

namespace pl {

/// Options of operations along one axis.
struct AxisOptions {
  int axis = -1;
};

/// x with two axes exchanged, by default the last two: result[.., j, .., i, ..] = x[.., i, .., j, ..].
template <class T>
[[nodiscard]] Tile<T> transpose(const Tile<T>& x, int axis = -2, int axis2 = -1,
                                std::source_location where = std::source_location::current()) {
  detail::Attributes attributes;
  attributes.axis = axis;
  attributes.axis2 = axis2;
  return detail::tile_call<T>(detail::Op::Transpose, {x.value()}, attributes, where);
}

/// The region of `shape` at `offsets`: result[i, ..] = x[offset + i, ..]. One offset and one extent for each axis.
template <class T>
[[nodiscard]] Tile<T> slice(const Tile<T>& x, const Index& offsets, const Index& shape,
                            std::source_location where = std::source_location::current()) {
  return detail::tile_call<T>(detail::Op::TileSlice, {x.value(), offsets.values(), shape.values()}, {},
                              where);
}

/// x with the region at `offsets` replaced by `block`, which has x's rank and dtype.
template <class T>
[[nodiscard]] Tile<T> assemble(const Tile<T>& x, const Tile<T>& block, const Index& offsets,
                               std::source_location where = std::source_location::current()) {
  return detail::tile_call<T>(detail::Op::Assemble, {x.value(), block.value(), offsets.values()}, {}, where);
}

/// The tiles one behind the other along an axis, by default the last; all other extents are equal.
template <class T>
[[nodiscard]] Tile<T> concat(std::initializer_list<Tile<T>> tiles, AxisOptions options = {},
                             std::source_location where = std::source_location::current()) {
  std::vector<trilith::codegen::reference::CallOperand> operands;
  for (const Tile<T>& tile : tiles) operands.emplace_back(tile.value());
  detail::Attributes attributes;
  attributes.axis = options.axis;
  return detail::tile_call<T>(detail::Op::Concat, operands, attributes, where);
}
/// The same of two tiles.
template <class T>
[[nodiscard]] Tile<T> concat(const Tile<T>& a, const Tile<T>& b, AxisOptions options = {},
                             std::source_location where = std::source_location::current()) {
  return concat({a, b}, options, where);
}

/// The same elements, in row-major order, in another shape with as many of them.
template <class T>
[[nodiscard]] Tile<T> reshape(const Tile<T>& x, const Index& shape,
                              std::source_location where = std::source_location::current()) {
  return detail::tile_call<T>(detail::Op::Reshape, {x.value(), shape.values()}, {}, where);
}

/// The bits of each element as a U of the same size. Integers and floats; DtypeError where the sizes differ.
template <class U, class T>
[[nodiscard]] Tile<U> reinterpret(const Tile<T>& x,
                                  std::source_location where = std::source_location::current()) {
  static_assert(
      std::is_void_v<T> || trilith::codegen::size_of(trilith::codegen::dtype_of<U>) ==
                               trilith::codegen::size_of(
                                   trilith::codegen::dtype_of<std::conditional_t<std::is_void_v<T>, U, T>>),
      "pl::reinterpret: the dtypes have different sizes; convert values with pl::cast<U>(…)");
  return detail::tile_call<U>(detail::Op::Reinterpret, {x.value()}, {}, where);
}

/// x with `before` elements of `value` in front of it and `after` behind it, one count of each for each axis.
template <class T, class A = int>
[[nodiscard]] Tile<T> pad(const Tile<T>& x, const Index& before, const Index& after, const A& value = 0,
                          std::source_location where = std::source_location::current()) {
  return detail::tile_call<T>(
      detail::Op::Pad,
      {x.value(), before.values(), after.values(), detail::to_value<T>(value, x.dtype(), where)}, {}, where);
}

/// x broadcast to `shape`: axes of extent 1 and missing leading axes repeat; all others must be equal.
template <class T>
[[nodiscard]] Tile<T> expand(const Tile<T>& x, const Index& shape,
                             std::source_location where = std::source_location::current()) {
  return detail::tile_call<T>(detail::Op::Expand, {x.value(), shape.values()}, {}, where);
}

/// Memories of an AI core. On the simulator all tiles lie in one memory, and these are hints.
enum class Memory : std::uint8_t { Vec, Mat, Left, Right, Acc, Bias };

/// x, to lie in a memory of the core.
template <class T>
[[nodiscard]] Tile<T> move(const Tile<T>& x, Memory memory,
                           std::source_location where = std::source_location::current()) {
  detail::require_core("move", where);
  (void)memory;
  return x;
}

}  // namespace pl
