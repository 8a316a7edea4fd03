// samples/distributed/08_allreduce_mesh.cpp -- every rank gets the sum of all: each reads what all have.
//
//   ./samples/run distributed/08_allreduce_mesh -d 0,1,2,3
#include <pl/pl.hpp>
#include <pl/pld.hpp>

#include "common.hpp"

#include <cstdint>

constexpr int WIDTH = 32;
constexpr auto NR = pl::dynamic("NR");

using Row = pl::Tensor<float, WIDTH>;
using Rows = pl::Tensor<float, NR, WIDTH>;
using Data = pld::DistributedTensor<float, WIDTH>;
using Cell = pld::DistributedTensor<std::int32_t, 1>;

auto allreduce_mesh = pl::jit.incore([](Row x, pl::Out<Row> y, Data data, Cell ready) {
  const int n = pld::nranks(data);
  // (1) Lay out what this rank has, and tell all, itself too.
  data = pl::store(pl::load(x), data);
  for (auto peer : pl::range(n)) pld::notify(ready, {.peer = peer});

  // (2) One counter is enough where it does not matter who is missing: all n have added 1.
  pld::wait(ready, {.expected = n});

  // (3) Add in the order of ranks, the same everywhere: sums of floats depend on the order, and so every rank gets
  //     the same bits.
  auto sum = pld::remote_load(data, {.peer = 0});
  for (auto peer : pl::range(1, n)) sum = sum + pld::remote_load(data, {.peer = peer});
  y = pl::store(sum, y);
});

auto device_orch = pl::jit([](auto x, auto y, auto data, auto ready) { allreduce_mesh(x, y, data, ready); });

auto host_orch = pl::jit.host([](Rows x, pl::Out<Rows> y) {
  auto data = pld::window<float>(pld::alloc_window_buffer<float>({WIDTH}), {WIDTH});
  auto ready = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({1}), {1});
  for (auto r : pl::range(pld::world_size())) device_orch(x[r], y[r], data, ready, pld::device = r);
});

int main(int argc, char** argv) {
  return samples::run("An allreduce by mesh", argc, argv, [](const auto& config, auto ranks) {
    const auto x = samples::numbers({ranks, WIDTH}, 1);
    pl::Array<float> y({ranks, WIDTH});
    host_orch(x, y, config);

    // (4) The sum in double precision; and the same bits on every rank.
    const auto sum = [&](std::int64_t i) {
      double result = 0;
      for (std::int64_t r = 0; r < ranks; ++r) result += x(r, i);
      return result;
    };
    samples::check_all("sum of all ranks", y, sum, 1e-5);
    samples::check_all("the same bits everywhere", y, [&](auto i) { return double(y(0, i)); }, 0);
  });
}
