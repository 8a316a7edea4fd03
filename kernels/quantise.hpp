// kernels/quantise.hpp -- rows of floats as int8 with one scale a row, and back.
//
//   pl::kernels::quantise<float>(x, q, scale);      // [R, C] -> int8 [R, C], float [R, 1]
//   pl::kernels::dequantise<float>(q, scale, y);    // y = q * scale
//
// scale = max |x| of the row / 127 (1 where the row is all zeros); q = x / scale to nearest, ties to even, so |q| <= 127
// and y differs from x by at most scale / 2. T: half, bfloat16 or float. Errors: ShapeError.
#pragma once

#include "kernels/detail.hpp"

#include <cstdint>

namespace pl::kernels {

namespace detail {

template <class T>
auto make_quantise() {
  return pl::jit.incore(
      [](pl::Tensor<T> x, pl::Out<pl::Tensor<std::int8_t>> q, pl::Out<pl::Tensor<float>> scale) {
        const auto t = pl::cast<float>(pl::load(x));
        const auto largest = pl::row_max(pl::abs(t));
        const auto step = pl::where(largest > 0.0f, largest / 127.0f, 1.0f);
        q = pl::store(pl::cast<std::int8_t>(t / step), q);
        scale = pl::store(step, scale);
      });
}
template <class T>
auto make_dequantise() {
  return pl::jit.incore([](pl::Tensor<std::int8_t> q, pl::Tensor<float> scale, pl::Out<pl::Tensor<T>> y) {
    y = pl::store(pl::cast<T>(pl::cast<float>(pl::load(q)) * pl::load(scale)), y);
  });
}

}  // namespace detail

template <class T>
inline const auto quantise = detail::make_quantise<T>();
template <class T>
inline const auto dequantise = detail::make_dequantise<T>();

}  // namespace pl::kernels
