// kernels/linear.hpp -- matrix products with what usually follows.
//
//   pl::kernels::matmul<float>(a, b, c);              // c = a b             [M, K] [K, N] -> [M, N]
//   pl::kernels::batched_matmul<float>(a, b, c);      // the same for the last two axes; leading axes broadcast
//   pl::kernels::linear<float>(x, w, bias, y);        // y = x w + bias      bias [N]
//   pl::kernels::linear_gelu<float>(x, w, bias, y);   // with an activation; also _relu and _silu
//
// T: half, bfloat16, float or double. Sums, bias and activation are float (double for double): the bias is a
// pl::Tensor<float>, and the result is rounded to T once. Errors: ShapeError.
#pragma once

#include "kernels/activation.hpp"

namespace pl::kernels {

namespace detail {

template <class T>
auto make_matmul() {
  return pl::jit.incore([](pl::Tensor<T> a, pl::Tensor<T> b, pl::Out<pl::Tensor<T>> c) {
    c = pl::store(pl::matmul<T>(pl::load(a), pl::load(b)), c);
  });
}
template <class T>
auto make_batched_matmul() {
  return pl::jit.incore([](pl::Tensor<T> a, pl::Tensor<T> b, pl::Out<pl::Tensor<T>> c) {
    c = pl::store(pl::batch_matmul<T>(pl::load(a), pl::load(b)), c);
  });
}
template <class T, class F>
auto make_linear(F) {
  return pl::jit.incore(
      [](pl::Tensor<T> x, pl::Tensor<T> w, pl::Tensor<Wide<T>> bias, pl::Out<pl::Tensor<T>> y) {
        const auto sum = pl::matmul_bias(pl::load(x), pl::load(w), pl::load(bias));
        y = pl::store(pl::cast<T>(F{}(sum)), y);
      });
}

}  // namespace detail

template <class T>
inline const auto matmul = detail::make_matmul<T>();
template <class T>
inline const auto batched_matmul = detail::make_batched_matmul<T>();
template <class T>
inline const auto linear = detail::make_linear<T>(detail::Identity{});
template <class T>
inline const auto linear_relu = detail::make_linear<T>(detail::Relu{});
template <class T>
inline const auto linear_silu = detail::make_linear<T>(detail::Silu{});
template <class T>
inline const auto linear_gelu = detail::make_linear<T>(detail::GeluErf{});

}  // namespace pl::kernels
