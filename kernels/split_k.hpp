// kernels/split_k.hpp -- a product with a long inner extent, its sum shared among the cores of a device.
//
//   pl::kernels::split_k_matmul<float>(a, b, c, 4);     // c = a b: [M, K] [K, N] -> [M, N], in 4 parts of K
//
// A pl::jit entry: call it from ordinary C++ or dispatch it from a host orchestrator. Worth it where M and N are small
// and K is not, so that there would be too few blocks of C for the cores. The parts are added in order, so the result
// depends on their number and on nothing else. T: half, bfloat16, float or double; sums are float (double for double)
// and rounded to T once. Errors: ShapeError.
#pragma once

#include "kernels/detail.hpp"

#include <cstdint>

namespace pl::kernels {

namespace detail {

template <class T>
auto make_partial_product() {
  return pl::jit.incore([](pl::Tensor<T> a, pl::Tensor<T> b, pl::Out<pl::Tensor<Wide<T>>> partial) {
    const auto depth = a.dim(1);
    const std::int64_t part = pl::block_idx();
    const std::int64_t parts = pl::block_num();
    const auto first = depth * part / parts;
    const auto count = depth * (part + 1) / parts - first;
    const auto left = pl::load(a, {0, first}, {a.dim(0), count});
    const auto right = pl::load(b, {first, 0}, {count, b.dim(1)});
    (void)pl::store(pl::matmul(left, right), partial[part]);
  });
}
template <class T>
auto make_sum_of_parts() {
  return pl::jit.incore([](pl::Tensor<Wide<T>> partial, pl::Out<pl::Tensor<T>> c) {
    auto sum = pl::load(partial[0]);
    for (auto part : pl::range(1, partial.dim(0))) sum = sum + pl::load(partial[part]);
    c = pl::store(pl::cast<T>(sum), c);
  });
}
template <class T>
inline const auto partial_product = make_partial_product<T>();
template <class T>
inline const auto sum_of_parts = make_sum_of_parts<T>();

template <class T>
auto make_split_k_matmul() {
  return pl::jit([](pl::Tensor<T> a, pl::Tensor<T> b, pl::Out<pl::Tensor<T>> c, std::int32_t parts) {
    auto partial = pl::create_tensor<Wide<T>>({parts, a.dim(0), b.dim(1)});
    pl::spmd(parts, partial_product<T>, a, b, partial);
    sum_of_parts<T>(partial, c);
  });
}

}  // namespace detail

template <class T>
inline const auto split_k_matmul = detail::make_split_k_matmul<T>();

}  // namespace pl::kernels
