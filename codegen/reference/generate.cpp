// Tiles made from numbers: counting, triangles, and Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As
// Easy as 1, 2, 3"), whose numbers depend on seed and counter alone.
#include "codegen/reference/tile_calls.hpp"

#include <limits>

namespace trilith::codegen::reference {
namespace {

using Block = std::array<std::uint32_t, 4>;

Block philox(std::uint64_t seed, std::uint64_t counter) {
  Block x{static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0, 0};
  auto key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * x[0], b = std::uint64_t{0xCD9E8D57} * x[2];
    x = {static_cast<std::uint32_t>(b >> 32) ^ x[1] ^ key0, static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ x[3] ^ key1, static_cast<std::uint32_t>(a)};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return x;
}

/// The highest bits of the words, so that every value below 1 in steps of the dtype's precision is as likely.
template <class T>
T number_of(std::uint64_t bits) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(bits);
  } else {
    constexpr int digits = std::numeric_limits<T>::digits, width = sizeof(T) == 8 ? 64 : 32;
    return static_cast<T>(std::ldexp(static_cast<double>(bits >> (width - digits)), -digits));
  }
}

}  // namespace

void arange(const CallInputs& in, Value& result) {
  const std::int64_t columns = result.shape.empty() ? 1 : result.shape.back();
  visit_numeric(result.dtype, [&]<class T>() {
    const T start = in.scalar(1).get<T>(), step = in.scalar(2).get<T>();
    for (std::int64_t i = 0; i < result.size(); ++i) {
      const std::int64_t j = i % columns;
      if constexpr (std::is_integral_v<T>)
        result.data<T>()[i] = static_cast<T>(wide(start) + wide(j) * wide(step));
      else
        result.data<T>()[i] = static_cast<T>(start + static_cast<T>(static_cast<T>(j) * step));
    }
  });
}

void tri(const CallInputs& in, Value& result) {
  const std::int64_t diagonal = in.scalar(1).get<std::int64_t>();
  visit_any(result.dtype, [&]<class T>() {
    for_each_index(result.shape, [&](std::int64_t i, const Shape& index) {
      // The column on the diagonal; a sum beyond 64 bits is beyond every tile.
      std::int64_t edge = 0;
      if (__builtin_add_overflow(index[0], diagonal, &edge)) edge = std::numeric_limits<std::int64_t>::max();
      result.data<T>()[i] = static_cast<T>(in.attributes.upper ? index[1] >= edge : index[1] <= edge);
    });
  });
}

void random(const CallInputs& in, Value& result) {
  const auto seed = static_cast<std::uint64_t>(in.scalar(1).get<std::int64_t>());
  const auto counter = static_cast<std::uint64_t>(in.scalar(2).get<std::int64_t>());
  visit_numeric(result.dtype, [&]<class T>() {
    constexpr int words = sizeof(T) == 8 ? 2 : 1;
    for (std::int64_t i = 0; i < result.size(); ++i) {
      const auto first = static_cast<std::uint64_t>(i) * words;
      const Block block = philox(seed, counter + first / 4);
      std::uint64_t bits = block[first % 4];
      if constexpr (words == 2) bits |= static_cast<std::uint64_t>(block[first % 4 + 1]) << 32;
      result.data<T>()[i] = number_of<T>(bits);
    }
  });
}

}  // namespace trilith::codegen::reference
