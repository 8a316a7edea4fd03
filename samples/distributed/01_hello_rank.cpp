// samples/distributed/01_hello_rank.cpp -- the smallest program with ranks: y[r] = x[r] + r.
//
//   ./samples/run distributed/01_hello_rank -d 0,1,2
#include <pl/pl.hpp>
#include <pl/pld.hpp>

#include "common.hpp"

#include <cstdint>
#include <iostream>

constexpr int WIDTH = 4;
constexpr auto NR = pl::dynamic("NR");

// (1) What one core computes.
auto add_rank = pl::jit.incore(
    [](pl::Tensor<float, WIDTH> x, pl::Out<pl::Tensor<float, WIDTH>> y, pl::Scalar<std::int32_t> rank) {
      y = pl::store(pl::load(x) + pl::cast<float>(rank), y);
    });

// (2) What one device does: it starts that kernel.
auto device_orch = pl::jit([](auto x, auto y, auto rank) { add_rank(x, y, rank); });

// (3) What the host does: it gives every device its rank and its slices. A kernel cannot ask the host loop
// for
//     the rank, it has to be passed down.
auto host_orch = pl::jit.host([](pl::Tensor<float, NR, WIDTH> x, pl::Out<pl::Tensor<float, NR, WIDTH>> y) {
  for (auto r : pl::range(pld::world_size())) device_orch(x[r], y[r], r, pld::device = r);
});

int main(int argc, char** argv) try {
  const pl::RunConfig config =
      samples::parse_options("Every rank adds its number: y[r] = x[r] + r", argc, argv);
  const auto ranks = static_cast<int>(config.distributed.device_ids.size());

  // (4) Run, and check what every rank has written.
  pl::Array<float> x({ranks, WIDTH}, 10.0f);
  pl::Array<float> y({ranks, WIDTH});
  host_orch.compile(x, y, config)(x, y);

  for (int r = 0; r < ranks; ++r) {
    std::cout << "rank " << r << " on device " << config.distributed.device_ids[static_cast<std::size_t>(r)]
              << ":";
    for (int i = 0; i < WIDTH; ++i) {
      std::cout << ' ' << y(r, i);
      if (y(r, i) != x(r, i) + static_cast<float>(r)) {
        std::cout << "\nwrong at rank " << r << ", element " << i << ": expected " << x(r, i) + r << '\n';
        return 1;
      }
    }
    std::cout << '\n';
  }
  std::cout << "OK\n";
} catch (const pl::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
