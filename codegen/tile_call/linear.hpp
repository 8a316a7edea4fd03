// codegen/tile_call/linear.hpp -- what the operations of linear algebra have in common: a sum over one axis of each
// operand. The rule, the reference and the emitters read the axes from here.
#pragma once

#include "codegen/ir.hpp"

#include <cstddef>

namespace trilith::codegen {

/// The dtype that products of this one are summed in, and that they give.
[[nodiscard]] constexpr DType product_dtype(DType dtype) {
  if (dtype == DType::Int8) return DType::Int32;
  return dtype == DType::Float16 || dtype == DType::BFloat16 ? DType::Float32 : dtype;
}

/// Where the matrices of a product lie: operands, and their axes counted from the front; -1: a vector has none.
struct ProductAxes {
  std::size_t a = 0, b = 1;  ///< operands
  int start = -1;            ///< the operand that the sum starts with, or -1
  int m = -1, a_k = -1;      ///< axes of a
  int b_k = -1, n = -1;      ///< axes of b
};
[[nodiscard]] inline ProductAxes product_axes(Op op, const Attributes& attributes, std::size_t rank_a,
                                              std::size_t rank_b) {
  ProductAxes axes;
  if (op == Op::MatmulAcc) axes = {1, 2, 0, -1, -1, -1, -1};
  if (op == Op::MatmulBias) axes.start = 2;
  const int a = static_cast<int>(rank_a), b = static_cast<int>(rank_b);
  if (op == Op::Dot || (op == Op::Gemv && a == 1)) {
    axes.a_k = a - 1;
  } else {
    axes.m = attributes.trans_a ? a - 1 : a - 2;
    axes.a_k = attributes.trans_a ? a - 2 : a - 1;
  }
  if (op == Op::Dot || (op == Op::Gemv && b == 1)) {
    axes.b_k = b - 1;
  } else {
    axes.b_k = attributes.trans_b ? b - 1 : b - 2;
    axes.n = attributes.trans_b ? b - 2 : b - 1;
  }
  return axes;
}

}  // namespace trilith::codegen
