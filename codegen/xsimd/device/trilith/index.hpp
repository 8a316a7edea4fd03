// trilith/index.hpp -- choosing elements by position and finding positions by value.
//
// Tiles are dense and row-major, seen as outer × extent × inner around the axis. Indices may be of any
// integer dtype; those that lie outside are found before any element is read or written at them, and the
// first in row-major order is reported.
#pragma once

#include "kernel.hpp"

namespace trilith::device {

/// An index that lies outside of [0, bound).
struct BadIndex {
  std::int64_t given = 0;
  std::int64_t bound = 0;
  bool in_table = false;  ///< of paged_gather: the position in the block table, not its entry
};

namespace index {

template <class I>
TRILITH_INLINE bool outside(I index, std::int64_t bound) {
  if constexpr (sizeof(I) == 8) return static_cast<std::uint64_t>(index) >= static_cast<std::uint64_t>(bound);
  return static_cast<std::int64_t>(index) < 0 || static_cast<std::int64_t>(index) >= bound;
}

/// Finds the first of `count` indices that lies outside.
template <class I>
inline bool all_inside(const I* indices, std::int64_t count, std::int64_t bound, BadIndex& bad) {
  constexpr std::int64_t block = 64;  // few enough to stay in the cache, many enough for whole vectors
  std::int64_t at = 0;
  for (; at + block <= count; at += block) {
    bool any = false;
    for (std::int64_t i = 0; i < block; ++i) any |= outside(indices[at + i], bound);
    if (any) break;
  }
  for (; at < count; ++at)
    if (outside(indices[at], bound)) {
      bad = {static_cast<std::int64_t>(indices[at]), bound, false};
      return false;
    }
  return true;
}

/// a comes before b in a search for the largest or the smallest: a NaN before every number.
template <bool largest, class T>
TRILITH_INLINE bool beats(T a, T b) {
  return (largest ? b < a : a < b) | ((a != a) & (b == b));
}

/// Copies `count` elements of stride `stride`; memory of others may hold any byte for a true bool.
template <class T>
TRILITH_INLINE void copy_line(T* to, const T* from, std::int64_t count, std::int64_t stride) {
  if constexpr (std::is_same_v<T, bool>) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(from);
    for (std::int64_t i = 0; i < count; ++i) to[i] = bytes[i * stride] != 0;
  } else if (stride == 1) {
    __builtin_memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
  } else {
    for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * stride];
  }
}

/// Copies a strided block of `rank` axes to dense memory.
template <class T>
inline void copy_block(T* to, const T* from, int rank, const std::int64_t* extents,
                       const std::int64_t* strides) {
  // Axes that lie one behind the other are one.
  std::int64_t size[8] = {1}, step[8] = {1};
  int axes = 0;
  for (int axis = 0; axis < rank; ++axis) {
    if (extents[axis] == 0) return;
    if (axes > 0 && step[axes - 1] == strides[axis] * extents[axis]) {
      size[axes - 1] *= extents[axis];
      step[axes - 1] = strides[axis];
    } else {
      size[axes] = extents[axis];
      step[axes] = strides[axis];
      ++axes;
    }
  }
  if (axes == 0) axes = 1;
  std::int64_t at[8] = {};
  for (;;) {
    copy_line(to, from, size[axes - 1], step[axes - 1]);
    to += size[axes - 1];
    int axis = axes - 2;
    for (; axis >= 0; --axis) {
      from += step[axis];
      if (++at[axis] < size[axis]) break;
      from -= step[axis] * size[axis];
      at[axis] = 0;
    }
    if (axis < 0) return;
  }
}

}  // namespace index

