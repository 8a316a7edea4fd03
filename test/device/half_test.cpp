// half and bfloat16: every one of their values through every operation of one operand, pairs and conversions by the
// hundred thousand, against the reference operations.
#include "sweep.hpp"

namespace {
constexpr int vector_width = trilith::device::lanes<float>;
}
#include "against_reference.hpp"

namespace {

using pl::bfloat16;
using pl::half;

template <class T>
void conversions() {
  constexpr int n = device::lanes<float>;
  // Every value, and back.
  const std::vector<T> all = every_value<T>();
  for (std::size_t i = 0; i < all.size(); i += n) {
    const auto vector = device::load<T, n>(all.data() + i);
    T back[n];
    device::store(back, vector);
    for (int j = 0; j < n; ++j) {
      REQUIRE(same(device::element(vector.floats, j), static_cast<float>(all[i + j])));
      REQUIRE(same(back[j], all[i + j]));
    }
  }
  // Floats and doubles of every exponent, and what lies beside the halfway points.
  std::vector<float> floats = all_exponents<float>(64, 7);
  for (unsigned pattern = 0; pattern < 0x7c00; ++pattern) {
    const float low = T::from_bits(static_cast<std::uint16_t>(pattern));
    const float high = T::from_bits(static_cast<std::uint16_t>(pattern + 1));
    const float middle = low / 2 + high / 2;
    for (const float x : {middle, std::nextafter(middle, low), std::nextafter(middle, high)}) {
      floats.push_back(x);
      floats.push_back(-x);
    }
  }
  floats.resize(floats.size() / n * n);
  for (std::size_t i = 0; i < floats.size(); i += n) {
    T narrowed[n];
    device::store(narrowed, device::cast<T>(device::load<float, n>(floats.data() + i)));
    for (int j = 0; j < n; ++j) REQUIRE(same(narrowed[j], T(floats[i + j])));
  }
  std::vector<double> doubles = all_exponents<double>(16, 8);
  for (const float x : floats) {
    doubles.push_back(x);
    doubles.push_back(std::nextafter(static_cast<double>(x), 0.0));  // a float could not tell it from x
    doubles.push_back(std::nextafter(static_cast<double>(x), static_cast<double>(x) * 2));
  }
  doubles.resize(doubles.size() / n * n);
  for (std::size_t i = 0; i < doubles.size(); i += n) {
    T narrowed[n];
    device::store(narrowed, device::cast<T>(device::load<double, n>(doubles.data() + i)));
    for (int j = 0; j < n; ++j) {
      INFO(doubles[i + j]);
      REQUIRE(same(narrowed[j], T(doubles[i + j])));
    }
  }
}
TEST_CASE("a half is loaded, stored and made of floats and doubles as on the host") { conversions<half>(); }
TEST_CASE("a bfloat16 is loaded, stored and made of floats and doubles as on the host") {
  conversions<bfloat16>();
}

template <class T>
void exact_operations() {
  numeric<T>();
  floating<T>();
}
TEST_CASE("every exact operation on half gives the reference's bits") { exact_operations<half>(); }
TEST_CASE("every exact operation on bfloat16 gives the reference's bits") { exact_operations<bfloat16>(); }

template <class T>
void fused() {
  constexpr int n = device::lanes<float>;
  std::mt19937_64 random(31);
  std::vector<T> a, b, c;
  for (int i = 0; i < 400000; ++i) {
    a.push_back(T::from_bits(static_cast<std::uint16_t>(random())));
    b.push_back(T::from_bits(static_cast<std::uint16_t>(random())));
    // Random addends seldom matter: near cancellation, and far below a tie, they do.
    const float product = static_cast<float>(a.back()) * static_cast<float>(b.back());
    T addend = T::from_bits(static_cast<std::uint16_t>(random()));
    if (i % 3 == 0) addend = T(-product);
    if (i % 3 == 1) addend = T(product * std::ldexp(1.0f, -static_cast<int>(random() % 40)));
    c.push_back(addend);
  }
  for (std::size_t i = 0; i < a.size(); i += n) {
    T got[n];
    device::store(
        got, device::fma(device::load<T, n>(&a[i]), device::load<T, n>(&b[i]), device::load<T, n>(&c[i])));
    for (int j = 0; j < n; ++j) {
      const T x = a[i + j], y = b[i + j], z = c[i + j];
      // Rounded toward each side of the exact sum: where both agree, so does the exact one.
      const long double exact = static_cast<long double>(static_cast<float>(x)) * static_cast<float>(y) +
                                static_cast<long double>(static_cast<float>(z));
      const Value operands[] = {Value::scalar(x), Value::scalar(y), Value::scalar(z)};
      const T want = codegen::reference::apply(Op::Fma, operands, {}, dtype_of<T>, {}).template get<T>();
      INFO(static_cast<float>(x), " * ", static_cast<float>(y), " + ", static_cast<float>(z));
      REQUIRE(same(got[j], want));
      REQUIRE(same(device::fma(x, y, z), want));
      if (std::isfinite(exact) && std::isfinite(static_cast<float>(want))) {
        const long double error = std::fabs(exact - static_cast<long double>(static_cast<float>(want)));
        for (const int step : {1, -1}) {
          const T beside = T::from_bits(static_cast<std::uint16_t>(want.bits + step));
          if ((want.bits & 0x7fff) == 0 || !std::isfinite(static_cast<float>(beside))) continue;
          REQUIRE(error <= std::fabs(exact - static_cast<long double>(static_cast<float>(beside))));
        }
      }
    }
  }
}
TEST_CASE("fma of half is rounded once") { fused<half>(); }
TEST_CASE("fma of bfloat16 is rounded once") { fused<bfloat16>(); }

/// How many values of T lie between two of them.
template <class T>
int steps_between(T a, T b) {
  if (a != a || b != b) return a != a && b != b ? 0 : 1 << 16;
  const auto ordered = [](T x) {
    return (x.bits & 0x8000) != 0 ? 0x8000 - x.bits : static_cast<int>(x.bits);
  };
  return std::abs(ordered(a) - ordered(b));
}

template <class T, class F>
void transcendental(Op op, F function) {
  const Value x = tile(every_value<T>()), expected = codegen::reference::apply(op, {x});
  int worst = 0, inexact = 0;
  for (std::size_t i = 0; i < 65536; i += N) {
    const auto result = function(load<T>(x, i));
    for (int j = 0; j < N; ++j) {
      const auto at = static_cast<std::int64_t>(i) + j;
      const int distance = steps_between(device::element(result, j), expected.get<T>(at));
      REQUIRE(distance == steps_between(function(x.get<T>(at)), expected.get<T>(at)));
      worst = std::max(worst, distance);
      inexact += distance != 0;
    }
  }
  INFO(std::string(codegen::operation(op).name), ": ", worst, " steps at worst, ", inexact,
       " of 65536 differ");
  std::printf("%-9s %-8s %-8s %d of 65536 not nearest, by %d\n", target,
              std::string(codegen::operation(op).name).c_str(),
              std::string(codegen::name_of(dtype_of<T>)).c_str(), inexact, worst);
  CHECK(worst <= 1);  // float's few ulp are lost in the rounding but where they cross a halfway point
  CHECK(inexact < 64);
}
#define TRANSCENDENTAL(op, name)                                               \
  transcendental<half>(Op::op, [](const auto& x) { return device::name(x); }); \
  transcendental<bfloat16>(Op::op, [](const auto& x) { return device::name(x); });

TEST_CASE("every value of half and bfloat16 through every transcendental function"){
    TRANSCENDENTAL(Exp, exp) TRANSCENDENTAL(Exp2, exp2) TRANSCENDENTAL(Expm1, expm1) TRANSCENDENTAL(Log, log)
        TRANSCENDENTAL(Log2, log2) TRANSCENDENTAL(Log1p, log1p) TRANSCENDENTAL(Sin, sin)
            TRANSCENDENTAL(Cos, cos) TRANSCENDENTAL(Tanh, tanh) TRANSCENDENTAL(Erf, erf)
                TRANSCENDENTAL(Sigmoid, sigmoid)}

TEST_CASE("casts from half and bfloat16 to bool, floats and common integers, in every mode") {
  casts<half, bool>();
  casts<half, float>();
  casts<half, double>();
  casts<half, std::int32_t>();
  casts<half, std::int64_t>();
  casts<half, bfloat16>();
  casts<bfloat16, bool>();
  casts<bfloat16, float>();
  casts<bfloat16, double>();
  casts<bfloat16, std::int32_t>();
  casts<bfloat16, std::int64_t>();
  casts<bfloat16, half>();
}
TEST_CASE("casts to half and bfloat16 round once, from every float and common integer") {
  one_cast<bool, half, device::CastMode::Rint>();
  one_cast<std::int32_t, half, device::CastMode::Rint>();
  one_cast<std::int64_t, half, device::CastMode::Rint>();
  one_cast<float, half, device::CastMode::Rint>();
  one_cast<double, half, device::CastMode::Rint>();
  one_cast<bool, bfloat16, device::CastMode::Rint>();
  one_cast<std::int32_t, bfloat16, device::CastMode::Rint>();
  one_cast<std::int64_t, bfloat16, device::CastMode::Rint>();
  one_cast<float, bfloat16, device::CastMode::Rint>();
  one_cast<double, bfloat16, device::CastMode::Rint>();
}

template <class T>
void memory() {
  constexpr int n = device::lanes<float>;
  std::vector<T> from(3 * n), to(3 * n);
  for (int i = 0; i < 3 * n; ++i) from[i] = T(i + 0.5f);
  for (int count = -1; count <= n + 1; ++count) {
    const int kept = std::clamp(count, 0, n);
    const auto part = device::load_partial<T, n>(from.data(), count, T(-3));
    for (int j = 0; j < n; ++j) CHECK(same(device::element(part, j), j < kept ? from[j] : T(-3)));
    const auto strided = device::load_strided<T, n>(from.data(), 2, kept / 2, T(7));
    for (int j = 0; j < n; ++j) CHECK(same(device::element(strided, j), j < kept / 2 ? from[2 * j] : T(7)));
    std::fill(to.begin(), to.end(), T(9));
    device::store_partial(to.data(), part, count);
    for (int j = 0; j < n; ++j) CHECK(same(to[j], j < kept ? from[j] : T(9)));
    std::fill(to.begin(), to.end(), T(9));
    device::store_strided(to.data(), 2, part, kept);
    for (int j = 0; j < 2 * n; ++j) CHECK(same(to[j], j % 2 == 0 && j / 2 < kept ? from[j / 2] : T(9)));
  }
}
TEST_CASE("parts and strides of 16-bit floats touch nothing else") {
  memory<half>();
  memory<bfloat16>();
}

}  // namespace
