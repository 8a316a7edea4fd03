// The operations that create, move, broadcast and reduce tiles, written in C++: captured and compiled, against
// an eager run of the same lambda.
#include "runtime/support.hpp"

#include <cmath>
#include <cstring>

using support::Eager;
using support::Jit;
using support::numbers;

namespace {

using Any = pl::Tensor<float>;
using AnyOut = pl::Out<Any>;

/// The largest difference of the outputs of a compiled and an eager run, relative to numbers above 1.
template <class Kernel, class... Scalars>
double difference(const Kernel& kernel, const pl::Index& dims, const pl::Index& result, Scalars... scalars) {
  auto x = numbers(dims);
  pl::Array<float> compiled(result), natively(result);
  {
    const Jit jit;
    kernel(x, compiled, scalars...);
    CHECK(jit.context.statistics().eager_calls == 0);
  }
  const Eager eager;
  kernel(x, natively, scalars...);
  double largest = 0;
  for (std::size_t i = 0; i < compiled.size(); ++i) {
    const double a = compiled.data()[i], b = natively.data()[i];
    if (std::memcmp(&compiled.data()[i], &natively.data()[i], sizeof(float)) == 0) continue;
    largest = std::max(largest, std::abs(a - b) / std::max(1.0, std::abs(b)));
  }
  return largest;
}

}  // namespace

TEST_CASE("slice, assemble, concat, reshape, pad, expand, move in one kernel, with explicit tile types") {
  auto kernel = pl::jit.incore([](Any x, AnyOut y) {
    pl::Tile<float> t = pl::load(x);
    const pl::Tile<float> left = pl::slice(t, {0, 0}, {4, 3}), right = pl::slice(t, {0, 3}, {4, 6});
    pl::Tile<float> joined = pl::concat(right, left);
    joined = pl::assemble(joined, pl::slice(t, {1, 1}, {2, 2}), {0, 0});
    auto all = pl::concat({joined, t, joined * 2.0f}, {.axis = 0});
    auto turned = pl::reshape(pl::move(all, pl::Memory::Left), {9, 12});
    auto padded = pl::pad(turned, {1, 0}, {0, 2}, -1.5);
    auto spread = pl::expand(pl::slice(t, {0, 0}, {1, 1}), {10, 14});
    y = pl::store(
        padded + spread + pl::expand(pl::pad(pl::slice(t, {0, 0}, {1, 9}), {0, 0}, {0, 5}), {10, 14}), y);
    return y;
  });
  CHECK(difference(kernel, {4, 9}, {10, 14}) == 0);
}

TEST_CASE("offsets that the run decides, and one outside of the tile is refused at the user's line") {
  auto kernel = pl::jit.incore([](Any x, AnyOut y, pl::Scalar<std::int32_t> at) {
    y = pl::store(pl::slice(pl::load(x), {at, 0}, {2, 5}), y);
  });
  for (const int at : {0, 3, 5}) CHECK(difference(kernel, {7, 5}, {2, 5}, at) == 0);
  for (const bool eagerly : {false, true}) {
    std::string message;
    auto x = numbers({7, 5});
    pl::Array<float> y({2, 5}, 7.0f);
    try {
      if (eagerly) {
        const Eager eager;
        kernel(x, y, 6);
      } else {
        const Jit jit;
        kernel(x, y, 6);
      }
    } catch (const pl::ShapeError& error) {
      message = error.what();
      CHECK(error.location().file.find("move_test.cpp") != std::string::npos);
    }
    INFO(message);
    CHECK(message.find("tile_slice: axis 0") != std::string::npos);
    CHECK(y(0, 0) == 7.0f);
  }
}

TEST_CASE("zeros, arange, tri and random") {
  auto kernel = pl::jit.incore([](Any x, AnyOut y, pl::Scalar<std::int64_t> seed) {
    auto t = pl::load(x);
    auto sum = pl::zeros<float>({8, 16}) + pl::arange<float>({1, 16}) + pl::arange<float>({8, 16}, 2, 0.5);
    sum = sum + pl::cast<float>(pl::arange<std::int32_t>({16}, -3, 2));
    sum = pl::where(pl::tri<bool>(8, 16), sum, t) + pl::tri<float>(8, 16, -2, true);
    y = pl::store(sum + pl::random<float>({8, 16}, seed, 7) * pl::random<float>({1, 16}, 5, seed + 1), y);
  });
  CHECK(difference(kernel, {8, 16}, {8, 16}, std::int64_t{-9}) == 0);
}

TEST_CASE("reinterpret and back, and a mask made of a sign bit") {
  auto kernel = pl::jit.incore([](Any x, AnyOut y) {
    auto bits = pl::reinterpret<std::int32_t>(pl::load(x));
    y = pl::store(pl::reinterpret<float>(bits & 0x7fffffff), y);
  });
  CHECK(difference(kernel, {5, 17}, {5, 17}) == 0);
}

