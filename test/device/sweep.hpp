// test/device/sweep.hpp -- arguments worth trying and the distance of a result from the exact value in ulp.
#pragma once

#include "codegen/xsimd/device/trilith/half.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace sweep {

namespace device = trilith::device;

#if defined(__AVX512F__)
inline constexpr const char* target = "AVX-512";
#elif defined(__AVX2__)
inline constexpr const char* target = "AVX2";
#else
inline constexpr const char* target = "baseline";
#endif

template <class T>
using Pattern = std::make_unsigned_t<device::native::Integer<T>>;

/// All 65,536 values of a 16-bit float.
template <class T>
std::vector<T> every_value() {
  std::vector<T> values;
  for (unsigned pattern = 0; pattern < 65536; ++pattern)
    values.push_back(T::from_bits(static_cast<std::uint16_t>(pattern)));
  return values;
}

template <class T>
T from_pattern(Pattern<T> pattern) {
  return std::bit_cast<T>(pattern);
}
template <class T>
Pattern<T> pattern_of(T value) {
  return std::bit_cast<Pattern<T>>(value);
}

/// Equal bit for bit, any NaN equal to any NaN.
template <class T>
bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T> || pl::is_narrow_float<T>)
    return (a != a && b != b) || pattern_of(a) == pattern_of(b);
  else
    return a == b;
}

/// Zeros, subnormals, ones, halves, integers around powers of two, bounds, infinities, NaN; both signs.
template <class T>
std::vector<T> special_values() {
  using L = std::numeric_limits<T>;
  std::vector<T> values;
  if constexpr (pl::is_narrow_float<T>) {
    for (T value : {T(0), T(1), T(0.5), T(1.5), T(2.5), T(3), T(100), T(127), T(127.5), T(128), T(255.5),
                    T(32768), T(0.1), L::denorm_min(), L::min(), L::max(), L::epsilon(), L::infinity()}) {
      values.push_back(value);
      values.push_back(-value);
    }
    values.push_back(L::quiet_NaN());
    return values;
  } else if constexpr (std::is_floating_point_v<T>) {
    std::vector<T> positive{T(0),      L::denorm_min(), 3 * L::denorm_min(),
                            L::min(),  L::max(),        L::infinity(),
                            T(1),      T(0.5),          T(1.5),
                            T(2.5),    T(3.5),          T(2),
                            T(3),      T(0.25),         T(0.75),
                            T(88),     T(89),           T(103),
                            T(104),    T(127),          T(128),
                            T(149),    T(150),          T(709.5),
                            T(710),    T(745),          T(746),
                            T(1023.5), T(1024),         T(1074),
                            T(1075.5), T(1e30),         T(1e-30),
                            T(100),    T(1) / 3,        T(10)};
    for (int power : {7, 8, 15, 16, 22, 23, 24, 30, 31, 32, 51, 52, 53, 62, 63, 64})
      positive.push_back(static_cast<T>(std::ldexp(1.0, power)));
    const std::size_t count = positive.size();
    for (std::size_t i = 0; i < count; ++i)
      if (std::isfinite(positive[i])) {
        positive.push_back(std::nextafter(positive[i], L::infinity()));
        positive.push_back(std::nextafter(positive[i], T(0)));
        positive.push_back(positive[i] + T(0.5));
      }
    for (T value : positive) {
      values.push_back(value);
      values.push_back(-value);
    }
    values.push_back(L::quiet_NaN());
  } else {
    for (T value :
         {T(0), T(1), T(2), T(3), T(7), T(31), T(32), T(33), T(63), T(64), T(65), T(1000), T(46341)}) {
      values.push_back(value);
      values.push_back(static_cast<T>(-value));
    }
    for (T value : {L::min(), static_cast<T>(L::min() + 1), L::max(), static_cast<T>(L::max() - 1),
                    static_cast<T>(L::max() / 2), static_cast<T>(L::min() / 2)})
      values.push_back(value);
  }
  return values;
}

