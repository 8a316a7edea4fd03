// Cast: the pairs and rounding modes of the 910B class. To an integer: rounded by the mode, then saturated, NaN to 0. To a
// float: rounded by the mode to the float's own digits, too large to infinity where the mode rounds that way.
#include <limits>

#include "codegen/ascendc/model/types.h"
#include "runtime/model/elements.hpp"
#include "runtime/model/numbers.hpp"

namespace trilith::model {
namespace {

using AscendC::RoundMode;
using AscendC::model::Dtype;

/// To a whole number.
template <class Real>
[[nodiscard]] Real whole(Real x, RoundMode mode) {
  switch (mode) {
    case RoundMode::CAST_FLOOR: return std::floor(x);
    case RoundMode::CAST_CEIL: return std::ceil(x);
    case RoundMode::CAST_ROUND: return std::round(x);
    case RoundMode::CAST_TRUNC: return std::trunc(x);
    default: return std::nearbyint(x);
  }
}

template <class T>
struct Pattern;
template <>
struct Pattern<float> {
  using Bits = std::uint32_t;
};
template <>
struct Pattern<pl::half> {
  using Bits = std::uint16_t;
};
template <>
struct Pattern<pl::bfloat16> {
  using Bits = std::uint16_t;
};

/// The neighbour of a float: one step up or down.
template <class T>
[[nodiscard]] T step(T value, bool up) {
  using Bits = typename Pattern<T>::Bits;
  auto bits = __builtin_bit_cast(Bits, value);
  constexpr Bits sign = static_cast<Bits>(Bits{1} << (sizeof(Bits) * 8 - 1));
  if ((bits & static_cast<Bits>(~sign)) == 0)
    return __builtin_bit_cast(T, static_cast<Bits>(up ? 1 : sign | 1));
  const bool negative = (bits & sign) != 0;
  bits = static_cast<Bits>(up != negative ? bits + 1 : bits - 1);
  return __builtin_bit_cast(T, bits);
}

template <class T>
[[nodiscard]] long double exact(T value) {
  return static_cast<long double>(static_cast<float>(value));
}

/// A number, exact in `Real`, as a float of fewer digits.
template <class T, class Real>
[[nodiscard]] T narrowed(Real x, RoundMode mode) {
  T nearest;
  if constexpr (std::is_same_v<T, float>)
    nearest = static_cast<float>(x);
  else
    nearest = T(static_cast<double>(x));
  if (!std::isfinite(x) || exact(nearest) == static_cast<long double>(x)) return nearest;
  const bool above = exact(nearest) > static_cast<long double>(x);
  const T down = above ? step(nearest, false) : nearest, up = above ? nearest : step(nearest, true);
  switch (mode) {
    case RoundMode::CAST_FLOOR: return down;
    case RoundMode::CAST_CEIL: return up;
    case RoundMode::CAST_TRUNC: return x < 0 ? up : down;
    case RoundMode::CAST_ODD:
      return (__builtin_bit_cast(typename Pattern<T>::Bits, down) & 1) != 0 ? down : up;
    case RoundMode::CAST_ROUND: {  // a tie goes away from zero
      const long double below = static_cast<long double>(x) - exact(down),
                        beyond = exact(up) - static_cast<long double>(x);
      if (below == beyond) return x < 0 ? down : up;
      return nearest;
    }
    default: return nearest;
  }
}

template <class To, class From, RoundMode mode>
[[nodiscard]] To converted(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return whole(x, mode);
  } else if constexpr (pl::is_narrow_float<From>) {
    // Exact; the cast of a float to float is another operation, which rounds to a whole number.
    if constexpr (std::is_same_v<To, float>) return static_cast<float>(x);
    return converted<To, float, mode>(x);
  } else if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
    if (x < static_cast<std::int64_t>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (x > static_cast<std::int64_t>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return static_cast<To>(x);
  } else if constexpr (std::is_integral_v<To>) {
    if (x != x) return 0;
    const double value = whole(static_cast<double>(x), mode);
    const double above = std::ldexp(1.0, std::numeric_limits<To>::digits);
    if (value >= above) return std::numeric_limits<To>::max();
    if (value <= static_cast<double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    return static_cast<To>(value);
  } else if constexpr (std::is_same_v<From, std::int64_t>) {
    return narrowed<To>(static_cast<long double>(x), mode);  // its 64 digits hold any int64_t
  } else {
    return narrowed<To>(static_cast<double>(x), mode);
  }
}

template <class To, class From, RoundMode mode>
void run(std::byte* dst, const std::byte* a, const std::byte*, std::uint64_t count, std::uint64_t) {
  for (std::uint64_t i = 0; i < count; ++i)
    set_element(dst, i, converted<To, From, mode>(element<From>(a, i)));
}

/// Modes: NONE where nothing is lost or where the pair has it, the five that name a direction, ODD.
enum Modes : std::uint8_t { None = 1, Five = 2, Odd = 4 };

template <class To, class From>
[[nodiscard]] Elements with_mode(RoundMode mode, int allowed) {
  switch (mode) {
    case RoundMode::CAST_NONE: return (allowed & None) != 0 ? run<To, From, RoundMode::CAST_NONE> : nullptr;
    case RoundMode::CAST_ODD: return (allowed & Odd) != 0 ? run<To, From, RoundMode::CAST_ODD> : nullptr;
    default: break;
  }
  if ((allowed & Five) == 0) return nullptr;
  switch (mode) {
    case RoundMode::CAST_RINT: return run<To, From, RoundMode::CAST_RINT>;
    case RoundMode::CAST_FLOOR: return run<To, From, RoundMode::CAST_FLOOR>;
    case RoundMode::CAST_CEIL: return run<To, From, RoundMode::CAST_CEIL>;
    case RoundMode::CAST_ROUND: return run<To, From, RoundMode::CAST_ROUND>;
    case RoundMode::CAST_TRUNC: return run<To, From, RoundMode::CAST_TRUNC>;
    default: return nullptr;
  }
}

constexpr unsigned pair(Dtype from, Dtype to) {
  return static_cast<unsigned>(from) * 16 + static_cast<unsigned>(to);
}

}  // namespace

Elements cast_of(Dtype dst, Dtype source, std::uint8_t mode_number) {
  const auto mode = static_cast<RoundMode>(mode_number);
  using half = pl::half;
  using bfloat16 = pl::bfloat16;
  switch (pair(source, dst)) {
    case pair(Dtype::F32, Dtype::F16): return with_mode<half, float>(mode, Five | Odd | None);
    case pair(Dtype::F32, Dtype::BF16): return with_mode<bfloat16, float>(mode, Five);
    case pair(Dtype::F32, Dtype::I16): return with_mode<std::int16_t, float>(mode, Five);
    case pair(Dtype::F32, Dtype::I32): return with_mode<std::int32_t, float>(mode, Five);
    case pair(Dtype::F32, Dtype::I64): return with_mode<std::int64_t, float>(mode, Five);
    case pair(Dtype::F32, Dtype::F32): return with_mode<float, float>(mode, Five);
    case pair(Dtype::F16, Dtype::F32): return with_mode<float, half>(mode, None);
    case pair(Dtype::F16, Dtype::I8): return with_mode<std::int8_t, half>(mode, Five);
    case pair(Dtype::F16, Dtype::U8): return with_mode<std::uint8_t, half>(mode, Five);
    case pair(Dtype::F16, Dtype::I16): return with_mode<std::int16_t, half>(mode, Five);
    case pair(Dtype::F16, Dtype::I32): return with_mode<std::int32_t, half>(mode, Five);
    case pair(Dtype::BF16, Dtype::F32): return with_mode<float, bfloat16>(mode, None);
    case pair(Dtype::BF16, Dtype::I32): return with_mode<std::int32_t, bfloat16>(mode, Five);
    case pair(Dtype::I8, Dtype::F16): return with_mode<half, std::int8_t>(mode, None);
    case pair(Dtype::U8, Dtype::F16): return with_mode<half, std::uint8_t>(mode, None);
    case pair(Dtype::I16, Dtype::F16): return with_mode<half, std::int16_t>(mode, Five);
    case pair(Dtype::I16, Dtype::F32): return with_mode<float, std::int16_t>(mode, None);
    case pair(Dtype::I32, Dtype::F32): return with_mode<float, std::int32_t>(mode, Five);
    case pair(Dtype::I32, Dtype::I16): return with_mode<std::int16_t, std::int32_t>(mode, None);
    case pair(Dtype::I32, Dtype::I64): return with_mode<std::int64_t, std::int32_t>(mode, None);
    case pair(Dtype::I64, Dtype::F32): return with_mode<float, std::int64_t>(mode, Five);
    case pair(Dtype::I64, Dtype::I32): return with_mode<std::int32_t, std::int64_t>(mode, None);
    default: return nullptr;
  }
}

}  // namespace trilith::model
