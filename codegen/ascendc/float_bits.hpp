// codegen/ascendc/float_bits.hpp -- functions in front of a kernel that compute with floats as integers, on the scalar
// pipe: exact for every bit pattern, infinities, NaN and subnormals among them.
#pragma once

namespace trilith::codegen::ascendc::functions {

inline constexpr const char* float_of = R"(
/// Shifted right; what is lost leaves the last bit set.
__aicore__ inline uint64_t Jammed(uint64_t digits, int32_t distance) {
  if (distance > 63) return digits != 0 ? 1 : 0;
  return digits >> distance | ((digits << (63 - distance)) << 1 != 0 ? 1 : 0);
}

/// digits * 2^exponent as the bits of a float, rounded once: to the nearest, of two to the even one. Or `odd`: of the two
/// floats around it the one whose last bit is 1, so that rounding that to a shorter float is rounding once.
template <bool odd>
__aicore__ inline uint32_t FloatOf(uint64_t digits, int32_t exponent) {
  if (digits == 0) return 0;
  for (; digits >> 63 == 0; digits <<= 1) --exponent;
  const int32_t scale = exponent + 190;  // of the first digit, as the float has it
  if (scale > 254) return 0x7f800000u;
  const uint64_t rest = Jammed(digits, scale < 1 ? 39 - scale : 38);
  uint32_t kept = static_cast<uint32_t>(rest >> 2);
  const uint32_t lost = static_cast<uint32_t>(rest) & 3;
  if (odd)
    kept |= lost != 0 ? 1 : 0;
  else if (lost > 2 || (lost == 2 && (kept & 1) != 0))
    ++kept;
  // A carry, and the first digit of a normal number, raise the exponent.
  return (static_cast<uint32_t>(scale < 1 ? 0 : scale - 1) << 23) + kept;
}
)";

inline constexpr const char* float_parts = R"(
/// A finite float without its sign is digits * 2^exponent.
__aicore__ inline uint64_t DigitsOf(uint32_t size) {
  return (size & 0x7fffffu) | (size >> 23 != 0 ? 0x800000u : 0u);
}
__aicore__ inline int32_t ExponentOf(uint32_t size) {
  return static_cast<int32_t>(size >> 23 != 0 ? size >> 23 : 1) - 150;
}
)";

inline constexpr const char* fused_multiply_add = R"(
/// a * b + c of floats, given and returned by their bits.
template <bool odd>
__aicore__ inline uint32_t FusedMultiplyAdd(uint32_t a, uint32_t b, uint32_t c) {
  constexpr uint32_t sign = 0x80000000u, infinity = 0x7f800000u, nan = 0x7fc00000u;
  const uint32_t size_a = a & ~sign, size_b = b & ~sign, size_c = c & ~sign, sign_ab = (a ^ b) & sign;
  if (size_a > infinity || size_b > infinity || size_c > infinity) return nan;
  if (size_a == infinity || size_b == infinity) {
    const bool none = size_a == 0 || size_b == 0 || (size_c == infinity && sign_ab != (c & sign));
    return none ? nan : sign_ab | infinity;
  }
  if (size_a == 0 || size_b == 0) return size_c == 0 && sign_ab != (c & sign) ? 0 : c;
  if (size_c == infinity) return c;
  uint64_t more = DigitsOf(size_a) * DigitsOf(size_b), less = DigitsOf(size_c);
  int32_t exponent = ExponentOf(size_a) + ExponentOf(size_b), smaller = ExponentOf(size_c);
  if (less == 0) return sign_ab | FloatOf<odd>(more, exponent);
  // Both with their first digit at the same bit, with one to spare for the sum.
  for (; more >> 62 == 0; more <<= 1) --exponent;
  for (; less >> 62 == 0; less <<= 1) --smaller;
  const bool swaps = exponent < smaller || (exponent == smaller && more < less);
  if (swaps) {
    const uint64_t digits = more;
    more = less;
    less = digits;
    const int32_t other = exponent;
    exponent = smaller;
    smaller = other;
  }
  less = Jammed(less, exponent - smaller);
  const uint64_t total = sign_ab == (c & sign) ? more + less : more - less;
  return total == 0 ? 0 : (swaps ? c & sign : sign_ab) | FloatOf<odd>(total, exponent);
}
)";

