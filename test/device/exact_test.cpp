// Every exact operation, bit for bit against definitions written here with the C++ standard library.
#include "sweep.hpp"

namespace {

using namespace sweep;

/// Batch, Wide and scalar forms of a unary operation against `expected`.
template <class T, class F, class R>
void check_unary(const char* name, const std::vector<T>& values, F function, R expected) {
  const std::vector<T> results = over_vectors<T>(values, function);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T want = expected(values[i]);
    if (!same(results[i], want) || !same(function(values[i]), want)) {
      INFO(std::string(name), "(", values[i], ") is ", results[i], ", as a scalar ", function(values[i]),
           ", not ", want);
      REQUIRE(false);
    }
  }
}

template <class T>
std::vector<std::pair<T, T>> pairs() {
  const std::vector<T> some = special_values<T>();
  std::vector<std::pair<T, T>> result;
  for (T a : some)
    for (T b : some) result.push_back({a, b});
  std::vector<T> more = all_exponents<T>(4, 11), other = all_exponents<T>(4, 12);
  std::mt19937 random(13);
  std::shuffle(other.begin(), other.end(), random);
  for (std::size_t i = 0; i < more.size(); ++i) result.push_back({more[i], other[i]});
  // Near one another, for remainders and comparisons.
  for (std::size_t i = 0; i < more.size(); ++i) {
    T near = more[i];
    Pattern<T> pattern;
    std::memcpy(&pattern, &near, sizeof near);
    pattern += static_cast<Pattern<T>>(random() % 7) - 3;
    std::memcpy(&near, &pattern, sizeof near);
    result.push_back({more[i], near});
  }
  return result;
}

template <class T, class F, class R>
void check_binary(const char* name, F function, R expected) {
  constexpr int n = device::lanes<T>;
  std::vector<std::pair<T, T>> values = pairs<T>();
  values.resize(values.size() / n * n);
  for (std::size_t i = 0; i < values.size(); i += n) {
    T a[n], b[n];
    for (int j = 0; j < n; ++j) std::tie(a[j], b[j]) = values[i + j];
    const auto result = function(device::load<T, n>(a), device::load<T, n>(b));
    for (int j = 0; j < n; ++j) {
      const auto want = expected(a[j], b[j]);
      const auto got = device::element(result, j);
      const auto scalar = function(a[j], b[j]);
      if (!same<decltype(want + 0)>(got, want) || !same<decltype(want + 0)>(scalar, want)) {
        INFO(std::string(name), "(", a[j], ", ", b[j], ") is ", got, ", as a scalar ", scalar, ", not ",
             want);
        REQUIRE(false);
      }
    }
  }
}

#define UNARY(T, name, expected)                                                  \
  check_unary<T>(                                                                 \
      #name, all_exponents<T>(64), [](const auto& x) { return device::name(x); }, \
      [](T x) -> T { return expected; })
#define BINARY(T, name, expected)                                             \
  check_binary<T>(                                                            \
      #name, [](const auto& a, const auto& b) { return device::name(a, b); }, \
      [](T a, T b) { return expected; })