/// The special values, then `each` random mantissas for every exponent and sign (integers: of every
/// magnitude).
template <class T>
std::vector<T> all_exponents(int each, unsigned seed = 1) {
  std::vector<T> values = special_values<T>();
  std::mt19937_64 random(seed);
  if constexpr (pl::is_narrow_float<T>) {
    for (T value : every_value<T>()) values.push_back(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    constexpr int fraction = std::numeric_limits<T>::digits - 1;
    constexpr std::uint64_t exponents = sizeof(T) == 4 ? 255 : 2047;
    constexpr std::uint64_t mantissas = (std::uint64_t{1} << fraction) - 1;
    for (std::uint64_t e = 0; e < exponents; ++e)
      for (int i = 0; i < each + 2; ++i) {
        const std::uint64_t m = i == 0 ? 0 : (i == 1 ? mantissas : random() & mantissas);
        const T value = from_pattern<T>(static_cast<Pattern<T>>(e << fraction | m));
        values.push_back(value);
        values.push_back(-value);
      }
  } else {
    for (unsigned shift = 0; shift < sizeof(T) * 8; ++shift)
      for (int i = 0; i < each; ++i)
        values.push_back(static_cast<T>(static_cast<std::make_signed_t<T>>(random()) >> shift));
  }
  return values;
}

template <class T>
void add_uniform(std::vector<T>& values, double lowest, double highest, int count, unsigned seed = 2) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> distribution(lowest, highest);
  for (int i = 0; i < count; ++i) values.push_back(static_cast<T>(distribution(random)));
}

/// Applies a function of whole vectors to every value.
template <class U, class T, class F>
std::vector<U> over_vectors(const std::vector<T>& values, F function) {
  constexpr int n = device::lanes<T>;
  std::vector<T> padded = values;
  padded.resize((values.size() + n - 1) / n * n, T(1));
  std::vector<U> results(padded.size());
  for (std::size_t i = 0; i < padded.size(); i += n)
    device::store(results.data() + i, function(device::load<T, n>(padded.data() + i)));
  results.resize(values.size());
  return results;
}

/// |got - exact| in units of the last place of T at `exact`; 0 for equal specials, huge for a wrong one.
template <class T>
double ulp_distance(T got, long double exact) {
  using L = std::numeric_limits<T>;
  if (std::isnan(exact)) return std::isnan(got) ? 0 : 1e30;
  if (std::isnan(got)) return 1e30;
  const T rounded = static_cast<T>(exact);
  if (got == rounded)
    return std::signbit(got) == std::signbit(rounded) || got != 0 ? 0.5 * (got != exact) : 1e30;
  if (std::isinf(exact)) return 1e30;
  // Infinity stands for the first power of two out of range.
  const long double value =
      std::isinf(got) ? std::copysign(std::ldexp(1.0L, L::max_exponent), (long double)got) : got;
  int exponent = 0;
  std::frexp(exact, &exponent);
  const int place = std::max(exponent, L::min_exponent) - L::digits;
  return static_cast<double>(std::ldexp(std::fabs(value - exact), -place));
}

struct Worst {
  double ulp = 0;
  double at = 0, and_at = 0;
};

/// Prints one row of the table and fails where a result is more than `bound` ulp off.
inline void report(const std::string& name, const char* type, std::size_t count, const Worst& worst,
                   double bound = 4.0) {
  std::printf("%-9s %-8s %-6s max %6.3f ulp of %zu at %a %a\n", target, name.c_str(), type, worst.ulp, count,
              worst.at, worst.and_at);
  INFO(std::string(name), " ", type, " at ", worst.at, " ", worst.and_at);
  CHECK(worst.ulp <= bound);
}

template <class T, class F, class R>
void check_transcendental(const std::string& name, const std::vector<T>& values, F function, R exact) {
  const std::vector<T> results = over_vectors<T>(values, function);
  Worst worst;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double distance = ulp_distance<T>(results[i], exact(static_cast<long double>(values[i])));
    if (distance > worst.ulp) worst = {distance, static_cast<double>(values[i]), 0};
  }
  report(name, sizeof(T) == 4 ? "float" : "double", values.size(), worst);
}

}  // namespace sweep
