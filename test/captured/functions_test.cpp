// Lambdas, functions, templates, helpers and other kernels inside a kernel, and what a kernel may capture.
#include "captured/agree.hpp"

#include <algorithm>
#include <cmath>

using captured_test::agrees;
using captured_test::Any;
using captured_test::Out;
using captured_test::result;
using captured_test::same;

namespace {

using Int = pl::Scalar<std::int32_t>;
enum class Mode : std::int32_t { Off, On };
enum Plain { First, Second = 7 };

template <class T>
T cubed(T value) {
  return value * value * value;
}
template <int N>
int repeated(int value) {
  if constexpr (N == 0)
    return value;
  else
    return repeated<N - 1>(value * 2 + 1);
}
template <class... Parts>
auto total(const Parts&... parts) {
  return (parts + ... + static_cast<int>(sizeof...(Parts)));
}
inline int first_above(int limit, int step) {
  for (int i = 0;; i += step)
    if (i > limit) return i;
}
inline void negate_in_place(pl::Tile<float>& tile) { tile = -tile; }
constexpr int power(int base, int exponent) { return exponent == 0 ? 1 : base * power(base, exponent - 1); }

auto scaled = pl::jit.inline_([](auto tile, float factor) {
  if (factor < 0) return tile;
  return tile * factor;
});
auto added = pl::jit.incore([](Any x, Out y) { y = pl::store(pl::load(x) + pl::load(y), y); });
auto generic_twice = pl::jit.incore([](auto x, auto y) { y = pl::store(pl::load(x) * 2.0f, y); });

#define CLAMPED(value, low, high) ((value) < (low) ? (low) : (value) > (high) ? (high) : (value))
#define TWO_KERNELS(one, two)                                                            \
  auto one = pl::jit.incore([](Any x, Out y) { y = pl::store(pl::load(x) + 1.0f, y); }); \
  auto two = pl::jit.incore([](Any x, Out y) { y = pl::store(pl::load(x) * 3.0f, y); })
TWO_KERNELS(macro_plus, macro_times);
// clang-format off
auto line_minus = pl::jit.incore([](Any x, Out y) { y = pl::store(pl::load(x) - 1.0f, y); }); auto line_half = pl::jit.incore([](Any x, Out y) { y = pl::store(pl::load(x) * 0.5f, y); });
// clang-format on

template <class T, int Factor>
struct Kernels {
  static auto times() {
    return pl::jit.incore([](pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y) {
      y = pl::store(pl::load(x) * static_cast<T>(Factor), y);
    });
  }
};

float first_of(const auto& kernel) {
  const support::Jit jit;
  pl::Array<float> x({4}, 5.0f), y({4}, 100.0f);
  kernel(x, y);
  return y(0);
}

}  // namespace

TEST_CASE("lambdas: called in place, stored, with captures of each kind, nested, returned, generic") {
  auto kernel = pl::jit.incore([](Any x, Out y, Int n) {
    int calls = 0;
    const int start = [&] {
      if (n > 4) return 4;
      return n.value() + 1;
    }();
    auto count = [&calls](int by) { calls += by; };
    auto shifted = [start, scale = 2 * start](auto value) {
      return value * static_cast<float>(scale) + 0.5f;
    };
    auto twice = [](auto f, auto value) { return f(f(value)); };
    auto make = [](int by) { return [by](int v) { return v + by; }; };
    auto add_three = make(3);
    for (int i = 0; i < start; ++i) count(i);
    int copied = start;
    auto old = [copied]() { return copied; };
    copied += 10;
    count(add_three(old()) + make(copied)(1));
    auto t = twice(shifted, pl::load(x));
    [&, k = 3] {
      t = t * static_cast<float>(k);
      if (n == 2) return;
      t = t - 1.0f;
    }();
    y = pl::store(t + static_cast<float>(calls), y);
  });
  for (const int n : {0, 1, 2, 6}) CHECK(agrees(kernel, {5}, n));
}

TEST_CASE(
    "functions: templates, references, loops with returns, constexpr recursion, std functions, inline "
    "helpers") {
  auto kernel = pl::jit.incore([](Any x, Out y, Int n) {
    auto t = scaled(pl::load(x), static_cast<float>(n) - 1.0f);
    negate_in_place(t);
    int k = std::max(n.value(), 2) + std::min(3, static_cast<int>(n)) + std::clamp(n.value(), 1, 5) +
            std::abs(n - 4);
    k += cubed(n.value()) + repeated<3>(n) + total(1, n.value(), k) + first_above(n, 3) + power(2, 5);
    k = CLAMPED(k, -50, 900);
    const float f = cubed(0.5f) + std::sqrt(static_cast<float>(n * n)) + std::fabs(-2.5f) + std::floor(3.7f);
    t = t + f;
    y = pl::store(t * 0.25f + static_cast<float>(k), y);
  });
  for (const int n : {-3, 0, 1, 2, 7}) CHECK(agrees(kernel, {5}, n));
}

