// Litmus tests of the memory model (runtime/windows/README.md): what a rank may see of another's writes, tried over
// and over without a barrier between the two ranks.
#include "slow.hpp"
#include "windows.hpp"

using windows::config;

namespace {

using Data = pld::DistributedTensor<std::int32_t, 64>;
using Cells = pld::DistributedTensor<std::int32_t, 16>;
/// Of each rank: how often it saw what the model forbids, and one more count.
using Seen = pl::Out<pl::Tensor<std::int32_t, 2>>;
constexpr auto NR = pl::dynamic("NR");
constexpr int DATA_READY = 0, TAKEN = 1;

/// put, then notify: the data are there once the signal is, and not those of the next round.
auto put_then_notify = pl::jit.incore([](Seen seen, Data data, Cells signal, pl::Scalar<int> rounds) {
  const int me = pld::rank(data);
  int wrong = 0;
  for (int round = 1; round <= rounds; ++round) {
    if (me == 0) {
      pld::remote_store(pl::full<std::int32_t>({64}, round), data, {.peer = 1});
      pld::notify(signal, {.peer = 1, .offsets = {DATA_READY}});
      pld::wait(signal, {.offsets = {TAKEN}, .expected = round});
    } else {
      pld::wait(signal, {.offsets = {DATA_READY}, .expected = round});
      if (pl::read(data, {0}) != round) wrong += 1;
      if (pl::read(data, {63}) != round) wrong += 1;
      pld::notify(signal, {.peer = 0, .offsets = {TAKEN}});
    }
  }
  seen = pl::store(pl::full<std::int32_t>({1}, wrong), {0}, seen);
});

/// Message passing by a plain store to the own part: the peer reads it behind the signal.
auto message_passing = pl::jit.incore([](Seen seen, Data data, Cells signal, pl::Scalar<int> rounds) {
  const int me = pld::rank(data);
  int wrong = 0;
  for (int round = 1; round <= rounds; ++round) {
    if (me == 0) {
      data = pl::store(pl::full<std::int32_t>({64}, round), {0}, data);
      pld::notify(signal, {.peer = 1, .offsets = {DATA_READY}});
      pld::wait(signal, {.offsets = {TAKEN}, .expected = round});
    } else {
      pld::wait(signal, {.offsets = {DATA_READY}, .expected = round});
      const auto message = pld::remote_load(data, {.peer = 0, .offsets = {0}, .shape = {64}});
      if (pl::read(message, {0}) != round) wrong += 1;
      if (pl::read(message, {63}) != round) wrong += 1;
      pld::notify(signal, {.peer = 0, .offsets = {TAKEN}});
    }
  }
  seen = pl::store(pl::full<std::int32_t>({1}, wrong), {0}, seen);
});

/// Store buffering: each rank writes to the other, and behind a fence looks at what the other one has written. At least
/// one of the two sees the other's write.
auto store_buffering = pl::jit.incore([](Seen seen, Data data, Cells signal, pl::Scalar<int> rounds) {
  const int me = pld::rank(data), other = 1 - me;
  int both_missed = 0, one_missed = 0;
  for (int round = 1; round <= rounds; ++round) {
    pld::remote_store(pl::full<std::int32_t>({1}, round), data, {.peer = other, .offsets = {0}});
    pld::fence();
    const int mine = pl::read(data, {0}) == round ? 0 : 1;
    if (me == 1) {
      pld::remote_store(pl::full<std::int32_t>({1}, mine), data, {.peer = 0, .offsets = {32}});
      pld::notify(signal, {.peer = 0, .offsets = {DATA_READY}});
      pld::wait(signal, {.offsets = {TAKEN}, .expected = round});
    } else {
      pld::wait(signal, {.offsets = {DATA_READY}, .expected = round});
      const int missed = mine + pl::read(data, {32});
      if (missed == 2) both_missed += 1;
      if (missed == 1) one_missed += 1;
      pld::notify(signal, {.peer = 1, .offsets = {TAKEN}});
      // The other one wakes late: who comes first must change from round to round.
      for (int i = 0; i < round % 64; ++i) pld::fence();
    }
  }
  seen = pl::store(pl::full<std::int32_t>({1}, both_missed), {0}, seen);
  seen = pl::store(pl::full<std::int32_t>({1}, one_missed), {1}, seen);
});

/// Runs it for so many rounds on two ranks and gives what each has counted.
template <class Kernel>
pl::Array<std::int32_t> count(Kernel& kernel, int rounds, std::uint64_t seed = 0) {
  auto device = pl::jit([&](auto seen, auto data, auto signal, auto n) { kernel(seen, data, signal, n); });
  auto host = pl::jit.host([&](pl::Out<pl::Tensor<std::int32_t, NR, 2>> seen) {
    auto data = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({64}), {64});
    auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({16}), {16});
    for (auto r : pl::range(pld::world_size())) device(seen[r], data, signal, rounds, pld::device = r);
  });
  pl::Array<std::int32_t> seen({2, 2});
  pl::RunConfig run = config(2);
  run.schedule_seed = seed;
  host(seen, run);
  return seen;
}

int rounds() { return windows::natively ? support::slow_rounds(5'000, 100'000) : 100'000; }

}  // namespace

TEST_CASE("a put is visible behind its notify in every one of many rounds") {
  BOTH_WAYS
  const auto seen = count(put_then_notify, rounds());
  CHECK(seen(0, 0) == 0);
  CHECK(seen(1, 0) == 0);
}

TEST_CASE("a store to the own part is visible to a peer's load behind a signal") {
  BOTH_WAYS
  const auto seen = count(message_passing, rounds());
  CHECK(seen(0, 0) == 0);
  CHECK(seen(1, 0) == 0);
}

TEST_CASE("of two ranks that write to each other one sees the other's write behind its fence") {
  BOTH_WAYS
  const auto seen = count(store_buffering, rounds());
  CHECK(seen(0, 0) == 0);
  MESSAGE("rounds in which one rank came first: " << seen(0, 1) << " of " << rounds());
}

TEST_CASE("the same holds where a seed holds writes back and delays ranks") {
  BOTH_WAYS
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    CHECK(count(put_then_notify, 500, seed)(1, 0) == 0);
    CHECK(count(message_passing, 500, seed)(1, 0) == 0);
    CHECK(count(store_buffering, 500, seed)(0, 0) == 0);
  }
}
