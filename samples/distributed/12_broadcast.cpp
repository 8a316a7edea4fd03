// samples/distributed/12_broadcast.cpp -- one rank's data for all: sent by hand, and built in.
//
//   ./samples/run distributed/12_broadcast -d 0,1,2,3
#include <pl/pl.hpp>
#include <pl/pld.hpp>

#include "common.hpp"

#include <cstdint>

constexpr int WIDTH = 16;
constexpr auto NR = pl::dynamic("NR");

using Row = pl::Tensor<float, WIDTH>;
using Rows = pl::Tensor<float, NR, WIDTH>;
using Data = pld::DistributedTensor<float, WIDTH>;
using Cell = pld::DistributedTensor<std::int32_t, 1>;

// (1) By hand: the last rank puts its row to all, itself too, and all wait for it.
auto broadcast_by_hand = pl::jit.incore([](Row x, pl::Out<Row> y, Data data, Cell arrived) {
  const int n = pld::nranks(data);
  if (pld::rank(data) == n - 1)
    for (auto peer : pl::range(n)) {
      pld::put(data, {.peer = peer, .src = x});
      pld::notify(arrived, {.peer = peer});
    }
  pld::wait(arrived);
  y = pl::store(pl::load(data), y);
});

// (2) Built in: every rank calls it, with the same root.
auto broadcast_built_in = pl::jit.incore([](Row x, pl::Out<Row> y, Data data) {
  data = pl::store(pl::load(x), data);
  pld::broadcast(data, {.root = pld::nranks(data) - 1});
  y = pl::store(pl::load(data), y);
});

auto hand_device =
    pl::jit([](auto x, auto y, auto data, auto arrived) { broadcast_by_hand(x, y, data, arrived); });
auto built_in_device = pl::jit([](auto x, auto y, auto data) { broadcast_built_in(x, y, data); });

auto host_orch = pl::jit.host([](Rows x, pl::Out<Rows> by_hand, pl::Out<Rows> built_in) {
  auto data = pld::window<float>(pld::alloc_window_buffer<float>({WIDTH}), {WIDTH});
  auto other = pld::window<float>(pld::alloc_window_buffer<float>({WIDTH}), {WIDTH});
  auto arrived = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({1}), {1});
  for (auto r : pl::range(pld::world_size())) hand_device(x[r], by_hand[r], data, arrived, pld::device = r);
  for (auto r : pl::range(pld::world_size())) built_in_device(x[r], built_in[r], other, pld::device = r);
});

int main(int argc, char** argv) {
  return samples::run("A broadcast", argc, argv, [](const auto& config, auto ranks) {
    const auto x = samples::numbers({ranks, WIDTH}, 1);
    pl::Array<float> by_hand({ranks, WIDTH}), built_in({ranks, WIDTH});
    host_orch(x, by_hand, built_in, config);

    // (3) Every row is the last rank's.
    const auto row_of_root = [&](auto i) { return double(x(ranks - 1, i)); };
    samples::check_all("by hand", by_hand, row_of_root, 0);
    samples::check_all("built in", built_in, row_of_root, 0);
  });
}
