// trilith/target.hpp -- what the compiler's vectors cannot say, for each instruction set: comparison results
// as bits and back, rounding to integers, square roots, fused multiply-add.
//
// Everything else in this folder is written once for all targets. A target without a branch here takes the
// generic one, which is right everywhere and slower.
#pragma once

#include "vec.hpp"

namespace trilith::device::native {

// Bools in memory are bytes 0 or 1: eight of them against the bits of one byte.
TRILITH_INLINE std::uint64_t gather_bytes(std::uint64_t bytes) { return (bytes * 0x0102040810204080u) >> 56; }
TRILITH_INLINE std::uint64_t spread_bits(std::uint64_t bits) {
  const std::uint64_t spread = ((bits & 0xff) * 0x0101010101010101u) & 0x8040201008040201u;
  return ((spread + 0x7f7f7f7f7f7f7f7fu) >> 7) & 0x0101010101010101u;
}

/// Bit i is the highest bit of byte i, where all bytes are 0 or -1.
template <int N>
TRILITH_INLINE std::uint64_t bits_of_bytes(Vector<std::int8_t, N> truth) {
  std::uint64_t bits = 0;
#if defined(__SSE2__)
  for (int i = 0; i < N; i += 16) {
    __m128i part = _mm_setzero_si128();
    __builtin_memcpy(&part, reinterpret_cast<const char*>(&truth) + i, N < 16 ? N : 16);
    bits |= static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(part))) << i;
  }
#else
  for (int i = 0; i < N; i += 8) {
    std::uint64_t bytes;
    __builtin_memcpy(&bytes, reinterpret_cast<const char*>(&truth) + i, 8);
    bits |= gather_bytes(bytes & 0x0101010101010101u) << i;
  }
#endif
  return bits;
}
/// N bytes, -1 where a bit is set.
template <int N>
TRILITH_INLINE Vector<std::int8_t, N> bytes_of_bits(std::uint64_t bits) {
  Vector<std::int8_t, N> result;
  for (int i = 0; i < N; i += 8) {
    const std::uint64_t bytes = spread_bits(bits >> i) * 0xff;
    __builtin_memcpy(reinterpret_cast<char*>(&result) + i, &bytes, 8);
  }
  return result;
}

/// Bit i set where element i of a comparison result is true.
template <class T>
TRILITH_INLINE std::uint64_t to_bits(Vector<T> truth) {
  static_assert(std::is_integral_v<T>);
#if defined(__AVX512BW__)
  if constexpr (sizeof(T) == 1) return _mm512_movepi8_mask((__m512i)truth);
  if constexpr (sizeof(T) == 2) return _mm512_movepi16_mask((__m512i)truth);
#endif
  if constexpr (sizeof(T) <= 2)
    return bits_of_bytes<lanes<T>>(__builtin_convertvector(truth, Vector<std::int8_t, lanes<T>>));
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    return _mm512_cmplt_epi32_mask((__m512i)truth, _mm512_setzero_si512());
  else
    return _mm512_cmplt_epi64_mask((__m512i)truth, _mm512_setzero_si512());
#elif defined(__AVX__)
  if constexpr (sizeof(T) == 4)
    return static_cast<unsigned>(_mm256_movemask_ps((__m256)truth));
  else
    return static_cast<unsigned>(_mm256_movemask_pd((__m256d)truth));
#elif defined(__SSE2__)
  if constexpr (sizeof(T) == 4)
    return static_cast<unsigned>(_mm_movemask_ps((__m128)truth));
  else
    return static_cast<unsigned>(_mm_movemask_pd((__m128d)truth));
#else
  std::uint64_t bits = 0;
  for (int i = 0; i < lanes<T>; ++i) bits |= static_cast<std::uint64_t>(truth[i] & 1) << i;
  return bits;
#endif
}