/// Position of the best element of each line, the first of equals, the first NaN if any; -1 in empty lines.
template <class T, bool largest>
inline void argument(std::int32_t* out, const T* x, std::int64_t outer, std::int64_t extent,
                     std::int64_t inner) {
  constexpr std::int64_t width = 64 / sizeof(T);
  if (extent == 0) {
    for (std::int64_t i = 0; i < outer * inner; ++i) out[i] = -1;
    return;
  }
  for (std::int64_t o = 0; o < outer; ++o, x += extent * inner, out += inner) {
    if (inner == 1) {
      // The best value first, one candidate a lane, then the first element that equals it.
      T best = x[0];
      std::int64_t at = 0;
      if (extent >= width) {
        T lane[width];
        for (std::int64_t i = 0; i < width; ++i) lane[i] = x[i];
        for (at = width; at + width <= extent; at += width)
          for (std::int64_t i = 0; i < width; ++i)
            lane[i] = index::beats<largest>(x[at + i], lane[i]) ? x[at + i] : lane[i];
        for (std::int64_t i = 0; i < width; ++i)
          if (index::beats<largest>(lane[i], best)) best = lane[i];
      }
      for (; at < extent; ++at)
        if (index::beats<largest>(x[at], best)) best = x[at];
      const auto found = [best](T value) { return (value == best) | ((value != value) & (best != best)); };
      std::int64_t first = 0;
      for (; first + width <= extent; first += width) {
        bool any = false;
        for (std::int64_t i = 0; i < width; ++i) any |= found(x[first + i]);
        if (any) break;
      }
      while (!found(x[first])) ++first;
      out[0] = static_cast<std::int32_t>(first);
      continue;
    }
    for (std::int64_t begin = 0; begin < inner; begin += width) {
      const std::int64_t columns = begin + width < inner ? width : inner - begin;
      T best[width];
      std::int32_t position[width];
      for (std::int64_t i = 0; i < columns; ++i) {
        best[i] = x[begin + i];
        position[i] = 0;
      }
      for (std::int64_t at = 1; at < extent; ++at) {
        const T* const row = x + at * inner + begin;
        for (std::int64_t i = 0; i < columns; ++i) {
          const bool better = index::beats<largest>(row[i], best[i]);
          best[i] = better ? row[i] : best[i];
          position[i] = better ? static_cast<std::int32_t>(at) : position[i];
        }
      }
      for (std::int64_t i = 0; i < columns; ++i) out[begin + i] = position[i];
    }
  }
}

/// Running sums of each line in index order; floats in double, rounded once each.
template <class T>
inline void cumsum(T* out, const T* x, std::int64_t outer, std::int64_t extent, std::int64_t inner) {
  using Sum = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;
  constexpr std::int64_t width = 16;
  for (std::int64_t o = 0; o < outer; ++o, x += extent * inner, out += extent * inner)
    for (std::int64_t begin = 0; begin < inner; begin += width) {
      const std::int64_t columns = begin + width < inner ? width : inner - begin;
      Sum sum[width] = {};
      for (std::int64_t at = 0; at < extent; ++at)
        for (std::int64_t i = 0; i < columns; ++i) {
          const std::int64_t element = at * inner + begin + i;
          sum[i] += static_cast<Sum>(x[element]);
          out[element] = static_cast<T>(sum[i]);
        }
    }
}

/// out[o][j][i] = x[o][indices[o][j][i]][i]; `count` is the extent of out and of the indices.
template <class T, class I>
inline bool gather(T* out, const T* x, const I* indices, std::int64_t outer, std::int64_t extent,
                   std::int64_t count, std::int64_t inner, BadIndex& bad) {
  if (!index::all_inside(indices, outer * count * inner, extent, bad)) return false;
  for (std::int64_t o = 0; o < outer; ++o, x += extent * inner)
    for (std::int64_t j = 0; j < count; ++j, indices += inner, out += inner)
      for (std::int64_t i = 0; i < inner; ++i) out[i] = x[static_cast<std::int64_t>(indices[i]) * inner + i];
  return true;
}

