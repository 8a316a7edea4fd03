// samples/distributed/04_barrier.cpp -- no rank goes on before all have arrived: by signals, and built in.
//
//   ./samples/run distributed/04_barrier -d 0,1,2,3
#include <pl/pl.hpp>
#include <pl/pld.hpp>

#include "common.hpp"

#include <cstdint>

constexpr auto NR = pl::dynamic("NR");

using Cells = pld::DistributedTensor<std::int32_t, NR>;  // a signal cell for each rank
using Number = pld::DistributedTensor<std::int32_t, 1>;
using Row = pl::Tensor<std::int32_t, NR>;
using Rows = pl::Tensor<std::int32_t, NR, NR>;

// (1) By hand. A signal is an int32 cell of a window: notify adds 1 to the peer's, wait sleeps until the own one is
//     there. Cell i is rank i's, so that it can be told who is missing.
auto barrier_by_hand = pl::jit.incore([](pl::Out<Row> seen, Cells cells) {
  const int me = pld::rank(cells), n = pld::nranks(cells);
  for (auto peer : pl::range(n))
    if (peer != me) pld::notify(cells, {.peer = peer, .offsets = {me}, .value = 1});
  for (auto peer : pl::range(n))
    if (peer != me) pld::wait(cells, {.offsets = {peer}, .expected = 1});
  seen = pl::store(pl::load(cells), seen);
});

// (2) Built in. Each rank leaves a number in its own part; behind the barrier all numbers are there to be read.
auto barrier_built_in = pl::jit.incore([](pl::Out<Row> numbers, Number number) {
  number = pl::store(pl::full<std::int32_t>({1}, pld::rank(number) + 100), number);
  pld::barrier(number);
  for (auto peer : pl::range(pld::nranks(number)))
    numbers = pl::store(pld::remote_load(number, {.peer = peer}), {peer}, numbers);
});

auto hand_device = pl::jit([](auto seen, auto cells) { barrier_by_hand(seen, cells); });
auto built_in_device = pl::jit([](auto numbers, auto number) { barrier_built_in(numbers, number); });

// (3) A cell a rank: the extent is the number of ranks, known when the program runs.
auto host_orch = pl::jit.host([](pl::Out<Rows> seen, pl::Out<Rows> numbers) {
  auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({pld::world_size()}),
                                         {pld::world_size()});
  auto number = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({1}), {1});
  for (auto r : pl::range(pld::world_size())) hand_device(seen[r], cells, pld::device = r);
  for (auto r : pl::range(pld::world_size())) built_in_device(numbers[r], number, pld::device = r);
});

int main(int argc, char** argv) {
  return samples::run("Barriers", argc, argv, [](const auto& config, auto ranks) {
    pl::Array<std::int32_t> seen({ranks, ranks}, -1), numbers({ranks, ranks}, -1);
    host_orch(seen, numbers, config);

    // (4) Each rank's row of cells reads 1 everywhere but at itself: it was told by all others.
    samples::check("by hand", seen, [](auto r, auto i) { return r == i ? 0.0 : 1.0; }, 0);
    samples::check("built in", numbers, [](auto, auto i) { return 100.0 + static_cast<double>(i); }, 0);
  });
}
