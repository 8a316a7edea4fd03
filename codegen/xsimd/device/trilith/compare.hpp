// trilith/compare.hpp -- comparisons, tests, logic on masks, where.
#pragma once

#include "lift.hpp"
#include "target.hpp"

namespace trilith::device {

namespace native {
#define TRILITH_NATIVE_COMPARE(name, operator_)    \
  template <class V>                               \
  TRILITH_INLINE std::uint64_t name(V a, V b) {    \
    using I = Integer<Element<V>>;                 \
    return to_bits<I>((Vector<I>)(a operator_ b)); \
  }
TRILITH_NATIVE_COMPARE(eq, ==)
TRILITH_NATIVE_COMPARE(ne, !=)
TRILITH_NATIVE_COMPARE(lt, <)
TRILITH_NATIVE_COMPARE(le, <=)
TRILITH_NATIVE_COMPARE(gt, >)
TRILITH_NATIVE_COMPARE(ge, >=)
#undef TRILITH_NATIVE_COMPARE

template <class V>
TRILITH_INLINE std::uint64_t isnan(V x) {
  return ne(x, x);
}
template <class V>
TRILITH_INLINE std::uint64_t isinf(V x) {
  using T = Element<V>;
  return eq(magnitude<T>(x), splat<T>(std::numeric_limits<T>::infinity()));
}
}  // namespace native

TRILITH_COMPARE(eq)
TRILITH_COMPARE(ne)
TRILITH_COMPARE(lt)
TRILITH_COMPARE(le)
TRILITH_COMPARE(gt)
TRILITH_COMPARE(ge)
TRILITH_BATCH_TEST(isnan, float)
TRILITH_BATCH_TEST(isnan, double)
TRILITH_WIDE_TEST(isnan)
TRILITH_BATCH_TEST(isinf, float)
TRILITH_BATCH_TEST(isinf, double)
TRILITH_WIDE_TEST(isinf)

template <int N>
TRILITH_INLINE Mask<N> bit_and(Mask<N> a, Mask<N> b) {
  return {static_cast<typename Mask<N>::Bits>(a.bits & b.bits)};
}
template <int N>
TRILITH_INLINE Mask<N> bit_or(Mask<N> a, Mask<N> b) {
  return {static_cast<typename Mask<N>::Bits>(a.bits | b.bits)};
}
template <int N>
TRILITH_INLINE Mask<N> bit_xor(Mask<N> a, Mask<N> b) {
  return {static_cast<typename Mask<N>::Bits>(a.bits ^ b.bits)};
}
template <int N>
TRILITH_INLINE Mask<N> bit_not(Mask<N> x) {
  return {static_cast<typename Mask<N>::Bits>(~static_cast<std::uint64_t>(x.bits) & Mask<N>::all)};
}
template <int N>
TRILITH_INLINE Mask<N> logical_and(Mask<N> a, Mask<N> b) {
  return bit_and(a, b);
}
template <int N>
TRILITH_INLINE Mask<N> logical_or(Mask<N> a, Mask<N> b) {
  return bit_or(a, b);
}
template <int N>
TRILITH_INLINE Mask<N> logical_not(Mask<N> x) {
  return bit_not(x);
}
template <int N>
TRILITH_INLINE Mask<N> eq(Mask<N> a, Mask<N> b) {
  return bit_not(bit_xor(a, b));
}
template <int N>
TRILITH_INLINE Mask<N> ne(Mask<N> a, Mask<N> b) {
  return bit_xor(a, b);
}

/// Element i of `yes` where element i of `condition` is true, else of `no`.
#define TRILITH_WHERE(T)                                                                                \
  TRILITH_INLINE xsimd::batch<T> where(Mask<lanes<T>> condition, const xsimd::batch<T>& yes,            \
                                       const xsimd::batch<T>& no) {                                     \
    return native::wrap<T>(native::select<T>(condition.bits, native::unwrap(yes), native::unwrap(no))); \
  }
TRILITH_WHERE(float)
TRILITH_WHERE(double)
TRILITH_WHERE(std::int32_t)
TRILITH_WHERE(std::int64_t)
template <class T>
  requires is_other_integer<T>
TRILITH_WHERE(T)
#undef TRILITH_WHERE
template <class T, int N>
TRILITH_INLINE Wide<T, N> where(Mask<N> condition, const Wide<T, N>& yes, const Wide<T, N>& no) {
  Wide<T, N> result;
  for (int i = 0; i < result.parts; ++i)
    result.part[i] = native::wrap<T>(native::select<T>(
        (static_cast<std::uint64_t>(condition.bits) >> (i * lanes<T>)) & Mask<lanes<T>>::all,
        native::unwrap(yes.part[i]), native::unwrap(no.part[i])));
  return result;
}
template <int N>
TRILITH_INLINE Mask<N> where(Mask<N> condition, Mask<N> yes, Mask<N> no) {
  return {static_cast<typename Mask<N>::Bits>((condition.bits & yes.bits) | (~condition.bits & no.bits))};
}

/// Whether any, or every, element is true.
template <int N>
TRILITH_INLINE bool any(Mask<N> x) {
  return x.bits != 0;
}
template <int N>
TRILITH_INLINE bool all(Mask<N> x) {
  return x.bits == Mask<N>::all;
}

}  // namespace trilith::device
