// Mistakes that others' libraries are known for, between ranks: reused signals, a rank that runs ahead, a wait on a
// device with one core.
#include "check.hpp"

using support::contains;
using windows::Cells;
using windows::Data;
using windows::outcome;

namespace {

auto sets_one_and_two_in_turn = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> rounds) {
  const int me = pld::rank(data), n = pld::nranks(data), next = (me + 1) % n, last = (me + n - 1) % n;
  for (int round = 1; round <= rounds; ++round) {
    const int value = 1 + round % 2;
    pld::notify(signal, {.peer = next, .value = value, .op = pld::NotifyOp::Set});
    pld::wait(signal, {.expected = value, .cmp = pld::WaitCmp::Eq});
    pld::notify(signal, {.peer = last, .offsets = {1}});
    pld::wait(signal, {.offsets = {1}, .expected = round});
  }
});

auto adds_one = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> rounds) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  for (int round = 1; round <= rounds; ++round) {
    pld::notify(signal, {.peer = next});
    pld::wait(signal, {.expected = round});
  }
});

/// Two slots; a rank may be two rounds ahead of its neighbour and no more. Rank 0 is slow.
auto ring_of_depth_two = pl::jit.incore(
    [](pl::Out<pl::Tensor<std::int32_t, 1>> wrong, Data data, Cells signal, pl::Scalar<int> rounds) {
      const int me = pld::rank(data), n = pld::nranks(data), next = (me + 1) % n, last = (me + n - 1) % n;
      int bad = 0;
      for (int round = 0; round < rounds; ++round) {
        const int slot = round % 2 * 32;
        if (round >= 2) pld::wait(signal, {.offsets = {1}, .expected = round - 1});
        pld::remote_store(pl::full<std::int32_t>({32}, round), data, {.peer = next, .offsets = {slot}});
        pld::notify(signal, {.peer = next});
        for (int i = 0; me == 0 && i < 200; ++i) pld::fence();
        pld::wait(signal, {.expected = round + 1});
        if (pl::read(data, {slot}) != round) ++bad;
        pld::notify(signal, {.peer = last, .offsets = {1}});
      }
      wrong = pl::store(pl::full<std::int32_t>({1}, bad), wrong);
    });

}  // namespace

TEST_CASE("a thousand rounds on one cell end, by Set of values in turn and by additions") {
  BOTH_WAYS
  CHECK(outcome(sets_one_and_two_in_turn, 2, 1000) == "");
  CHECK(outcome(adds_one, 2, 1000) == "");
  CHECK(outcome(adds_one, 3, 1000) == "");
}

TEST_CASE("a ring whose ranks may run two rounds ahead ends with a slow rank") {
  BOTH_WAYS
  for (const std::uint64_t seed : {0, 1, 2}) CHECK(windows::counted(ring_of_depth_two, 3, 50, seed) == "");
}

TEST_CASE("a wait on a device of one core does not keep the task from running that ends it") {
  BOTH_WAYS
  auto wait = pl::jit.incore([](Cells signal) { pld::wait(signal); });
  auto send = pl::jit.incore([](Cells other) { pld::notify(other, {.peer = pld::rank(other)}); });
  auto device = pl::jit([&](auto signal) {
    pl::manual_scope([&] {
      (void)pl::submit(wait, signal);
      (void)pl::submit(send, signal);
    });
  });
  auto host = pl::jit.host([&](pl::Out<pl::Tensor<std::int32_t, windows::NR>>) {
    auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({16}), {16});
    for (auto r : pl::range(pld::world_size())) device(signal, pld::device = r);
  });
  pl::RunConfig config = windows::checked(2);
  config.cores = 1;
  pl::Array<std::int32_t> y({2});
  CHECK(windows::message_of([&] { host(y, config); }) == "");
}
