// samples/distributed/03_window_round_trip.cpp -- memory that every rank has a part of: written, kept, read.
//
//   ./samples/run distributed/03_window_round_trip -d 0,1
#include <pl/pl.hpp>
#include <pl/pld.hpp>

#include "common.hpp"

constexpr int ROWS = 2, COLS = 4;
constexpr auto NR = pl::dynamic("NR");

using Block = pl::Tensor<float, ROWS, COLS>;
using Blocks = pl::Tensor<float, NR, ROWS, COLS>;

// (1) In a kernel a window is this rank's own part, read and written like an InOut tensor. It is zero at first.
auto fill =
    pl::jit.incore([](Block x, pl::Out<Block> before, pld::DistributedTensor<float, ROWS, COLS> part) {
      before = pl::store(pl::load(part), before);
      part = pl::store(pl::load(x), part);
    });

// (2) The same memory under another shape: a second view of the buffer.
auto read_back =
    pl::jit.incore([](pld::DistributedTensor<float, ROWS * COLS> flat,
                      pl::Out<pl::Tensor<float, ROWS * COLS>> y) { y = pl::store(pl::load(flat) * 2, y); });

auto fill_device = pl::jit([](auto x, auto before, auto part) { fill(x, before, part); });
auto read_device = pl::jit([](auto flat, auto y) { read_back(flat, y); });

// (3) The buffer is made once, outside the loop over ranks: one call gives every rank its part. It lives until the
//     orchestrator's run has ended, so what the first dispatch leaves there the second one finds.
auto host_orch =
    pl::jit.host([](Blocks x, pl::Out<Blocks> before, pl::Out<pl::Tensor<float, NR, ROWS * COLS>> y) {
      const pld::Window buffer = pld::alloc_window_buffer<float>({ROWS, COLS});
      auto part = pld::window<float>(buffer, {ROWS, COLS});
      auto flat = pld::window<float>(buffer, {ROWS * COLS});
      for (auto r : pl::range(pld::world_size())) fill_device(x[r], before[r], part, pld::device = r);
      for (auto r : pl::range(pld::world_size())) read_device(flat, y[r], pld::device = r);
    });

int main(int argc, char** argv) {
  return samples::run("A window, written and read back", argc, argv, [](const auto& config, auto ranks) {
    const auto x = samples::numbers({ranks, ROWS, COLS}, 1);
    pl::Array<float> before({ranks, ROWS, COLS}, 7), y({ranks, ROWS * COLS});

    // (4) Two runs: windows are new, and zero, in each.
    auto program = host_orch.compile(x, before, y, config);
    program(x, before, y);
    program(x, before, y);

    samples::check("zero at first", before, [](auto, auto, auto) { return 0.0; }, 0);
    samples::check(
        "twice what was written", y, [&](auto r, auto i) { return 2.0 * x(r, i / COLS, i % COLS); }, 0);
  });
}
