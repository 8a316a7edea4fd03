// codegen/half.hpp -- pl::half (IEEE binary16) and pl::bfloat16: 16-bit floats on the host, in eager kernels and in
// emitted code.
//
//   pl::half x(1.5f);
//   x = x * x + pl::half(0.1f);   // every operation is rounded to the nearest half, ties to even
//   float wide = x;               // exact
//
// A value becomes one explicitly, rounded to nearest, ties to even, whatever the type it comes from (also from 64-bit
// integers: rounded once); too large is infinity. It becomes a float implicitly, so `x + 1.0f` is a float. Subnormals,
// infinities and NaN are kept. Arithmetic between two of one type gives that type; between half and bfloat16 it is
// float's. Not a C++ arithmetic type: std::is_floating_point is false, std::numeric_limits works.
//
// Only language features and <limits>: emitted code includes this file. Thread-safety: values.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

namespace pl {
namespace detail {

/// The 16-bit float with this many bits of fraction that is nearest to a double.
template <int fraction, int bias>
[[nodiscard]] constexpr std::uint16_t narrow_pattern(double value) {
  constexpr std::uint64_t infinity = std::uint64_t{2047} << 52;
  constexpr std::uint32_t narrow_infinity = static_cast<std::uint32_t>(2 * bias + 1) << fraction;
  const std::uint64_t pattern = __builtin_bit_cast(std::uint64_t, value);
  const std::uint64_t magnitude = pattern & ~(std::uint64_t{1} << 63);
  const auto sign = static_cast<std::uint32_t>(pattern >> 63) << 15;
  if (magnitude > infinity) return static_cast<std::uint16_t>(sign | narrow_infinity | 1u << (fraction - 1));
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  constexpr int lowest = 1 - bias;
  const int drop = 52 - fraction + (exponent < lowest ? lowest - exponent : 0);
  if (drop > 53) return static_cast<std::uint16_t>(sign);  // less than half of the smallest
  if (exponent > bias) return static_cast<std::uint16_t>(sign | narrow_infinity);
  const std::uint64_t mantissa = (magnitude & ((std::uint64_t{1} << 52) - 1)) | std::uint64_t{1} << 52;
  const std::uint64_t half = std::uint64_t{1} << (drop - 1), rest = mantissa & (2 * half - 1);
  auto rounded = static_cast<std::uint32_t>(mantissa >> drop);
  if (rest > half || (rest == half && (rounded & 1) != 0)) ++rounded;
  // Adding: a carry out of the fraction raises the exponent, up to infinity; the hidden bit makes a subnormal a
  // normal number.
  const int scale = exponent < lowest ? 0 : exponent + bias - 1;
  return static_cast<std::uint16_t>(sign | ((static_cast<std::uint32_t>(scale) << fraction) + rounded));
}

/// An integer as a double that rounds to 16 bits as the integer does: what a double cannot hold is left of a 64-bit
/// integer only as "there is more".
template <class Integer>
[[nodiscard]] constexpr double sticky_double(Integer value) {
  if constexpr (sizeof(Integer) < 8) {
    return static_cast<double>(value);
  } else {
    constexpr Integer low = 0xffff;
    const Integer high = static_cast<Integer>(value & static_cast<Integer>(~low));
    const bool large = value > Integer{1} << 32 || (std::is_signed_v<Integer> && value < -(Integer{1} << 32));
    if (!large) return static_cast<double>(value);
    return static_cast<double>(
        static_cast<Integer>(high | ((value & low) != 0 ? Integer{0x8000} : Integer{0})));
  }
}

}  // namespace detail

/// IEEE 754 binary16: 11 significant bits, from 2^-24 to 65504.
struct half {
  std::uint16_t bits;

  static constexpr int fraction = 10, bias = 15;

  half() = default;
  constexpr explicit half(double value) : bits(detail::narrow_pattern<fraction, bias>(value)) {}
  template <class Number>
    requires std::is_arithmetic_v<Number>
  constexpr explicit half(Number value) {
    if constexpr (std::is_integral_v<Number>)
      *this = half(detail::sticky_double(value));
    else
      *this = half(static_cast<double>(value));
  }
  [[nodiscard]] static constexpr half from_bits(std::uint16_t bits) {
    half result;
    result.bits = bits;
    return result;
  }
  constexpr operator float() const {  // NOLINT(google-explicit-constructor): exact
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16, magnitude = bits & 0x7fff;
    if (magnitude >= 0x7c00) return __builtin_bit_cast(float, sign | 0x7f800000u | (magnitude & 0x3ff) << 13);
    if (magnitude < 0x400) {
      const float size = static_cast<float>(magnitude) * 0x1p-24f;
      return sign != 0 ? -size : size;
    }
    return __builtin_bit_cast(float, sign | ((magnitude << 13) + (112u << 23)));
  }
};

/// The upper half of a float: 8 significant bits, a float's range.
struct bfloat16 {
  std::uint16_t bits;

