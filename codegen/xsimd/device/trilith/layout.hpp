// trilith/layout.hpp -- elements of dense tiles moved: copies, regions, rows one behind the other, broadcasts.
//
// Nothing here looks at an element, so that NaN payloads stay. Ranks are constants: the compiler unrolls the
// loops over axes.
#pragma once

#include "vec.hpp"

namespace trilith::device {

template <class T>
TRILITH_INLINE void copy(T* out, const T* in, std::int64_t count) {
  __builtin_memcpy(out, in, static_cast<std::size_t>(count) * sizeof(T));
}

template <class T>
TRILITH_INLINE void fill(T* out, std::int64_t count, T value) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = value;
}

/// Calls row(element of the region, element of the whole) for each row of a region.
template <int Rank, class Row>
TRILITH_INLINE void for_each_row(const std::int64_t (&region)[Rank], const std::int64_t (&whole)[Rank],
                                 const std::int64_t (&offsets)[Rank], const Row& row) {
  std::int64_t strides[Rank], rows = 1, at = 0, dense = 1;
  for (int axis = Rank - 1; axis >= 0; --axis) {
    strides[axis] = dense;
    dense *= whole[axis];
    at += offsets[axis] * strides[axis];
  }
  for (int axis = 0; axis < Rank - 1; ++axis) rows *= region[axis];
  if (region[Rank - 1] == 0) return;
  std::int64_t index[Rank] = {};
  for (std::int64_t i = 0; i < rows; ++i) {
    row(i * region[Rank - 1], at);
    for (int axis = Rank - 2; axis >= 0; --axis) {
      at += strides[axis];
      if (++index[axis] < region[axis]) break;
      at -= strides[axis] * region[axis];
      index[axis] = 0;
    }
  }
}

/// out = in[offsets : + region], of a tile of the extents `whole`.
template <class T, int Rank>
TRILITH_INLINE void read_region(T* out, const T* in, const std::int64_t (&region)[Rank],
                                const std::int64_t (&whole)[Rank], const std::int64_t (&offsets)[Rank]) {
  for_each_row<Rank>(region, whole, offsets, [&](std::int64_t part, std::int64_t at) {
    copy(out + part, in + at, region[Rank - 1]);
  });
}

/// out[offsets : + region] = in.
template <class T, int Rank>
TRILITH_INLINE void write_region(T* out, const T* in, const std::int64_t (&region)[Rank],
                                 const std::int64_t (&whole)[Rank], const std::int64_t (&offsets)[Rank]) {
  for_each_row<Rank>(region, whole, offsets, [&](std::int64_t part, std::int64_t at) {
    copy(out + at, in + part, region[Rank - 1]);
  });
}

/// Row o of `out` is `row` elements long; `part` elements of row o of `in` go behind its first `begin`.
template <class T>
TRILITH_INLINE void copy_rows(T* out, const T* in, std::int64_t outer, std::int64_t row, std::int64_t begin,
                              std::int64_t part) {
  for (std::int64_t o = 0; o < outer; ++o) copy(out + o * row + begin, in + o * part, part);
}

/// out[i...] = in[sum of i * stride]; the stride of an axis that repeats is 0.
template <class T, int Rank>
TRILITH_INLINE void expand(T* out, const T* in, const std::int64_t (&shape)[Rank],
                           const std::int64_t (&strides)[Rank]) {
  std::int64_t rows = 1, at = 0;
  for (int axis = 0; axis < Rank - 1; ++axis) rows *= shape[axis];
  const std::int64_t columns = shape[Rank - 1];
  if (columns == 0) return;
  std::int64_t index[Rank] = {};
  for (std::int64_t i = 0; i < rows; ++i) {
    if (strides[Rank - 1] == 0)
      fill(out + i * columns, columns, in[at]);
    else
      copy(out + i * columns, in + at, columns);
    for (int axis = Rank - 2; axis >= 0; --axis) {
      at += strides[axis];
      if (++index[axis] < shape[axis]) break;
      at -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

}  // namespace trilith::device