template <class T>
T larger(T a, T b) {
  if (a != a || b != b) return std::numeric_limits<T>::quiet_NaN();
  if (a == 0 && b == 0) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
template <class T>
T smaller(T a, T b) {
  if (a != a || b != b) return std::numeric_limits<T>::quiet_NaN();
  if (a == 0 && b == 0) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
T floor_rem(T a, T b) {
  const T rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(rest, b);
  return std::signbit(rest) != std::signbit(b) ? rest + b : rest;
}

template <class T>
void check_floating() {
  UNARY(T, neg, -x);
  UNARY(T, abs, std::fabs(x));
  UNARY(T, recip, T(1) / x);
  UNARY(T, sqrt, std::sqrt(x));
  UNARY(T, rsqrt, T(1) / std::sqrt(x));
  UNARY(T, square, x * x);
  UNARY(T, sign, x != x ? x : T((x > 0) - (x < 0)));
  UNARY(T, floor, std::floor(x));
  UNARY(T, ceil, std::ceil(x));
  UNARY(T, round, std::round(x));
  UNARY(T, rint, std::rint(x));
  UNARY(T, trunc, std::trunc(x));
  UNARY(T, relu, larger(x, T(0)));
  BINARY(T, add, T(a + b));
  BINARY(T, sub, T(a - b));
  BINARY(T, mul, T(a * b));
  BINARY(T, div, T(a / b));
  BINARY(T, fmod, std::fmod(a, b));
  BINARY(T, rem, floor_rem(a, b));
  BINARY(T, maximum, larger(a, b));
  BINARY(T, minimum, smaller(a, b));
  BINARY(T, eq, a == b);
  BINARY(T, ne, a != b);
  BINARY(T, lt, a < b);
  BINARY(T, le, a <= b);
  BINARY(T, gt, a > b);
  BINARY(T, ge, a >= b);
}

TEST_CASE("float arithmetic equals the C++ library's bit for bit") { check_floating<float>(); }
TEST_CASE("double arithmetic equals the C++ library's bit for bit") { check_floating<double>(); }

template <class T>
void check_integer() {
  __extension__ typedef __int128 W;
  UNARY(T, neg, static_cast<T>(-W(x)));
  UNARY(T, abs, static_cast<T>(x < 0 ? -W(x) : W(x)));
  UNARY(T, square, static_cast<T>(W(x) * x));
  UNARY(T, sign, (x > 0) - (x < 0));
  UNARY(T, relu, x > 0 ? x : 0);
  UNARY(T, bit_not, ~x);
  BINARY(T, add, static_cast<T>(W(a) + b));
  BINARY(T, sub, static_cast<T>(W(a) - b));
  BINARY(T, mul, static_cast<T>(W(a) * b));
  BINARY(T, div, b == 0 ? T(0) : static_cast<T>(W(a) / b));
  BINARY(T, fmod, b == 0 ? T(0) : static_cast<T>(W(a) % b));
  BINARY(T, rem, b == 0 ? T(0) : static_cast<T>((W(a) % b + b) % b));
  BINARY(T, maximum, std::max(a, b));
  BINARY(T, minimum, std::min(a, b));
  BINARY(T, bit_and, T(a & b));
  BINARY(T, bit_or, T(a | b));
  BINARY(T, bit_xor, T(a ^ b));
  constexpr T width = sizeof(T) * 8;
  BINARY(T, shl, b < 0 || b >= width ? T(0) : static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) << b));
  BINARY(T, shr, b < 0 || b >= width ? T(a < 0 ? -1 : 0) : T(a >> b));
  BINARY(T, eq, a == b);
  BINARY(T, ne, a != b);
  BINARY(T, lt, a < b);
  BINARY(T, le, a <= b);
  BINARY(T, gt, a > b);
  BINARY(T, ge, a >= b);
}

TEST_CASE("int32 arithmetic wraps and never traps") { check_integer<std::int32_t>(); }
TEST_CASE("int64 arithmetic wraps and never traps") { check_integer<std::int64_t>(); }
TEST_CASE("int8 arithmetic wraps and never traps") { check_integer<std::int8_t>(); }
TEST_CASE("int16 arithmetic wraps and never traps") { check_integer<std::int16_t>(); }
TEST_CASE("uint8 arithmetic wraps and never traps") { check_integer<std::uint8_t>(); }
TEST_CASE("uint16 arithmetic wraps and never traps") { check_integer<std::uint16_t>(); }
TEST_CASE("uint32 arithmetic wraps and never traps") { check_integer<std::uint32_t>(); }
TEST_CASE("uint64 arithmetic wraps and never traps") { check_integer<std::uint64_t>(); }

TEST_CASE("quotients of 8-bit integers are right for every pair") {
  const auto check = []<class T>(T) {
    constexpr int n = device::lanes<T>;
    for (int a = 0; a < 256; ++a)
      for (int b = 0; b < 256; b += n) {
        T divisors[n];
        for (int j = 0; j < n; ++j) divisors[j] = static_cast<T>(b + j);
        const auto result = device::div(device::splat<T, n>(static_cast<T>(a)), device::load<T, n>(divisors));
        for (int j = 0; j < n; ++j) {
          const int x = static_cast<T>(a), y = divisors[j];
          REQUIRE(device::element(result, j) == static_cast<T>(y == 0 ? 0 : x / y));
        }
      }
  };
  check(std::int8_t{});
  check(std::uint8_t{});
}

