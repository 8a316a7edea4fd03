// trilith/matmul.hpp -- matrix products: C = start + A * B.
//
// Included only by kernels that multiply matrices. The way is chosen from what the kernel's shape says:
//   lines   one operand has at most four rows (columns) and both run along K: dot products
//   stream  one row times a large matrix with contiguous rows, or one whose columns are times a column
//   direct  small matrices: register tiles straight from memory
//   packed  everything else: blocks of both operands are copied into panels that fit the caches
// All but `lines` sum along K in order, one FMA an element (a multiplication and an addition where the target has no
// FMA), so their bits depend on nothing else. Nothing outside the matrices is read or written.
#pragma once

#include "matmul_lines.hpp"
#include "matmul_pack.hpp"
#include "matmul_tile.hpp"

namespace trilith::device {

template <std::int64_t M, std::int64_t N, std::int64_t K, class Left, class Right>
struct Product {
  using A = product::Accumulator<typename Left::Element>;

  [[no_unique_address]] Number<M> m;
  [[no_unique_address]] Number<N> n;
  [[no_unique_address]] Number<K> k;
  Left left;
  Right right;

  /// Elements of A that `run` needs to work in.
  TRILITH_INLINE std::int64_t workspace() const {
    if constexpr (way == Way::Packed) {
      const Blocks size = blocks();
      return left_panels_size(size) + size.columns * size.depth;
    } else {
      return 0;
    }
  }

  /// to(i, j) = start(i, j) + sum over k of left(i, k) * right(k, j). A null start means zeros; its rows lie
  /// `start_row` apart (0: one row for all, a bias). Rows of `to` are contiguous, `to_row` apart (1 if N is 1);
  /// `to` and `start` may be the same matrix but must not overlap otherwise, nor `to` the operands.
  TRILITH_INLINE void run(A* to, std::int64_t to_row, const A* start, std::int64_t start_row,
                          A* workspace) const {
    const product::Start<A> from{start, start_row};
    if (m <= 0 || n <= 0) return;
    if (k <= 0) return fill(to, to_row, from);
    if constexpr (way == Way::Lines) {
      if constexpr (M != dynamic && M <= most_lines)
        product::dot_products<static_cast<int>(M), N, A>(left.data, left.row, right.data, right.column, n, k,
                                                         start, start_row, 1, to, to_row, 1);
      else
        product::dot_products<static_cast<int>(N), M, A>(right.data, right.column, left.data, left.row, m, k,
                                                         start, 1, start_row, to, 1, to_row);
    } else if constexpr (way == Way::StreamRow) {
      product::row_times_matrix<A>(left, right, k, n, start, to);
    } else if constexpr (way == Way::StreamColumn) {
      if (start != nullptr && start_row != 1) {
        fill(to, 1, from);
        start = to;
      }
      product::row_times_matrix<A>(right.transposed(), left.transposed(), k, m, start, to);
    } else if constexpr (way == Way::Direct) {
      direct(to, to_row, from);
    } else if constexpr (way == Way::Packed) {
      packed(to, to_row, from, workspace);
    }
  }

 private:
  enum class Way { Empty, Lines, StreamRow, StreamColumn, Direct, Packed };
  static constexpr std::int64_t most_lines = 4;
  static constexpr std::int64_t size = sizeof(A);
  /// Operands up to this many bytes stay in the first-level cache well enough without packing.
  static constexpr std::int64_t small = 64 << 10;

  static constexpr bool is_small() {
    // Narrow elements are widened once, while they are packed.
    constexpr bool narrow = !std::is_same_v<typename Left::Element, A>;
    if constexpr (M == dynamic || N == dynamic || K == dynamic || narrow)
      return false;
    else
      return M * K <= small / size && K * N <= small / size && M * N <= small / size;
  }

  static constexpr Way choose() {
    if (M == 0 || N == 0 || K == 0) return Way::Empty;
    const bool few = (M != dynamic && M <= most_lines) || (N != dynamic && N <= most_lines);
    if (few && Left::column_step == 1 && Right::row_step == 1) return Way::Lines;
    if (Right::column_step == 1 && is_small()) return Way::Direct;
    if (Right::column_step == 1 && M == 1) return Way::StreamRow;
    if (Left::row_step == 1 && N == 1) return Way::StreamColumn;
    return Way::Packed;
  }
  static constexpr Way way = choose();

  static constexpr std::int64_t vectors = N == dynamic ? dynamic : product::parts(N, lanes<A>);
  static constexpr product::TileShape tile = product::tile_shape(M, vectors);
  static constexpr std::int64_t width = tile.vectors * lanes<A>;

  TRILITH_INLINE void fill(A* to, std::int64_t to_row, product::Start<A> start) const {
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        to[i * to_row + j] = start.data == nullptr ? A(0) : start.data[i * start.row + j];
  }