inline constexpr const char* running_sum = R"(
/// A sum of floats as double arithmetic has it: digits * 2^exponent, rounded to 53 digits at each step.
struct RunningSum {
  uint64_t digits = 0;
  int32_t exponent = 0;
  bool negative = false, infinite = false, undefined = false;

  __aicore__ inline void Add(float value) {
    union {
      float value;
      uint32_t bits;
    } given = {value};
    const uint32_t size = given.bits & 0x7fffffffu;
    const bool below = size != given.bits;
    if (size >= 0x7f800000u) {
      undefined = undefined || size > 0x7f800000u || (infinite && below != negative);
      infinite = true;
      negative = below;
    }
    if (infinite || size == 0) return;
    uint64_t more = digits, less = DigitsOf(size);
    int32_t larger = exponent, smaller = ExponentOf(size);
    // Both with their first digit at the same bit, with one to spare for the sum.
    for (; more != 0 && more >> 62 == 0; more <<= 1) --larger;
    for (; less >> 62 == 0; less <<= 1) --smaller;
    const bool same = below == negative;
    if (more == 0 || larger < smaller || (larger == smaller && more < less)) {
      const uint64_t other = more;
      more = less;
      less = other;
      const int32_t scale = larger;
      larger = smaller;
      smaller = less == 0 ? larger : scale;
      negative = below;
    }
    less = Jammed(less, larger - smaller);
    uint64_t total = same || less == 0 ? more + less : more - less;
    exponent = larger;
    for (; total != 0 && total >> 63 == 0; total <<= 1) --exponent;
    const uint64_t lost = total & 0x7ffu;
    digits = total >> 11;
    exponent += 11;
    if (lost > 0x400u || (lost == 0x400u && (digits & 1) != 0)) ++digits;
    if (digits == 0) negative = false;
  }

  /// `odd`: to be rounded once more, to a shorter float.
  template <bool odd>
  __aicore__ inline float Value() const {
    union {
      uint32_t bits;
      float value;
    } result = {0x7fc00000u};
    if (!undefined) result.bits = (negative ? 0x80000000u : 0) | (infinite ? 0x7f800000u : FloatOf<odd>(digits, exponent));
    return result.value;
  }
};
)";

inline constexpr const char* float_remainder = R"(
/// The remainder of a / b with the sign of a: exact. Floats, given and returned by their bits.
__aicore__ inline uint32_t FloatRemainder(uint32_t a, uint32_t b) {
  constexpr uint32_t sign = 0x80000000u, infinity = 0x7f800000u, nan = 0x7fc00000u;
  const uint32_t size_a = a & ~sign, size_b = b & ~sign;
  if (size_a >= infinity || size_b > infinity || size_b == 0) return nan;
  if (size_a < size_b) return a;
  const int32_t exponent = ExponentOf(size_b);
  uint64_t rest = DigitsOf(size_a) % DigitsOf(size_b);
  for (int32_t left = ExponentOf(size_a) - exponent; left > 0; left -= 40)
    rest = (rest << (left < 40 ? left : 40)) % DigitsOf(size_b);
  return (a & sign) | FloatOf<false>(rest, exponent);
}
)";

inline constexpr const char* whole_of = R"(
/// A whole number, given as the bits of a float, as an integer of 64 bits, saturated.
template <typename T, bool is_signed>
__aicore__ inline T WholeOf(uint32_t bits) {
  const uint32_t size = bits & 0x7fffffffu;
  const bool negative = size != bits;
  const T highest = static_cast<T>(~uint64_t{0} >> (is_signed ? 1 : 0)), lowest = static_cast<T>(~highest);
  if (size < 0x3f800000u || (negative && !is_signed)) return 0;
  if (size >= (is_signed ? 0x5f000000u : 0x5f800000u)) return negative ? lowest : highest;
  const int32_t exponent = ExponentOf(size);
  const uint64_t digits = exponent < 0 ? DigitsOf(size) >> -exponent : DigitsOf(size) << exponent;
  return static_cast<T>(negative ? uint64_t{0} - digits : digits);
}
)";

}  // namespace trilith::codegen::ascendc::functions
