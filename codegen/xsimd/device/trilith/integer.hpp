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

// Through double: a quotient of two 32-bit integers is at least 2^-31 (relative) away from the next integer,
// so the rounded double truncates to the same one.
TRILITH_INLINE I32 div(I32 a, I32 b) {
  const I32 none = (I32)(b == 0), minus_one = (I32)(b == -1);
  using Doubles = Vector<double, lanes<std::int32_t>>;
  const I32 divisor = (none | minus_one) ? I32{} + 1 : b;
  const I32 quotient = __builtin_convertvector(
      __builtin_convertvector(a, Doubles) / __builtin_convertvector(divisor, Doubles), I32);
  const I32 negated = (I32)(U32{} - (U32)a);
  return none ? I32{} : (minus_one ? negated : quotient);
}
TRILITH_INLINE I64 div(I64 a, I64 b) {
  I64 result{};
  for (int i = 0; i < lanes<std::int64_t>; ++i) result[i] = safe_quotient<std::int64_t>(a[i], b[i]);
  return result;
}

template <class V>
TRILITH_INLINE V integer_fmod(V a, V b) {
  using U = Vector<Unsigned<Element<V>>>;
  const V rest = (V)((U)a - (U)div(a, b) * (U)b);
  return b == 0 ? V{} : rest;
}
TRILITH_INLINE I32 fmod(I32 a, I32 b) { return integer_fmod(a, b); }
TRILITH_INLINE I64 fmod(I64 a, I64 b) { return integer_fmod(a, b); }

template <class V>
TRILITH_INLINE V integer_rem(V a, V b) {
  const V rest = integer_fmod(a, b);
  return ((V)(rest != 0) & (V)((rest ^ b) < 0)) ? rest + b : rest;
}
TRILITH_INLINE I32 rem(I32 a, I32 b) { return integer_rem(a, b); }
TRILITH_INLINE I64 rem(I64 a, I64 b) { return integer_rem(a, b); }

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
  constexpr Unsigned<T> width = sizeof(T) * 8;
  return (U)b < width ? (V)((U)a << ((U)b & (width - 1))) : V{};
}
template <class V>
TRILITH_INLINE V shr(V a, V b) {
  using T = Element<V>;
  using U = Vector<Unsigned<T>>;
  constexpr Unsigned<T> width = sizeof(T) * 8;
  // Beyond the width the sign stays, as after a shift by width - 1.
  return a >> (V)((U)b < width ? (U)b : U{} + (width - 1));
}

}  // namespace native

TRILITH_INTEGER_2(bit_and)
TRILITH_INTEGER_2(bit_or)
TRILITH_INTEGER_2(bit_xor)
TRILITH_INTEGER_1(bit_not)
TRILITH_INTEGER_2(shl)
TRILITH_INTEGER_2(shr)

}  // namespace trilith::device
