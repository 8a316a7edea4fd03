// codegen/ascendc/model/floats.h -- half and bfloat16_t as scalars of a kernel: kept as bits, computed with as float. Part
// of kernel_operator.h.
//
// They convert as the device's types do: from any number, rounded to the nearest, ties to even; to float exactly. Not
// _Float16, whose conversions are calls of a compiler's run-time library, which a kernel object may not make.
#pragma once

#include <cstdint>
#include <type_traits>

namespace AscendC::model {

/// A double rounded to a 16-bit float with this many bits of fraction.
template <int fraction, int bias>
[[nodiscard]] constexpr std::uint16_t narrow_bits(double value) {
  const auto pattern = __builtin_bit_cast(std::uint64_t, value);
  const auto sign = static_cast<std::uint16_t>(pattern >> 63 << 15);
  const std::uint64_t magnitude = pattern & ~(std::uint64_t{1} << 63);
  constexpr auto infinity = static_cast<std::uint16_t>((2 * bias + 1) << fraction);
  const auto with_sign = [&](std::uint64_t bits) { return static_cast<std::uint16_t>(sign | bits); };
  if (magnitude > std::uint64_t{2047} << 52) return with_sign(infinity | 1u << (fraction - 1));
  const int exponent = static_cast<int>(magnitude >> 52) - 1023, lowest = 1 - bias;
  if (exponent > bias) return with_sign(infinity);
  const int below = exponent < lowest ? lowest - exponent : 0, dropped = 52 - fraction + below;
  if (dropped > 53) return sign;
  const std::uint64_t digits = (magnitude & ((std::uint64_t{1} << 52) - 1)) | std::uint64_t{1} << 52;
  const std::uint64_t half = std::uint64_t{1} << (dropped - 1), rest = digits & (2 * half - 1);
  std::uint64_t rounded = digits >> dropped;
  if (rest > half || (rest == half && (rounded & 1) != 0)) ++rounded;
  // A carry raises the exponent, up to infinity: the digits are added to it with their leading one.
  const auto scale = static_cast<std::uint64_t>(below != 0 ? 0 : exponent + bias - 1);
  return with_sign((scale << fraction) + rounded);
}

template <int fraction, int bias>
struct NarrowFloat {
  std::uint16_t bits;

  NarrowFloat() = default;
  template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
  constexpr NarrowFloat(Number value)  // NOLINT(google-explicit-constructor): as on the device
      : bits(narrow_bits<fraction, bias>(static_cast<double>(value))) {}
  constexpr operator float() const {  // NOLINT(google-explicit-constructor): exact
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16, magnitude = bits & 0x7fff;
    constexpr std::uint32_t infinity = (2u * bias + 1) << fraction;
    if (magnitude >= infinity)
      return __builtin_bit_cast(float, sign | 0x7f800000u | (magnitude - infinity) << (23 - fraction));
    if constexpr (bias == 127) return __builtin_bit_cast(float, sign | magnitude << 16);
    if (magnitude >= 1u << fraction)
      return __builtin_bit_cast(float, sign | ((magnitude << (23 - fraction)) + ((127u - bias) << 23)));
    const float size = static_cast<float>(magnitude) * 0x1p-24f;
    return sign != 0 ? -size : size;
  }
};

}  // namespace AscendC::model

using half = AscendC::model::NarrowFloat<10, 15>;
using bfloat16_t = AscendC::model::NarrowFloat<7, 127>;