/// out[j] = rows[indices[j]], where a row is a block of `rank` axes and rows are `stride` apart.
template <class T, class I>
inline bool gather_row(T* out, const T* rows, const I* indices, std::int64_t count, std::int64_t extent,
                       std::int64_t stride, int rank, const std::int64_t* extents,
                       const std::int64_t* strides, BadIndex& bad) {
  if (!index::all_inside(indices, count, extent, bad)) return false;
  std::int64_t size = 1;
  for (int axis = 0; axis < rank; ++axis) size *= extents[axis];
  for (std::int64_t j = 0; j < count; ++j)
    index::copy_block(out + j * size, rows + static_cast<std::int64_t>(indices[j]) * stride, rank, extents,
                      strides);
  return true;
}

/// out[s][i] = pages[table[s][t / page]][t % page] with t = start + i, zero where t >= lengths[s]. `extents` and
/// `strides` are those of the pages: number of pages, rows of a page, then the axes of a row. `length_step`: 1
/// for a length of each sequence, 0 for one of all.
template <class T, class I, class L>
inline bool paged_gather(T* out, const T* pages, int rank, const std::int64_t* extents,
                         const std::int64_t* strides, const I* table, std::int64_t sequences,
                         std::int64_t entries, const L* lengths, std::int64_t length_step, std::int64_t count,
                         std::int64_t start, BadIndex& bad) {
  const std::int64_t page = extents[1];
  std::int64_t size = 1;
  for (int axis = 2; axis < rank; ++axis) size *= extents[axis];
  for (std::int64_t s = 0; s < sequences; ++s, table += entries) {
    const auto length = static_cast<std::int64_t>(lengths[s * length_step]);
    // In unsigned arithmetic, since the difference need not fit.
    const std::uint64_t left =
        start >= length ? 0 : static_cast<std::uint64_t>(length) - static_cast<std::uint64_t>(start);
    const std::int64_t rows =
        left < static_cast<std::uint64_t>(count) ? static_cast<std::int64_t>(left) : count;
    for (std::int64_t i = 0; i < rows; ++i, out += size) {
      const std::int64_t position = start + i;
      const std::int64_t block = page == 0 || position < 0 ? position : position / page;
      const std::int64_t bound = page == 0 ? 0 : entries;
      if (index::outside(block, bound)) {
        bad = {block, bound, true};
        return false;
      }
      if (index::outside(table[block], extents[0])) {
        bad = {static_cast<std::int64_t>(table[block]), extents[0], false};
        return false;
      }
      index::copy_block(
          out, pages + static_cast<std::int64_t>(table[block]) * strides[0] + position % page * strides[1],
          rank - 2, extents + 2, strides + 2);
    }
    const std::int64_t rest = (count - rows) * size;
    __builtin_memset(static_cast<void*>(out), 0, static_cast<std::size_t>(rest) * sizeof(T));
    out += rest;
  }
  return true;
}

/// out = x, then out[o][indices[o][j][i]][i] = (or +=) source[o][j][i], in row-major order. out may be x.
template <class T, bool adds, class I>
inline bool scatter(T* out, const T* x, const I* indices, const T* source, std::int64_t outer,
                    std::int64_t extent, std::int64_t count, std::int64_t inner, BadIndex& bad) {
  if (!index::all_inside(indices, outer * count * inner, extent, bad)) return false;
  if (out != x)
    __builtin_memcpy(static_cast<void*>(out), x,
                     static_cast<std::size_t>(outer * extent * inner) * sizeof(T));
  for (std::int64_t o = 0; o < outer; ++o, out += extent * inner)
    for (std::int64_t j = 0; j < count; ++j, indices += inner, source += inner)
      for (std::int64_t i = 0; i < inner; ++i) {
        T& changed = out[static_cast<std::int64_t>(indices[i]) * inner + i];
        if constexpr (!adds)
          changed = source[i];
        else if constexpr (std::is_integral_v<T>)
          changed =
              static_cast<T>(static_cast<std::uint64_t>(changed) + static_cast<std::uint64_t>(source[i]));
        else
          changed = static_cast<T>(changed + source[i]);
      }
  return true;
}

}  // namespace trilith::device
