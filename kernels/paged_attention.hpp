// kernels/paged_attention.hpp -- one new query of each sequence against keys and values that lie in pages.
//
//   pl::kernels::paged_attention<float>(q, k_pages, v_pages, table, lengths, y, scale);
//
// q, y: [B, H, D]; k_pages, v_pages: [N, P, H, D]; table: int32 [B, M], the pages of each sequence in order; lengths:
// int32 [B], how many keys each sequence has (at least 1, at most M P). Entries of the table behind a sequence's last
// page are never read. T: half, bfloat16 or float; scores and sums are float. Errors: ShapeError, also for a page
// number outside the cache.
#pragma once

#include "kernels/attention.hpp"

namespace pl::kernels {

namespace detail {

template <class T>
auto make_paged_attention() {
  return pl::jit.incore([](pl::Tensor<T> q, pl::Tensor<T> k_pages, pl::Tensor<T> v_pages,
                           pl::Tensor<std::int32_t> table, pl::Tensor<std::int32_t> lengths,
                           pl::Out<pl::Tensor<T>> y, pl::Scalar<float> scale) {
    const auto heads = q.dim(1);
    const auto depth = q.dim(2);
    const auto page = k_pages.dim(1);
    for (auto b : pl::parallel(q.dim(0))) {
      const auto length = pl::cast<std::int64_t>(pl::read(lengths, {b}));
      const auto pages = pl::load(table[b]);
      const auto query = pl::reshape(pl::load(q[b]), {heads, 1, depth});
      auto maximum = pl::full<float>({heads, 1, 1}, attention_masked);
      auto sum = pl::zeros<float>({heads, 1, 1});
      auto output = pl::zeros<float>({heads, 1, depth});
      for (std::int64_t j = 0; j < length; j += page) {
        // [P, H, D] -> [H, P, D]
        const auto keys = pl::transpose(pl::paged_gather(k_pages, pages, length, page, {.start = j}), 0, 1);
        const auto values = pl::transpose(pl::paged_gather(v_pages, pages, length, page, {.start = j}), 0, 1);
        auto scores = pl::batch_matmul(query, keys, {.trans_b = true}) * scale;
        const auto position = pl::arange<std::int64_t>({1, page}, j);
        scores = pl::where(position < length, scores, attention_masked);
        const auto weights = join_softmax(scores, maximum, sum, output);
        output = output + pl::batch_matmul(pl::cast<T>(weights), values);
      }
      (void)pl::store(pl::reshape(pl::cast<T>(output / sum), {heads, depth}), y[b]);
    }
  });
}

}  // namespace detail

template <class T>
inline const auto paged_attention = detail::make_paged_attention<T>();

}  // namespace pl::kernels
