// samples/distributed/06_put_get_ring_shift.cpp -- memory goes to the next rank as it is: put and get, no tile between.
//
//   ./samples/run distributed/06_put_get_ring_shift -d 0,1,2,3
#include <pl/pl.hpp>
#include <pl/pld.hpp>

#include "common.hpp"

#include <cstdint>

constexpr int WIDTH = 32, HALF = WIDTH / 2;
constexpr auto NR = pl::dynamic("NR");

using Row = pl::Tensor<float, WIDTH>;
using Rows = pl::Tensor<float, NR, WIDTH>;
using Data = pld::DistributedTensor<float, WIDTH>;
using Cell = pld::DistributedTensor<std::int32_t, 1>;

// (1) put copies a tensor of this rank into the peer's part. As with a remote_store, the signal comes behind it.
auto put_whole = pl::jit.incore([](Row x, pl::Out<Row> y, Data inbox, Cell arrived) {
  const int next = (pld::rank(inbox) + 1) % pld::nranks(inbox);
  pld::put(inbox, {.peer = next, .src = x});
  pld::notify(arrived, {.peer = next});
  pld::wait(arrived);
  y = pl::store(pl::load(inbox), y);
});

// (2) get copies a region of the peer's part into a tensor of this rank; the data are there when it returns. Offsets
//     and shape are given all or none: here the halves change places on the way.
auto get_halves = pl::jit.incore([](Row x, pl::Out<Row> y, Data outbox, Cell ready) {
  const int me = pld::rank(outbox), n = pld::nranks(outbox);
  const int last = (me + n - 1) % n;
  outbox = pl::store(pl::load(x), outbox);
  pld::notify(ready, {.peer = (me + 1) % n});
  pld::wait(ready);
  pld::get(y, outbox, {.peer = last, .src_offsets = {HALF}, .dst_offsets = {0}, .shape = {HALF}});
  pld::get(y, outbox, {.peer = last, .src_offsets = {0}, .dst_offsets = {HALF}, .shape = {HALF}});
});

auto put_device = pl::jit([](auto x, auto y, auto inbox, auto arrived) { put_whole(x, y, inbox, arrived); });
auto get_device = pl::jit([](auto x, auto y, auto outbox, auto ready) { get_halves(x, y, outbox, ready); });

auto host_orch = pl::jit.host([](Rows x, pl::Out<Rows> put, pl::Out<Rows> got) {
  auto inbox = pld::window<float>(pld::alloc_window_buffer<float>({WIDTH}), {WIDTH});
  auto outbox = pld::window<float>(pld::alloc_window_buffer<float>({WIDTH}), {WIDTH});
  auto arrived = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({1}), {1});
  auto ready = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({1}), {1});
  for (auto r : pl::range(pld::world_size())) put_device(x[r], put[r], inbox, arrived, pld::device = r);
  for (auto r : pl::range(pld::world_size())) get_device(x[r], got[r], outbox, ready, pld::device = r);
});

int main(int argc, char** argv) {
  return samples::run("A ring shift of memory", argc, argv, [](const auto& config, auto ranks) {
    const auto x = samples::numbers({ranks, WIDTH}, 1);
    pl::Array<float> put({ranks, WIDTH}), got({ranks, WIDTH});
    host_orch(x, put, got, config);

    const auto left = [&](auto r, auto i) { return double(x((r + ranks - 1) % ranks, i)); };
    samples::check("put", put, left, 0);
    samples::check(
        "get, halves exchanged", got, [&](auto r, auto i) { return left(r, (i + HALF) % WIDTH); }, 0);
  });
}
