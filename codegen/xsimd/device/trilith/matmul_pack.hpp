// trilith/matmul_pack.hpp -- copies a block of an operand into panels: `Width` rows of the left matrix (columns of
// the right one) side by side, one step along K after the other, in the order the tiles read them.
#pragma once

#include "matmul_operand.hpp"

#include <utility>

namespace trilith::device::product {

template <int Step, bool High, class V, int... Lane>
TRILITH_INLINE V exchanged(V a, V b, std::integer_sequence<int, Lane...>) {
  constexpr int count = sizeof...(Lane);
  if constexpr (High)
    return __builtin_shufflevector(a, b, ((Lane & Step) ? count + Lane : Lane + Step)...);
  else
    return __builtin_shufflevector(a, b, ((Lane & Step) ? count + Lane - Step : Lane)...);
}

template <class A, int Step>
TRILITH_INLINE void exchange(Vector<A> (&rows)[lanes<A>]) {
  if constexpr (Step < lanes<A>) {
    using Lanes = std::make_integer_sequence<int, lanes<A>>;
    TRILITH_UNROLL
    for (int i = 0; i < lanes<A>; ++i) {
      if ((i & Step) != 0) continue;
      const Vector<A> first = rows[i], second = rows[i + Step];
      rows[i] = exchanged<Step, false>(first, second, Lanes());
      rows[i + Step] = exchanged<Step, true>(first, second, Lanes());
    }
    exchange<A, 2 * Step>(rows);
  }
}

/// to[k * width + i] = from[i * step + k] for i in [0, count), k in [0, depth); both at most a register's lanes,
/// count at least 1. Elements of `to` from count to `room` become copies of the last.
template <class A, class T>
inline __attribute__((noinline)) void transpose_block(const T* from, std::int64_t step, std::int64_t count,
                                                      std::int64_t depth, A* to, std::int64_t width,
                                                      std::int64_t room) {
  constexpr int n = lanes<A>;
  if (depth < n) {
    for (std::int64_t k = 0; k < depth; ++k)
      for (std::int64_t i = 0; i < room; ++i)
        to[k * width + i] = widen_one<A>(from[smaller(i, count - 1) * step + k]);
    return;
  }
  Vector<A> rows[n];
  TRILITH_UNROLL
  for (int i = 0; i < n; ++i) rows[i] = widen<A>(from + smaller(i, count - 1) * step);
  exchange<A, 1>(rows);
  if (room >= n) {
    TRILITH_UNROLL
    for (int k = 0; k < n; ++k) native::store<A>(to + k * width, rows[k]);
  } else {
    TRILITH_UNROLL
    for (int k = 0; k < n; ++k) native::store_partial<A>(to + k * width, rows[k], static_cast<int>(room));
  }
}

/// The block of `count` rows and `depth` columns of `from`, as panels [row / Width][column][row % Width] of A. What
/// the last panel has beyond `count` is some finite or repeated value: its products are never stored.
template <int Width, class A, class Source>
inline __attribute__((noinline)) void pack(Source from, std::int64_t count, std::int64_t depth, A* to) {
  constexpr int n = lanes<A>;
  const std::int64_t panels = parts(count, Width);
  if constexpr (Source::row_step == 1) {
    for (std::int64_t panel = 0; panel < panels; ++panel) {
      const std::int64_t left = count - panel * Width;
      A* out = to + panel * depth * Width;
      for (std::int64_t k = 0; k < depth; ++k, out += Width) {
        const auto* in = from.at(panel * Width, k);
        if (left >= Width && Width % n == 0) {
          TRILITH_UNROLL
          for (int i = 0; i < Width; i += n) native::store<A>(out + i, widen<A>(in + i));
        } else {
          for (int i = 0; i < Width; i += n)
            native::store_partial<A>(out + i, widen_partial<A>(in + i, left - i), Width - i);
        }
      }
    }
  } else if constexpr (Source::column_step == 1) {
    for (std::int64_t panel = 0; panel < panels; ++panel) {
      A* const out = to + panel * depth * Width;
      for (std::int64_t i = 0; i < Width; i += n) {
        const std::int64_t row = smaller(panel * Width + i, count - 1);
        for (std::int64_t k = 0; k < depth; k += n)
          transpose_block<A>(from.at(row, k), from.row, smaller(count - row, n), smaller(depth - k, n),
                             out + k * Width + i, Width, smaller(Width - i, n));
      }
    }
  } else {
    for (std::int64_t panel = 0; panel < panels; ++panel)
      for (std::int64_t k = 0; k < depth; ++k)
        for (std::int64_t i = 0; i < Width; ++i)
          to[(panel * depth + k) * Width + i] =
              widen_one<A>(*from.at(smaller(panel * Width + i, count - 1), k));
  }
}

}  // namespace trilith::device::product
