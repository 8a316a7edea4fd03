// Every transcendental function, over all exponents, against the C library in long double.
#include "sweep.hpp"

namespace {

using namespace sweep;

template <class T>
std::vector<T> arguments() {
  std::vector<T> values = all_exponents<T>(sizeof(T) == 4 ? 256 : 24);
  add_uniform(values, -1, 1, 100000, 3);
  add_uniform(values, -10, 10, 100000, 4);
  add_uniform(values, -110, 110, 100000, 5);
  if (sizeof(T) == 8) add_uniform(values, -1100, 1100, 100000, 6);
  return values;
}

#define CHECK_BOTH(name, exact)                                                  \
  check_transcendental<float>(                                                   \
      #name, arguments<float>(), [](const auto& x) { return device::name(x); },  \
      [](long double x) -> long double { return exact; });                       \
  check_transcendental<double>(                                                  \
      #name, arguments<double>(), [](const auto& x) { return device::name(x); }, \
      [](long double x) -> long double { return exact; });

TEST_CASE("exp is within 4 ulp everywhere") { CHECK_BOTH(exp, expl(x)); }
TEST_CASE("exp2 is within 4 ulp everywhere") { CHECK_BOTH(exp2, exp2l(x)); }
TEST_CASE("expm1 is within 4 ulp everywhere") { CHECK_BOTH(expm1, expm1l(x)); }
TEST_CASE("log is within 4 ulp everywhere") { CHECK_BOTH(log, logl(x)); }
TEST_CASE("log2 is within 4 ulp everywhere") { CHECK_BOTH(log2, log2l(x)); }
TEST_CASE("log1p is within 4 ulp everywhere") { CHECK_BOTH(log1p, log1pl(x)); }
TEST_CASE("sin is within 4 ulp everywhere") { CHECK_BOTH(sin, sinl(x)); }
TEST_CASE("cos is within 4 ulp everywhere") { CHECK_BOTH(cos, cosl(x)); }
TEST_CASE("tanh is within 4 ulp everywhere") { CHECK_BOTH(tanh, tanhl(x)); }
TEST_CASE("erf is within 4 ulp everywhere") { CHECK_BOTH(erf, erfl(x)); }
TEST_CASE("sigmoid is within 4 ulp everywhere") { CHECK_BOTH(sigmoid, 1 / (1 + expl(-x))); }

// Doubles nearest to multiples of pi/2, small and huge, where the reduction loses most.
TEST_CASE("sin and cos keep 4 ulp beside multiples of pi/2") {
  std::vector<double> values;
  std::vector<float> floats;
  const auto beside = [](auto value, auto& into) {
    using T = decltype(value);
    for (int i = 0; i < 2; ++i) {
      into.push_back(value);
      into.push_back(std::nextafter(value, T(0)));
      into.push_back(-std::nextafter(value, std::numeric_limits<T>::infinity()));
    }
  };
  std::mt19937_64 random(9);
  for (int i = 0; i < 100000; ++i) {
    const long double n = i < 20000 ? i + 1 : static_cast<long double>(random() >> (random() % 64));
    const long double multiple = n * 1.5707963267948966192313216916398L;
    beside(static_cast<double>(multiple), values);
    beside(static_cast<float>(multiple), floats);
  }
  // The double that comes nearest of all to a multiple of pi/2.
  beside(6381956970095103.0 * 0x1p797, values);
  check_transcendental<double>(
      "sin near", values, [](const auto& x) { return device::sin(x); },
      [](long double x) { return sinl(x); });
  check_transcendental<double>(
      "cos near", values, [](const auto& x) { return device::cos(x); },
      [](long double x) { return cosl(x); });
  check_transcendental<float>(
      "sin near", floats, [](const auto& x) { return device::sin(x); },
      [](long double x) { return sinl(x); });
  check_transcendental<float>(
      "cos near", floats, [](const auto& x) { return device::cos(x); },
      [](long double x) { return cosl(x); });
}

template <class T>
void check_pow() {
  constexpr int n = device::lanes<T>;
  std::vector<T> bases, exponents;
  const auto add = [&](T base, T exponent) {
    bases.push_back(base);
    exponents.push_back(exponent);
  };
  const std::vector<T> special = special_values<T>();
  for (T a : special)
    for (T b : special) add(a, b);
  std::mt19937_64 random(7);
  const std::vector<T> all = all_exponents<T>(sizeof(T) == 4 ? 64 : 8, 8);
  std::uniform_real_distribution<double> unit(0, 1);
  for (T base : all)
    for (int i = 0; i < 4; ++i) {
      // Exponents that keep the result in range, or nearly.
      const double logarithm = std::log2(std::fabs(static_cast<double>(base)));
      const double goal = (unit(random) * 2.2 - 1.1) * (sizeof(T) == 4 ? 150 : 1075);
      add(std::fabs(base), static_cast<T>(goal / (logarithm == 0 ? 1 : logarithm)));
      add(base, static_cast<T>(static_cast<int>(random() % 41) - 20));
    }
  for (int i = 0; i < 200000; ++i) {  // near one, with huge exponents
    const T base =
        T(1) + static_cast<T>((unit(random) - 0.5) * std::ldexp(1.0, -static_cast<int>(random() % 52)));
    add(base, static_cast<T>((unit(random) * 2 - 1) * 1000 / std::log(static_cast<double>(base))));
  }
  while (bases.size() % n != 0) add(1, 1);
  std::vector<T> results(bases.size());
  for (std::size_t i = 0; i < bases.size(); i += n)
    device::store(&results[i], device::pow(device::load<T, n>(&bases[i]), device::load<T, n>(&exponents[i])));
  Worst worst;
  for (std::size_t i = 0; i < bases.size(); ++i) {
    // glibc's powl is wrong for (-infinity, -2^63); its pow is right.
    const bool finite = std::isfinite(bases[i]) && bases[i] != 0;
    const long double exact =
        finite ? powl(bases[i], exponents[i])
               : std::pow(static_cast<double>(bases[i]), static_cast<double>(exponents[i]));
    const double distance = ulp_distance<T>(results[i], exact);
    if (distance > worst.ulp)
      worst = {distance, static_cast<double>(bases[i]), static_cast<double>(exponents[i])};
    if (i % 1001 == 0) REQUIRE(same(results[i], device::pow(bases[i], exponents[i])));
  }
  report("pow", sizeof(T) == 4 ? "float" : "double", bases.size(), worst);
}
TEST_CASE("pow is within 4 ulp and has Annex F's special values") {
  check_pow<float>();
  check_pow<double>();
}

TEST_CASE("a scalar gives the bits of the vector") {
  for (float x : special_values<float>()) {
    constexpr int n = device::lanes<float>;
    const auto v = device::splat<float, n>(x);
    CHECK(same(device::exp(x), device::element(device::exp(v), n - 1)));
    CHECK(same(device::sin(x), device::element(device::sin(v), n - 1)));
    CHECK(same(device::log(x), device::element(device::log(v), n - 1)));
    CHECK(same(device::erf(x), device::element(device::erf(v), n - 1)));
    CHECK(same(device::tanh(x), device::element(device::tanh(v), n - 1)));
  }
}

}  // namespace
