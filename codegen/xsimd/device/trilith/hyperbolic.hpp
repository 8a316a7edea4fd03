// trilith/hyperbolic.hpp -- expm1, tanh, sigmoid and erf: at most 3.5 ulp, small arguments included.
#pragma once

#include "exp.hpp"

namespace trilith::device::native {

/// e^r - 1 for |r| <= ln(2) / 2.
TRILITH_INLINE F32 expm1_fraction(F32 r) {
  return multiply_add(
      r * r, polynomial(r, 0x1.6d9f54p-10f, 0x1.122860p-7f, 0x1.55547ep-5f, 0x1.5554b0p-3f, 0x1.000000p-1f),
      r);
}
TRILITH_INLINE F64 expm1_fraction(F64 r) {
  return multiply_add(
      r * r,
      polynomial(r, 0x1.1f95d99d25bf1p-29, 0x1.af5f1a30b918fp-26, 0x1.27e4c552e460fp-22,
                 0x1.71ddf825eb77bp-19, 0x1.a01a01b0dc87ep-16, 0x1.a01a01aff4576p-13, 0x1.6c16c16c143d2p-10,
                 0x1.111111110f691p-7, 0x1.555555555555ap-5, 0x1.5555555555559p-3, 0x1.0000000000000p-1),
      r);
}

// e^x - 1 = 2^n * ((e^r - 1) + (1 - 2^-n)). For x below the bound the result has become -1.
TRILITH_INLINE F32 expm1(F32 x) {
  const F32 bound = bounded(x, -20.0f, 89.0f), one = splat<float>(1);
  const F32 n = nearest_multiple(bound, 0x1.715476p+0f);
  const F32 r =
      multiply_add(n, splat<float>(0x1.e8082ep-16f), multiply_add(n, splat<float>(-0x1.62e8p-1f), bound));
  const F32 result = scale(expm1_fraction(r) + (one - scale(one, -n)), n);
  return with_sign<float>(result, x);  // -0 stays
}
TRILITH_INLINE F64 expm1(F64 x) {
  const F64 bound = bounded(x, -40.0, 710.0), one = splat<double>(1);
  const F64 n = nearest_multiple(bound, 0x1.71547652b82fep+0);
  const F64 r = multiply_add(n, splat<double>(0x1.8432a1b0e2634p-43),
                             multiply_add(n, splat<double>(-0x1.62e42fefa4p-1), bound));
  const F64 result = scale(expm1_fraction(r) + (one - scale(one, -n)), n);
  return with_sign<double>(result, x);
}

/// With t = e^(-2|x|) - 1, tanh |x| = -t / (t + 2).
template <class V>
TRILITH_INLINE V tanh(V x) {
  using T = Element<V>;
  const V t = expm1(magnitude<T>(x) * T(-2));
  return with_sign<T>(t / (t + T(2)), x);
}

/// e^-|x| cannot overflow; where x is negative it is the numerator, and may be subnormal.
template <class V>
TRILITH_INLINE V sigmoid(V x) {
  using T = Element<V>;
  const V e = exp(-magnitude<T>(x)), one = splat<T>(1);
  return (x < V{} ? e : one) / (one + e);
}

// Below 1, x times a polynomial in x^2. From 1 on, 1 - e^(-x^2) * Q(1 / (x + 2)): there the second term is
// small and so are its errors.
TRILITH_INLINE F32 erf(F32 x) {
  const F32 size = magnitude<float>(x), capped = bounded(size, 0.0f, 4.0f), z = x * x;
  const F32 inner = multiply_add(polynomial(z, 0x1.494666p-14f, -0x1.a3eab8p-11f, 0x1.540422p-8f,
                                            -0x1.b7f8e0p-6f, 0x1.ce2cf4p-4f, -0x1.81273ep-2f, 0x1.06eba8p-3f),
                                 x, x);
  const F32 q = polynomial(1.0f / (capped + 2.0f), -0x1.d88b6cp+2f, 0x1.45e132p+3f, -0x1.071778p-1f,
                           0x1.96304cp+0f, 0x1.09f91cp-1f, 0x1.dc9442p-10f);
  const F32 outer = with_sign<float>(multiply_add(-exp(-capped * capped), q, splat<float>(1)), x);
  return size < splat<float>(1) ? inner : outer;
}
TRILITH_INLINE F64 erf(F64 x) {
  const F64 size = magnitude<double>(x), capped = bounded(size, 0.0, 6.0), z = x * x;
  const F64 inner =
      multiply_add(polynomial(z, -0x1.ab7c7a11b5f80p-31, 0x1.d70ab4e1080acp-27, -0x1.5c04d73c749dbp-23,
                              0x1.b97f75a7deca9p-20, -0x1.f4ca44298c613p-17, 0x1.f9a2ba13a5c40p-14,
                              -0x1.c02db037d7c6cp-11, 0x1.565bccf9050c5p-8, -0x1.b82ce311f97bcp-6,
                              0x1.ce2f21a040cd5p-4, -0x1.812746b0379bcp-2, 0x1.06eba8214db68p-3),
                   x, x);
  const F64 q =
      polynomial(1.0 / (capped + 2.0), -0x1.a78750a4351f7p+7, 0x1.7567578dde45bp+9, -0x1.1fce0d46e2eafp+10,
                 0x1.f0932f00f0259p+9, -0x1.fdd3606566878p+8, 0x1.4196d9473e39cp+7, -0x1.47dbe90c2d659p+5,
                 0x1.3b6a39b4dfcf5p+3, 0x1.e7164ebf40d68p+0, 0x1.0768862c6302bp+1, 0x1.1f9189958e655p+0,
                 0x1.20f5c3d2e1423p-1, -0x1.9d2a4d04ebfd1p-19);
  const F64 outer = with_sign<double>(multiply_add(-exp(-capped * capped), q, splat<double>(1)), x);
  return size < splat<double>(1) ? inner : outer;
}

}  // namespace trilith::device::native

namespace trilith::device {
TRILITH_FLOATING_1(expm1)
TRILITH_FLOATING_1(tanh)
TRILITH_FLOATING_1(sigmoid)
TRILITH_FLOATING_1(erf)
}  // namespace trilith::device
