// samples/distributed/15_all_to_all.cpp -- each rank has a row for each other one: exchanged by hand, and built in.
//
//   ./samples/run distributed/15_all_to_all -d 0,1,2,3
#include <pl/pl.hpp>
#include <pl/pld.hpp>

#include "common.hpp"

#include <cstdint>

constexpr int WIDTH = 16;
constexpr auto NR = pl::dynamic("NR");

using Rows = pl::Tensor<float, NR, WIDTH>;
using AllRows = pl::Tensor<float, NR, NR, WIDTH>;
using Data = pld::DistributedTensor<float, NR, WIDTH>;
using Cell = pld::DistributedTensor<std::int32_t, 1>;

// (1) By hand: row i goes to rank i, into the row of this rank's number.
auto exchange_by_hand = pl::jit.incore([](Rows x, pl::Out<Rows> y, Data inbox, Cell arrived) {
  const int me = pld::rank(inbox), n = pld::nranks(inbox);
  for (auto peer : pl::range(n)) {
    pld::put(inbox[me], {.peer = peer, .src = x[peer]});
    pld::notify(arrived, {.peer = peer});
  }
  pld::wait(arrived, {.expected = n});
  y = pl::store(pl::load(inbox), y);
});

// (2) Built in: the window is exchanged in place.
auto exchange_built_in = pl::jit.incore([](Rows x, pl::Out<Rows> y, Data rows) {
  rows = pl::store(pl::load(x), rows);
  pld::all_to_all(rows);
  y = pl::store(pl::load(rows), y);
});

auto hand_device =
    pl::jit([](auto x, auto y, auto inbox, auto arrived) { exchange_by_hand(x, y, inbox, arrived); });
auto built_in_device = pl::jit([](auto x, auto y, auto rows) { exchange_built_in(x, y, rows); });

auto host_orch = pl::jit.host([](AllRows x, pl::Out<AllRows> by_hand, pl::Out<AllRows> built_in) {
  const int n = pld::world_size();
  auto inbox = pld::window<float>(pld::alloc_window_buffer<float>({n, WIDTH}), {n, WIDTH});
  auto rows = pld::window<float>(pld::alloc_window_buffer<float>({n, WIDTH}), {n, WIDTH});
  auto arrived = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({1}), {1});
  for (auto r : pl::range(pld::world_size())) hand_device(x[r], by_hand[r], inbox, arrived, pld::device = r);
  for (auto r : pl::range(pld::world_size())) built_in_device(x[r], built_in[r], rows, pld::device = r);
});

int main(int argc, char** argv) {
  return samples::run("An all-to-all", argc, argv, [](const auto& config, auto ranks) {
    const auto x = samples::numbers({ranks, ranks, WIDTH}, 1);
    pl::Array<float> by_hand({ranks, ranks, WIDTH}), built_in({ranks, ranks, WIDTH});
    host_orch(x, by_hand, built_in, config);

    // (3) Row i of rank r is what rank i had for it: a transpose of ranks and rows.
    const auto exchanged = [&](auto r, auto i, auto j) { return double(x(i, r, j)); };
    samples::check("by hand", by_hand, exchanged, 0);
    samples::check("built in", built_in, exchanged, 0);
  });
}
