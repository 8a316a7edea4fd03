// Kernels made in templates: each instantiation finds its own.
#include "runtime/support.hpp"

namespace {

using Any = pl::Tensor<float>;
using AnyOut = pl::Out<Any>;

}  // namespace

template <class F>
struct TripledOf {
  static inline auto kernel = pl::jit.incore([](pl::Tensor<F> x, pl::Out<pl::Tensor<F>> y) {
    y = pl::store(pl::load(x) * static_cast<F>(sizeof(F)), y);
  });
};

template <class F>
auto applying(F function) {
  return pl::jit.incore([function](Any x, AnyOut y) { y = pl::store(function(pl::load(x)), y); });
}
template <class F, class G>
auto applying_both(F first, G second) {
  return pl::jit.incore([first, second](Any x, AnyOut y) { y = pl::store(second(first(pl::load(x))), y); });
}
auto plus_five = applying([](auto tile) { return tile + 5.0f; });
auto times_five = applying([](auto tile) { return tile * 5.0f; });

template <int... added>
auto adding() {
  return pl::jit.incore([](Any x, AnyOut y) {
    auto tile = pl::load(x);
    ((tile = tile + static_cast<float>(added)), ...);
    y = pl::store(tile, y);
  });
}

TEST_CASE("a static member of a class template is a kernel for each instance") {
  pl::Array<float> x({4}, 1.0f), y({4});
  pl::Array<double> a({4}, 1.0), b({4});
  TripledOf<float>::kernel(x, y);
  TripledOf<double>::kernel(a, b);
  CHECK(y(0) == 4.0f);
  CHECK(b(0) == 8.0);
}

TEST_CASE("a function template makes a kernel for each lambda it is given") {
  pl::Array<float> x({4}, 2.0f), y({4});
  plus_five(x, y);
  CHECK(y(3) == 7.0f);
  times_five(x, y);
  CHECK(y(3) == 10.0f);
  const auto one = applying([](auto tile) { return tile - 1.0f; });
  const auto two = applying([](auto tile) { return tile - 2.0f; });
  one(x, y);
  CHECK(y(0) == 1.0f);
  two(x, y);
  CHECK(y(0) == 0.0f);
  const auto add = [](auto tile) { return tile + 1.0f; };
  const auto scale = [](auto tile) { return tile * 10.0f; };
  const auto sum_first = applying_both(add, scale);
  const auto scaled_first = applying_both(scale, add);
  sum_first(x, y);
  CHECK(y(0) == 30.0f);
  scaled_first(x, y);
  CHECK(y(0) == 21.0f);
}

TEST_CASE("a fold over an empty pack does nothing") {
  pl::Array<float> x({4}, 2.0f), y({4});
  adding<>()(x, y);
  CHECK(y(0) == 2.0f);
  adding<1, 2>()(x, y);
  CHECK(y(0) == 5.0f);
}
