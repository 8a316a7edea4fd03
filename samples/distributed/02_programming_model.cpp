// samples/distributed/02_programming_model.cpp -- the three levels of a Trilith program.
//
//   ./samples/run distributed/02_programming_model -p a2a3sim -d 0,1
//
// Each rank r gets y[r] = x[r] * r + x[r]. The kernel is compiled once: the rank is a run-time scalar.
#include <pl/pl.hpp>
#include <pl/pld.hpp>

#include "common.hpp"

#include <cmath>
#include <cstdint>
#include <iostream>

constexpr int ROWS = 8, COLS = 8;
constexpr auto NR = pl::dynamic("NR");  // bound when called: the number of ranks

// (1) In-core kernel: runs on an AI core; loads, computes, stores.
auto scale_by_rank =
    pl::jit.incore([](pl::Tensor<float, ROWS, COLS> x, pl::Out<pl::Tensor<float, ROWS, COLS>> y,
                      pl::Scalar<std::int32_t> rank) {
      auto tile = pl::load(x, {0, 0}, {ROWS, COLS});
      auto rank_f32 = pl::cast<float>(rank);
      auto scaled = pl::mul(tile, rank_f32);
      auto result = pl::add(scaled, tile);  // x * rank + x == x * (rank + 1)
      y = pl::store(result, {0, 0}, y);
      return y;
    });

// (2) Device orchestration: runs once per dispatch on the device's scheduler; each kernel call is a task.
auto device_orch = pl::jit([](auto x, auto y, auto rank) { return scale_by_rank(x, y, rank); });

// (3) Host orchestrator: one dispatch per rank; the slices say what each rank reads and writes.
auto host_orch =
    pl::jit.host([](pl::Tensor<float, NR, ROWS, COLS> x, pl::Out<pl::Tensor<float, NR, ROWS, COLS>> y) {
      for (auto r : pl::range(pld::world_size())) device_orch(x[r], y[r], r, pld::device = r);
    });

int main(int argc, char** argv) try {
  const pl::RunConfig config =
      samples::parse_options("Host, device and core: y[r] = x[r] * (r + 1)", argc, argv);
  const auto ranks = static_cast<int>(config.distributed.device_ids.size());

  // (4) Data: x[r] is different on every rank, so that a rank that got another's slice is noticed.
  pl::Array<float> x({ranks, ROWS, COLS});
  pl::Array<float> y({ranks, ROWS, COLS});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i) * 0.25f - 3.0f;

  // (5) Compile: the orchestrators run once with dispatch replaced by recording; then the plan is run.
  auto compiled = host_orch.compile(x, y, config);
  compiled(x, y);

  // (6) Golden: y[r] == x[r] * (r + 1).
  for (int r = 0; r < ranks; ++r)
    for (int row = 0; row < ROWS; ++row)
      for (int column = 0; column < COLS; ++column) {
        const float expected = x(r, row, column) * static_cast<float>(r + 1);
        const float got = y(r, row, column);
        if (std::abs(got - expected) <= 1e-5f) continue;
        std::cout << "wrong at rank " << r << ", row " << row << ", column " << column << ": got " << got
                  << ", expected " << expected << '\n';
        return 1;
      }
  std::cout << "OK\n";
} catch (const pl::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
