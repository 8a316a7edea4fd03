// trilith/scalar.hpp -- the operations on scalars of every arithmetic type, where no vector is needed.
//
// Integers are computed in 64 bits and cut to their width: the wrapped result for every width, without the
// undefined overflow of int.
#pragma once

#include "arithmetic.hpp"
#include "compare.hpp"

namespace trilith::device {

template <class T>
using IfArithmetic = std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, bool>, T>;
template <class T>
using IfInteger = std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, T>;

#define TRILITH_SCALAR_WRAPPING(name, operator_)                                                    \
  template <class T>                                                                                \
  TRILITH_INLINE IfArithmetic<T> name(T a, T b) {                                                   \
    if constexpr (std::is_integral_v<T>)                                                            \
      return static_cast<T>(static_cast<std::uint64_t>(a) operator_ static_cast<std::uint64_t>(b)); \
    else                                                                                            \
      return a operator_ b;                                                                         \
  }
TRILITH_SCALAR_WRAPPING(add, +)
TRILITH_SCALAR_WRAPPING(sub, -)
TRILITH_SCALAR_WRAPPING(mul, *)
#undef TRILITH_SCALAR_WRAPPING

template <class T>
TRILITH_INLINE IfArithmetic<T> div(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return native::safe_quotient<T>(a, b);
  else
    return a / b;
}
template <class T>
TRILITH_INLINE IfArithmetic<T> fmod(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return b == 0 ? T(0) : sub(a, mul(native::safe_quotient<T>(a, b), b));
  else
    return native::exact_fmod<T>(a, b);
}
template <class T>
TRILITH_INLINE IfArithmetic<T> rem(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    const T rest = fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? add(rest, b) : rest;
  } else {
    return native::rem(native::splat<T>(a), native::splat<T>(b))[0];
  }
}

template <class T>
TRILITH_INLINE IfArithmetic<T> neg(T x) {
  if constexpr (std::is_integral_v<T>)
    return sub(T(0), x);
  else
    return -x;
}
template <class T>
TRILITH_INLINE IfArithmetic<T> abs(T x) {
  if constexpr (std::is_integral_v<T>)
    return x < 0 ? neg(x) : x;
  else
    return native::from_pattern<T>(native::bits_of(x) & std::numeric_limits<native::Integer<T>>::max());
}
template <class T>
TRILITH_INLINE IfArithmetic<T> square(T x) {
  return mul(x, x);
}
template <class T>
TRILITH_INLINE IfArithmetic<T> sign(T x) {
  if (x != x) return x;
  return x > 0 ? T(1) : (x < 0 ? static_cast<T>(-1) : T(0));
}
template <class T>
TRILITH_INLINE IfArithmetic<T> relu(T x) {
  return x <= 0 ? T(0) : x;
}
template <class T>
TRILITH_INLINE IfArithmetic<T> maximum(T a, T b) {
  if (a != a) return a;
  if (a == b) {  // +0 of -0 and +0
    if constexpr (std::is_floating_point_v<T>)
      return native::from_pattern<T>(native::bits_of(a) & native::bits_of(b));
    return a;
  }
  return a > b ? a : b;
}
template <class T>
TRILITH_INLINE IfArithmetic<T> minimum(T a, T b) {
  if (a != a) return a;
  if (a == b) {
    if constexpr (std::is_floating_point_v<T>)
      return native::from_pattern<T>(native::bits_of(a) | native::bits_of(b));
    return a;
  }
  return a < b ? a : (b != b ? b : (b < a ? b : a));
}
template <class T>
TRILITH_INLINE IfArithmetic<T> clamp(T x, T lowest, T highest) {
  return minimum(maximum(x, lowest), highest);
}

#define TRILITH_SCALAR_COMPARE(name, operator_)                                   \
  template <class T>                                                              \
  TRILITH_INLINE std::enable_if_t<std::is_arithmetic_v<T>, bool> name(T a, T b) { \
    return a operator_ b;                                                         \
  }
TRILITH_SCALAR_COMPARE(eq, ==)
TRILITH_SCALAR_COMPARE(ne, !=)
TRILITH_SCALAR_COMPARE(lt, <)
TRILITH_SCALAR_COMPARE(le, <=)
TRILITH_SCALAR_COMPARE(gt, >)
TRILITH_SCALAR_COMPARE(ge, >=)
#undef TRILITH_SCALAR_COMPARE

template <class T>
TRILITH_INLINE std::enable_if_t<std::is_floating_point_v<T>, bool> isnan(T x) {
  return x != x;
}
template <class T>
TRILITH_INLINE std::enable_if_t<std::is_floating_point_v<T>, bool> isinf(T x) {
  return abs(x) == std::numeric_limits<T>::infinity();
}

TRILITH_INLINE bool logical_and(bool a, bool b) { return a & b; }
TRILITH_INLINE bool logical_or(bool a, bool b) { return a | b; }
TRILITH_INLINE bool logical_not(bool x) { return !x; }
TRILITH_INLINE bool bit_and(bool a, bool b) { return a & b; }
TRILITH_INLINE bool bit_or(bool a, bool b) { return a | b; }
TRILITH_INLINE bool bit_xor(bool a, bool b) { return a != b; }
TRILITH_INLINE bool bit_not(bool x) { return !x; }
template <class T>
TRILITH_INLINE IfInteger<T> bit_and(T a, T b) {
  return static_cast<T>(a & b);
}
template <class T>
TRILITH_INLINE IfInteger<T> bit_or(T a, T b) {
  return static_cast<T>(a | b);
}
template <class T>
TRILITH_INLINE IfInteger<T> bit_xor(T a, T b) {
  return static_cast<T>(a ^ b);
}
template <class T>
TRILITH_INLINE IfInteger<T> bit_not(T x) {
  return static_cast<T>(~x);
}
template <class T>
TRILITH_INLINE IfInteger<T> shl(T a, T b) {
  constexpr int width = sizeof(T) * 8;
  return b < 0 || static_cast<std::uint64_t>(b) >= width ? T(0)
                                                         : static_cast<T>(static_cast<std::uint64_t>(a) << b);
}
template <class T>
TRILITH_INLINE IfInteger<T> shr(T a, T b) {
  constexpr int width = sizeof(T) * 8;
  if (b < 0 || static_cast<std::uint64_t>(b) >= width) return a < 0 ? static_cast<T>(-1) : T(0);
  return static_cast<T>(a >> b);
}

template <class T>
TRILITH_INLINE std::enable_if_t<std::is_arithmetic_v<T>, T> where(bool condition, T yes, T no) {
  return condition ? yes : no;
}
/// A scalar condition chooses whole vectors.
template <class T>
TRILITH_INLINE xsimd::batch<T> where(bool condition, const xsimd::batch<T>& yes, const xsimd::batch<T>& no) {
  return condition ? yes : no;
}
template <class T, int N>
TRILITH_INLINE Wide<T, N> where(bool condition, const Wide<T, N>& yes, const Wide<T, N>& no) {
  return condition ? yes : no;
}

}  // namespace trilith::device