TEST_CASE("a kernel called inside a kernel becomes part of it") {
  auto kernel = pl::jit.incore([](Any x, Out y, Int n) {
    y = pl::store(pl::load(x) * 0.5f, y);
    for (int i = 0; i < n; ++i) added(x, y);
    if (n > 1) generic_twice(x[0], y[1]);
  });
  for (const int n : {0, 1, 3}) CHECK(agrees(kernel, {2, 4}, n));
  const auto captured = [](auto inner) {
    return pl::jit.incore([inner](Any x, Out y) {
      inner(x, y);
      inner(x, y);
    });
  };
  CHECK(first_of(captured(macro_times)) == 15.0f);
  const auto implicit = [](auto inner, float by) {
    return pl::jit.incore([=](Any x, Out y) {
      inner(x, y);
      y = pl::store(pl::load(y) + by, y);
    });
  };
  CHECK(first_of(implicit(macro_plus, 0.5f)) == 6.5f);
}

TEST_CASE("two kernels on one line and in one macro expansion are told apart") {
  CHECK(first_of(macro_plus) == 6.0f);
  CHECK(first_of(macro_times) == 15.0f);
  CHECK(first_of(line_minus) == 4.0f);
  CHECK(first_of(line_half) == 2.5f);
  CHECK(first_of(Kernels<float, 4>::times()) == 20.0f);
  CHECK(first_of(Kernels<float, 6>::times()) == 30.0f);
}

TEST_CASE("captures: every kind of value, implicit, explicit and with initialiser, read at the call") {
  const bool flag = true;
  const int i = 3;
  const std::int64_t wide = 5000000000;
  float f = 0.25f;
  const double d = 1.5;
  const Mode mode = Mode::On;
  const Plain plain = Second;
  auto implicit = pl::jit.incore([=](Any x, Out y) {
    auto t = pl::load(x) * f + static_cast<float>(d);
    if (flag && mode == Mode::On) t = t + static_cast<float>(i + plain);
    y = pl::store(t + static_cast<float>(wide / 1000000000), y);
  });
  auto explicitly = pl::jit.incore([flag, i, f, mode, more = i * 2.5f](Any x, Out y) {
    y = pl::store(pl::load(x) * f + (flag && mode != Mode::Off ? more : static_cast<float>(i)), y);
  });
  CHECK(agrees(implicit, {7}));
  CHECK(agrees(explicitly, {7}));
  auto make = [](int rows) {
    return pl::jit.incore(
        [rows](Any x, Out y) { y = pl::store(pl::load(x, {0, 0}, {rows, 4}) * 2.0f, {0, 0}, y); });
  };
  CHECK(agrees(make(1), {3, 4}));
  CHECK(agrees(make(3), {3, 4}));
}

TEST_CASE("a generic kernel that mixes auto and typed parameters finds its record") {
  auto kernel = pl::jit.incore([](auto x, Out y, pl::Scalar<float> by, auto n) {
    y = pl::store(pl::load(x) * by + static_cast<float>(n), y);
    return y;
  });
  const support::Jit jit;
  pl::Array<float> x({4}, 5.0f), y({4});
  kernel(x, y, 3.0f, 2);
  CHECK(y(0) == 17.0f);
  kernel(x.view(), pl::Out<Any>(y.view()), pl::Scalar<float>(2.0f), pl::Scalar<std::int32_t>(4));
  CHECK(y(0) == 14.0f);
  kernel(x, y, 1, 2.5f);  // converts to the typed parameter
  CHECK(y(0) == 7.5f);
  CHECK(jit.context.statistics().eager_calls == 0);
}

TEST_CASE("a bound call of a generic kernel converts its numbers once, wherever it runs") {
  auto kernel =
      pl::jit.incore([](auto x, Out y, pl::Scalar<float> by) { y = pl::store(pl::load(x) * by, y); });
  pl::Array<float> x({4}, 5.0f), y({4});
  const auto calls = [&] {
    const auto bound = kernel.compile(x, y, 3).bind(x, y, 3);
    bound();
    CHECK(y(0) == 15.0f);
    y.fill(0.0f);
    bound.bare()();
    CHECK(y(0) == 15.0f);
    y.fill(0.0f);
    auto device = pl::jit([&](Any) { bound(); });
    device(x);
    CHECK(y(0) == 15.0f);
  };
  {
    const support::Jit jit;
    calls();
  }
  const support::Eager eager;
  calls();
}

namespace {

auto twice = [](auto t) { return t * 2.0f; };
template <class F>
auto with_new(const pl::Tile<float>& t) {
  F f;
  return F{}(f(t));
}

}  // namespace

TEST_CASE("a lambda that captures nothing, made anew from its type") {
  auto made = pl::jit.incore([](Any x, Out y) { y = pl::store(decltype(twice){}(pl::load(x)) + true, y); });
  auto declared = pl::jit.incore([](Any x, Out y) {
    decltype(twice) f;
    const auto g = decltype(twice)();
    y = pl::store(f(g(pl::load(x))), y);
  });
  auto in_template =
      pl::jit.incore([](Any x, Out y) { y = pl::store(with_new<decltype(twice)>(pl::load(x)), y); });
  CHECK(agrees(made, {3, 5}));
  CHECK(agrees(declared, {3, 5}));
  CHECK(agrees(in_template, {3, 5}));
}
