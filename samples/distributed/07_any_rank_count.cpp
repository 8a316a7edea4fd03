// samples/distributed/07_any_rank_count.cpp -- one source, one compiled kernel, any number of ranks.
//
//   ./samples/run distributed/07_any_rank_count -d 0,1,2,3,4,5,6
//
// Runs on the first device of the list, then on the first two, and so on: every rank gets the sum of all rows, which
// travel round the ring once.
#include <pl/pl.hpp>
#include <pl/pld.hpp>

#include "common.hpp"

#include <cstdint>

constexpr int WIDTH = 16;
constexpr auto NR = pl::dynamic("NR");  // (1) a run-time extent: not part of what a kernel is compiled for

using Row = pl::Tensor<float, WIDTH>;
using Rows = pl::Tensor<float, NR, WIDTH>;
using Inbox = pld::DistributedTensor<float, NR, WIDTH>;
using Cells = pld::DistributedTensor<std::int32_t, NR>;

// (2) The number of steps is asked for when the kernel runs. Each step has a row and a cell of its own, so a fast
//     neighbour never overwrites what has not been read yet.
auto ring_sum = pl::jit.incore([](Row x, pl::Out<Row> y, Inbox inbox, Cells arrived) {
  const int n = pld::nranks(inbox);
  const int next = (pld::rank(inbox) + 1) % n;
  auto passing = pl::load(x);
  auto sum = passing;
  for (auto step : pl::range(n - 1)) {
    pld::remote_store(passing, inbox[step], {.peer = next});
    pld::notify(arrived, {.peer = next, .offsets = {step}});
    pld::wait(arrived, {.offsets = {step}});
    passing = pl::load(inbox[step]);
    sum = sum + passing;
  }
  y = pl::store(sum, y);
});

auto device_orch = pl::jit([](auto x, auto y, auto inbox, auto arrived) { ring_sum(x, y, inbox, arrived); });

// (3) So are the windows: as many rows and cells as there are ranks in this run.
auto host_orch = pl::jit.host([](Rows x, pl::Out<Rows> y) {
  const int n = pld::world_size();
  auto inbox = pld::window<float>(pld::alloc_window_buffer<float>({n, WIDTH}), {n, WIDTH});
  auto arrived = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({n}), {n});
  for (auto r : pl::range(pld::world_size())) device_orch(x[r], y[r], inbox, arrived, pld::device = r);
});

int main(int argc, char** argv) {
  return samples::run("A ring of any length", argc, argv, [](auto config, auto ranks) {
    const auto devices = config.distributed.device_ids;
    const auto before = pl::statistics();
    for (std::int64_t n = 1; n <= ranks; ++n) {
      // (4) Only the configuration and the arguments change.
      config.distributed.device_ids.assign(devices.begin(), devices.begin() + n);
      const auto x = samples::numbers({n, WIDTH}, static_cast<std::uint32_t>(n));
      pl::Array<float> y({n, WIDTH});
      host_orch(x, y, config);

      const auto sum = [&](std::int64_t i) {
        double result = 0;
        for (std::int64_t r = 0; r < n; ++r) result += x(r, i);
        return result;
      };
      samples::check_all(std::to_string(n) + (n == 1 ? " rank" : " ranks"), y, sum, 1e-5);
    }
    const auto after = pl::statistics();
    std::cout << after.misses + after.disk_hits - before.misses - before.disk_hits << " compiled\n";
  });
}
