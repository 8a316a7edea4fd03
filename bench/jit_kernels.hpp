// bench/jit_kernels.hpp -- the kernel of samples/distributed/02_programming_model, for both programs of
// bench_jit.
#pragma once

#include <pl/pl.hpp>

#include <cstdint>

namespace bench {

inline auto scale_by_rank = pl::jit.incore(
    [](pl::Tensor<float, 8, 8> x, pl::Out<pl::Tensor<float, 8, 8>> y, pl::Scalar<std::int32_t> rank) {
      auto tile = pl::load(x, {0, 0}, {8, 8});
      auto rank_f32 = pl::cast<float>(rank);
      auto scaled = pl::mul(tile, rank_f32);
      auto result = pl::add(scaled, tile);
      y = pl::store(result, {0, 0}, y);
      return y;
    });

}  // namespace bench
