// samples/distributed/14_reduce_scatter.cpp -- each rank gets the sum of one row of all ranks: by hand, and built in.
//
//   ./samples/run distributed/14_reduce_scatter -d 0,1,2,3
#include <pl/pl.hpp>
#include <pl/pld.hpp>

#include "common.hpp"

#include <cstdint>

constexpr int WIDTH = 16;
constexpr auto NR = pl::dynamic("NR");

using Row = pl::Tensor<float, WIDTH>;
using Rows = pl::Tensor<float, NR, WIDTH>;
using AllRows = pl::Tensor<float, NR, NR, WIDTH>;
using Data = pld::DistributedTensor<float, NR, WIDTH>;
using Cell = pld::DistributedTensor<std::int32_t, 1>;

// (1) By hand: all lay out their rows, then each reads the row of its number from all, in the order of ranks.
auto reduce_scatter_by_hand = pl::jit.incore([](Rows x, pl::Out<Row> y, Data rows, Cell ready) {
  const int me = pld::rank(rows), n = pld::nranks(rows);
  rows = pl::store(pl::load(x), rows);
  for (auto peer : pl::range(n)) pld::notify(ready, {.peer = peer});
  pld::wait(ready, {.expected = n});
  auto sum = pld::remote_load(rows[me], {.peer = 0});
  for (auto peer : pl::range(1, n)) sum = sum + pld::remote_load(rows[me], {.peer = peer});
  y = pl::store(sum, y);
});

// (2) Built in: the sum replaces this rank's row; the other rows are left unspecified.
auto reduce_scatter_built_in = pl::jit.incore([](Rows x, pl::Out<Row> y, Data rows) {
  rows = pl::store(pl::load(x), rows);
  pld::reduce_scatter(rows, {.op = pld::ReduceOp::Sum});
  y = pl::store(pl::load(rows[pld::rank(rows)]), y);
});

auto hand_device =
    pl::jit([](auto x, auto y, auto rows, auto ready) { reduce_scatter_by_hand(x, y, rows, ready); });
auto built_in_device = pl::jit([](auto x, auto y, auto rows) { reduce_scatter_built_in(x, y, rows); });

auto host_orch = pl::jit.host([](AllRows x, pl::Out<Rows> by_hand, pl::Out<Rows> built_in) {
  const int n = pld::world_size();
  auto rows = pld::window<float>(pld::alloc_window_buffer<float>({n, WIDTH}), {n, WIDTH});
  auto others = pld::window<float>(pld::alloc_window_buffer<float>({n, WIDTH}), {n, WIDTH});
  auto ready = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({1}), {1});
  for (auto r : pl::range(pld::world_size())) hand_device(x[r], by_hand[r], rows, ready, pld::device = r);
  for (auto r : pl::range(pld::world_size())) built_in_device(x[r], built_in[r], others, pld::device = r);
});

int main(int argc, char** argv) {
  return samples::run("A reduce-scatter", argc, argv, [](const auto& config, auto ranks) {
    const auto x = samples::numbers({ranks, ranks, WIDTH}, 1);
    pl::Array<float> by_hand({ranks, WIDTH}), built_in({ranks, WIDTH});
    host_orch(x, by_hand, built_in, config);

    // (3) Rank r has the sum of everyone's row r.
    const auto sum = [&](auto r, auto i) {
      double result = 0;
      for (std::int64_t peer = 0; peer < ranks; ++peer) result += x(peer, r, i);
      return result;
    };
    samples::check("by hand", by_hand, sum, 1e-5);
    samples::check("built in", built_in, sum, 1e-5);
  });
}
