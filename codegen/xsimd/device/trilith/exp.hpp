// trilith/exp.hpp -- exp and exp2: at most 2.4 ulp from the smallest subnormal to overflow.
//
// x = n * ln 2 + r with integral n, so e^x = 2^n * e^r; e^r is a polynomial on |r| <= ln(2) / 2. Every
// constant below was fitted for this file (minimax on a slightly larger interval).
#pragma once

#include "lift.hpp"
#include "target.hpp"

namespace trilith::device::native {

/// Horner's rule; the coefficient of the highest power comes first.
template <class V, class... Coefficients>
TRILITH_INLINE V polynomial(V x, Element<V> highest, Coefficients... rest) {
  V sum = splat<Element<V>>(highest);
  ((sum = multiply_add(sum, x, splat<Element<V>>(rest))), ...);
  return sum;
}

/// Like std::clamp for finite bounds; a NaN stays.
template <class V>
TRILITH_INLINE V bounded(V x, Element<V> lowest, Element<V> highest) {
  const V low = splat<Element<V>>(lowest), high = splat<Element<V>>(highest);
  const V above = x < low ? low : x;
  return above > high ? high : above;
}

/// The nearest integer of x * factor for |x * factor| < 2^21: adding 1.5 * 2^23 (2^52) rounds.
TRILITH_INLINE F32 nearest_multiple(F32 x, float factor) {
  const F32 shift = splat<float>(0x1.8p23f);
  return multiply_add(x, splat<float>(factor), shift) - shift;
}
TRILITH_INLINE F64 nearest_multiple(F64 x, double factor) {
  const F64 shift = splat<double>(0x1.8p52);
  return multiply_add(x, splat<double>(factor), shift) - shift;
}

/// e^r for |r| <= ln(2) / 2.
TRILITH_INLINE F32 exp_fraction(F32 r) {
  // One degree more would gain half an ulp and cost softmax a tenth of its time.
  return polynomial(r, 0x1.1061c8p-7f, 0x1.572ae2p-5f, 0x1.5557b2p-3f, 0x1.fffdfap-2f, 1.0f, 1.0f);
}
TRILITH_INLINE F64 exp_fraction(F64 r) {
  return polynomial(r, 0x1.af38d53857513p-26, 0x1.2891a8c1d838dp-22, 0x1.71de0d9c145d0p-19,
                    0x1.a019b8ef67c6cp-16, 0x1.a01a01a7c8d47p-13, 0x1.6c16c17893833p-10, 0x1.11111111109adp-7,
                    0x1.5555555553d4fp-5, 0x1.5555555555556p-3, 0x1.0000000000001p-1, 1.0, 1.0);
}

// The bounds lie where the result has become 0 or infinity for certain: beyond them n would not fit.
TRILITH_INLINE F32 exp(F32 x) {
  x = bounded(x, -104.0f, 89.0f);
  const F32 n = nearest_multiple(x, 0x1.715476p+0f);
  F32 r = multiply_add(n, splat<float>(-0x1.62e8p-1f), x);  // n * this is exact
  r = multiply_add(n, splat<float>(0x1.e8082ep-16f), r);
  return scale(exp_fraction(r), n);
}
TRILITH_INLINE F64 exp(F64 x) {
  x = bounded(x, -746.0, 710.0);
  const F64 n = nearest_multiple(x, 0x1.71547652b82fep+0);
  F64 r = multiply_add(n, splat<double>(-0x1.62e42fefa4p-1), x);
  r = multiply_add(n, splat<double>(0x1.8432a1b0e2634p-43), r);
  return scale(exp_fraction(r), n);
}

/// 2^r for |r| <= 1/2.
TRILITH_INLINE F32 exp2_fraction(F32 r) {
  return polynomial(r, 0x1.4413dcp-13f, 0x1.5f0906p-10f, 0x1.3b2a52p-7f, 0x1.c6af6cp-5f, 0x1.ebfbe0p-3f,
                    0x1.62e430p-1f, 1.0f);
}
TRILITH_INLINE F64 exp2_fraction(F64 r) {
  return polynomial(r, 0x1.c4a2d9a26d749p-36, 0x1.e9ec78cdc8d74p-32, 0x1.e4cf10b7143f1p-28,
                    0x1.b524eb9f21834p-24, 0x1.62c02242c031dp-20, 0x1.ffcbfc6dba6b6p-17,
                    0x1.430912f86b7c7p-13, 0x1.5d87fe78a3f6bp-10, 0x1.3b2ab6fba4e79p-7, 0x1.c6b08d704a0c6p-5,
                    0x1.ebfbdff82c58fp-3, 0x1.62e42fefa39efp-1, 1.0);
}
TRILITH_INLINE F32 exp2(F32 x) {
  x = bounded(x, -151.0f, 129.0f);
  const F32 n = nearest_multiple(x, 1.0f);
  return scale(exp2_fraction(x - n), n);
}
TRILITH_INLINE F64 exp2(F64 x) {
  x = bounded(x, -1076.0, 1025.0);
  const F64 n = nearest_multiple(x, 1.0);
  return scale(exp2_fraction(x - n), n);
}

}  // namespace trilith::device::native

namespace trilith::device {
TRILITH_FLOATING_1(exp)
TRILITH_FLOATING_1(exp2)
}  // namespace trilith::device
