// Experts on several ranks: tokens go to the ranks of their experts and come back, by all_to_all_v.
#include "windows.hpp"

#include <cstdint>
#include <vector>

namespace {

constexpr auto NR = pl::dynamic("NR");
constexpr std::int64_t tokens = 128, chosen = 6, width = 4096;
constexpr int experts = 16;

/// The expert of a token's k-th choice.
int expert_of(int rank, std::int64_t token, std::int64_t k) {
  return static_cast<int>((rank * 3 + token * 7 + k * 5 + token / 9) % experts);
}
float element(int rank, std::int64_t token, std::int64_t i) {
  return static_cast<float>((rank * 31 + token * 17 + i * 13) % 101 - 50) / 7;
}
float apply(int expert, float value) { return value * (static_cast<float>(expert) + 0.3f) + 1; }

using Tokens = pl::Tensor<float, NR, tokens, width>;
using Items = pld::DistributedTensor<float>;          // {ranks, room, width + 1}: the expert, then the token
using Counts = pld::DistributedTensor<std::int32_t>;  // {ranks}

auto experts_kernel =
    pl::jit.incore([](pl::Tensor<float, tokens, width> x, pl::Out<pl::Tensor<float, tokens, width>> y,
                      Items items, Counts counts) {
      const int ranks = pld::nranks(items), rank = pld::rank(items);
      const auto item = [&](int row, std::int64_t i) {
        return items.data() + (row * items.dim(1) + i) * items.dim(2);
      };
      const auto home = [&](std::int64_t token, std::int64_t k) {
        return expert_of(rank, token, k) * ranks / experts;
      };
      // Dispatch: each copy of a token to the rank of its expert.
      for (int p = 0; p < ranks; ++p) counts.data()[p] = 0;
      for (std::int64_t token = 0; token < tokens; ++token)
        for (std::int64_t k = 0; k < chosen; ++k) {
          float* to = item(home(token, k), counts.data()[home(token, k)]++);
          to[0] = static_cast<float>(expert_of(rank, token, k));
          for (std::int64_t i = 0; i < width; ++i) to[1 + i] = x.data()[token * width + i];
        }
      pld::all_to_all_v(items, counts);
      for (int p = 0; p < ranks; ++p)
        for (std::int64_t n = 0; n < counts.data()[p]; ++n) {
          float* at = item(p, n);
          for (std::int64_t i = 0; i < width; ++i) at[1 + i] = apply(static_cast<int>(at[0]), at[1 + i]);
        }
      // Combine: the same way back.
      pld::all_to_all_v(items, counts);
      std::vector<std::int64_t> next(static_cast<std::size_t>(ranks), 0);
      for (std::int64_t token = 0; token < tokens; ++token) {
        for (std::int64_t i = 0; i < width; ++i) y.data()[token * width + i] = 0;
        for (std::int64_t k = 0; k < chosen; ++k) {
          const float* from = item(home(token, k), next[static_cast<std::size_t>(home(token, k))]++);
          for (std::int64_t i = 0; i < width; ++i) y.data()[token * width + i] += from[1 + i];
        }
      }
    });
auto experts_device =
    pl::jit([](auto x, auto y, auto items, auto counts) { experts_kernel(x, y, items, counts); });

}  // namespace

TEST_CASE("128 tokens of 4096 go to the six experts of each, on 2 and 4 ranks, and come back") {
  auto host = pl::jit.host([](Tokens x, pl::Out<Tokens> y) {
    const int ranks = pld::world_size();
    auto items = pld::window<float>(pld::alloc_window_buffer<float>({ranks, tokens * chosen, width + 1}),
                                    {ranks, tokens * chosen, width + 1});
    auto counts = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({ranks}), {ranks});
    for (auto r : pl::range(pld::world_size())) experts_device(x[r], y[r], items, counts, pld::device = r);
  });
  for (const int ranks : {2, 4}) {
    pl::Array<float> x({ranks, tokens, width}), y({ranks, tokens, width});
    for (int r = 0; r < ranks; ++r)
      for (std::int64_t t = 0; t < tokens; ++t)
        for (std::int64_t i = 0; i < width; ++i) x(r, t, i) = element(r, t, i);
    pl::RunConfig config = windows::config(ranks);
    config.eager = true;
    host(x, y, config);
    std::int64_t wrong = 0;
    for (int r = 0; r < ranks; ++r)
      for (std::int64_t t = 0; t < tokens; ++t)
        for (std::int64_t i = 0; i < width; ++i) {
          float expected = 0;
          for (std::int64_t k = 0; k < chosen; ++k) expected += apply(expert_of(r, t, k), x(r, t, i));
          wrong += y(r, t, i) != expected;
        }
    CHECK(wrong == 0);
  }
}
