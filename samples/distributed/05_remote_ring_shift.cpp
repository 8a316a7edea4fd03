// samples/distributed/05_remote_ring_shift.cpp -- a tile goes to the next rank: pushed by a store, pulled by a load.
//
//   ./samples/run distributed/05_remote_ring_shift -d 0,1,2,3
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

// (1) Push: write into the next rank's part, then signal it. The notify comes behind the store: who has seen the
//     signal sees the data.
auto push = pl::jit.incore([](Row x, pl::Out<Row> y, Data inbox, Cell arrived) {
  const int next = (pld::rank(inbox) + 1) % pld::nranks(inbox);
  pld::remote_store(pl::load(x), inbox, {.peer = next});
  pld::notify(arrived, {.peer = next});
  pld::wait(arrived, {.expected = 1});
  y = pl::store(pl::load(inbox), y);
});

// (2) Pull: write into the own part and signal the next rank, which reads it from there.
auto pull = pl::jit.incore([](Row x, pl::Out<Row> y, Data outbox, Cell ready) {
  const int me = pld::rank(outbox), n = pld::nranks(outbox);
  outbox = pl::store(pl::load(x), outbox);
  pld::notify(ready, {.peer = (me + 1) % n});
  pld::wait(ready, {.expected = 1});
  y = pl::store(pld::remote_load(outbox, {.peer = (me + n - 1) % n}), y);
});

auto push_device = pl::jit([](auto x, auto y, auto inbox, auto arrived) { push(x, y, inbox, arrived); });
auto pull_device = pl::jit([](auto x, auto y, auto outbox, auto ready) { pull(x, y, outbox, ready); });

// (3) A signal stays set, so each of the two has a cell of its own.
auto host_orch = pl::jit.host([](Rows x, pl::Out<Rows> pushed, pl::Out<Rows> pulled) {
  auto inbox = pld::window<float>(pld::alloc_window_buffer<float>({WIDTH}), {WIDTH});
  auto outbox = pld::window<float>(pld::alloc_window_buffer<float>({WIDTH}), {WIDTH});
  auto arrived = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({1}), {1});
  auto ready = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({1}), {1});
  for (auto r : pl::range(pld::world_size())) push_device(x[r], pushed[r], inbox, arrived, pld::device = r);
  for (auto r : pl::range(pld::world_size())) pull_device(x[r], pulled[r], outbox, ready, pld::device = r);
});

int main(int argc, char** argv) {
  return samples::run("A ring shift of tiles", argc, argv, [](const auto& config, auto ranks) {
    const auto x = samples::numbers({ranks, WIDTH}, 1);
    pl::Array<float> pushed({ranks, WIDTH}), pulled({ranks, WIDTH});
    host_orch(x, pushed, pulled, config);

    // (4) Every rank holds what was its left neighbour's.
    const auto shifted = [&](auto r, auto i) { return double(x((r + ranks - 1) % ranks, i)); };
    samples::check("remote_store", pushed, shifted, 0);
    samples::check("remote_load", pulled, shifted, 0);
  });
}
