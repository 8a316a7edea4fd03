// trilith/arithmetic.hpp -- the exact elementwise operations on vectors: each rounded once, integers wrap.
#pragma once

#include "floating.hpp"
#include "integer.hpp"

namespace trilith::device {

namespace native {

// Integers are computed unsigned: signed overflow is undefined in the compiler's vectors, too.
#define TRILITH_NATIVE_WRAPPING(name, operator_) \
  template <class V>                             \
  TRILITH_INLINE V name(V a, V b) {              \
    using T = Element<V>;                        \
    if constexpr (std::is_integral_v<T>) {       \
      using U = Vector<Unsigned<T>>;             \
      return (V)((U)a operator_(U) b);           \
    } else {                                     \
      return a operator_ b;                      \
    }                                            \
  }
TRILITH_NATIVE_WRAPPING(add, +)
TRILITH_NATIVE_WRAPPING(sub, -)
TRILITH_NATIVE_WRAPPING(mul, *)
#undef TRILITH_NATIVE_WRAPPING

TRILITH_INLINE F32 div(F32 a, F32 b) { return a / b; }
TRILITH_INLINE F64 div(F64 a, F64 b) { return a / b; }

template <class V>
TRILITH_INLINE V neg(V x) {
  using T = Element<V>;
  if constexpr (std::is_integral_v<T>)
    return sub(V{}, x);
  else
    return (V)((Vector<Integer<T>>)x ^ std::numeric_limits<Integer<T>>::min());
}
template <class V>
TRILITH_INLINE V abs(V x) {
  if constexpr (std::is_unsigned_v<Element<V>>)
    return x;
  else if constexpr (std::is_integral_v<Element<V>>)
    return x < 0 ? neg(x) : x;
  else
    return magnitude<Element<V>>(x);
}
template <class V>
TRILITH_INLINE V square(V x) {
  return mul(x, x);
}
template <class V>
TRILITH_INLINE V sign(V x) {
  using T = Element<V>;
  const V one = splat<T>(T(1)), minus_one = splat<T>(static_cast<T>(-1));
  V zero{};
  if constexpr (!std::is_integral_v<T>) zero = x == x ? zero : x;
  return x > V{} ? one : (x < V{} ? minus_one : zero);
}
template <class V>
TRILITH_INLINE V relu(V x) {
  return x <= V{} ? V{} : x;  // a NaN is not <= 0 and stays
}

template <class V>
TRILITH_INLINE V maximum(V a, V b) {
  using T = Element<V>;
  if constexpr (std::is_integral_v<T>) {
    return a < b ? b : a;
  } else {
#if defined(__AVX512DQ__)
    // vrange orders -0 below +0; it drops a NaN, which the masked sum brings back.
    if constexpr (sizeof(T) == 4)
      return (V)_mm512_mask_add_ps(_mm512_range_ps((__m512)a, (__m512)b, 5),
                                   _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_UNORD_Q), (__m512)a,
                                   (__m512)b);
    else
      return (V)_mm512_mask_add_pd(_mm512_range_pd((__m512d)a, (__m512d)b, 5),
                                   _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_UNORD_Q), (__m512d)a,
                                   (__m512d)b);
#else
    using I = Vector<Integer<T>>;
    const V larger = a < b ? b : a;                        // a where a NaN is met
    const V ordered = a == b ? (V)((I)a & (I)b) : larger;  // +0 of -0 and +0
    return b == b ? ordered : b;
#endif
  }
}
template <class V>
TRILITH_INLINE V minimum(V a, V b) {
  using T = Element<V>;
  if constexpr (std::is_integral_v<T>) {
    return b < a ? b : a;
  } else {
#if defined(__AVX512DQ__)
    if constexpr (sizeof(T) == 4)
      return (V)_mm512_mask_add_ps(_mm512_range_ps((__m512)a, (__m512)b, 4),
                                   _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_UNORD_Q), (__m512)a,
                                   (__m512)b);
    else
      return (V)_mm512_mask_add_pd(_mm512_range_pd((__m512d)a, (__m512d)b, 4),
                                   _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_UNORD_Q), (__m512d)a,
                                   (__m512d)b);
#else
    using I = Vector<Integer<T>>;
    const V smaller = b < a ? b : a;
    const V ordered = a == b ? (V)((I)a | (I)b) : smaller;
    return b == b ? ordered : b;
#endif
  }
}
template <class V>
TRILITH_INLINE V clamp(V x, V lowest, V highest) {
  return minimum(maximum(x, lowest), highest);
}

template <class V>
TRILITH_INLINE V recip(V x) {
  return splat<Element<V>>(1) / x;
}
template <class V>
TRILITH_INLINE V rsqrt(V x) {
  return splat<Element<V>>(1) / sqrt(x);
}
/// Ties away from zero. x - trunc(x) is exact.
template <class V>
TRILITH_INLINE V round(V x) {
  using T = Element<V>;
  const V whole = trunc(x);
  const V away = magnitude<T>(x - whole) >= splat<T>(T(0.5)) ? whole + with_sign<T>(splat<T>(1), x) : whole;
  return with_sign<T>(away, x);
}

}  // namespace native

TRILITH_NUMERIC_1(neg)
TRILITH_NUMERIC_1(abs)
TRILITH_NUMERIC_1(square)
TRILITH_NUMERIC_1(sign)
TRILITH_NUMERIC_1(relu)
TRILITH_NUMERIC_2(add)
TRILITH_NUMERIC_2(sub)
TRILITH_NUMERIC_2(mul)
TRILITH_NUMERIC_2(div)
TRILITH_NUMERIC_2(fmod)
TRILITH_NUMERIC_2(rem)
TRILITH_NUMERIC_2(maximum)
TRILITH_NUMERIC_2(minimum)
TRILITH_BATCH_3(clamp, float)
TRILITH_BATCH_3(clamp, double)
TRILITH_BATCH_3(clamp, std::int32_t)
TRILITH_BATCH_3(clamp, std::int64_t)
TRILITH_OTHER_3(clamp)
TRILITH_WIDE_3(clamp)

TRILITH_FLOATING_1(recip)
TRILITH_FLOATING_1(sqrt)
TRILITH_FLOATING_1(rsqrt)
TRILITH_FLOATING_1(floor)
TRILITH_FLOATING_1(ceil)
TRILITH_FLOATING_1(round)
TRILITH_FLOATING_1(rint)
TRILITH_FLOATING_1(trunc)
TRILITH_FLOATING_3(fma)

}  // namespace trilith::device
