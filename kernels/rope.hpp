// kernels/rope.hpp -- rotary position embedding, the form that pairs element i with element i + D/2.
//
//   pl::kernels::rope<float>(x, cosine, sine, y);
//
// x and y: [S, D] with D even; cosine and sine: [S, D/2], float (double for double), of position times frequency.
//   y[s, i]       = x[s, i] cos[s, i] - x[s, i + D/2] sin[s, i]
//   y[s, i + D/2] = x[s, i + D/2] cos[s, i] + x[s, i] sin[s, i]
// T: half, bfloat16, float or double. y needs memory of its own. Errors: ShapeError.
#pragma once

#include "kernels/detail.hpp"

namespace pl::kernels {

namespace detail {

template <class T>
auto make_rope() {
  return pl::jit.incore(
      [](pl::Tensor<T> x, pl::Tensor<Wide<T>> cosine, pl::Tensor<Wide<T>> sine, pl::Out<pl::Tensor<T>> y) {
        const auto rows = x.dim(0);
        const auto half = x.dim(1) / 2;
        const auto c = pl::load(cosine);
        const auto s = pl::load(sine);
        const auto first = pl::cast<Wide<T>>(pl::load(x, {0, 0}, {rows, half}));
        const auto second = pl::cast<Wide<T>>(pl::load(x, {0, half}, {rows, half}));
        y = pl::store(pl::cast<T>(first * c - second * s), {0, 0}, y);
        y = pl::store(pl::cast<T>(second * c + first * s), {0, half}, y);
      });
}

}  // namespace detail

template <class T>
inline const auto rope = detail::make_rope<T>();

}  // namespace pl::kernels
