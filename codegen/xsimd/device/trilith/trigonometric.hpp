// trilith/trigonometric.hpp -- sin and cos: at most 2 ulp for every finite argument.
//
// x = n * pi/2 + r with integral n and |r| <= pi/4; n mod 4 says which of +-sin r, +-cos r is the result. Up
// to 2^19 the multiple is subtracted in pieces whose products are exact. Beyond, the lanes concerned take the
// bits of 2/pi that matter (Payne and Hanek), in integers.
#pragma once

#include "double_double.hpp"
#include "exp.hpp"
#include "floating.hpp"

namespace trilith::device::native {

/// 64 zero bits, then 1216 bits of 2/pi.
inline constexpr std::uint64_t two_over_pi[20] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
    0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};

struct Reduced {
  double hi, lo;  ///< r
  int quadrant;   ///< n mod 4
};

/// For |x| >= 2^19; an infinity or NaN gives NaN.
inline __attribute__((noinline)) Reduced reduce_huge(double x) {
  TRILITH_NO_CONTRACTION
  if (x - x != 0) return {std::numeric_limits<double>::quiet_NaN(), 0, 0};
  const std::uint64_t bits = bits_of(x);
  const std::uint64_t mantissa = (bits & 0xfffffffffffff) | 0x10000000000000;
  // x = mantissa * 2^exponent. Bits of 2/pi above weight 2^(2 - exponent) make multiples of 4 and are left
  // out.
  const int exponent = static_cast<int>((bits >> 52) & 2047) - 1075;
  const int offset = 64 + exponent - 2, word = offset / 64, shift = offset % 64;
  const auto window = [&](int i) {
    return shift == 0 ? two_over_pi[word + i]
                      : (two_over_pi[word + i] << shift) | (two_over_pi[word + i + 1] >> (64 - shift));
  };
  __extension__ typedef unsigned __int128 Wide128;
  const Wide128 low = static_cast<Wide128>(mantissa) * window(2);
  const Wide128 middle = static_cast<Wide128>(mantissa) * window(1) + (low >> 64);
  const std::uint64_t top = mantissa * window(0) + static_cast<std::uint64_t>(middle >> 64);
  const std::uint64_t p1 = static_cast<std::uint64_t>(middle), p2 = static_cast<std::uint64_t>(low);

  // Two integer bits, then the fraction, rounded to nearest: in (-1/2, 1/2] from here on.
  int quadrant = static_cast<int>(top >> 62);
  std::uint64_t f0 = top << 2 | p1 >> 62, f1 = p1 << 2 | p2 >> 62, f2 = p2 << 2;
  bool negative = (f0 >> 63) != 0;
  if (negative) {
    ++quadrant;
    f2 = ~f2 + 1;
    f1 = ~f1 + (f2 == 0);
    f0 = ~f0 + (f2 == 0 && f1 == 0);
  }
  int leading = 0;
  while (f0 == 0 && leading < 128) {
    f0 = f1;
    f1 = f2;
    f2 = 0;
    leading += 64;
  }
  const int zeros = f0 == 0 ? 0 : __builtin_clzll(f0);
  if (zeros != 0) {
    f0 = f0 << zeros | f1 >> (64 - zeros);
    f1 = f1 << zeros | f2 >> (64 - zeros);
  }
  leading += zeros;
  const auto power = [](int n) { return from_pattern<double>(static_cast<std::uint64_t>(1023 + n) << 52); };
  const double hi = static_cast<double>(f0 >> 11) * power(-53 - leading);
  const double lo = static_cast<double>(f0 << 53 | f1 >> 11) * power(-117 - leading);

  const Pair<double> product = split_product(hi, 0x1.921fb54442d18p+0);
  const Pair<double> r =
      fast_two_sum(product.hi, product.lo + (hi * 0x1.1a62633145c07p-54 + lo * 0x1.921fb54442d18p+0));
  if (bits >> 63) {
    quadrant = -quadrant;
    negative = !negative;
  }
  return {negative ? -r.hi : r.hi, negative ? -r.lo : r.lo, quadrant & 3};
}

inline constexpr double huge_angle = 524288;

TRILITH_INLINE std::uint64_t huge_lanes(F64 x) {
  return to_bits<std::int64_t>((I64)(magnitude<double>(x) <= splat<double>(huge_angle))) ^
         Mask<lanes<double>>::all;
}

