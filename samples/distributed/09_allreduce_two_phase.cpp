// samples/distributed/09_allreduce_two_phase.cpp -- a reduce-scatter, then an allgather: less to read for each rank.
//
//   ./samples/run distributed/09_allreduce_two_phase -d 0,1,2,3
//
// In the mesh each rank reads all of n - 1 peers. Here it adds one n-th of the elements and sends that to all: it reads
// and writes (n - 1) / n of the data, however many ranks there are.
#include <pl/pl.hpp>
#include <pl/pld.hpp>

#include "common.hpp"

#include <cstdint>

constexpr int PIECE = 8;
constexpr auto NR = pl::dynamic("NR");

// (1) The elements of a rank as pieces, one for each rank.
using Pieces = pl::Tensor<float, NR, PIECE>;
using AllPieces = pl::Tensor<float, NR, NR, PIECE>;
using Data = pld::DistributedTensor<float, NR, PIECE>;
using Cells = pld::DistributedTensor<std::int32_t, 2>;  // one for each phase

auto allreduce_two_phase =
    pl::jit.incore([](Pieces x, pl::Out<Pieces> y, Data parts, Data sums, Cells arrived) {
      const int me = pld::rank(parts), n = pld::nranks(parts);
      parts = pl::store(pl::load(x), parts);
      for (auto peer : pl::range(n)) pld::notify(arrived, {.peer = peer, .offsets = {0}});
      pld::wait(arrived, {.offsets = {0}, .expected = n});

      // (2) Reduce-scatter: this rank's piece of all ranks.
      auto sum = pld::remote_load(parts[me], {.peer = 0});
      for (auto peer : pl::range(1, n)) sum = sum + pld::remote_load(parts[me], {.peer = peer});

      // (3) Allgather: the finished piece goes to all, into a window of its own, since a slower peer may still be reading
      //     `parts`.
      for (auto peer : pl::range(n)) {
        pld::remote_store(sum, sums[me], {.peer = peer});
        pld::notify(arrived, {.peer = peer, .offsets = {1}});
      }
      pld::wait(arrived, {.offsets = {1}, .expected = n});
      y = pl::store(pl::load(sums), y);
    });

auto device_orch = pl::jit([](auto x, auto y, auto parts, auto sums, auto arrived) {
  allreduce_two_phase(x, y, parts, sums, arrived);
});

auto host_orch = pl::jit.host([](AllPieces x, pl::Out<AllPieces> y) {
  const int n = pld::world_size();
  auto parts = pld::window<float>(pld::alloc_window_buffer<float>({n, PIECE}), {n, PIECE});
  auto sums = pld::window<float>(pld::alloc_window_buffer<float>({n, PIECE}), {n, PIECE});
  auto arrived = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({2}), {2});
  for (auto r : pl::range(pld::world_size())) device_orch(x[r], y[r], parts, sums, arrived, pld::device = r);
});

int main(int argc, char** argv) {
  return samples::run("An allreduce in two phases", argc, argv, [](const auto& config, auto ranks) {
    const auto x = samples::numbers({ranks, ranks, PIECE}, 1);
    pl::Array<float> y({ranks, ranks, PIECE});
    host_orch(x, y, config);

    const auto sum = [&](auto, auto i, auto j) {
      double result = 0;
      for (std::int64_t r = 0; r < ranks; ++r) result += x(r, i, j);
      return result;
    };
    samples::check("sum of all ranks", y, sum, 1e-5);
    samples::check(
        "the same bits everywhere", y, [&](auto, auto i, auto j) { return double(y(0, i, j)); }, 0);
  });
}
