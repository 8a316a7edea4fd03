// trilith/cast.hpp -- conversions between element types, in every rounding mode, right for every value.
//
// float -> integer rounds by the mode, then saturates; NaN becomes 0. What becomes a float is rounded to
// nearest, ties to even, whatever the mode. Integers are cut to their width. bool -> number is 0 or 1, number
// -> bool is x != 0.
#pragma once

#include "arithmetic.hpp"
#include "compare.hpp"
#include "scalar.hpp"

namespace trilith::device {

enum class CastMode : std::uint8_t { Rint, Round, Floor, Ceil, Trunc, Odd };

namespace native {

/// The integral float that `Mode` rounds x to.
template <CastMode Mode, class V>
TRILITH_INLINE V integral(V x) {
  if constexpr (Mode == CastMode::Rint) return rint(x);
  if constexpr (Mode == CastMode::Round) return round(x);
  if constexpr (Mode == CastMode::Floor) return floor(x);
  if constexpr (Mode == CastMode::Ceil) return ceil(x);
  if constexpr (Mode == CastMode::Trunc) return trunc(x);
  if constexpr (Mode == CastMode::Odd) {
    // What lies between two integers goes to the odd one of them. Halving shows an even integer.
    using T = Element<V>;
    const V whole = trunc(x), half = whole * splat<T>(T(0.5));
    const V next = whole + with_sign<T>(splat<T>(1), x);
    using I = Vector<Integer<T>>;
    return (I)(whole != x) & (I)(half == trunc(half)) ? next : whole;
  }
}

/// An integral float to an integer: saturates, NaN becomes 0.
template <class U, class T>
TRILITH_INLINE U saturated(T integral) {
  if (integral != integral) return 0;
  if (integral <= static_cast<T>(std::numeric_limits<U>::min())) return std::numeric_limits<U>::min();
  // The lowest value out of range; the highest in it may be no float.
  constexpr T end = static_cast<T>(std::numeric_limits<U>::max() / 2 + 1) * T(2);
  return integral >= end ? std::numeric_limits<U>::max() : static_cast<U>(integral);
}

/// All N elements in one vector of the compiler, in several registers where they need them.
template <class T, int N>
struct Whole {
  Vector<T, N> all;
};
template <class T, int N>
TRILITH_INLINE Whole<T, N> whole(const Vec<T, N>& x) {
  Whole<T, N> result;
  static_assert(sizeof result == sizeof x);
  __builtin_memcpy(&result, &x, sizeof x);
  return result;
}
template <class T, int N>
TRILITH_INLINE Vec<T, N> parts(const Whole<T, N>& x) {
  Vec<T, N> result;
  __builtin_memcpy(&result, &x, sizeof x);
  return result;
}

template <class U, int N, class T>
TRILITH_INLINE Whole<U, N> saturate_all(const Whole<T, N>& integral) {
  using Truth = Vector<Integer<T>, N>;
  constexpr T lowest = static_cast<T>(std::numeric_limits<U>::min());
  constexpr T end = static_cast<T>(std::numeric_limits<U>::max() / 2 + 1) * T(2);
  const Vector<T, N> zero{}, low = zero + lowest;
  const Vector<T, N> x = integral.all < low ? low : integral.all;  // a NaN stays
  const Truth over = (Truth)(x >= end), inside = (Truth)(x < end);
  const Vector<U, N> inner = __builtin_convertvector(inside ? x : zero, Vector<U, N>);
  return {inner | (__builtin_convertvector(over, Vector<U, N>) & std::numeric_limits<U>::max())};
}

template <CastMode Mode, class T>
TRILITH_INLINE xsimd::batch<T> integral_parts(const xsimd::batch<T>& x) {
  return wrap<T>(integral<Mode>(unwrap(x)));
}
template <CastMode Mode, class T, int N>
TRILITH_INLINE Wide<T, N> integral_parts(const Wide<T, N>& x) {
  Wide<T, N> result;
  for (int i = 0; i < result.parts; ++i) result.part[i] = integral_parts<Mode>(x.part[i]);
  return result;
}

template <class U, CastMode Mode, class T, int N>
TRILITH_INLINE Vec<U, N> cast_vector(const Vec<T, N>& x) {
  if constexpr (std::is_same_v<T, U>) {
    return x;
  } else if constexpr (std::is_same_v<U, bool>) {
    return device::ne(x, device::splat<T, N>(T(0)));
  } else if constexpr (std::is_floating_point_v<T> && std::is_integral_v<U>) {
    return parts<U, N>(saturate_all<U, N, T>(whole<T, N>(integral_parts<Mode>(x))));
  } else {
    return parts<U, N>({__builtin_convertvector((whole<T, N>(x).all), Vector<U, N>)});
  }
}

}  // namespace native

template <class U, CastMode Mode = CastMode::Rint, class T>
TRILITH_INLINE Vec<U, lanes<T>> cast(const xsimd::batch<T>& x) {
  return native::cast_vector<U, Mode, T, lanes<T>>(x);
}
template <class U, CastMode Mode = CastMode::Rint, class T, int N>
TRILITH_INLINE Vec<U, N> cast(const Wide<T, N>& x) {
  return native::cast_vector<U, Mode, T, N>(x);
}
template <class U, CastMode Mode = CastMode::Rint, int N>
TRILITH_INLINE Vec<U, N> cast(Mask<N> x) {
  if constexpr (std::is_same_v<U, bool>)
    return x;
  else
    return where(x, splat<U, N>(U(1)), splat<U, N>(U(0)));
}
template <class U, CastMode Mode = CastMode::Rint, class T>
TRILITH_INLINE std::enable_if_t<std::is_arithmetic_v<T>, U> cast(T x) {
  if constexpr (std::is_same_v<U, bool>)
    return x != T(0);
  else if constexpr (std::is_same_v<T, bool>)
    return static_cast<U>(x);
  else if constexpr (std::is_floating_point_v<T> && std::is_integral_v<U>)
    return native::saturated<U, T>(native::integral<Mode>(native::splat<T>(x))[0]);
  else
    return static_cast<U>(x);
}

}  // namespace trilith::device
