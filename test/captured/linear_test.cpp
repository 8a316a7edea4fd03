// Products in captured kernels: compiled, run natively and as sums written out.
#include "runtime/support.hpp"

#include <cmath>

using support::Eager;
using support::Jit;

namespace {

using Any = pl::Tensor<float>;
using Out = pl::Out<pl::Tensor<float>>;

pl::Array<float> matrix(std::int64_t rows, std::int64_t columns, float seed) {
  pl::Array<float> result({rows, columns});
  for (std::size_t i = 0; i < result.size(); ++i)
    result.data()[i] = std::sin(seed + 0.37f * static_cast<float>(i));
  return result;
}

/// Runs the kernel compiled and natively; the larger difference of the two from each other.
template <class Kernel, class... Inputs>
double difference(const Kernel& kernel, const pl::Index& dims, const Inputs&... inputs) {
  pl::Array<float> compiled(dims, -7.0f), natively(dims, 9.0f);
  {
    const Jit jit;
    kernel(inputs..., compiled);
    if (jit.context.statistics().eager_calls != 0) return 1e30;
  }
  const Eager eager;
  kernel(inputs..., natively);
  double worst = 0;
  for (std::size_t i = 0; i < compiled.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(compiled.data()[i]) - natively.data()[i]));
  return worst;
}

}  // namespace

TEST_CASE("matmul and its transposes") {
  auto plain =
      pl::jit.incore([](Any a, Any b, Out c) { c = pl::store(pl::matmul(pl::load(a), pl::load(b)), c); });
  auto right = pl::jit.incore(
      [](Any a, Any b, Out c) { c = pl::store(pl::matmul(pl::load(a), pl::load(b), {.trans_b = true}), c); });
  auto left = pl::jit.incore(
      [](Any a, Any b, Out c) { c = pl::store(pl::matmul(pl::load(a), pl::load(b), {.trans_a = true}), c); });
  CHECK(difference(plain, {5, 9}, matrix(5, 7, 1), matrix(7, 9, 2)) < 1e-5);
  CHECK(difference(right, {5, 9}, matrix(5, 7, 1), matrix(9, 7, 2)) < 1e-5);
  CHECK(difference(left, {5, 9}, matrix(7, 5, 1), matrix(7, 9, 2)) < 1e-5);
  const Jit jit;
  pl::Array<float> a({1, 2}), b({2, 1}), c({1, 1});
  a(0, 0) = 3, a(0, 1) = 4, b(0, 0) = 5, b(1, 0) = 6;
  plain(a, b, c);
  CHECK(c(0, 0) == 39.0f);
}

TEST_CASE("a fused linear layer, an accumulator over slices of K, another result dtype") {
  auto layer = pl::jit.incore([](Any x, Any w, Any bias, Out y) {
    y = pl::store(pl::relu(pl::matmul_bias(pl::load(x), pl::load(w), pl::load(bias))), y);
  });
  CHECK(difference(layer, {6, 20}, matrix(6, 33, 1), matrix(33, 20, 2), matrix(1, 20, 3)) < 1e-5);
  auto halves = pl::jit.incore([](Any a, Any b, Out c) {
    auto acc = pl::matmul(pl::load(a, {0, 0}, {8, 16}), pl::load(b, {0, 0}, {16, 24}));
    acc = pl::matmul_acc(acc, pl::load(a, {0, 16}, {8, 16}), pl::load(b, {16, 0}, {16, 24}));
    c = pl::store(acc, c);
  });
  CHECK(difference(halves, {8, 24}, matrix(8, 32, 1), matrix(32, 24, 2)) < 1e-5);
  auto looped = pl::jit.incore([](Any a, Any b, Out c) {
    auto acc = pl::zeros<float>({8, 24});
    for (auto i : pl::range(4))
      acc = pl::matmul_acc(acc, pl::load(a, {0, 8 * i}, {8, 8}), pl::load(b, {8 * i, 0}, {8, 24}));
    c = pl::store(acc, c);
  });
  CHECK(difference(looped, {8, 24}, matrix(8, 32, 1), matrix(32, 24, 2)) < 1e-5);
  auto wide = pl::jit.incore([](Any a, Any b, Out c) {
    c = pl::store(pl::cast<float>(pl::matmul<double>(pl::load(a), pl::load(b)) * 0.5), c);
  });
  CHECK(difference(wide, {4, 5}, matrix(4, 6, 1), matrix(6, 5, 2)) < 1e-5);
}

TEST_CASE("batches, vectors, dot products and erased dtypes") {
  auto batches = pl::jit.incore([](Any a, Any b, Out c) {
    c = pl::store(pl::batch_matmul(pl::load(a), pl::load(b), {.trans_b = true}), c);
  });
  pl::Array<float> queries({2, 3, 8}, 0.5f), keys({2, 5, 8}, 0.25f);
  for (std::size_t i = 0; i < keys.size(); ++i) keys.data()[i] = static_cast<float>(i % 11);
  CHECK(difference(batches, {2, 3, 5}, queries, keys) < 1e-4);
  auto vectors =
      pl::jit.incore([](Any a, Any x, Out y) { y = pl::store(pl::gemv(pl::load(a), pl::load(x)), y); });
  pl::Array<float> x({19}, 0.5f);
  CHECK(difference(vectors, {7}, matrix(7, 19, 1), x) < 1e-5);
  auto inner =
      pl::jit.incore([](Any a, Any b, Out y) { y = pl::store(pl::dot(pl::load(a), pl::load(b)), y); });
  CHECK(difference(inner, {1}, x, x) < 1e-5);
  auto erased = pl::jit.incore([](pl::Tensor<> a, pl::Tensor<> b, pl::Out<pl::Tensor<>> c) {
    c = pl::store(pl::matmul(pl::load(a), pl::load(b)), c);
  });
  CHECK(difference(erased, {5, 9}, matrix(5, 7, 1), matrix(7, 9, 2)) < 1e-5);
}

TEST_CASE("a matmul over whole tensors of 1024 x 1024") {
  auto kernel =
      pl::jit.incore([](Any a, Any b, Out c) { c = pl::store(pl::matmul(pl::load(a), pl::load(b)), c); });
  const Jit jit;
  const pl::Array<float> a = matrix(1024, 1024, 1), b = matrix(1024, 1024, 2);
  pl::Array<float> c({1024, 1024});
  kernel(a, b, c);
  for (const auto& [i, j] : {std::pair{0, 0}, {1023, 1023}, {511, 700}}) {
    double sum = 0;
    for (int k = 0; k < 1024; ++k) sum += static_cast<double>(a(i, k)) * b(k, j);
    CHECK(std::abs(c(i, j) - sum) < 1e-3);
  }
}

TEST_CASE("shapes that do not fit are refused in the same words compiled and natively") {
  auto kernel =
      pl::jit.incore([](Any a, Any b, Out c) { c = pl::store(pl::matmul(pl::load(a), pl::load(b)), c); });
  const auto message = [&] {
    pl::Array<float> a({8, 4}), b({5, 4}), c({8, 5});
    try {
      kernel(a, b, c);
    } catch (const pl::ShapeError& error) {
      const std::string text = error.what();
      return text.substr(text.find("matmul: "));
    }
    return std::string("no error");
  };
  const std::string expected =
      "matmul: the inner extents of a [8, 4] and b [5, 4] are 4 and 5 and must be equal; b fits with "
      "{.trans_b = true}";
  {
    const Jit jit;
    CHECK(message() == expected);
  }
  const Eager eager;
  CHECK(message() == expected);
}
