// Kernels that work along rows: softmax, norms, argmax, top-k, cumsum, cross entropy, quantisation.
#include "kernels/kernels.hpp"
#include "kernels/support.hpp"

#include <algorithm>
#include <numeric>

using namespace kernels_test;

namespace {

const std::vector<std::pair<std::int64_t, std::int64_t>> shapes = {
    {1, 1}, {3, 16}, {5, 67}, {4, 1000}, {0, 8}};

template <class T>
std::vector<double> row_of(const pl::Array<T>& x, std::int64_t row) {
  std::vector<double> result;
  for (std::int64_t j = 0; j < x.dim(1); ++j) result.push_back(wide(x(row, j)));
  return result;
}

template <class T>
void softmaxes() {
  for (const auto& [rows, columns] : shapes) {
    const auto x = filled<T>({rows, columns});
    std::vector<double> plain, logarithms;
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto row = row_of(x, i);
      const double largest = *std::max_element(row.begin(), row.end());
      double sum = 0;
      for (const double value : row) sum += std::exp(value - largest);
      for (const double value : row) {
        plain.push_back(std::exp(value - largest) / sum);
        logarithms.push_back(value - largest - std::log(sum));
      }
    }
    pl::Array<T> y({rows, columns});
    both_ways([&] {
      pl::kernels::softmax<T>(x, y);
      expect(y, plain);
      pl::kernels::log_softmax<T>(x, y);
      expect(y, logarithms);
    });
  }
}

template <class T>
void norms() {
  for (const auto& [rows, columns] : shapes) {
    const auto x = filled<T>({rows, columns});
    const auto gamma = filled<T>({columns}, 2), beta = filled<T>({columns}, 3);
    std::vector<double> layer, rms;
    for (std::int64_t i = 0; i < rows; ++i) {
      const auto row = row_of(x, i);
      const double n = static_cast<double>(columns);
      const double mean = std::accumulate(row.begin(), row.end(), 0.0) / n;
      double variance = 0, squares = 0;
      for (const double value : row) {
        variance += (value - mean) * (value - mean) / n;
        squares += value * value / n;
      }
      for (std::int64_t j = 0; j < columns; ++j) {
        const double value = row[static_cast<std::size_t>(j)];
        layer.push_back((value - mean) / std::sqrt(variance + 1e-3) * wide(gamma(j)) + wide(beta(j)));
        rms.push_back(value / std::sqrt(squares + 1e-3) * wide(gamma(j)));
      }
    }
    pl::Array<T> y({rows, columns});
    both_ways([&] {
      pl::kernels::layernorm<T>(x, gamma, beta, y, 1e-3f);
      expect(y, layer, 5 * tolerance<T>);
      pl::kernels::rmsnorm<T>(x, gamma, y, 1e-3f);
      expect(y, rms, 5 * tolerance<T>);
    });
  }
}

}  // namespace

TEST_CASE("softmax and log-softmax of rows, in every floating dtype") {
  softmaxes<float>();
  softmaxes<double>();
  softmaxes<pl::half>();
  softmaxes<pl::bfloat16>();
}

TEST_CASE("layernorm and rmsnorm of rows, in every floating dtype") {
  norms<float>();
  norms<pl::half>();
}

TEST_CASE("softmax and layernorm run in place") {
  auto x = filled<float>({4, 33});
  pl::Array<float> y({4, 33});
  const support::Jit jit;
  pl::kernels::softmax<float>(x, y);
  pl::kernels::softmax<float>(x, x);
  CHECK(std::equal(x.begin(), x.end(), y.begin()));
}

TEST_CASE("argmax and top-k agree with a stable sort") {
  const auto x = filled<float>({7, 41});
  both_ways([&] {
    pl::Array<std::int32_t> best({7, 1}), indices({7, 5});
    pl::Array<float> values({7, 5});
    pl::kernels::argmax<float>(x, best);
    pl::kernels::top_k<float>(x, values, indices, 5);
    for (std::int64_t i = 0; i < 7; ++i) {
      std::vector<std::int32_t> order(41);
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return x(i, a) > x(i, b); });
      CHECK(best(i, 0) == order[0]);
      for (std::int64_t j = 0; j < 5; ++j) {
        CHECK(indices(i, j) == order[static_cast<std::size_t>(j)]);
        CHECK(values(i, j) == x(i, order[static_cast<std::size_t>(j)]));
      }
    }
  });
}

TEST_CASE("cumsum, transpose and cross entropy") {
  const auto x = filled<float>({5, 19});
  const pl::Array<std::int32_t> targets = [] {
    pl::Array<std::int32_t> result({5, 1});
    for (std::int64_t i = 0; i < 5; ++i) result(i, 0) = static_cast<std::int32_t>(4 * i);
    return result;
  }();
  std::vector<double> sums, turned, losses;
  for (std::int64_t i = 0; i < 5; ++i) {
    double sum = 0, exponentials = 0;
    for (std::int64_t j = 0; j < 19; ++j) {
      sums.push_back(sum += x(i, j));
      exponentials += std::exp(static_cast<double>(x(i, j)));
    }
    losses.push_back(std::log(exponentials) - x(i, targets(i, 0)));
  }
  for (std::int64_t j = 0; j < 19; ++j)
    for (std::int64_t i = 0; i < 5; ++i) turned.push_back(x(i, j));
  both_ways([&] {
    pl::Array<float> y({5, 19}), z({19, 5}), loss({5, 1});
    pl::kernels::cumsum<float>(x, y);
    expect(y, sums);
    pl::kernels::transpose<float>(x, z);
    expect(z, turned, 0);
    pl::kernels::cross_entropy<float>(x, targets, loss);
    expect(loss, losses);
  });
}

TEST_CASE("quantised rows come back within half a step, and a row of zeros as zeros") {
  auto x = filled<float>({4, 37});
  for (std::int64_t j = 0; j < 37; ++j) x(2, j) = 0;
  both_ways([&] {
    pl::Array<std::int8_t> q({4, 37});
    pl::Array<float> scale({4, 1}), y({4, 37});
    pl::kernels::quantise<float>(x, q, scale);
    pl::kernels::dequantise<float>(q, scale, y);
    for (std::int64_t i = 0; i < 4; ++i)
      for (std::int64_t j = 0; j < 37; ++j) CHECK(std::abs(y(i, j) - x(i, j)) <= 0.5001f * scale(i, 0));
    CHECK(scale(2, 0) == 1.0f);
    CHECK(y(2, 5) == 0.0f);
  });
}
