// trilith/matmul_lines.hpp -- products that read each element of a large operand once: a row times a matrix, and
// dot products of lines that run along K.
#pragma once

#include "matmul_tile.hpp"
#include "reduce.hpp"

namespace trilith::device::product {

/// `to` += the sum of Rows elements of the left row times as many rows of the right matrix, first to last.
template <int Rows, class A, class Left, class Right>
TRILITH_INLINE void add_rows(Left left, Right right, std::int64_t k, std::int64_t columns, const A* start,
                             A* to) {
  constexpr int n = lanes<A>;
  Vector<A> each[Rows];
  for (int i = 0; i < Rows; ++i) each[i] = native::splat<A>(widen_one<A>(*left.at(0, k + i)));
  std::int64_t j = 0;
  for (; j + n <= columns; j += n) {
    Vector<A> sum = start == nullptr ? Vector<A>{} : native::load<A>(start + j);
    TRILITH_UNROLL
    for (int i = 0; i < Rows; ++i) sum = multiply_add<A>(each[i], widen<A>(right.at(k + i, j)), sum);
    native::store<A>(to + j, sum);
  }
  if (j < columns) {
    const int rest = static_cast<int>(columns - j);
    Vector<A> sum = start == nullptr ? Vector<A>{} : native::load_partial<A>(start + j, rest, A(0));
    for (int i = 0; i < Rows; ++i)
      sum = multiply_add<A>(each[i], widen_partial<A>(right.at(k + i, j), rest), sum);
    native::store_partial<A>(to + j, sum, rest);
  }
}

/// A row times a matrix whose rows are contiguous. The matrix streams through in the order of its memory; the sums
/// are those of a tile.
template <class A, class Left, class Right>
inline void row_times_matrix(Left left, Right right, std::int64_t depth, std::int64_t columns, const A* start,
                             A* to) {
  constexpr int together = 8;
  std::int64_t k = 0;
  for (; k + together <= depth; k += together) {
    add_rows<together, A>(left, right, k, columns, start, to);
    start = to;
  }
  for (; k < depth; ++k) {
    add_rows<1, A>(left, right, k, columns, start, to);
    start = to;
  }
}

/// Dot products of Few lines with Many others, all contiguous along K. The order: element k is summed in lane
/// k % (Chains * lanes), the chains are added up first to last, then the lanes as `reduce_add` does.
template <int Few, int Many, int Chains, class A, class Left, class Right>
inline void dot_lines(const Left* few, std::int64_t few_step, const Right* many, std::int64_t many_step,
                      std::int64_t depth, A (&result)[Few][Many]) {
  constexpr int n = lanes<A>;
  Vector<A> sums[Chains][Few][Many] = {};
  const auto step = [&](std::int64_t k, Vector<A>(&into)[Few][Many], const auto& read) {
    Vector<A> a[Few];
    TRILITH_UNROLL
    for (int i = 0; i < Few; ++i) a[i] = read(few + i * few_step + k);
    TRILITH_UNROLL
    for (int j = 0; j < Many; ++j) {
      const Vector<A> b = read(many + j * many_step + k);
      TRILITH_UNROLL
      for (int i = 0; i < Few; ++i) into[i][j] = multiply_add<A>(a[i], b, into[i][j]);
    }
  };
  const auto whole = [](const auto* from) __attribute__((always_inline)) { return widen<A>(from); };
  std::int64_t k = 0;
  for (; k + Chains * n <= depth; k += Chains * n) {
    TRILITH_UNROLL
    for (int c = 0; c < Chains; ++c) step(k + c * n, sums[c], whole);
  }
  TRILITH_UNROLL
  for (int c = 0; c < Chains; ++c) {
    const std::int64_t rest = depth - k - c * n;
    if (rest > 0)
      step(k + c * n, sums[c],
           [rest](const auto* from) __attribute__((always_inline)) { return widen_partial<A>(from, rest); });
  }
  TRILITH_UNROLL
  for (int i = 0; i < Few; ++i) {
    TRILITH_UNROLL
    for (int j = 0; j < Many; ++j) {
      Vector<A> total = sums[0][i][j];
      TRILITH_UNROLL
      for (int c = 1; c < Chains; ++c) {
        using U = Vector<std::conditional_t<std::is_integral_v<A>, native::Unsigned<A>, A>>;
        total = (Vector<A>)((U)total + (U)sums[c][i][j]);
      }
      result[i][j] = reduce_add(native::wrap<A>(total));
    }
  }
}

/// Few and many lines along K: result (i, j) goes to to[i * few_row + j * many_row].
template <int Few, std::int64_t Count, class A, class Left, class Right>
inline void dot_products(const Left* few, std::int64_t few_step, const Right* many, std::int64_t many_step,
                         std::int64_t count, std::int64_t depth, const A* start, std::int64_t start_few,
                         std::int64_t start_many, A* to, std::int64_t to_few, std::int64_t to_many) {
  constexpr int together = Count != dynamic && Count < 4 ? 1 : 4;
  constexpr int chains = static_cast<int>(parts(8, Few * together));
  const auto some = [&]<int Many>(std::int64_t j) {
    A result[Few][Many];
    dot_lines<Few, Many, chains, A>(few, few_step, many + j * many_step, many_step, depth, result);
    for (int i = 0; i < Few; ++i)
      for (int m = 0; m < Many; ++m) {
        const A first = start == nullptr ? A(0) : start[i * start_few + (j + m) * start_many];
        using U = std::conditional_t<std::is_integral_v<A>, std::uint32_t, A>;
        to[i * to_few + (j + m) * to_many] =
            static_cast<A>(static_cast<U>(first) + static_cast<U>(result[i][m]));
      }
  };
  std::int64_t j = 0;
  for (; j + together <= count; j += together) some.template operator()<together>(j);
  if constexpr (together > 1)
    for (; j < count; ++j) some.template operator()<1>(j);
}

}  // namespace trilith::device::product
