// trilith/integer.hpp -- what only integers have: division that never traps, bits, shifts of any distance.
#pragma once

#include "lift.hpp"
#include "target.hpp"

namespace trilith::device {

namespace native {

/// Truncated quotient; x / 0 is 0 and the lowest value / -1 wraps.
template <class T>
TRILITH_INLINE T safe_quotient(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1)) return static_cast<T>(0 - static_cast<std::uint64_t>(a));
  return static_cast<T>(a / b);
}

// Narrow integers divide as floats, those of 32 bits as doubles: a quotient of two n-bit integers is at least
// 2^-n (relative) away from the next integer, so the rounded quotient truncates to the same one.
template <class V>
  requires std::is_integral_v<Element<V>>
TRILITH_INLINE V div(V a, V b) {
  using T = Element<V>;
  if constexpr (sizeof(T) == 8) {
    V result{};
    for (int i = 0; i < lanes<T>; ++i) result[i] = safe_quotient<T>(a[i], b[i]);
    return result;
  } else {
    using I = Vector<Integer<T>>;
    using Floats = Vector<std::conditional_t<sizeof(T) == 4, double, float>, lanes<T>>;
    const V one = splat<T>(T(1));
    const I none = (I)(b == V{});
    I special = none, minus_one{};
    if constexpr (std::is_signed_v<T>) special |= minus_one = (I)(b == splat<T>(T(-1)));
    const V divisor = special ? one : b;
    const V quotient = __builtin_convertvector(
        __builtin_convertvector(a, Floats) / __builtin_convertvector(divisor, Floats), V);
    const V ordinary = none ? V{} : quotient;
    if constexpr (std::is_unsigned_v<T>) return ordinary;
    using U = Vector<Unsigned<T>>;
    return minus_one ? (V)(U{} - (U)a) : ordinary;
  }
}

template <class V>
  requires std::is_integral_v<Element<V>>
TRILITH_INLINE V fmod(V a, V b) {
  using U = Vector<Unsigned<Element<V>>>;
  const V rest = (V)((U)a - (U)div(a, b) * (U)b);
  return b == V{} ? V{} : rest;
}

template <class V>
  requires std::is_integral_v<Element<V>>
TRILITH_INLINE V rem(V a, V b) {
  const V rest = fmod(a, b);
  if constexpr (std::is_unsigned_v<Element<V>>)
    return rest;
  else
    return ((V)(rest != V{}) & (V)((rest ^ b) < V{})) ? rest + b : rest;
}

template <class V>
TRILITH_INLINE V bit_and(V a, V b) {
  return a & b;
}
template <class V>
TRILITH_INLINE V bit_or(V a, V b) {
  return a | b;
}
template <class V>
TRILITH_INLINE V bit_xor(V a, V b) {
  return a ^ b;
}
template <class V>
TRILITH_INLINE V bit_not(V x) {
  return ~x;
}
template <class V>
TRILITH_INLINE V shl(V a, V b) {
  using T = Element<V>;
  using U = Vector<Unsigned<T>>;
  const U width = splat<Unsigned<T>>(sizeof(T) * 8), last = splat<Unsigned<T>>(sizeof(T) * 8 - 1);
  return (U)b < width ? (V)((U)a << ((U)b & last)) : V{};
}
template <class V>
TRILITH_INLINE V shr(V a, V b) {
  using T = Element<V>;
  using U = Vector<Unsigned<T>>;
  const U width = splat<Unsigned<T>>(sizeof(T) * 8), last = splat<Unsigned<T>>(sizeof(T) * 8 - 1);
  if constexpr (std::is_unsigned_v<T>)
    return b < width ? a >> (b & last) : V{};
  else  // beyond the width the sign stays, as after a shift by width - 1
    return a >> (V)((U)b < width ? (U)b : last);
}

}  // namespace native

TRILITH_INTEGER_2(bit_and)
TRILITH_INTEGER_2(bit_or)
TRILITH_INTEGER_2(bit_xor)
TRILITH_INTEGER_1(bit_not)
TRILITH_INTEGER_2(shl)
TRILITH_INTEGER_2(shr)

}  // namespace trilith::device
