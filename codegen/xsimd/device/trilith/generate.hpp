// trilith/generate.hpp -- tiles made from numbers: counting and triangles.
#pragma once

#include "vec.hpp"

namespace trilith::device {

/// Rows of start, start + step, ..., each element start + T(j) * step, rounded as written.
template <class T>
TRILITH_INLINE void arange(T* out, std::int64_t rows, std::int64_t columns, T start, T step) {
  TRILITH_NO_CONTRACTION
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      if constexpr (std::is_integral_v<T>) {
        const std::uint64_t moved = static_cast<std::uint64_t>(j) * static_cast<std::uint64_t>(step);
        out[i * columns + j] = static_cast<T>(static_cast<std::uint64_t>(start) + moved);
      } else {
        const T moved = static_cast<T>(static_cast<T>(j) * step);
        out[i * columns + j] = static_cast<T>(start + moved);
      }
    }
}

/// 1 where j <= i + diagonal (Upper: j >= i + diagonal), else 0.
template <class T, bool Upper>
TRILITH_INLINE void tri(T* out, std::int64_t rows, std::int64_t columns, std::int64_t diagonal) {
  for (std::int64_t i = 0; i < rows; ++i) {
    std::int64_t
        edge;  // the column on the diagonal; a sum that leaves 64 bits is out of the tile on that side
    if (__builtin_add_overflow(i, diagonal, &edge)) edge = diagonal < 0 ? -1 : columns;
    for (std::int64_t j = 0; j < columns; ++j)
      out[i * columns + j] = static_cast<T>((Upper ? j >= edge : j <= edge) ? 1 : 0);
  }
}

}  // namespace trilith::device