/// The comparison result whose element i is bit i.
template <class T>
TRILITH_INLINE Vector<T> from_bits(std::uint64_t bits) {
  static_assert(std::is_integral_v<T>);
  if constexpr (sizeof(T) <= 2) {
#if defined(__AVX512BW__)
    if constexpr (sizeof(T) == 1) return (Vector<T>)_mm512_movm_epi8(bits);
    return (Vector<T>)_mm512_movm_epi16(static_cast<__mmask32>(bits));
#else
    return __builtin_convertvector(bytes_of_bits<lanes<T>>(bits), Vector<T>);
#endif
  } else {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4)
      return (Vector<T>)_mm512_maskz_set1_epi32(static_cast<__mmask16>(bits), -1);
    else
      return (Vector<T>)_mm512_maskz_set1_epi64(static_cast<__mmask8>(bits), -1);
#else
    struct Powers {
      T values[lanes<T>];
      constexpr Powers() : values{} {
        for (int i = 0; i < lanes<T>; ++i) values[i] = T{1} << i;
      }
    };
    static constexpr Powers powers{};
    Vector<T> power;
    __builtin_memcpy(&power, powers.values, sizeof power);
    return (Vector<T>)((splat<T>(static_cast<T>(bits)) & power) == power);
#endif
  }
}

/// Element i of `yes` where bit i is set, else of `no`.
template <class T>
TRILITH_INLINE Vector<T> select(std::uint64_t bits, Vector<T> yes, Vector<T> no) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    return (Vector<T>)_mm512_mask_blend_epi32(static_cast<__mmask16>(bits), (__m512i)no, (__m512i)yes);
  if constexpr (sizeof(T) == 8)
    return (Vector<T>)_mm512_mask_blend_epi64(static_cast<__mmask8>(bits), (__m512i)no, (__m512i)yes);
#endif
  return from_bits<Integer<T>>(bits) ? yes : no;
}

/// True when any element of a comparison result is.
template <class T>
TRILITH_INLINE bool any(Vector<T> truth) {
  return to_bits<T>(truth) != 0;
}

TRILITH_INLINE F32 sqrt(F32 x) {
#if defined(__AVX512F__)
  return (F32)_mm512_sqrt_ps((__m512)x);
#elif defined(__AVX__)
  return (F32)_mm256_sqrt_ps((__m256)x);
#elif defined(__SSE2__)
  return (F32)_mm_sqrt_ps((__m128)x);
#else
  return unwrap(xsimd::sqrt(wrap<float>(x)));
#endif
}
TRILITH_INLINE F64 sqrt(F64 x) {
#if defined(__AVX512F__)
  return (F64)_mm512_sqrt_pd((__m512d)x);
#elif defined(__AVX__)
  return (F64)_mm256_sqrt_pd((__m256d)x);
#elif defined(__SSE2__)
  return (F64)_mm_sqrt_pd((__m128d)x);
#else
  return unwrap(xsimd::sqrt(wrap<double>(x)));
#endif
}

#if defined(__FMA__) || defined(__AVX512F__) || defined(__ARM_FEATURE_FMA)
inline constexpr bool has_fma = true;
#else
inline constexpr bool has_fma = false;
#endif

/// a * b + c, fused where the target can: for polynomials, where either rounding will do.
TRILITH_INLINE F32 multiply_add(F32 a, F32 b, F32 c) {
#if defined(__AVX512F__)
  return (F32)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__FMA__)
  return (F32)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined(__ARM_FEATURE_FMA)
  return (F32)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#else
  return a * b + c;
#endif
}
TRILITH_INLINE F64 multiply_add(F64 a, F64 b, F64 c) {
#if defined(__AVX512F__)
  return (F64)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__FMA__)
  return (F64)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#elif defined(__ARM_FEATURE_FMA)
  return (F64)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#else
  return a * b + c;
#endif
}

/// The bits of the sign alone.
template <class T>
TRILITH_INLINE Vector<Integer<T>> sign_bits(Vector<T> x) {
  return (Vector<Integer<T>>)x & std::numeric_limits<Integer<T>>::min();
}
template <class T>
TRILITH_INLINE Vector<T> magnitude(Vector<T> x) {
  return (Vector<T>)((Vector<Integer<T>>)x & std::numeric_limits<Integer<T>>::max());
}
/// |x| with the sign of `sign`.
template <class T>
TRILITH_INLINE Vector<T> with_sign(Vector<T> x, Vector<T> sign) {
  return (Vector<T>)((Vector<Integer<T>>)magnitude<T>(x) | sign_bits<T>(sign));
}

