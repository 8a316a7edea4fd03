// samples/distributed/10_allreduce_ring.cpp -- each rank talks to its neighbours only: pieces go round, twice.
//
//   ./samples/run distributed/10_allreduce_ring -d 0,1,2,3
#include <pl/pl.hpp>
#include <pl/pld.hpp>

#include "common.hpp"

#include <cstdint>

constexpr int PIECE = 8;
constexpr auto NR = pl::dynamic("NR");

using Pieces = pl::Tensor<float, NR, PIECE>;
using AllPieces = pl::Tensor<float, NR, NR, PIECE>;
using Data = pld::DistributedTensor<float, NR, PIECE>;
using Cells = pld::DistributedTensor<std::int32_t, 2, NR>;  // of each round, one for each piece

auto allreduce_ring = pl::jit.incore([](Pieces x, pl::Out<Pieces> y, Data partial, Data total,
                                        Cells arrived) {
  const int me = pld::rank(partial), n = pld::nranks(partial);
  const int next = (me + 1) % n;

  // (1) First round: a piece comes from the left with the sum so far, this rank's is added, and it goes on. After
  //     n - 1 steps this rank has the whole sum of piece me + 1. A piece passes each rank once: it is its own slot.
  auto sum = pl::load(x[me]);
  for (auto step : pl::range(n - 1)) {
    const auto out = (me - step + n) % n, in = (me - step - 1 + n) % n;
    pld::remote_store(sum, partial[out], {.peer = next});
    pld::notify(arrived, {.peer = next, .offsets = {0, out}});
    pld::wait(arrived, {.offsets = {0, in}});
    sum = pl::load(partial[in]) + pl::load(x[in]);
  }
  (void)pl::store(sum, y[next]);

  // (2) Second round: the finished pieces go round.
  for (auto step : pl::range(n - 1)) {
    const auto out = (me + 1 - step + n) % n, in = (me - step + n) % n;
    pld::remote_store(sum, total[out], {.peer = next});
    pld::notify(arrived, {.peer = next, .offsets = {1, out}});
    pld::wait(arrived, {.offsets = {1, in}});
    sum = pl::load(total[in]);
    (void)pl::store(sum, y[in]);
  }
});

auto device_orch = pl::jit([](auto x, auto y, auto partial, auto total, auto arrived) {
  allreduce_ring(x, y, partial, total, arrived);
});

auto host_orch = pl::jit.host([](AllPieces x, pl::Out<AllPieces> y) {
  const int n = pld::world_size();
  auto partial = pld::window<float>(pld::alloc_window_buffer<float>({n, PIECE}), {n, PIECE});
  auto total = pld::window<float>(pld::alloc_window_buffer<float>({n, PIECE}), {n, PIECE});
  auto arrived = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({2, n}), {2, n});
  for (auto r : pl::range(pld::world_size()))
    device_orch(x[r], y[r], partial, total, arrived, pld::device = r);
});

int main(int argc, char** argv) {
  return samples::run("An allreduce by ring", argc, argv, [](const auto& config, auto ranks) {
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
