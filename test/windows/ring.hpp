// Rows of five numbers and a few signal cells, for programs in which ranks talk to their neighbours.
#pragma once

#include "windows.hpp"

namespace ring {

inline constexpr auto NR = pl::dynamic("NR");
using Rows = pl::Tensor<float, NR, 5>;
using Row = pl::Tensor<float, 5>;
using Data = pld::DistributedTensor<float, 5>;
using Cells = pld::DistributedTensor<std::int32_t, 4>;

/// Dispatches device(row of x, row of y, data, signal) to every rank.
template <class Device>
auto make_host(Device& device) {
  return pl::jit.host([&device](Rows x, pl::Out<Rows> y) {
    auto data = pld::window<float>(pld::alloc_window_buffer<float>({5}), {5});
    auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    for (auto r : pl::range(pld::world_size())) device(x[r], y[r], data, signal, pld::device = r);
  });
}

/// Every rank's row of y is that of its left neighbour in x.
inline void check_shifted(const pl::Array<float>& x, const pl::Array<float>& y, int ranks) {
  for (int r = 0; r < ranks; ++r)
    for (int i = 0; i < 5; ++i) CHECK(y(r, i) == x((r + ranks - 1) % ranks, i));
}

}  // namespace ring
