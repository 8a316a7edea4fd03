// kernels/softmax.hpp -- softmax and its logarithm over the last axis.
//
//   pl::kernels::softmax<float>(x, y);          // y[.., j] = e^(x[.., j] - max) / sum
//   pl::kernels::log_softmax<float>(x, y);      // y[.., j] = x[.., j] - max - log(sum)
//
// x and y: one shape, rank 1 or more. T: half, bfloat16, float or double; half and bfloat16 are computed in float. A row
// with a NaN is all NaN. y may be x itself. Errors: ShapeError.
#pragma once

#include "kernels/detail.hpp"

namespace pl::kernels {

namespace detail {

template <class T>
auto make_softmax() {
  return pl::jit.incore([](pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y) {
    const auto t = pl::cast<Wide<T>>(pl::load(x));
    const auto e = pl::exp(t - pl::row_max(t));
    y = pl::store(pl::cast<T>(e / pl::row_sum(e)), y);
  });
}
template <class T>
auto make_log_softmax() {
  return pl::jit.incore([](pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y) {
    const auto t = pl::cast<Wide<T>>(pl::load(x));
    const auto shifted = t - pl::row_max(t);
    y = pl::store(pl::cast<T>(shifted - pl::log(pl::row_sum(pl::exp(shifted)))), y);
  });
}

}  // namespace detail

template <class T>
inline const auto softmax = detail::make_softmax<T>();
template <class T>
inline const auto log_softmax = detail::make_log_softmax<T>();

}  // namespace pl::kernels
