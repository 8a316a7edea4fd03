// A program with collectives in a kernel that runs on every transport.
#pragma once

#include "windows.hpp"

namespace windows {

/// Of so many collectives on one window, called one after another in a kernel: how many were not complete, by rank.
template <int Rounds>
pl::Array<std::int64_t> incomplete_rounds(const pl::RunConfig& config) {
  auto kernel =
      pl::jit.incore([](pl::Out<pl::Tensor<std::int64_t, 1>> y, pld::DistributedTensor<std::int64_t, 1> w) {
        const int n = pld::nranks(w);
        std::int64_t wrong = 0;
        for (int round = 0; round < Rounds; ++round) {
          w = pl::store(pl::full<std::int64_t>({1}, static_cast<std::int64_t>(pld::rank(w) + round)), {0}, w);
          pld::allreduce(w);
          const std::int64_t sum = pl::read(pl::load(w), {0});
          if (sum != n * (n - 1) / 2 + n * round) wrong = wrong + 1;
        }
        y = pl::store(pl::full<std::int64_t>({1}, wrong), {0}, y);
      });
  auto device = pl::jit([&](auto y, auto w) { kernel(y, w); });
  auto host = pl::jit.host([&](pl::Out<pl::Tensor<std::int64_t, pl::dynamic("NR"), 1>> y) {
    auto w = pld::window<std::int64_t>(pld::alloc_window_buffer<std::int64_t>({1}), {1});
    for (auto r : pl::range(pld::world_size())) device(y[r], w, pld::device = r);
  });
  pl::Array<std::int64_t> y({static_cast<std::int64_t>(config.distributed.device_ids.size()), 1}, -1);
  host(y, config);
  return y;
}

}  // namespace windows