/// From here on every float or double is an integer.
template <class T>
inline constexpr T integral_from = std::is_same_v<T, float> ? T(8388608) : T(4503599627370496);

// Without a rounding instruction: adding 2^23 (2^52) to |x| leaves no place for a fraction.
template <class T>
TRILITH_INLINE Vector<T> generic_rint(Vector<T> x) {
  const Vector<T> size = magnitude<T>(x);
  const Vector<T> rounded = (size + integral_from<T>)-integral_from<T>;
  return size < integral_from<T> ? with_sign<T>(rounded, x) : x;
}
template <class T>
TRILITH_INLINE Vector<T> generic_floor(Vector<T> x) {
  const Vector<T> nearest = generic_rint<T>(x);
  return nearest > x ? nearest - T(1) : nearest;
}
template <class T>
TRILITH_INLINE Vector<T> generic_ceil(Vector<T> x) {
  const Vector<T> nearest = generic_rint<T>(x);
  return with_sign<T>(nearest < x ? nearest + T(1) : nearest, x);
}
template <class T>
TRILITH_INLINE Vector<T> generic_trunc(Vector<T> x) {
  const Vector<T> size = magnitude<T>(x), nearest = generic_rint<T>(size);
  return with_sign<T>(nearest > size ? nearest - T(1) : nearest, x);
}

#if defined(__AVX512F__)
#define TRILITH_ROUNDING(name, mode)                                                          \
  TRILITH_INLINE F32 name(F32 x) { return (F32)_mm512_roundscale_ps((__m512)x, (mode) | 8); } \
  TRILITH_INLINE F64 name(F64 x) { return (F64)_mm512_roundscale_pd((__m512d)x, (mode) | 8); }
#elif defined(__AVX__)
#define TRILITH_ROUNDING(name, mode)                                                     \
  TRILITH_INLINE F32 name(F32 x) { return (F32)_mm256_round_ps((__m256)x, (mode) | 8); } \
  TRILITH_INLINE F64 name(F64 x) { return (F64)_mm256_round_pd((__m256d)x, (mode) | 8); }
#elif defined(__SSE4_1__)
#define TRILITH_ROUNDING(name, mode)                                                  \
  TRILITH_INLINE F32 name(F32 x) { return (F32)_mm_round_ps((__m128)x, (mode) | 8); } \
  TRILITH_INLINE F64 name(F64 x) { return (F64)_mm_round_pd((__m128d)x, (mode) | 8); }
#else
#define TRILITH_ROUNDING(name, mode)                                  \
  TRILITH_INLINE F32 name(F32 x) { return generic_##name<float>(x); } \
  TRILITH_INLINE F64 name(F64 x) { return generic_##name<double>(x); }
#endif
TRILITH_ROUNDING(rint, 0)
TRILITH_ROUNDING(floor, 1)
TRILITH_ROUNDING(ceil, 2)
TRILITH_ROUNDING(trunc, 3)
#undef TRILITH_ROUNDING

/// p * 2^n for integral n in [-2200, 2200], rounded once; a value below the smallest normal becomes the right
/// subnormal.
TRILITH_INLINE F32 scale(F32 p, F32 n) {
#if defined(__AVX512F__)
  return (F32)_mm512_scalef_ps((__m512)p, (__m512)n);
#else
  // Two steps: 2^n itself may be no normal number. The first product is exact.
  const I32 whole = __builtin_convertvector(n, I32), half = whole >> 1;
  return p * (F32)((half + 127) << 23) * (F32)((whole - half + 127) << 23);
#endif
}
TRILITH_INLINE F64 scale(F64 p, F64 n) {
#if defined(__AVX512F__)
  return (F64)_mm512_scalef_pd((__m512d)p, (__m512d)n);
#else
  // Adding 1.5 * 2^52 leaves n in the low bits: cheaper than a conversion few targets have.
  const I64 whole = (I64)(n + 0x1.8p52) - (I64)(F64{} + 0x1.8p52);
  const I64 half = (I64)(rint(n * 0.5) + 0x1.8p52) - (I64)(F64{} + 0x1.8p52);
  return p * (F64)((half + 1023) << 52) * (F64)((whole - half + 1023) << 52);
#endif
}

}  // namespace trilith::device::native
