// samples/language/05_norms.cpp -- rmsnorm and layernorm: reductions, and one value a row or column with every element.
//
//   ./samples/run language/05_norms
#include "golden.hpp"

#include <kernels/norm.hpp>

constexpr std::int64_t ROWS = 32, COLUMNS = 64;
constexpr float EPS = 1e-5f;

using Tensor = pl::Tensor<float>;
using Output = pl::Out<Tensor>;

// (1) row_mean is [R, 1], the weight [C]: both broadcast against [R, C]. The constant EPS is part of the code.
auto rmsnorm = pl::jit.incore([](Tensor x, Tensor gamma, Output y) {
  auto tile = pl::load(x);
  auto scale = pl::rsqrt(pl::row_mean(pl::square(tile)) + EPS);
  y = pl::store(tile * scale * pl::load(gamma), y);
});

// (2) The same broadcasts by name, as the Python original writes them. Squares of centred values, not the mean of the
//     squares minus the square of the mean: that would cancel.
auto layernorm = pl::jit.incore([](Tensor x, Tensor gamma, Tensor beta, Output y) {
  auto tile = pl::load(x);
  auto centred = pl::row_expand_sub(tile, pl::row_mean(tile));
  auto deviation = pl::sqrt(pl::row_mean(centred * centred) + EPS);
  auto normed = pl::row_expand_div(centred, deviation);
  y = pl::store(pl::col_expand_add(pl::col_expand_mul(normed, pl::load(gamma)), pl::load(beta)), y);
});

// (3) In double precision.
pl::Array<double> expected_layernorm(const pl::Array<float>& x, const pl::Array<float>& gamma,
                                     const pl::Array<float>& beta) {
  pl::Array<double> result({x.dim(0), x.dim(1)});
  for (std::int64_t i = 0; i < x.dim(0); ++i) {
    double mean = 0, variance = 0;
    for (std::int64_t j = 0; j < COLUMNS; ++j) mean += double(x(i, j)) / COLUMNS;
    for (std::int64_t j = 0; j < COLUMNS; ++j) variance += (x(i, j) - mean) * (x(i, j) - mean) / COLUMNS;
    for (std::int64_t j = 0; j < COLUMNS; ++j)
      result(i, j) = (x(i, j) - mean) / std::sqrt(variance + EPS) * gamma(0, j) + beta(0, j);
  }
  return result;
}

int main() {
  return samples::run([] {
    const auto x = samples::numbers({ROWS, COLUMNS}, 1), gamma = samples::numbers({1, COLUMNS}, 2);
    const auto beta = samples::numbers({1, COLUMNS}, 3);
    pl::Array<float> y({ROWS, COLUMNS});

    const auto normed = samples::golden::rmsnorm(samples::golden::widened(x), EPS);
    const auto expected_rmsnorm = [&](auto i, auto j) { return normed(i, j) * gamma(0, j); };
    rmsnorm(x, gamma, y);
    samples::check("rmsnorm", y, expected_rmsnorm, 1e-5);
    layernorm(x, gamma, beta, y);
    samples::check("layernorm", y, expected_layernorm(x, gamma, beta), 1e-5);

    // (4) The kernel library has both, for every floating dtype and any rank.
    pl::kernels::rmsnorm<float>(x, gamma[0], y, EPS);
    samples::check("rmsnorm of the library", y, expected_rmsnorm, 1e-5);
    pl::kernels::layernorm<float>(x, gamma[0], beta[0], y, EPS);
    samples::check("layernorm of the library", y, expected_layernorm(x, gamma, beta), 1e-5);
  });
}