TEST_CASE("narrow and unsigned scalars wrap and never trap") {
  CHECK(device::add<std::int8_t>(127, 1) == -128);
  CHECK(device::mul<std::uint16_t>(65535, 65535) == 1);
  CHECK(device::div<std::int8_t>(-128, -1) == -128);
  CHECK(device::fmod<std::int16_t>(-32768, -1) == 0);
  CHECK(device::rem<std::int8_t>(-7, 3) == 2);
  CHECK(device::div<std::uint64_t>(~0ull, 0) == 0);
  CHECK(device::div<std::uint32_t>(~0u, ~0u) == 1);
  CHECK(device::neg<std::uint8_t>(1) == 255);
  CHECK(device::shl<std::int8_t>(1, 7) == -128);
  CHECK(device::shl<std::int8_t>(1, 8) == 0);
  CHECK(device::shr<std::int8_t>(-128, 100) == -1);
  CHECK(device::shr<std::uint8_t>(255, 100) == 0);
  CHECK(device::bit_not<std::uint8_t>(1) == 254);
}

template <class T>
void check_fma(int count) {
  constexpr int n = device::lanes<T>;
  std::vector<T> values = all_exponents<T>(2, 21);
  std::mt19937_64 random(22);
  for (int i = 0; i < count; i += n) {
    T a[n], b[n], c[n];
    for (int j = 0; j < n; ++j) {
      a[j] = values[random() % values.size()];
      b[j] = values[random() % values.size()];
      c[j] = values[random() % values.size()];
      if (random() % 2) {  // near cancellation, near a halfway case
        c[j] = -(a[j] * b[j]);
        if (random() % 2) c[j] = std::nextafter(c[j], T(0));
        if (random() % 4 == 0) c[j] *= std::ldexp(T(1), static_cast<int>(random() % 110) - 55);
      }
    }
    const auto result = device::fma(device::load<T, n>(a), device::load<T, n>(b), device::load<T, n>(c));
    for (int j = 0; j < n; ++j) {
      const T want = std::fma(a[j], b[j], c[j]);
      if (!same(device::element(result, j), want) || !same(device::fma(a[j], b[j], c[j]), want)) {
        INFO("fma(", a[j], ", ", b[j], ", ", c[j], ") is ", device::element(result, j), ", not ", want);
        REQUIRE(false);
      }
    }
  }
}
TEST_CASE("float fma rounds once") { check_fma<float>(2000000); }
TEST_CASE("double fma rounds once") { check_fma<double>(2000000); }

TEST_CASE("clamp keeps a NaN of each operand") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto clamp = [](float x, float low, float high) {
    constexpr int n = device::lanes<float>;
    const float scalar = device::clamp(x, low, high);
    const float vector =
        device::element(device::clamp(device::splat<float, n>(x), device::splat<float, n>(low),
                                      device::splat<float, n>(high)),
                        n - 1);
    CHECK(same(scalar, vector));
    return vector;
  };
  CHECK(clamp(5, 0, 1) == 1);
  CHECK(clamp(-5, 0, 1) == 0);
  CHECK(clamp(0.5f, 0, 1) == 0.5f);
  CHECK(std::isnan(clamp(nan, 0, 1)));
  CHECK(std::isnan(clamp(0, nan, 1)));
  CHECK(std::isnan(clamp(0, 0, nan)));
}

template <class T>
void check_tests() {
  const std::vector<T> values = special_values<T>();
  constexpr int n = device::lanes<T>;
  for (T value : values) {
    CHECK(device::element(device::isnan(device::splat<T, n>(value)), 1) == std::isnan(value));
    CHECK(device::element(device::isinf(device::splat<T, n>(value)), 1) == std::isinf(value));
    CHECK(device::isnan(value) == std::isnan(value));
    CHECK(device::isinf(value) == std::isinf(value));
  }
}
TEST_CASE("isnan and isinf know every special value") {
  check_tests<float>();
  check_tests<double>();
}

}  // namespace
