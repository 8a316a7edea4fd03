// runtime/pl/ops_generate.hpp -- tiles made from numbers: counting, triangles, random numbers.
//
//   auto columns = pl::arange<std::int32_t>({1, 64});            // 0, 1, ..., 63
//   auto causal  = pl::tri<bool>(64, 64);                        // true on and below the diagonal
//   auto noise   = pl::random<float>({8, 64}, seed, counter);    // the same numbers for the same seed and counter
//
// Extents may be run-time integers. Errors: ShapeError for a negative extent.
#pragma once

#include "pl/detail/tile_call.hpp"

namespace pl {

/// Element [.., j] is start + T(j) * step (each step rounded once; integers wrap): rows that count. Numeric.
template <class T, class A = int, class B = int>
[[nodiscard]] Tile<T> arange(const Index& shape, const A& start = 0, const B& step = 1,
                             std::source_location where = std::source_location::current()) {
  constexpr DType dtype = trilith::codegen::dtype_of<T>;
  return detail::tile_call<T>(
      detail::Op::Arange,
      {shape.values(), detail::to_value<T>(start, dtype, where), detail::to_value<T>(step, dtype, where)}, {},
      where);
}

/// [rows, cols], 1 (true) where j <= i + diagonal, else 0; with `upper` where j >= i + diagonal. Every dtype.
template <class T>
[[nodiscard]] Tile<T> tri(const Extent& rows, const Extent& cols, const Extent& diagonal = 0,
                          bool upper = false, std::source_location where = std::source_location::current()) {
  detail::Attributes attributes;
  attributes.upper = upper;
  return detail::tile_call<T>(
      detail::Op::Tri,
      {trilith::codegen::Shape{rows.value, cols.value}, detail::Value::scalar(diagonal.value)}, attributes,
      where);
}

/// Philox4x32-10 with the key `seed` and, for element i in row-major order, word i % 4 of block counter + i / 4 (of
/// 8-byte dtypes two words, low one first, of block counter + i / 2). Floats: uniform in [0, 1), the high bits of the
/// words; integers: all bits. Numeric. Tiles of n elements use ceil(n / 4) counters (8-byte dtypes: ceil(n / 2)).
template <class T>
[[nodiscard]] Tile<T> random(const Index& shape, const Extent& seed, const Extent& counter,
                             std::source_location where = std::source_location::current()) {
  return detail::tile_call<T>(
      detail::Op::Random,
      {shape.values(), detail::Value::scalar(seed.value), detail::Value::scalar(counter.value)}, {}, where);
}

}  // namespace pl