  static constexpr int fraction = 7, bias = 127;

  bfloat16() = default;
  constexpr explicit bfloat16(double value) : bits(detail::narrow_pattern<fraction, bias>(value)) {}
  template <class Number>
    requires std::is_arithmetic_v<Number>
  constexpr explicit bfloat16(Number value) {
    if constexpr (std::is_integral_v<Number>)
      *this = bfloat16(detail::sticky_double(value));
    else
      *this = bfloat16(static_cast<double>(value));
  }
  [[nodiscard]] static constexpr bfloat16 from_bits(std::uint16_t bits) {
    bfloat16 result;
    result.bits = bits;
    return result;
  }
  constexpr operator float() const {  // NOLINT(google-explicit-constructor): exact
    return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits) << 16);
  }
};

/// True for half and bfloat16.
template <class T>
inline constexpr bool is_narrow_float = std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;
/// True for every element type of the language: C++'s numbers, half and bfloat16.
template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T> || is_narrow_float<T>;

// Float has more than twice the digits, so rounding its result again is rounding once.
template <class T>
  requires is_narrow_float<T>
[[nodiscard]] constexpr T operator+(T a, T b) {
  return T(static_cast<float>(a) + static_cast<float>(b));
}
template <class T>
  requires is_narrow_float<T>
[[nodiscard]] constexpr T operator-(T a, T b) {
  return T(static_cast<float>(a) - static_cast<float>(b));
}
template <class T>
  requires is_narrow_float<T>
[[nodiscard]] constexpr T operator*(T a, T b) {
  return T(static_cast<float>(a) * static_cast<float>(b));
}
template <class T>
  requires is_narrow_float<T>
[[nodiscard]] constexpr T operator/(T a, T b) {
  return T(static_cast<float>(a) / static_cast<float>(b));
}
template <class T>
  requires is_narrow_float<T>
[[nodiscard]] constexpr T operator-(T x) {
  return T::from_bits(static_cast<std::uint16_t>(x.bits ^ 0x8000));
}
template <class T>
  requires is_narrow_float<T>
constexpr T& operator+=(T& a, T b) {
  return a = a + b;
}
template <class T>
  requires is_narrow_float<T>
constexpr T& operator-=(T& a, T b) {
  return a = a - b;
}
template <class T>
  requires is_narrow_float<T>
constexpr T& operator*=(T& a, T b) {
  return a = a * b;
}
template <class T>
  requires is_narrow_float<T>
constexpr T& operator/=(T& a, T b) {
  return a = a / b;
}

namespace detail {
template <class T>
struct NarrowLimits {
  static constexpr std::uint16_t infinity_bits = (2 * T::bias + 1) << T::fraction;
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true, is_iec559 = true, is_bounded = true;
  static constexpr int digits = T::fraction + 1, radix = 2;
  static constexpr int max_exponent = T::bias + 1, min_exponent = 2 - T::bias;
  static constexpr T min() noexcept { return T::from_bits(1 << T::fraction); }
  static constexpr T max() noexcept { return T::from_bits(infinity_bits - 1); }
  static constexpr T lowest() noexcept { return T::from_bits(0x8000 | (infinity_bits - 1)); }
  static constexpr T denorm_min() noexcept { return T::from_bits(1); }
  static constexpr T epsilon() noexcept { return T::from_bits((T::bias - T::fraction) << T::fraction); }
  static constexpr T infinity() noexcept { return T::from_bits(infinity_bits); }
  static constexpr T quiet_NaN() noexcept { return T::from_bits(infinity_bits | 1 << (T::fraction - 1)); }
};
}  // namespace detail

}  // namespace pl

template <>
class std::numeric_limits<pl::half> : public pl::detail::NarrowLimits<pl::half> {};
template <>
class std::numeric_limits<pl::bfloat16> : public pl::detail::NarrowLimits<pl::bfloat16> {};
