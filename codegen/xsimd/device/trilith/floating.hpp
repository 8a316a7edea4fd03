// trilith/floating.hpp -- exact remainders and the exact fused multiply-add, also where the target has none.
#pragma once

#include "lift.hpp"
#include "target.hpp"

namespace trilith::device::native {

template <class T>
struct Layout;
template <>
struct Layout<float> {
  static constexpr int fraction = 23, bias = 127, special = 255;
};
template <>
struct Layout<double> {
  static constexpr int fraction = 52, bias = 1023, special = 2047;
};

template <class T>
TRILITH_INLINE Unsigned<T> bits_of(T x) {
  return __builtin_bit_cast(Unsigned<T>, x);
}
template <class T>
TRILITH_INLINE T from_pattern(std::uint64_t bits) {
  return __builtin_bit_cast(T, static_cast<Unsigned<T>>(bits));
}

/// |a| fmod |b| with a's sign, in integers: exact for every pair. Long division, `step` bits of quotient at a
/// time: a remainder below 2^(fraction+1), shifted by `step`, still fits 64 bits.
template <class T>
inline __attribute__((noinline)) T exact_fmod(T a, T b) {
  using L = Layout<T>;
  constexpr std::uint64_t hidden = std::uint64_t{1} << L::fraction;
  constexpr std::uint64_t sign = std::uint64_t{1} << (sizeof(T) * 8 - 1);
  constexpr std::uint64_t infinity = std::uint64_t{L::special} << L::fraction;
  const std::uint64_t pattern = bits_of(a), x = pattern & ~sign, y = bits_of(b) & ~sign;
  if (x >= infinity || y > infinity || y == 0) return std::numeric_limits<T>::quiet_NaN();
  if (x < y) return a;
  const auto exponent = [](std::uint64_t v) {
    return v >> L::fraction ? static_cast<int>(v >> L::fraction) : 1;
  };
  const auto mantissa = [](std::uint64_t v) { return (v & (hidden - 1)) | (v >> L::fraction ? hidden : 0); };
  const int lowest = exponent(y);
  int left = exponent(x) - lowest;
  const std::uint64_t divisor = mantissa(y);
  std::uint64_t rest = mantissa(x) % divisor;
  constexpr int step = 63 - L::fraction;
  while (left > 0 && rest != 0) {
    const int shift = left < step ? left : step;
    rest = (rest << shift) % divisor;
    left -= shift;
  }
  if (rest == 0) return from_pattern<T>(pattern & sign);
  int scale = lowest;
  while (rest < hidden && scale > 1) {
    rest <<= 1;
    --scale;
  }
  const std::uint64_t magnitude =
      rest < hidden ? rest : (static_cast<std::uint64_t>(scale - 1) << L::fraction) + rest;
  return from_pattern<T>(magnitude | (pattern & sign));
}

// While the quotient q is below 2^(fraction+1) it is exact or one too large, and x - q * y is exact: one
// correction makes the remainder. Other lanes divide in integers.
template <class V>
TRILITH_INLINE V finish_fmod(V a, V b, V x, V y, V quotient, V rest) {
  using T = Element<V>;
  rest = rest < V{} ? rest + y : rest;
  rest = x < y ? x : rest;
  V result = with_sign<T>(rest, a);
  const std::uint64_t easy = to_bits<Integer<T>>((Vector<Integer<T>>)(quotient < splat<T>(integral_from<T>)));
  if (easy != Mask<lanes<T>>::all) {
    for (int i = 0; i < lanes<T>; ++i)
      if (!((easy >> i) & 1)) result[i] = exact_fmod<T>(a[i], b[i]);
  }
  return result;
}

TRILITH_INLINE F32 fmod(F32 a, F32 b) {
  const F32 x = magnitude<float>(a), y = magnitude<float>(b), quotient = trunc(x / y);
  F32 rest;
  if constexpr (has_fma) {
    rest = multiply_add(-quotient, y, x);
  } else {
    using Doubles = Vector<double, lanes<float>>;
    rest = __builtin_convertvector(
        __builtin_convertvector(x, Doubles) -
            __builtin_convertvector(quotient, Doubles) * __builtin_convertvector(y, Doubles),
        F32);
  }
  return finish_fmod(a, b, x, y, quotient, rest);
}
TRILITH_INLINE F64 fmod(F64 a, F64 b) {
  if constexpr (has_fma) {
    const F64 x = magnitude<double>(a), y = magnitude<double>(b), quotient = trunc(x / y);
    return finish_fmod(a, b, x, y, quotient, multiply_add(-quotient, y, x));
  } else {
    F64 result{};
    for (int i = 0; i < lanes<double>; ++i) result[i] = exact_fmod<double>(a[i], b[i]);
    return result;
  }
}

template <class V>
TRILITH_INLINE V floating_rem(V a, V b) {
  using T = Element<V>;
  using I = Vector<Integer<T>>;
  const V rest = fmod(a, b);
  const V other_side = (V)((I)rest ^ (I)b);
  // A remainder of zero has b's sign, too.
  return rest == V{} ? with_sign<T>(rest, b) : ((I)other_side < I{} ? rest + b : rest);
}
TRILITH_INLINE F32 rem(F32 a, F32 b) { return floating_rem(a, b); }
TRILITH_INLINE F64 rem(F64 a, F64 b) { return floating_rem(a, b); }

/// a * b + c rounded once, in integers.
inline __attribute__((noinline)) double exact_fma(double a, double b, double c) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63, hidden = std::uint64_t{1} << 52;
  constexpr std::uint64_t infinity = std::uint64_t{2047} << 52;
  const std::uint64_t x = bits_of(a) & ~sign, y = bits_of(b) & ~sign, z = bits_of(c) & ~sign;
  // Specials, and an exactly zero product or addend, are what the two plain operations give.
  if (x >= infinity || y >= infinity || z >= infinity) {
    if (z >= infinity && x < infinity && y < infinity)
      return c + c;  // keeps a huge product from meeting -inf
    return a * b + c;
  }
  if (x == 0 || y == 0) return a * b + c;
  const auto exponent = [](std::uint64_t v) { return v >> 52 ? static_cast<int>(v >> 52) : 1; };
  const auto mantissa = [](std::uint64_t v) { return (v & (hidden - 1)) | (v >> 52 ? hidden : 0); };
  __extension__ typedef unsigned __int128 Wide128;

