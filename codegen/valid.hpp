// codegen/valid.hpp -- valid shapes: which axes of an operation's operands run together.
//
// A tile has the shape it was made with and a valid shape, a box at its origin (pl::load with {.clamp} or {.valid},
// pl::set_valid). Behind the capture a tile is nothing but its valid box: the specialiser (Type::physical) and the
// reference operations (Value::physical) carry the other shape beside it, check shapes with it and give it back to
// `fillpad`. So no operation ever sees a cell that is not valid. Operands whose valid boxes differ are cut to what all
// of them have. Pure functions.
#pragma once

#include "codegen/ir.hpp"

#include <utility>
#include <vector>

namespace trilith::codegen {

struct ValidAxes {
  /// The operation needs every cell along this axis: a partly valid tile is refused.
  static constexpr int whole = -1;
  /// An axis of extent 1 that repeats along the axes of a label.
  [[nodiscard]] static constexpr int repeats(int label) { return -2 - label; }

  /// For each operand that is a tile, one label an axis: axes of one label have one valid extent, the least.
  std::vector<std::vector<int>> operands;
  /// Items of the operation's shape list that mean "all of axis `second` of operand 0": its valid extent.
  std::vector<std::pair<std::size_t, std::size_t>> followed;
  /// An operand of which only the valid box is used, whatever it was made with; -1: none.
  int boxed = -1;
};

/// `call` has operands of the shapes they were made with.
[[nodiscard]] ValidAxes valid_axes(const Expr& call);

/// The scalar that `fill` means in a tile of `dtype`.
[[nodiscard]] Constant fill_value(Fill fill, DType dtype);

}  // namespace trilith::codegen
