// runtime/pl/ops_valid.hpp -- tiles of which only a part is valid, for extents that a tile does not divide.
//
//   auto t = pl::load(x, {i, 0}, {128, 64}, {.clamp = true});       // valid as far as x goes
//   auto u = pl::load(x, {0, 0}, {128, 64}, {.valid = {rows, 64}}); // valid as far as the kernel says
//   auto n = t.valid(0);                                            // how far that is; t.dim(0) is 128
//   auto m = pl::col_max(t);                                        // of valid cells only
//   auto full = pl::fillpad(t, pl::Pad::zero);                      // all of it valid
//   y = pl::store(t, {i, 0}, y);                                    // writes the valid cells only
//
// The valid shape of a tile is a box at its origin. Shapes are checked by what tiles were made with (128x64); an
// operation on tiles gives what is valid in all of them, along each axis the least; a reduction sees valid cells only,
// of an empty valid part what an empty tile gives. An axis of extent 1 that repeats is valid or not along all of it.
// What lies outside is never read or computed, in memory neither.
//
// slice, assemble, read, write, topk and the indices of gather stay inside the valid part (ShapeError). reshape, pad,
// paged_gather, the axis that concat joins and the axes that scatter does not, and an expanded axis of extent 1 need all
// of a tile: ShapeError that names fillpad. A variable carried through a branch or a loop keeps its valid shape
// (ShapeError when compiled).
#pragma once

#include "pl/memory.hpp"

namespace pl {

/// What `fillpad` writes: 0 or false; infinity, or the largest number of an integer dtype; minus infinity, or the lowest.
enum class Pad : std::uint8_t { zero, max, min };

namespace detail {
[[nodiscard]] Value set_valid_tile(const Value& tile, const Index& valid, const std::source_location& where);
[[nodiscard]] Value fillpad_tile(const Value& tile, trilith::codegen::Fill fill,
                                 const std::source_location& where);
}  // namespace detail

/// x with all of its cells valid: those that were not are `pad`. Every dtype and rank.
template <class T>
[[nodiscard]] Tile<T> fillpad(const Tile<T>& x, Pad pad,
                              std::source_location where = std::source_location::current()) {
  return Tile<T>(detail::fillpad_tile(x.value(), static_cast<trilith::codegen::Fill>(pad), where));
}

/// x, of which only what lies inside `extents` stays valid; one extent for each axis, which may be a run-time number.
/// A valid shape only becomes smaller. Every dtype and rank; ShapeError where the count of extents is not the rank.
template <class T>
[[nodiscard]] Tile<T> set_valid(const Tile<T>& x, const Index& extents,
                                std::source_location where = std::source_location::current()) {
  return Tile<T>(detail::set_valid_tile(x.value(), extents, where));
}

}  // namespace pl