  // value = mantissa * 2^exponent; both normalised so that bit 125 of the mantissa is the highest.
  const auto normalise = [](Wide128& m, int& e) {
    const std::uint64_t high = static_cast<std::uint64_t>(m >> 64), low = static_cast<std::uint64_t>(m);
    const int leading = high ? __builtin_clzll(high) : 64 + __builtin_clzll(low);
    m = leading >= 2 ? m << (leading - 2) : (m >> 1) | (m & 1);  // a sum can carry one bit up
    e -= leading - 2;
  };
  Wide128 product = static_cast<Wide128>(mantissa(x)) * mantissa(y);
  int product_exponent = exponent(x) + exponent(y) - 2 * 1075;
  normalise(product, product_exponent);
  std::uint64_t product_sign = (bits_of(a) ^ bits_of(b)) & sign;

  if (z != 0) {
    Wide128 addend = mantissa(z);
    int addend_exponent = exponent(z) - 1075;
    normalise(addend, addend_exponent);
    std::uint64_t addend_sign = bits_of(c) & sign;
    if (addend_exponent > product_exponent ||
        (addend_exponent == product_exponent && addend > product)) {  // the larger first
      const Wide128 m = product;
      product = addend;
      addend = m;
      const int e = product_exponent;
      product_exponent = addend_exponent;
      addend_exponent = e;
      const std::uint64_t s = product_sign;
      product_sign = addend_sign;
      addend_sign = s;
    }
    // What is shifted out only matters as "something is there": it stays in the lowest bit.
    const int shift = product_exponent - addend_exponent;
    if (shift >= 126)
      addend = 1;
    else if (shift > 0)
      addend = (addend >> shift) | ((addend & ((Wide128{1} << shift) - 1)) != 0 ? 1 : 0);
    product = product_sign == addend_sign ? product + addend : product - addend;
    if (product == 0) return 0.0;  // exact cancellation: +0, for the operands' signs differ
    normalise(product, product_exponent);
  }

  // Round: 53 bits below bit 125, fewer where the result is subnormal.
  int biased = product_exponent + 125 + 1023, drop = 125 - 52;
  if (biased < 1) {
    drop += 1 - biased;
    biased = 1;
  }
  if (drop > 127) return from_pattern<double>(product_sign);
  const Wide128 half = Wide128{1} << (drop - 1), rest = product & ((Wide128{1} << drop) - 1);
  std::uint64_t rounded = static_cast<std::uint64_t>(product >> drop);
  if (rest > half || (rest == half && (rounded & 1))) ++rounded;
  // Adding, not or-ing: a carry out of the fraction raises the exponent, up to infinity.
  std::uint64_t magnitude = (static_cast<std::uint64_t>(biased - 1) << 52) + rounded;
  if (biased > 2046 || magnitude > infinity) magnitude = infinity;
  return from_pattern<double>(magnitude | product_sign);
}

TRILITH_INLINE F32 fma(F32 a, F32 b, F32 c) {
  if constexpr (has_fma) {
    return multiply_add(a, b, c);
  } else {
    // The product is exact in double. The sum is rounded to odd, so that the rounding to float is the only
    // one that counts: error is what the double sum lost.
    using Doubles = Vector<double, lanes<float>>;
    using Patterns = Vector<std::int64_t, lanes<float>>;
    const Doubles product = __builtin_convertvector(a, Doubles) * __builtin_convertvector(b, Doubles);
    const Doubles addend = __builtin_convertvector(c, Doubles), sum = product + addend;
    const Doubles back = sum - product, error = (product - (sum - back)) + (addend - back);
    const Patterns inexact = (Patterns)((error < 0.0) | (error > 0.0));  // false for the NaN infinities give
    const Patterns away = (Patterns)((Patterns)(error < 0.0) ^ ((Patterns)sum >> 63)) & inexact;
    const Patterns odd = ((Patterns)sum + away) | (inexact & 1);
    return __builtin_convertvector((Doubles)odd, F32);
  }
}
TRILITH_INLINE F64 fma(F64 a, F64 b, F64 c) {
  if constexpr (has_fma) {
    return multiply_add(a, b, c);
  } else {
    F64 result{};
    for (int i = 0; i < lanes<double>; ++i) result[i] = exact_fma(a[i], b[i], c[i]);
    return result;
  }
}

}  // namespace trilith::device::native