/// sin (Shift 0) or cos (Shift 1).
template <int Shift>
TRILITH_INLINE F64 sine(F64 x) {
  const F64 n = nearest_multiple(x, 0x1.45f306dc9c883p-1);
  // The first three pieces have 33 bits, so their products with n are exact, and so is the first difference.
  const F64 first = x - n * splat<double>(0x1.921fb54400000p+0);
  const Pair<F64> second = two_sum(first, n * splat<double>(-0x1.0b4611a600000p-34));
  const Pair<F64> third = two_sum(second.hi, n * splat<double>(-0x1.3198a2e000000p-69));
  F64 lo = second.lo + (third.lo - n * splat<double>(0x1.b839a252049c1p-104));
  F64 hi = third.hi + lo;
  lo = lo - (hi - third.hi);
  I64 quadrant = (I64)(n + 0x1.8p52);
  if (const std::uint64_t huge = huge_lanes(x)) {
    for (int i = 0; i < lanes<double>; ++i)
      if ((huge >> i) & 1) {
        const Reduced reduced = reduce_huge(x[i]);
        hi[i] = reduced.hi;
        lo[i] = reduced.lo;
        quadrant[i] = reduced.quadrant;
      }
  }
  quadrant += Shift;
  const F64 z = hi * hi, half = z * 0.5;
  const F64 sine_tail = polynomial(z, 0x1.5d91678a35d96p-33, -0x1.ae5e60ff57e55p-26, 0x1.71de3571752b1p-19,
                                   -0x1.a01a019c0af7bp-13, 0x1.111111110f84bp-7, -0x1.5555555555549p-3);
  const F64 cosine_tail = polynomial(z, -0x1.8facd87c0d497p-37, 0x1.1ee9e89e8d9b1p-29, -0x1.27e4f80548127p-22,
                                     0x1.a01a019cab8ffp-16, -0x1.6c16c16c15141p-10, 0x1.555555555554cp-5);
  const F64 sine = hi + (z * hi * sine_tail + (lo - lo * half));
  const F64 whole = 1.0 - half;  // what it lost comes back in the tail
  const F64 cosine = whole + (((1.0 - whole) - half) + (z * z * cosine_tail - hi * lo));
  const F64 chosen = (quadrant & 1) != 0 ? cosine : sine;
  return (F64)((I64)chosen ^ ((quadrant & 2) << 62));
}
TRILITH_INLINE F64 sin(F64 x) {
  const F64 result = sine<0>(x);
  return magnitude<double>(x) < splat<double>(0x1p-27) ? x : result;  // -0 and subnormals, too
}
TRILITH_INLINE F64 cos(F64 x) { return sine<1>(x); }

// Reduced in double, where two pieces of pi/2 are enough for the nearest a float comes to a multiple of it;
// the polynomials are in float.
template <int Shift>
TRILITH_INLINE F32 sine(F32 x) {
  constexpr int n_lanes = lanes<float>;
  using Doubles = Vector<double, n_lanes>;
  const Doubles wide = __builtin_convertvector(x, Doubles), shift = Doubles{} + 0x1.8p52;
  const Doubles n = (wide * 0x1.45f306dc9c883p-1 + shift) - shift;
  F32 r = __builtin_convertvector((wide - n * 0x1.921fb54400000p+0) - n * 0x1.0b4611a626331p-34, F32);
  I32 quadrant = (I32)(__builtin_convertvector(n, F32) + 0x1.8p23f);
  const std::uint64_t huge =
      to_bits<std::int32_t>((I32)(magnitude<float>(x) <= splat<float>(huge_angle))) ^ Mask<n_lanes>::all;
  if (huge != 0) {
    for (int i = 0; i < n_lanes; ++i)
      if ((huge >> i) & 1) {
        const Reduced reduced = reduce_huge(x[i]);
        r[i] = static_cast<float>(reduced.hi);
        quadrant[i] = reduced.quadrant;
      }
  }
  quadrant += Shift;
  const F32 z = r * r;
  const F32 sine = multiply_add(
      z * r, polynomial(z, 0x1.6cd634p-19f, -0x1.a00f96p-13f, 0x1.111108p-7f, -0x1.555556p-3f), r);
  const F32 cosine = multiply_add(z * z, polynomial(z, 0x1.99ff96p-16f, -0x1.6c0c82p-10f, 0x1.55554ap-5f),
                                  multiply_add(z, splat<float>(-0.5f), splat<float>(1)));
  const F32 chosen = (quadrant & 1) != 0 ? cosine : sine;
  return (F32)((I32)chosen ^ ((quadrant & 2) << 30));
}
TRILITH_INLINE F32 sin(F32 x) {
  const F32 result = sine<0>(x);
  return magnitude<float>(x) < splat<float>(0x1p-13f) ? x : result;
}
TRILITH_INLINE F32 cos(F32 x) { return sine<1>(x); }

}  // namespace trilith::device::native

namespace trilith::device {
TRILITH_FLOATING_1(sin)
TRILITH_FLOATING_1(cos)
}  // namespace trilith::device
