// kernels/training.hpp -- the loss of a classifier and a step of its optimiser.
//
//   pl::kernels::cross_entropy<float>(logits, targets, loss);
//       // [R, C], int32 [R, 1] -> [R, 1]: log(sum of e^logits) - logits[target]; a target outside 0 … C-1: ShapeError
//   pl::kernels::adam_step<float>(p, g, m, v, 1e-3f, 0.9f, 0.999f, 1e-8f, 1 - std::pow(0.9f, t), 1 - std::pow(0.999f, t));
//       // m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;  p = p - rate * (m / c1) / (sqrt(v / c2) + eps)
//
// p, m and v are changed in place. T: float or double for adam_step; half and bfloat16 as well for cross_entropy, which
// computes in float and gives a float loss. Errors: ShapeError.
#pragma once

#include "kernels/detail.hpp"

#include <cstdint>

namespace pl::kernels {

namespace detail {

template <class T>
auto make_cross_entropy() {
  return pl::jit.incore(
      [](pl::Tensor<T> logits, pl::Tensor<std::int32_t> targets, pl::Out<pl::Tensor<Wide<T>>> loss) {
        const auto x = pl::cast<Wide<T>>(pl::load(logits));
        const auto largest = pl::row_max(x);
        const auto right = pl::gather(x, pl::load(targets), {.axis = -1});
        loss = pl::store(pl::log(pl::row_sum(pl::exp(x - largest))) + largest - right, loss);
      });
}
template <class T>
auto make_adam_step() {
  return pl::jit.incore([](pl::InOut<pl::Tensor<T>> p, pl::Tensor<T> g, pl::InOut<pl::Tensor<T>> m,
                           pl::InOut<pl::Tensor<T>> v, pl::Scalar<T> rate, pl::Scalar<T> beta1,
                           pl::Scalar<T> beta2, pl::Scalar<T> eps, pl::Scalar<T> correction1,
                           pl::Scalar<T> correction2) {
    const auto gradient = pl::load(g);
    const auto mean = pl::load(m) * beta1 + gradient * (1 - beta1);
    const auto square = pl::load(v) * beta2 + pl::square(gradient) * (1 - beta2);
    const auto step = mean / correction1 / (pl::sqrt(square / correction2) + eps);
    p = pl::store(pl::load(p) - step * rate, p);
    m = pl::store(mean, m);
    v = pl::store(square, v);
  });
}

}  // namespace detail

template <class T>
inline const auto cross_entropy = detail::make_cross_entropy<T>();
template <class T>
inline const auto adam_step = detail::make_adam_step<T>();

}  // namespace pl::kernels