TEST_CASE("reductions over any axis") {
  auto kernel = pl::jit.incore([](Any x, AnyOut y) {
    auto t = pl::load(x);
    auto all = pl::sum(t, {.axis = 0}) + pl::max(t, {.axis = 1}) + pl::min(t, {.axis = -1});
    y = pl::store(all + pl::mean(t, {.axis = -3}) + pl::prod(pl::clamp(t, 0.5f, 1.5f), {.axis = 2}), y);
  });
  CHECK(difference(kernel, {3, 4, 17}, {3, 4, 17}) < 1e-5);
}

TEST_CASE("activations have one definition, compiled and eager, on tiles and scalars") {
  auto kernel = pl::jit.incore([](Any x, AnyOut y, pl::Scalar<float> slope) {
    auto t = pl::load(x);
    auto sum = pl::silu(t) + pl::gelu(t) + pl::gelu<pl::Gelu::tanh>(t) + pl::softplus(t) + pl::swish(t, 1.5);
    sum = sum + pl::lrelu(t, 0.1) + pl::lrelu(t, slope) + pl::prelu(t, pl::slice(t, {0, 0}, {1, 33}));
    y = pl::store(sum + pl::silu(slope), y);
  });
  CHECK(difference(kernel, {4, 33}, {4, 33}, 0.25f) < 1e-5);
  auto exact = pl::jit.incore([](Any x, AnyOut y) { y = pl::store(pl::lrelu(pl::load(x), 0.1), y); });
  CHECK(difference(exact, {4, 33}, {4, 33}) == 0);
}

TEST_CASE("activations are what their formulas say") {
  const Eager eager;
  for (const double x : {-30.0, -3.0, -0.5, 0.0, 0.25, 2.0, 40.0}) {
    const auto at = [&](const auto& tile) { return tile.value().template get<double>(); };
    const auto t = pl::full<double>({1}, x);
    const double pi = 3.14159265358979323846;
    const auto near = [](double a, double b) {
      return std::abs(a - b) <= 1e-14 * std::max(1.0, std::abs(b));
    };
    CHECK(near(at(pl::silu(t)), x / (1 + std::exp(-x))));
    CHECK(near(at(pl::gelu(t)), 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)))));
    CHECK(near(at(pl::gelu<pl::Gelu::tanh>(t)),
               0.5 * x * (1 + std::tanh(std::sqrt(2 / pi) * (x + 0.044715 * x * x * x)))));
    CHECK(near(at(pl::softplus(t)), x > 30 ? x : std::log1p(std::exp(x))));
    CHECK(near(at(pl::lrelu(t, 0.1)), x > 0 ? x : 0.1 * x));
    CHECK(near(at(pl::swish(t, 2.0)), x / (1 + std::exp(-2 * x))));
  }
}

TEST_CASE("row_expand and col_expand put one value a row or column with every element") {
  auto kernel = pl::jit.incore([](Any x, AnyOut y) {
    auto t = pl::load(x);
    auto row = pl::row_max(t), col = pl::col_min(t);
    auto a = pl::row_expand_sub(t, row) + pl::row_expand_mul(t, row) + pl::row_expand_add(t, row) +
             pl::row_expand_max(t, row) + pl::row_expand_min(t, row) + pl::row_expand_div(t, row);
    auto b = pl::col_expand_sub(t, col) + pl::col_expand_mul(t, col) + pl::col_expand_add(t, col) +
             pl::col_expand_max(t, col) + pl::col_expand_min(t, col) + pl::col_expand_div(t, col);
    y = pl::store(a + b, y);
  });
  CHECK(difference(kernel, {5, 19}, {5, 19}) == 0);
  auto exponent = pl::jit.incore([](Any x, AnyOut y) {
    auto t = pl::load(x);
    y = pl::store(pl::row_expand_expdif(t, pl::row_max(t)) + pl::col_expand_expdif(t, pl::col_max(t)), y);
  });
  CHECK(difference(exponent, {5, 19}, {5, 19}) < 1e-6);
}

TEST_CASE("a store that adds") {
  auto kernel = pl::jit.incore([](Any x, pl::InOut<Any> y) {
    auto t = pl::load(x);
    y = pl::store(t, y, {.atomic = pl::Atomic::Add});
    y = pl::store(pl::slice(t, {0, 0}, {1, 5}), {1, 1}, y, {.atomic = pl::Atomic::Add});
  });
  CHECK(difference(kernel, {3, 9}, {3, 9}) == 0);
}

TEST_CASE("rank 0 and rank 8") {
  auto zero = pl::jit.incore([](pl::Tensor<float, pl::no_dims> x, AnyOut y) {
    auto t = pl::load(x);
    y = pl::store(pl::expand(pl::reshape(pl::pad(t, {}, {}), {1, 1}), {2, 3}) + pl::slice(t, {}, {}) +
                      pl::zeros<float>({}),
                  y);
  });
  CHECK(difference(zero, {}, {2, 3}) == 0);
  auto eight = pl::jit.incore([](Any x, AnyOut y) {
    auto t = pl::load(x);
    y = pl::store(pl::transpose(pl::concat(t, t, {.axis = 3}), 0, 7) * 2.0f, y);
  });
  CHECK(difference(eight, {2, 1, 2, 1, 3, 1, 2, 2}, {2, 1, 2, 2, 3, 1, 2, 2}) == 0);
}
