// The forms a kernel takes, captured by the build and compiled, against an eager run of the same lambda.
#include "runtime/support.hpp"

#include <cstring>

using support::Eager;
using support::Jit;
using support::numbers;

namespace {

using Any = pl::Tensor<float>;

/// Runs a kernel compiled and natively; true when the outputs are equal to the bit.
template <class Kernel, class... Scalars>
bool agrees(const Kernel& kernel, const pl::Index& dims, Scalars... scalars) {
  auto x = numbers(dims);
  pl::Array<float> compiled(dims), natively(dims);
  {
    const Jit jit;
    kernel(x, compiled, scalars...);
    if (jit.context.statistics().eager_calls != 0) return false;
  }
  const Eager eager;
  kernel(x, natively, scalars...);
  return std::memcmp(compiled.data(), natively.data(), compiled.size() * sizeof(float)) == 0;
}

template <int Factor>
auto times() {
  return pl::jit.incore(
      [](Any x, pl::Out<Any> y) { y = pl::store(pl::load(x) * static_cast<float>(Factor), y); });
}

auto softplus_like = pl::jit.inline_([](auto t) { return pl::maximum(t, 0.0f) + 1.0f; });

}  // namespace

TEST_CASE("one lambda object with several shapes; two objects of one lambda type with their own captures") {
  const auto make = [](float k) {
    return pl::jit.incore([k](Any x, pl::Out<Any> y) { y = pl::store(pl::load(x) * k, y); });
  };
  auto two = make(2), three = make(3);
  for (const int n : {1, 7, 64}) {
    CHECK(agrees(two, {n}));
    CHECK(agrees(three, {n, 3}));
  }
  const Jit jit;
  pl::Array<float> x({4}, 1.0f), y({4});
  two(x, y);
  CHECK(y(0) == 2.0f);
  three(x, y);
  CHECK(y(0) == 3.0f);
  CHECK(jit.context.statistics().specialisations.size() == 2);  // one for each object, of one code
  CHECK(jit.compiles() <= 1);
}

TEST_CASE("every instantiation of a function template is a kernel of its own") {
  CHECK(agrees(times<2>(), {5}));
  CHECK(agrees(times<3>(), {5}));
  const Jit jit;
  pl::Array<float> x({4}, 1.0f), y({4});
  times<3>()(x, y);
  CHECK(y(3) == 3.0f);
  times<2>()(x, y);
  CHECK(y(3) == 2.0f);
}

TEST_CASE("a generic lambda is captured for each list of argument types") {
  auto twice = pl::jit.incore([](auto x, auto y) { return pl::store(pl::load(x) + pl::load(x), y); });
  const Jit jit;
  auto x = numbers({2, 3});
  pl::Array<float> y({2, 3});
  twice(x, pl::Out<Any>(y.view()));
  CHECK(y(1, 2) == 10.0f);
  pl::Array<std::int32_t> i({4}, 21), j({4});
  twice(i, pl::Out<pl::Tensor<std::int32_t>>(j.view()));
  CHECK(j(3) == 42);
  CHECK(jit.context.statistics().eager_calls == 0);
}

TEST_CASE("inline helpers become part of the kernel") {
  auto kernel =
      pl::jit.incore([](Any x, pl::Out<Any> y) { y = pl::store(softplus_like(pl::load(x) - 3.0f), y); });
  CHECK(agrees(kernel, {9}));
}

TEST_CASE("loops, branches and mutable locals") {
  auto kernel = pl::jit.incore([](Any x, pl::Out<Any> y, pl::Scalar<std::int32_t> n) {
    auto t = pl::load(x);
    for (auto i : pl::range(n)) {
      if (i % 2 == 0)
        t = t + 1.0f;
      else
        t = t * 2.0f;
    }
    y = pl::store(t, y);
  });
  for (const int n : {0, 1, 5}) CHECK(agrees(kernel, {6}, n));
}

TEST_CASE("softmax of rows: the compiled sum may re-associate, the rest is equal") {
  auto softmax = pl::jit.incore([](Any x, pl::Out<Any> y) {
    auto t = pl::load(x);
    auto e = pl::exp(t - pl::row_max(t));
    y = pl::store(e / pl::row_sum(e), y);
  });
  const Jit jit;
  auto x = numbers({4, 33});
  pl::Array<float> y({4, 33});
  softmax(x, y);
  for (int row = 0; row < 4; ++row) {
    float sum = 0;
    for (int column = 0; column < 33; ++column) sum += y(row, column);
    CHECK(sum == doctest::Approx(1.0).epsilon(1e-6));
  }
}

TEST_CASE("tile calls between loop nests: transpose of the last two and of any two axes") {
  auto turned = pl::jit.incore([](Any x, pl::Out<Any> y) {
    auto t = pl::transpose(pl::load(x) * 2.0f) + 1.0f;
    y = pl::store(pl::transpose(t, 0, 1), y);
  });
  CHECK(agrees(turned, {5, 9}));
  auto ends = pl::jit.incore([](Any x, pl::Out<Any> y) {
    constexpr int last = 2;
    y = pl::store(pl::transpose(pl::transpose(pl::load(x), 0, last), -1, 0), y);
  });
  CHECK(agrees(ends, {3, 4, 17}));
}
