// trilith/transpose.hpp -- two axes of a dense tile exchanged.
#pragma once

#include "target.hpp"

namespace trilith::device {

/// out[o][b][m][a][i] = in[o][a][m][b][i]; o < outer, a < first, m < middle, b < second, i < inner.
template <class T>
TRILITH_INLINE void transpose(T* out, const T* in, std::int64_t outer, std::int64_t first,
                              std::int64_t middle, std::int64_t second, std::int64_t inner) {
  // Blocks of this many elements squared stay in the first-level cache, though columns are far apart.
  constexpr std::int64_t block = 16;
  const std::int64_t from_first = middle * second * inner, to_second = middle * first * inner;
  for (std::int64_t o = 0; o < outer; ++o) {
    const T* const from = in + o * first * from_first;
    T* const to = out + o * first * from_first;
    for (std::int64_t m = 0; m < middle; ++m)
      for (std::int64_t b = 0; b < second; b += block)
        for (std::int64_t a = 0; a < first; a += block) {
          const std::int64_t rows = b + block < second ? b + block : second;
          const std::int64_t columns = a + block < first ? a + block : first;
          for (std::int64_t y = b; y < rows; ++y)
            for (std::int64_t x = a; x < columns; ++x) {
              const T* const source = from + x * from_first + (m * second + y) * inner;
              T* const target = to + y * to_second + (m * first + x) * inner;
              for (std::int64_t i = 0; i < inner; ++i) target[i] = source[i];
            }
        }
  }
}

}  // namespace trilith::device
