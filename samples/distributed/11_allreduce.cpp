// samples/distributed/11_allreduce.cpp -- what the last three lessons wrote, built in: on the host and in a kernel.
//
//   ./samples/run distributed/11_allreduce -d 0,1,2,3
#include <pl/pl.hpp>
#include <pl/pld.hpp>

#include "common.hpp"

#include <algorithm>

constexpr int WIDTH = 32;
constexpr auto NR = pl::dynamic("NR");

using Row = pl::Tensor<float, WIDTH>;
using Rows = pl::Tensor<float, NR, WIDTH>;
using Data = pld::DistributedTensor<float, WIDTH>;

// (1) In a kernel: the part becomes the sum of all parts. No signals to declare; and when the call has returned the
//     window may be written again at once.
auto in_kernel = pl::jit.incore([](Row x, pl::Out<Row> mesh, pl::Out<Row> ring, Data data) {
  data = pl::store(pl::load(x), data);
  pld::allreduce(data);
  mesh = pl::store(pl::load(data), mesh);
  data = pl::store(pl::load(x), data);
  pld::allreduce(data, {.algorithm = pld::Algorithm::Ring});
  ring = pl::store(pl::load(data), ring);
});

auto fill = pl::jit.incore([](Row x, Data data) { data = pl::store(pl::load(x), data); });
auto read_back = pl::jit.incore([](pl::Out<Row> y, Data data) { y = pl::store(pl::load(data), y); });

auto kernel_device = pl::jit([](auto x, auto mesh, auto ring, auto data) { in_kernel(x, mesh, ring, data); });
auto fill_device = pl::jit([](auto x, auto data) { fill(x, data); });
auto read_device = pl::jit([](auto y, auto data) { read_back(y, data); });

// (2) On the host: one call stands for all ranks, and runs behind what was dispatched before it.
auto host_orch = pl::jit.host(
    [](Rows x, pl::Out<Rows> mesh, pl::Out<Rows> ring, pl::Out<Rows> on_host, pl::Out<Rows> maximum) {
      auto data = pld::window<float>(pld::alloc_window_buffer<float>({WIDTH}), {WIDTH});
      for (auto r : pl::range(pld::world_size()))
        kernel_device(x[r], mesh[r], ring[r], data, pld::device = r);

      for (auto r : pl::range(pld::world_size())) fill_device(x[r], data, pld::device = r);
      pld::allreduce(data);
      for (auto r : pl::range(pld::world_size())) read_device(on_host[r], data, pld::device = r);

      for (auto r : pl::range(pld::world_size())) fill_device(x[r], data, pld::device = r);
      pld::allreduce(data, {.op = pld::ReduceOp::Max});
      for (auto r : pl::range(pld::world_size())) read_device(maximum[r], data, pld::device = r);
    });

int main(int argc, char** argv) {
  return samples::run("The built-in allreduce", argc, argv, [](const auto& config, auto ranks) {
    const auto x = samples::numbers({ranks, WIDTH}, 1);
    pl::Array<float> mesh({ranks, WIDTH}), ring({ranks, WIDTH}), on_host({ranks, WIDTH}),
        maximum({ranks, WIDTH});
    host_orch(x, mesh, ring, on_host, maximum, config);

    // (3) The golden of the lessons before.
    const auto sum = [&](std::int64_t i) {
      double result = 0;
      for (std::int64_t r = 0; r < ranks; ++r) result += x(r, i);
      return result;
    };
    const auto largest = [&](std::int64_t i) {
      double result = x(0, i);
      for (std::int64_t r = 1; r < ranks; ++r) result = std::max(result, double(x(r, i)));
      return result;
    };
    samples::check_all("in a kernel", mesh, sum, 1e-5);
    samples::check_all("in a kernel, by ring", ring, sum, 1e-5);
    samples::check_all("on the host", on_host, sum, 1e-5);
    samples::check_all("on the host, maximum", maximum, largest, 0);
  });
}
