// trilith/half_convert.hpp -- registers of floats from and to the patterns of half and bfloat16, in every target.
#pragma once

#include "cast.hpp"
#include "memory.hpp"

#include <codegen/half.hpp>

namespace trilith::device {

template <class T>
concept NarrowFloat = pl::is_narrow_float<T>;

template <>
inline constexpr int lanes<pl::half> = lanes<float>;
template <>
inline constexpr int lanes<pl::bfloat16> = lanes<float>;

namespace native {

/// The 16-bit patterns of one register of floats.
using Patterns = Vector<std::uint16_t, lanes<float>>;

TRILITH_INLINE U32 half_patterns_generic(F32 x) {
  const U32 pattern = (U32)x, sign = (pattern >> 16) & 0x8000u, size = pattern & 0x7fffffffu;
  // Adding 0.5 leaves no place for what is below the smallest subnormal half.
  const U32 subnormal = (U32)((F32)size + 0.5f) - 0x3f000000u;
  const U32 normal = (size + 0xfffu + ((size >> 13) & 1u) - (112u << 23)) >> 13;
  const U32 finite = size < 0x38800000u ? subnormal : normal;
  const U32 large = size > 0x7f800000u ? U32{} + 0x7e00u : U32{} + 0x7c00u;
  return sign | (size >= 0x477ff000u ? large : finite);
}
TRILITH_INLINE F32 half_floats_generic(U32 patterns) {
  const U32 sign = (patterns & 0x8000u) << 16, size = patterns & 0x7fffu;
  const U32 normal = (size << 13) + (size >= 0x7c00u ? U32{} + (224u << 23) : U32{} + (112u << 23));
  const U32 subnormal = (U32)(__builtin_convertvector((I32)size, F32) * 0x1p-24f);
  return (F32)(sign | (size < 0x400u ? subnormal : normal));
}
TRILITH_INLINE U32 bfloat16_bits(F32 x) {  // in the upper half
  const U32 pattern = (U32)x, rounded = (pattern + 0x7fffu + ((pattern >> 16) & 1u)) & 0xffff0000u;
  // A NaN could lose all of its fraction, or carry into the sign.
  return x == x ? rounded : (pattern & 0xffff0000u) | 0x400000u;
}

template <class T>
TRILITH_INLINE Patterns narrowed(F32 x) {
  if constexpr (std::is_same_v<T, pl::bfloat16>) {
    return __builtin_convertvector(bfloat16_bits(x) >> 16, Patterns);
  } else {
#if defined(__AVX512F__)
    return (Patterns)_mm512_cvtps_ph((__m512)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#elif defined(__F16C__)
    return (Patterns)_mm256_cvtps_ph((__m256)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#else
    return __builtin_convertvector(half_patterns_generic(x), Patterns);
#endif
  }
}
template <class T>
TRILITH_INLINE F32 widened(Patterns patterns) {
  if constexpr (std::is_same_v<T, pl::bfloat16>) {
    return (F32)(__builtin_convertvector(patterns, U32) << 16);
  } else {
#if defined(__AVX512F__)
    return (F32)_mm512_cvtph_ps((__m256i)patterns);
#elif defined(__F16C__)
    return (F32)_mm256_cvtph_ps((__m128i)patterns);
#else
    return half_floats_generic(__builtin_convertvector(patterns, U32));
#endif
  }
}
/// Floats rounded to T's values.
template <class T>
TRILITH_INLINE F32 rounded(F32 x) {
  if constexpr (std::is_same_v<T, pl::bfloat16>)
    return (F32)bfloat16_bits(x);
  else
    return widened<T>(narrowed<T>(x));
}

/// The first n patterns of a register, then `fill`; reads nothing else.
TRILITH_INLINE Patterns load_patterns(const void* from, int n, std::uint16_t fill) {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  return (Patterns)_mm256_mask_loadu_epi16(_mm256_set1_epi16(static_cast<short>(fill)),
                                           static_cast<__mmask16>(first_bits(n, lanes<float>)), from);
#else
  Patterns result = Patterns{} + fill;
  __builtin_memcpy(&result, from, 2 * (n <= 0 ? 0 : n < lanes<float> ? n : lanes<float>));
  return result;
#endif
}
TRILITH_INLINE void store_patterns(void* to, Patterns patterns, int n) {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  _mm256_mask_storeu_epi16(to, static_cast<__mmask16>(first_bits(n, lanes<float>)), (__m256i)patterns);
#else
  __builtin_memcpy(to, &patterns, 2 * (n <= 0 ? 0 : n < lanes<float> ? n : lanes<float>));
#endif
}

/// Doubles rounded once to T's values, as floats.
template <class T, int N>
TRILITH_INLINE Whole<float, N> float_of_double(const Whole<double, N>& whole) {
  const Vector<double, N> x = whole.all;
  using Doubles = Vector<double, N>;
  using Bits = Vector<std::int64_t, N>;
  constexpr auto power = [](int n) {  // 2^n, also out of a float's range
    return __builtin_bit_cast(double, static_cast<std::uint64_t>(1023 + n) << 52);
  };
  constexpr int drop = 52 - T::fraction;
  const Bits sign = (Bits)x & std::numeric_limits<std::int64_t>::min();
  const Doubles size = (Doubles)((Bits)x & std::numeric_limits<std::int64_t>::max());
  const Bits bits = (Bits)size;
  const Bits nearest = (bits + ((std::int64_t{1} << (drop - 1)) - 1) + ((bits >> drop) & 1)) &
                       ~((std::int64_t{1} << drop) - 1);
  // Adding this leaves no place for what is below the smallest subnormal.
  constexpr double step = power(52 + 1 - T::bias - T::fraction);
  Doubles result = size < power(1 - T::bias) ? (size + step) - step : (Doubles)nearest;
  const Doubles infinity = Doubles{} + std::numeric_limits<double>::infinity();
  result = result >= power(T::bias + 1) ? infinity : result;
  result = x == x ? result : x;
  return {__builtin_convertvector((Doubles)((Bits)result | sign), Vector<float, N>)};
}

/// 32- or 64-bit integers as doubles that round to few digits as the integers do: what a double cannot hold is left
/// only as "there is more".
template <class T, int N>
TRILITH_INLINE Whole<double, N> sticky_double(const Whole<T, N>& whole) {
  Vector<T, N> x = whole.all;
  if constexpr (sizeof(T) == 8) {
    using Integers = Vector<T, N>;
    const Integers low = x & T{0xffff}, high = x - low;
    const Integers sticky = high + (low != 0 ? Integers{} + T{0x8000} : Integers{});
    constexpr T large = T{1} << 32;
    if constexpr (std::is_signed_v<T>)
      x = ((x > large) | (x < -large)) ? sticky : x;
    else
      x = x > large ? sticky : x;
  }
  return {__builtin_convertvector(x, Vector<double, N>)};
}

/// a * b + c of 16-bit floats, the sum rounded to odd: rounding it again rounds once.
template <int N>
TRILITH_INLINE Whole<double, N> fma_to_odd(const Whole<float, N>& a, const Whole<float, N>& b,
                                           const Whole<float, N>& c) {
  TRILITH_NO_CONTRACTION
  using Doubles = Vector<double, N>;
  using Bits = Vector<std::int64_t, N>;
  const Doubles product = __builtin_convertvector(a.all, Doubles) * __builtin_convertvector(b.all, Doubles);
  const Doubles addend = __builtin_convertvector(c.all, Doubles), sum = product + addend;
  const Doubles back = sum - product, error = (product - (sum - back)) + (addend - back);
  const Bits inexact = (Bits)((error < 0.0) | (error > 0.0));  // false for the NaN that infinities give
  const Bits away = (Bits)((Bits)(error < 0.0) ^ ((Bits)sum >> 63)) & inexact;
  return {(Doubles)(((Bits)sum + away) | (inexact & 1))};
}

}  // namespace native

}  // namespace trilith::device
