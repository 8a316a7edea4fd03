// trilith/random.hpp -- Philox4x32-10: numbers that depend on seed and counter alone, as the reference's.
#pragma once

#include "vec.hpp"

namespace trilith::device {

namespace philox {

struct Block {
  std::uint32_t word[4];
};

TRILITH_INLINE Block block(std::uint64_t seed, std::uint64_t counter) {
  std::uint32_t x0 = static_cast<std::uint32_t>(counter), x1 = static_cast<std::uint32_t>(counter >> 32);
  std::uint32_t x2 = 0, x3 = 0;
  std::uint32_t key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * x0, b = std::uint64_t{0xCD9E8D57} * x2;
    const std::uint32_t y0 = static_cast<std::uint32_t>(b >> 32) ^ x1 ^ key0;
    const std::uint32_t y2 = static_cast<std::uint32_t>(a >> 32) ^ x3 ^ key1;
    x0 = y0;
    x1 = static_cast<std::uint32_t>(b);
    x2 = y2;
    x3 = static_cast<std::uint32_t>(a);
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return {{x0, x1, x2, x3}};
}

/// Integers: the low bits; floats: the high bits as a fraction.
template <class T>
TRILITH_INLINE T number(std::uint64_t bits) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(bits);
  } else if constexpr (sizeof(T) == 8) {
    return static_cast<T>(static_cast<double>(bits >> 11) * 0x1p-53);
  } else {
    constexpr int digits = std::numeric_limits<T>::digits;
    constexpr float step = 1.0f / static_cast<float>(std::uint32_t{1} << digits);
    return static_cast<T>(static_cast<float>(static_cast<std::uint32_t>(bits) >> (32 - digits)) * step);
  }
}

}  // namespace philox

/// Element i has word i % 4 of block counter + i / 4; of 8-byte dtypes two words, the first the low one.
template <class T>
TRILITH_INLINE void random(T* out, std::int64_t count, std::int64_t seed, std::int64_t counter) {
  constexpr int words = sizeof(T) == 8 ? 2 : 1, elements = 4 / words;
  for (std::int64_t i = 0; i < count; i += elements) {
    const philox::Block block =
        philox::block(static_cast<std::uint64_t>(seed),
                      static_cast<std::uint64_t>(counter) + static_cast<std::uint64_t>(i / elements));
    for (int k = 0; k < elements; ++k) {
      if (i + k >= count) break;
      std::uint64_t bits = block.word[k * words];
      if constexpr (words == 2) bits |= static_cast<std::uint64_t>(block.word[k * 2 + 1]) << 32;
      out[i + k] = philox::number<T>(bits);
    }
  }
}

}  // namespace trilith::device