  template <int Rows, int Vectors, bool Partial>
  TRILITH_INLINE void direct_tile(std::int64_t i, std::int64_t j, std::int64_t columns, A* to,
                                  std::int64_t to_row, product::Start<A> start) const {
    Left a = left;
    Right b = right;
    a.data = left.at(i, 0);
    b.data = right.at(0, j);
    product::multiply_tile<Rows, Vectors, Partial, A>(a, b, k, Rows, columns, start.at(i, j),
                                                      to + i * to_row + j, to_row);
  }

  template <int Vectors, bool Partial>
  TRILITH_INLINE void direct_column(std::int64_t j, std::int64_t columns, A* to, std::int64_t to_row,
                                    product::Start<A> start) const {
    constexpr int rows = static_cast<int>(tile.rows);
    // `tall` tiles of all rows, the others one row less: no tile is much smaller than the best.
    constexpr std::int64_t count = product::parts(M, rows), tall = M - count * (rows - 1);
    std::int64_t i = 0;
    for (; i < tall * rows; i += rows) direct_tile<rows, Vectors, Partial>(i, j, columns, to, to_row, start);
    if constexpr (tall < count)
      for (; i < M; i += rows - 1) direct_tile<rows - 1, Vectors, Partial>(i, j, columns, to, to_row, start);
  }

  TRILITH_INLINE void direct(A* to, std::int64_t to_row, product::Start<A> start) const {
    constexpr std::int64_t last = (product::parts(N, width) - 1) * width;
    for (std::int64_t j = 0; j < last; j += width)
      direct_column<static_cast<int>(tile.vectors), false>(j, width, to, to_row, start);
    constexpr std::int64_t columns = N - last;
    direct_column<static_cast<int>(product::parts(columns, lanes<A>)), columns % lanes<A> != 0>(
        last, columns, to, to_row, start);
  }

  struct Blocks {
    std::int64_t rows, columns, depth;  ///< rows and columns: whole tiles
  };
  /// In elements; the right panels behind them begin at a register's boundary, if the workspace does.
  static std::int64_t left_panels_size(const Blocks& block) {
    return product::parts(block.rows * block.depth, lanes<A>) * lanes<A>;
  }
  /// A panel of the right operand stays in the first-level cache, the left block in the second, the right block in
  /// the last; together they are less than the scratch memory that a thread keeps from call to call (1 MiB).
  TRILITH_INLINE Blocks blocks() const {
    constexpr std::int64_t panel_bytes = 24 << 10, left_bytes = 192 << 10, right_bytes = 768 << 10;
    Blocks block{};
    block.depth = product::evenly(k, panel_bytes / (width * size));
    const std::int64_t row_bytes = block.depth * size;
    block.rows =
        product::evenly(product::parts(m, tile.rows), left_bytes / (tile.rows * row_bytes)) * tile.rows;
    block.columns = product::evenly(product::parts(n, width), right_bytes / (width * row_bytes)) * width;
    return block;
  }

  inline __attribute__((noinline)) void packed(A* to, std::int64_t to_row, product::Start<A> start,
                                               A* workspace) const {
    constexpr int rows = static_cast<int>(tile.rows), columns = static_cast<int>(width);
    const Blocks block = blocks();
    A* const left_panels = workspace;
    A* const right_panels = workspace + left_panels_size(block);
    for (std::int64_t j0 = 0; j0 < n; j0 += block.columns) {
      const std::int64_t j_count = product::smaller(n - j0, block.columns);
      for (std::int64_t k0 = 0; k0 < k; k0 += block.depth) {
        const std::int64_t depth = product::smaller(k - k0, block.depth);
        const product::Start<A> from = k0 == 0 ? start : product::Start<A>{to, to_row};
        Right b = right;
        b.data = right.at(k0, j0);
        product::pack<columns, A>(b.transposed(), j_count, depth, right_panels);
        for (std::int64_t i0 = 0; i0 < m; i0 += block.rows) {
          const std::int64_t i_count = product::smaller(m - i0, block.rows);
          Left a = left;
          a.data = left.at(i0, k0);
          product::pack<rows, A>(a, i_count, depth, left_panels);
          for (std::int64_t j = 0; j < j_count; j += columns)
            for (std::int64_t i = 0; i < i_count; i += rows)
              product::multiply_tile<rows, static_cast<int>(tile.vectors), false, A>(
                  matrix<1, rows>(left_panels + i * depth), matrix<columns, 1>(right_panels + j * depth),
                  depth, product::smaller(i_count - i, rows), product::smaller(j_count - j, columns),
                  from.at(i0 + i, j0 + j), to + (i0 + i) * to_row + j0 + j, to_row);
        }
      }
    }
  }
};

/// The product of an M x K and a K x N matrix: `matrix_product<64, dynamic, 32>(left, right, 64, n, 32)`.
template <std::int64_t M, std::int64_t N, std::int64_t K, class Left, class Right>
TRILITH_INLINE Product<M, N, K, Left, Right> matrix_product(Left left, Right right, std::int64_t m = M,
                                                            std::int64_t n = N, std::int64_t k = K) {
  return {{m}, {n}, {k}, left, right};
}

}  // namespace trilith::device
