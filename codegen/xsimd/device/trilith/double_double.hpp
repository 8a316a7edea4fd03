// trilith/double_double.hpp -- sums and products of doubles with what their rounding lost.
#pragma once

#include "lift.hpp"
#include "target.hpp"

namespace trilith::device::native {

/// hi + lo, where lo is at most half a unit in the last place of hi.
template <class V>
struct Pair {
  V hi, lo;
};

/// a + b exactly.
template <class V>
TRILITH_INLINE Pair<V> two_sum(V a, V b) {
  TRILITH_NO_CONTRACTION
  const V sum = a + b, back = sum - a;
  return {sum, (a - (sum - back)) + (b - back)};
}
/// a + b exactly, for |a| >= |b|.
template <class V>
TRILITH_INLINE Pair<V> fast_two_sum(V a, V b) {
  TRILITH_NO_CONTRACTION
  const V sum = a + b;
  return {sum, b - (sum - a)};
}

// Without a fused multiply-add the halves of 26 bits multiply exactly; |a| and |b| stay below 2^990 here.
template <class V>
TRILITH_INLINE Pair<V> split_product(V a, V b) {
  TRILITH_NO_CONTRACTION
  const V a_scaled = a * 134217729.0, b_scaled = b * 134217729.0;
  const V a_hi = a_scaled - (a_scaled - a), b_hi = b_scaled - (b_scaled - b);
  const V a_lo = a - a_hi, b_lo = b - b_hi, product = a * b;
  return {product, ((a_hi * b_hi - product) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo};
}
/// a * b exactly.
TRILITH_INLINE Pair<F64> two_product(F64 a, F64 b) {
  TRILITH_NO_CONTRACTION
  if constexpr (has_fma) {
    const F64 product = a * b;
    return {product, multiply_add(a, b, -product)};
  } else {
    return split_product(a, b);
  }
}

}  // namespace trilith::device::native
