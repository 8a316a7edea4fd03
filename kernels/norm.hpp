// kernels/norm.hpp -- normalisation over the last axis.
//
//   pl::kernels::layernorm<float>(x, gamma, beta, y, 1e-5f);   // (x - mean) / sqrt(variance + eps) * gamma + beta
//   pl::kernels::rmsnorm<float>(x, gamma, y, 1e-5f);           // x / sqrt(mean(x^2) + eps) * gamma
//
// x and y: [.., C]; gamma and beta: [C]. The variance is that of the population, in two passes (the mean is subtracted
// before the squares are summed). T: half, bfloat16, float or double; the first two are computed in float; eps is
// float (double for double). y may be x itself. Errors: ShapeError.
#pragma once

#include "kernels/detail.hpp"

namespace pl::kernels {

namespace detail {

template <class T>
auto make_layernorm() {
  return pl::jit.incore([](pl::Tensor<T> x, pl::Tensor<T> gamma, pl::Tensor<T> beta, pl::Out<pl::Tensor<T>> y,
                           pl::Scalar<Wide<T>> eps) {
    const auto t = pl::cast<Wide<T>>(pl::load(x));
    const auto centred = t - pl::row_mean(t);
    const auto variance = pl::row_mean(pl::square(centred));
    const auto scale = pl::cast<Wide<T>>(pl::load(gamma));
    const auto shift = pl::cast<Wide<T>>(pl::load(beta));
    y = pl::store(pl::cast<T>(centred * pl::rsqrt(variance + eps) * scale + shift), y);
  });
}
template <class T>
auto make_rmsnorm() {
  return pl::jit.incore(
      [](pl::Tensor<T> x, pl::Tensor<T> gamma, pl::Out<pl::Tensor<T>> y, pl::Scalar<Wide<T>> eps) {
        const auto t = pl::cast<Wide<T>>(pl::load(x));
        const auto scale = pl::cast<Wide<T>>(pl::load(gamma));
        y = pl::store(pl::cast<T>(t * pl::rsqrt(pl::row_mean(pl::square(t)) + eps) * scale), y);
      });
}

}  // namespace detail

template <class T>
inline const auto layernorm = detail::make_layernorm<T>();
template <class T>
inline const auto rmsnorm = detail::make_rmsnorm<T>();

}  // namespace pl::kernels
