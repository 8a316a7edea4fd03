// samples/distributed/16_allreduce_rmsnorm.cpp -- communication and computation in one kernel: allreduce, then rmsnorm.
//
//   ./samples/run distributed/16_allreduce_rmsnorm -d 0,1,2,3
//
// Between two layers that are shared among ranks each rank has partial sums of the hidden state. Their sum is wanted,
// normalised. Fused, the sums stay on chip between the two.
#include <pl/pl.hpp>
#include <pl/pld.hpp>

#include "common.hpp"
#include "golden.hpp"

#include <cstdint>

constexpr int ROWS = 8, WIDTH = 64;
constexpr float EPS = 1e-5f;
constexpr auto NR = pl::dynamic("NR");

using Hidden = pl::Tensor<float, ROWS, WIDTH>;
using AllHidden = pl::Tensor<float, NR, ROWS, WIDTH>;
using Weight = pl::Tensor<float, WIDTH>;
using Data = pld::DistributedTensor<float, ROWS, WIDTH>;
using Cell = pld::DistributedTensor<std::int32_t, 1>;

// (1) A function of tiles becomes part of each kernel that calls it.
pl::Tile<float> rmsnorm(const pl::Tile<float>& x, const pl::Tile<float>& gamma) {
  return x * pl::rsqrt(pl::row_mean(pl::square(x)) + EPS) * gamma;
}

// (2) By hand: the mesh of lesson 8, and the norm of the tile that it ends with.
auto fused_by_hand = pl::jit.incore([](Hidden x, Weight gamma, pl::Out<Hidden> y, Data data, Cell ready) {
  const int n = pld::nranks(data);
  data = pl::store(pl::load(x), data);
  for (auto peer : pl::range(n)) pld::notify(ready, {.peer = peer});
  pld::wait(ready, {.expected = n});
  auto sum = pld::remote_load(data, {.peer = 0});
  for (auto peer : pl::range(1, n)) sum = sum + pld::remote_load(data, {.peer = peer});
  y = pl::store(rmsnorm(sum, pl::load(gamma)), y);
});

// (3) Built in: a collective is a statement of the kernel like any other.
auto fused_built_in = pl::jit.incore([](Hidden x, Weight gamma, pl::Out<Hidden> y, Data data) {
  data = pl::store(pl::load(x), data);
  pld::allreduce(data);
  y = pl::store(rmsnorm(pl::load(data), pl::load(gamma)), y);
});

auto hand_device = pl::jit(
    [](auto x, auto gamma, auto y, auto data, auto ready) { fused_by_hand(x, gamma, y, data, ready); });
auto built_in_device =
    pl::jit([](auto x, auto gamma, auto y, auto data) { fused_built_in(x, gamma, y, data); });

// (4) The weight is the same for all ranks: each gets the whole tensor, which is only read.
auto host_orch =
    pl::jit.host([](AllHidden x, Weight gamma, pl::Out<AllHidden> by_hand, pl::Out<AllHidden> built_in) {
      auto data = pld::window<float>(pld::alloc_window_buffer<float>({ROWS, WIDTH}), {ROWS, WIDTH});
      auto other = pld::window<float>(pld::alloc_window_buffer<float>({ROWS, WIDTH}), {ROWS, WIDTH});
      auto ready = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({1}), {1});
      for (auto r : pl::range(pld::world_size()))
        hand_device(x[r], gamma, by_hand[r], data, ready, pld::device = r);
      for (auto r : pl::range(pld::world_size()))
        built_in_device(x[r], gamma, built_in[r], other, pld::device = r);
    });

int main(int argc, char** argv) {
  return samples::run("Allreduce and rmsnorm", argc, argv, [](const auto& config, auto ranks) {
    const auto x = samples::numbers({ranks, ROWS, WIDTH}, 1);
    const auto gamma = samples::numbers({WIDTH}, 2);
    pl::Array<float> by_hand({ranks, ROWS, WIDTH}), built_in({ranks, ROWS, WIDTH});
    host_orch(x, gamma, by_hand, built_in, config);

    samples::golden::Matrix sum({ROWS, WIDTH});
    for (std::int64_t r = 0; r < ranks; ++r)
      for (std::int64_t i = 0; i < ROWS; ++i)
        for (std::int64_t j = 0; j < WIDTH; ++j) sum(i, j) += x(r, i, j);
    const auto normed = samples::golden::rmsnorm(sum, EPS);
    const auto expected = [&](auto, auto i, auto j) { return normed(i, j) * gamma(j); };
    samples::check("by hand", by_hand, expected, 1e-5);
    samples::check("built in", built_in, expected, 1e-5);
  });
}
