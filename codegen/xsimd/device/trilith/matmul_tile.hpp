// trilith/matmul_tile.hpp -- one tile of a matrix product in registers, and how large it is.
#pragma once

#include "matmul_operand.hpp"

namespace trilith::device::product {

#if defined(__AVX512F__) || defined(__aarch64__)
inline constexpr std::int64_t registers = 32;
#else
inline constexpr std::int64_t registers = 16;
#endif

/// Rows and vectors of columns of a tile. Every sum, one row of the right matrix and one element of the left must
/// fit in the registers; eight sums or more hide the latency of the FMA.
struct TileShape {
  std::int64_t rows, vectors;
};
/// The best shape for m rows of `vectors` vectors; `dynamic`: many.
constexpr TileShape tile_shape(std::int64_t m, std::int64_t vectors) {
  const std::int64_t many = 1000;
  if (m == dynamic) m = many;
  if (vectors == dynamic) vectors = many;
  if (m < 1) m = 1;
  if (vectors < 1) vectors = 1;
  TileShape shape{};
  const std::int64_t narrow = smaller(vectors, 2);
  // One tile more than needed may leave fewer rows of the last one empty.
  const std::int64_t most = smaller(16, (registers - 1 - narrow) / narrow), fewest = parts(m, most);
  shape.rows = parts(m, fewest);
  for (std::int64_t tiles = fewest + 1; tiles <= fewest + 2; ++tiles)
    if (const std::int64_t rows = parts(m, tiles);
        4 * rows >= 3 * most && tiles * rows < parts(m, shape.rows) * shape.rows)
      shape.rows = rows;
  shape.vectors = evenly(vectors, smaller(8, (registers - 1) / (shape.rows + 1)));
  return shape;
}

/// Where a tile begins: `row` elements from one row to the next; null: zeros.
template <class A>
struct Start {
  const A* data;
  std::int64_t row;
  TRILITH_INLINE Start at(std::int64_t i, std::int64_t j) const {
    return {data == nullptr ? nullptr : data + i * row + j, row};
  }
};

/// Rows from one place to another, `columns` elements each.
template <class A>
inline __attribute__((noinline)) void copy_rows(const A* from, std::int64_t from_row, A* to,
                                                std::int64_t to_row, std::int64_t rows,
                                                std::int64_t columns) {
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) to[i * to_row + j] = from[i * from_row + j];
}

/// to = start + left * right for a tile of at most Rows x Vectors registers: `rows` and `columns` of it exist in `to`
/// and `start`. The left operand has all Rows (a packed one repeats some); the right has all columns unless
/// Partial. Each sum runs along K from its first element to its last, by FMA.
template <int Rows, int Vectors, bool Partial, class A, class Left, class Right>
inline __attribute__((noinline)) void multiply_tile(Left left, Right right, std::int64_t depth,
                                                    std::int64_t rows, std::int64_t columns, Start<A> start,
                                                    A* to, std::int64_t to_row) {
  constexpr int n = lanes<A>;
  constexpr std::int64_t width = Vectors * n;
  alignas(64) A edge[Rows * width];
  const bool whole = rows == Rows && columns == width;
  Vector<A> sums[Rows][Vectors];
  if (start.data == nullptr) {
    TRILITH_UNROLL
    for (int i = 0; i < Rows; ++i) {
      TRILITH_UNROLL
      for (int j = 0; j < Vectors; ++j) sums[i][j] = Vector<A>{};
    }
  } else {
    if (!whole) {
      copy_rows<A>(start.data, start.row, edge, width, rows, columns);
      start = {edge, width};
    }
    TRILITH_UNROLL
    for (int i = 0; i < Rows; ++i) {
      TRILITH_UNROLL
      for (int j = 0; j < Vectors; ++j) sums[i][j] = native::load<A>(start.data + i * start.row + j * n);
    }
  }
  // The tile below is next, as a rule: its result's lines are on their way while this one is summed.
  TRILITH_UNROLL
  for (int i = 0; i < Rows; ++i) {
    const A* const next = to + (Rows + i) * to_row;
    TRILITH_UNROLL
    for (int j = 0; j < Vectors; ++j) __builtin_prefetch(next + j * n, 1);
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    Vector<A> factor[Vectors];
    TRILITH_UNROLL
    for (int j = 0; j < Vectors; ++j) {
      if constexpr (Partial)
        factor[j] = widen_partial<A>(right.at(k, j * n), columns - j * n);
      else
        factor[j] = widen<A>(right.at(k, j * n));
    }
    TRILITH_UNROLL
    for (int i = 0; i < Rows; ++i) {
      const Vector<A> each = native::splat<A>(widen_one<A>(*left.at(i, k)));
      TRILITH_UNROLL
      for (int j = 0; j < Vectors; ++j) sums[i][j] = multiply_add<A>(each, factor[j], sums[i][j]);
    }
  }
  A* const end = whole ? to : edge;
  const std::int64_t end_row = whole ? to_row : width;
  TRILITH_UNROLL
  for (int i = 0; i < Rows; ++i) {
    TRILITH_UNROLL
    for (int j = 0; j < Vectors; ++j) native::store<A>(end + i * end_row + j * n, sums[i][j]);
  }
  if (!whole) copy_rows<A>(edge, width, to, to_row, rows, columns);
}

}  // namespace trilith::device::product
