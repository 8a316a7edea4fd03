// trilith/logarithm.hpp -- log, log2, log1p and pow: at most 3 ulp, subnormal arguments included.
//
// x = 2^e * m with m in [sqrt(1/2), sqrt(2)), so that the result near x = 1 is the series of m - 1 alone.
#pragma once

#include "double_double.hpp"
#include "exp.hpp"
#include "floating.hpp"

namespace trilith::device::native {

template <class V>
struct Split {
  V m, e;
};

/// For x > 0 and finite; anything for other x.
TRILITH_INLINE Split<F32> split(F32 x) {
  const I32 subnormal = (I32)(x < splat<float>(std::numeric_limits<float>::min()));
  const I32 bits = (I32)(subnormal ? x * 0x1p23f : x);
  const I32 e = (bits - 0x3f3504f3) >> 23;
  return {(F32)(bits - (e << 23)), __builtin_convertvector(e - (subnormal & 23), F32)};
}
TRILITH_INLINE Split<F64> split(F64 x) {
  const I64 subnormal = (I64)(x < splat<double>(std::numeric_limits<double>::min()));
  const I64 bits = (I64)(subnormal ? x * 0x1p52 : x);
  // e + 1023, taken as the low bits of a double near 2^52: few targets shift or convert signed 64-bit
  // integers.
  const U64 biased = (U64)(bits - (0x3fe6a09e667f3bcd - 0x3ff0000000000000)) >> 52;
  const F64 e = (F64)(biased | 0x4330000000000000u) -
                (subnormal ? splat<double>(0x1p52 + 1023 + 52) : splat<double>(0x1p52 + 1023));
  return {(F64)(bits - (I64)((biased - 1023) << 52)), e};
}

/// log of x where `result` is right for 0 < x < infinity.
template <class V>
TRILITH_INLINE V with_log_specials(V x, V result) {
  using T = Element<V>;
  using L = std::numeric_limits<T>;
  const V upper = x < splat<T>(L::infinity()) ? result : x;  // infinity and NaN give themselves
  const V lower = x == V{} ? splat<T>(-L::infinity()) : splat<T>(L::quiet_NaN());
  return x > V{} ? upper : lower;
}

/// log(1 + f) - f for f in [sqrt(1/2) - 1, sqrt(2) - 1].
TRILITH_INLINE F32 log1p_tail(F32 f) {
  return f * f *
         polynomial(f, -0x1.38bc16p-4f, 0x1.08b452p-3f, -0x1.0f515cp-3f, 0x1.226344p-3f, -0x1.5422c4p-3f,
                    0x1.99a482p-3f, -0x1.000440p-2f, 0x1.555550p-2f, -0x1.fffff8p-2f);
}
// With s = f / (2 + f), log(1 + f) = 2 atanh(s) = f - f^2/2 + s * (f^2/2 + s^2 * R(s^2)).
TRILITH_INLINE F64 log1p_tail(F64 f) {
  const F64 s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
  const F64 r =
      z * polynomial(z, 0x1.2f4e0a8d2d876p-3, 0x1.399ad7697dedap-3, 0x1.74667fdc6c871p-3,
                     0x1.c71c50de53629p-3, 0x1.2492494349fd3p-2, 0x1.999999997e71fp-2, 0x1.5555555555596p-1);
  return s * (half + r) - half;
}

template <class V>
struct Ln2;
template <>
struct Ln2<F32> {
  static constexpr float hi = 0x1.62e8p-1f,
                         lo = -0x1.e8082ep-16f;  // products of hi with an exponent are exact
};
template <>
struct Ln2<F64> {
  static constexpr double hi = 0x1.62e42fefa4p-1, lo = -0x1.8432a1b0e2634p-43;
};

template <class V>
TRILITH_INLINE V log(V x) {
  const Split<V> parts = split(x);
  const V f = parts.m - Element<V>(1);
  const V small = multiply_add(parts.e, splat<Element<V>>(Ln2<V>::lo), log1p_tail(f)) + f;
  return with_log_specials(x, multiply_add(parts.e, splat<Element<V>>(Ln2<V>::hi), small));
}

template <class V>
TRILITH_INLINE V log1p(V x) {
  TRILITH_NO_CONTRACTION
  using T = Element<V>;
  const V u = x + T(1);
  const Split<V> parts = split(u);
  const V f = parts.m - T(1);
  // u lost this much of 1 + x.
  const V lost = (x < T(1) ? x - (u - T(1)) : T(1) - (u - x)) / u;
  const V small = multiply_add(parts.e, splat<T>(Ln2<V>::lo), log1p_tail(f)) + lost + f;
  const V result = with_log_specials(u, multiply_add(parts.e, splat<T>(Ln2<V>::hi), small));
  return with_sign<T>(result, x);
}

TRILITH_INLINE F32 log2(F32 x) {
  const Split<F32> parts = split(x);
  const F32 f = parts.m - 1.0f;
  const F32 series =
      polynomial(f, -0x1.c30610p-4f, 0x1.7ddd56p-3f, -0x1.8773a4p-3f, 0x1.a2f26ep-3f, -0x1.eab5c8p-3f,
                 0x1.277e94p-2f, -0x1.715a9ap-2f, 0x1.ec7096p-2f, -0x1.715470p-1f, 0x1.715476p+0f);
  return with_log_specials(x, multiply_add(f, series, parts.e));
}
TRILITH_INLINE F64 log2(F64 x) {
  const Split<F64> parts = split(x);
  const F64 f = parts.m - 1.0;
  return with_log_specials(x, multiply_add(log1p_tail(f) + f, splat<double>(0x1.71547652b82fep+0), parts.e));
}

/// log2 x to about 2^-64 of itself, for 0 < x < infinity.
TRILITH_INLINE Pair<F64> log2_pair(F64 x) {
  TRILITH_NO_CONTRACTION
  const Split<F64> parts = split(x);
  const F64 f = parts.m - 1.0, below = parts.m + 1.0, below_lost = parts.m - (below - 1.0);
  // s = f / (2 + f) and z = s^2, each with its rounding error.
  const F64 s = f / below;
  const Pair<F64> back = two_product(s, below);
  const F64 s_lo = (((f - back.hi) - back.lo) - s * below_lost) / below;
  const Pair<F64> z = two_product(s, s);
  const F64 z_lo = z.lo + 2.0 * s * s_lo;
  // 2 atanh(s) = 2 s + s * (2/3 z + z^2 * tail): all but the tail in pairs.
  const F64 tail =
      z.hi * z.hi *
      polynomial(z.hi, 0x1.0e8a63d61ff80p-3, 0x1.0f7863eba7836p-3, 0x1.3b1f3c426a58dp-3, 0x1.745ce834d764bp-3,
                 0x1.c71c7232202c9p-3, 0x1.24924924549a0p-2, 0x1.9999999999b4ap-2);
  const Pair<F64> cubic = two_product(z.hi, splat<double>(0x1.5555555555555p-1));
  const Pair<F64> inner = fast_two_sum(cubic.hi, tail);
  const F64 inner_lo = inner.lo + (cubic.lo + (z.hi * 0x1.5555555555555p-55 + z_lo * 0x1.5555555555555p-1));
  const Pair<F64> outer = two_product(s, inner.hi);
  const Pair<F64> sum = fast_two_sum(2.0 * s, outer.hi);
  const F64 sum_lo = sum.lo + ((outer.lo + (s * inner_lo + s_lo * inner.hi)) + 2.0 * s_lo);
  const Pair<F64> scaled = two_product(sum.hi, splat<double>(0x1.71547652b82fep+0));
  const F64 scaled_lo = scaled.lo + (sum.hi * 0x1.777d0ffda0d24p-56 + sum_lo * 0x1.71547652b82fep+0);
  const Pair<F64> total = two_sum(parts.e, scaled.hi);
  return fast_two_sum(total.hi, total.lo + scaled_lo);
}

/// |x|^y without the special cases.
TRILITH_INLINE F64 power(F64 x, F64 y) {
  TRILITH_NO_CONTRACTION
  const Pair<F64> exponent = log2_pair(x);
  // |log2 x| is above 2^-53 or 0, so beyond 2^70 the result is 0, 1 or infinity already.
  y = bounded(y, -0x1p70, 0x1p70);
  const Pair<F64> product = two_product(exponent.hi, y);
  const F64 lo = bounded(multiply_add(exponent.lo, y, product.lo), -1.0, 1.0);
  const F64 hi = bounded(product.hi, -1080.0, 1030.0);
  const F64 n = nearest_multiple(hi, 1.0);
  return scale(exp2_fraction((hi - n) + lo), n);
}
// In double, where the plain log2 and exp2 are exact enough for a float.
TRILITH_INLINE F32 power(F32 x, F32 y) {
  Vector<double, lanes<float>> wide_x = __builtin_convertvector(x, decltype(wide_x)),
                               wide_y = __builtin_convertvector(y, decltype(wide_y));
  F64 part_x[lanes<float> / lanes<double>], part_y[lanes<float> / lanes<double>];
  __builtin_memcpy(part_x, &wide_x, sizeof part_x);
  __builtin_memcpy(part_y, &wide_y, sizeof part_y);
  for (int i = 0; i < lanes<float> / lanes<double>; ++i) {
    const Split<F64> parts = split(part_x[i]);
    const F64 f = parts.m - 1.0;
    const F64 exponent = multiply_add(log1p_tail(f) + f, splat<double>(0x1.71547652b82fep+0), parts.e);
    part_x[i] = exp2(bounded(exponent * bounded(part_y[i], -0x1p60, 0x1p60), -200.0, 200.0));
  }
  __builtin_memcpy(&wide_x, part_x, sizeof part_x);
  return __builtin_convertvector(wide_x, F32);
}

template <class V>
TRILITH_INLINE V pow(V x, V y) {
  using T = Element<V>;
  using I = Vector<Integer<T>>;
  using L = std::numeric_limits<T>;
  const V size = magnitude<T>(x), infinity = splat<T>(L::infinity()), half = y * T(0.5);
  V result = power(size, y);
  // 0 and infinity to a power are one another or themselves.
  const I to_infinity = (I)(size == V{}) ^ (I)(y > V{});
  result = ((I)(size == V{}) | (I)(size == infinity)) ? (to_infinity ? infinity : V{}) : result;
  const I integral = (I)(rint(y) == y), odd = integral & (I)(rint(half) != half);
  result = (V)((I)result | (odd & sign_bits<T>(x)));
  const I no_power = (I)(x < V{}) & ~integral & (I)(size != infinity);
  const I unordered = (I)(x != x) | (I)(y != y);
  result = (no_power | unordered) ? splat<T>(L::quiet_NaN()) : result;
  return ((I)(y == V{}) | (I)(x == T(1))) ? splat<T>(1) : result;
}

}  // namespace trilith::device::native

namespace trilith::device {
TRILITH_FLOATING_1(log)
TRILITH_FLOATING_1(log2)
TRILITH_FLOATING_1(log1p)
TRILITH_FLOATING_2(pow)
}  // namespace trilith::device
