// kernels/layout.hpp -- transpose and cumulative sums.
//
//   pl::kernels::transpose<float>(x, y);    // [.., R, C] -> [.., C, R]
//   pl::kernels::cumsum<float>(x, y);       // y[.., j] = x[.., 0] + … + x[.., j]
//
// Transpose takes every dtype, cumsum every one but bool. Errors: ShapeError.
#pragma once

#include "kernels/detail.hpp"

namespace pl::kernels {

namespace detail {

template <class T>
auto make_transpose() {
  return pl::jit.incore(
      [](pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y) { y = pl::store(pl::transpose(pl::load(x)), y); });
}
template <class T>
auto make_cumsum() {
  return pl::jit.incore(
      [](pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y) { y = pl::store(pl::cumsum(pl::load(x)), y); });
}

}  // namespace detail

template <class T>
inline const auto transpose = detail::make_transpose<T>();
template <class T>
inline const auto cumsum = detail::make_cumsum<T>();

}  // namespace pl::kernels
