// Conversions. The mode says how a float becomes an integer; every conversion to a float rounds to nearest,
// ties to even, whatever the mode (so that C++'s own conversions, which are captured as `trunc`, mean the
// same).
#include "codegen/reference/support.hpp"

#include <cmath>
#include <limits>

namespace trilith::codegen::reference {
namespace {

template <class F>
F to_odd(F x) {
  const F down = std::floor(x);
  if (down == x || !std::isfinite(x)) return x;
  return std::fmod(down, F{2}) != 0 ? down : down + 1;
}

template <class F>
F rounded(F x, CastMode mode) {
  switch (mode) {
    case CastMode::Rint: return std::nearbyint(x);
    case CastMode::Round: return std::round(x);
    case CastMode::Floor: return std::floor(x);
    case CastMode::Ceil: return std::ceil(x);
    case CastMode::Trunc: return std::trunc(x);
    case CastMode::Odd: return to_odd(x);
  }
  return x;
}

template <class To, class From>
To saturated(From x, CastMode mode) {
  if (x != x) return 0;
  const From whole = rounded(x, mode);
  // 2^digits is a power of two and so exact in From; the highest integer itself may not be.
  const From above = std::ldexp(From{1}, std::numeric_limits<To>::digits);
  if (whole >= above) return std::numeric_limits<To>::max();
  if (whole <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  return static_cast<To>(whole);
}

template <class To, class From>
To converted(From x, CastMode mode) {
  if constexpr (std::is_same_v<To, From>)
    return x;
  else if constexpr (pl::is_narrow_float<From>)
    return converted<To, float>(x, mode);
  else if constexpr (std::is_same_v<To, bool>)
    return x != From{0};
  else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>)
    return saturated<To>(x, mode);
  else
    return static_cast<To>(x);  // to a float: rounds to nearest; between integers: wraps
}

}  // namespace

void cast(const Value& operand, CastMode mode, Value& result) {
  visit_any(result.dtype, [&]<class To>() {
    visit_any(operand.dtype, [&]<class From>() {
      map<To, From>(result, operand, [&](From x) { return converted<To, From>(x, mode); });
    });
  });
}

}  // namespace trilith::codegen::reference
