// kernels/attention.hpp -- attention that never holds a whole matrix of scores: running maximum and sum.
//
//   pl::kernels::attention<float>(q, k, v, y, scale);           // y = softmax(q k^T scale) v for each head
//   pl::kernels::causal_attention<float>(q, k, v, y, scale);    // query s sees keys 0 … s + T - S
//
// q, y: [H, S, D]; k, v: [H, T, D]; T >= S where causal. scale is usually 1 / sqrt(D). Blocks of 64 queries meet blocks
// of 64 keys; each block rescales what was summed before it (Dao et al. 2022, "FlashAttention", algorithm 1). T: half,
// bfloat16 or float; scores and sums are float. y needs memory of its own. Errors: ShapeError.
#pragma once

#include "kernels/detail.hpp"

#include <cstdint>

namespace pl::kernels {

namespace detail {

inline constexpr std::int64_t attention_rows = 64;     ///< queries of a block
inline constexpr std::int64_t attention_columns = 64;  ///< keys of a block
/// Below every score and finite: -inf - -inf would be NaN.
inline constexpr float attention_masked = -3.0e38f;

/// One block of scores joins the running softmax: maximum and sum [.., n, 1]; what was added to the output [.., n, D]
/// so far is rescaled. Gives the weights of the block's values.
template <class Scores, class Column, class Output>
auto join_softmax(const Scores& scores, Column& maximum, Column& sum, Output& output) {
  const auto larger = pl::maximum(maximum, pl::row_max(scores));
  const auto weights = pl::exp(scores - larger);
  const auto rescale = pl::exp(maximum - larger);
  sum = sum * rescale + pl::row_sum(weights);
  output = output * rescale;
  maximum = larger;
  return weights;
}

/// Queries first … first + rows - 1 of one head against all keys that they see.
template <class T, bool causal, class Query, class Key, class Value, class Result>
void attend_rows(const Query& q, const Key& k, const Value& v, const Result& y, std::int64_t first,
                 std::int64_t rows, float scale) {
  const auto depth = q.dim(1);
  const auto keys = k.dim(0);
  const auto ahead = keys - q.dim(0);  // how many keys the first query sees before its own
  const auto queries = pl::load(q, {first, 0}, {rows, depth});
  auto maximum = pl::full<float>({rows, 1}, attention_masked);
  auto sum = pl::zeros<float>({rows, 1});
  auto output = pl::zeros<float>({rows, depth});
  for (std::int64_t j = 0; j < keys; j += attention_columns) {
    if constexpr (causal)
      if (j > first + rows - 1 + ahead) break;
    const std::int64_t count = keys - j < attention_columns ? keys - j : attention_columns;
    const auto block = pl::load(k, {j, 0}, {count, depth});
    const auto values = pl::load(v, {j, 0}, {count, depth});
    auto scores = pl::matmul(queries, block, {.trans_b = true}) * scale;
    if constexpr (causal)
      scores = pl::where(pl::tri<bool>(rows, count, first + ahead - j), scores, attention_masked);
    const auto weights = join_softmax(scores, maximum, sum, output);
    output = pl::matmul_acc(output, pl::cast<T>(weights), values);
  }
  (void)pl::store(pl::cast<T>(output / sum), {first, 0}, y);
}

template <class T, bool causal>
auto make_attention() {
  return pl::jit.incore([](pl::Tensor<T> q, pl::Tensor<T> k, pl::Tensor<T> v, pl::Out<pl::Tensor<T>> y,
                           pl::Scalar<float> scale) {
    const auto queries = q.dim(1);
    for (auto h : pl::parallel(q.dim(0)))
      for (std::int64_t i = 0; i < queries; i += attention_rows) {
        const std::int64_t rows = queries - i < attention_rows ? queries - i : attention_rows;
        attend_rows<T, causal>(q[h], k[h], v[h], y[h], i, rows, scale);
      }
  });
}

}  // namespace detail

template <class T>
inline const auto attention = detail::make_attention<T, false>();
template <class T>
inline const auto causal_attention = detail::make_attention<T, true>();

}  // namespace pl::kernels
