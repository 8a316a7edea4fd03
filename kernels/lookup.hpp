// kernels/lookup.hpp -- by position and by value: embedding, top-k, argmax.
//
//   pl::kernels::embedding<float>(table, ids, y);          // y[i] = table[ids[i]]      [V, D], ids [S] -> [S, D]
//   pl::kernels::top_k<float>(x, values, indices, 5);      // of each row, the best first; indices int32
//   pl::kernels::argmax<float>(x, indices);                // [R, C] -> [R, 1], int32: the first of equals
//
// Ids are int32; one outside the table is a ShapeError and nothing is read there. top_k takes its k as a constant: a
// specialisation for each. Errors: ShapeError.
#pragma once

#include "kernels/detail.hpp"

#include <cstdint>

namespace pl::kernels {

namespace detail {

template <class T>
auto make_embedding() {
  return pl::jit.incore([](pl::Tensor<T> table, pl::Tensor<std::int32_t> ids, pl::Out<pl::Tensor<T>> y) {
    y = pl::store(pl::gather_row(table, pl::load(ids)), y);
  });
}
template <class T>
auto make_top_k() {
  return pl::jit.incore([](pl::Tensor<T> x, pl::Out<pl::Tensor<T>> values,
                           pl::Out<pl::Tensor<std::int32_t>> indices, pl::Const<std::int32_t> k) {
    const auto best = pl::topk(pl::load(x), k);
    values = pl::store(best.values, values);
    indices = pl::store(best.indices, indices);
  });
}
template <class T>
auto make_argmax() {
  return pl::jit.incore([](pl::Tensor<T> x, pl::Out<pl::Tensor<std::int32_t>> indices) {
    indices = pl::store(pl::row_argmax(pl::load(x)), indices);
  });
}

}  // namespace detail

template <class T>
inline const auto embedding = detail::make_embedding<T>();
template <class T>
inline const auto top_k = detail::make_top_k<T>();
template <class T>
inline const auto argmax = detail::make_argmax<T>();

}  // namespace pl::kernels
