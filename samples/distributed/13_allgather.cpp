// samples/distributed/13_allgather.cpp -- every rank gets everyone's row: sent by hand, and built in.
//
//   ./samples/run distributed/13_allgather -d 0,1,2,3
#include <pl/pl.hpp>
#include <pl/pld.hpp>

#include "common.hpp"

#include <cstdint>

constexpr int WIDTH = 16;
constexpr auto NR = pl::dynamic("NR");

using Row = pl::Tensor<float, WIDTH>;
using Rows = pl::Tensor<float, NR, WIDTH>;
using AllRows = pl::Tensor<float, NR, NR, WIDTH>;
using Gathered = pld::DistributedTensor<float, NR, WIDTH>;
using Cell = pld::DistributedTensor<std::int32_t, 1>;

// (1) By hand: this rank's row goes to the row of its number on all ranks.
auto allgather_by_hand = pl::jit.incore([](Row x, pl::Out<Rows> y, Gathered rows, Cell arrived) {
  const int me = pld::rank(rows), n = pld::nranks(rows);
  for (auto peer : pl::range(n)) {
    pld::remote_store(pl::load(x), rows[me], {.peer = peer});
    pld::notify(arrived, {.peer = peer});
  }
  pld::wait(arrived, {.expected = n});
  y = pl::store(pl::load(rows), y);
});

// (2) Built in: the own row is written where it belongs, the call brings the others.
auto allgather_built_in = pl::jit.incore([](Row x, pl::Out<Rows> y, Gathered rows) {
  (void)pl::store(pl::load(x), rows[pld::rank(rows)]);
  pld::allgather(rows);
  y = pl::store(pl::load(rows), y);
});

auto hand_device =
    pl::jit([](auto x, auto y, auto rows, auto arrived) { allgather_by_hand(x, y, rows, arrived); });
auto built_in_device = pl::jit([](auto x, auto y, auto rows) { allgather_built_in(x, y, rows); });

auto host_orch = pl::jit.host([](Rows x, pl::Out<AllRows> by_hand, pl::Out<AllRows> built_in) {
  const int n = pld::world_size();
  auto rows = pld::window<float>(pld::alloc_window_buffer<float>({n, WIDTH}), {n, WIDTH});
  auto others = pld::window<float>(pld::alloc_window_buffer<float>({n, WIDTH}), {n, WIDTH});
  auto arrived = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({1}), {1});
  for (auto r : pl::range(pld::world_size())) hand_device(x[r], by_hand[r], rows, arrived, pld::device = r);
  for (auto r : pl::range(pld::world_size())) built_in_device(x[r], built_in[r], others, pld::device = r);
});

int main(int argc, char** argv) {
  return samples::run("An allgather", argc, argv, [](const auto& config, auto ranks) {
    const auto x = samples::numbers({ranks, WIDTH}, 1);
    pl::Array<float> by_hand({ranks, ranks, WIDTH}), built_in({ranks, ranks, WIDTH});
    host_orch(x, by_hand, built_in, config);

    // (3) On every rank row i is rank i's.
    const auto all_rows = [&](auto, auto i, auto j) { return double(x(i, j)); };
    samples::check("by hand", by_hand, all_rows, 0);
    samples::check("built in", built_in, all_rows, 0);
  });
}
