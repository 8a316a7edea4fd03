// Accesses of several ranks without an order between them are reported with both ranks and lines.
#include "check.hpp"

using support::contains;
using windows::at;
using windows::Cells;
using windows::Data;
using windows::outcome;

namespace {

// Each kernel stands behind the line that its test counts from.

constexpr int no_wait = __LINE__;
auto reads_own_part_without_waiting = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> size) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  pld::remote_store(pl::full<std::int32_t>({size}, 7), data, {.peer = next});
  pld::notify(signal, {.peer = next});
  (void)pl::load(data, {0}, {size});
  pld::wait(signal);
});

constexpr int no_notify = __LINE__;
auto loads_from_a_peer_without_waiting = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> size) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  data = pl::store(pl::full<std::int32_t>({size}, 7), {3}, data);
  (void)pld::remote_load(data, {.peer = next, .offsets = {2}, .shape = {size}});
  pld::barrier(signal);
});

constexpr int two_writers = __LINE__;
auto all_write_to_rank_zero = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> size) {
  pld::remote_store(pl::full<std::int32_t>({size}, 7), data, {.peer = 0, .offsets = {5}});
  pld::notify(signal, {.peer = 0});
  if (pld::rank(data) == 0) pld::wait(signal, {.expected = pld::nranks(data)});
});

constexpr int too_early = __LINE__;
auto writes_before_the_last_round_is_read = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> size) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  for (int round = 1; round <= 3; ++round) {
    pld::put(data, {.peer = next, .src = data.slice({32}, {size})});
    pld::notify(signal, {.peer = next});
    pld::wait(signal, {.expected = round});
    (void)pl::load(data, {0}, {size});
  }
});

constexpr int too_few = __LINE__;
auto waits_for_too_few = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> size) {
  const int me = pld::rank(data);
  if (me != 0) {
    pld::remote_store(pl::full<std::int32_t>({size}, me), data, {.peer = 0, .offsets = {8 * me}});
    pld::notify(signal, {.peer = 0});
  } else {
    pld::wait(signal, {.expected = pld::nranks(data) - 2});
    (void)pl::load(data);
  }
});

constexpr int other_cell = __LINE__;
auto waits_on_another_cell = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> size) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  pld::notify(signal, {.peer = next, .offsets = {1}});
  pld::remote_store(pl::full<std::int32_t>({size}, 7), data, {.peer = next});
  pld::notify(signal, {.peer = next, .offsets = {2}});
  pld::wait(signal, {.offsets = {1}});
  (void)pl::read(data, {size - 1});
});

constexpr int relayed = __LINE__;
auto relays_without_a_fence = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> size) {
  const int me = pld::rank(data);
  if (me == 0) {
    pld::remote_store(pl::full<std::int32_t>({size}, 7), data, {.peer = 2});
    pld::notify(signal, {.peer = 1});
  }
  if (me == 1) {
    pld::wait(signal);
    pld::notify(signal, {.peer = 2});
  }
  if (me == 2) {
    pld::wait(signal);
    (void)pl::load(data, {0}, {size});
  }
});

constexpr int overtaking = __LINE__;
auto writes_twice_without_a_fence = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> size) {
  if (pld::rank(data) == 0) {
    pld::remote_store(pl::full<std::int32_t>({size}, 1), data, {.peer = 1});
    pld::remote_store(pl::full<std::int32_t>({size}, 2), data, {.peer = 1});
    pld::notify(signal, {.peer = 1});
  }
  if (pld::rank(data) == 1) pld::wait(signal);
});

constexpr int against_collective = __LINE__;
auto writes_beside_a_collective = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> size) {
  if (pld::rank(data) == 1) pld::remote_store(pl::full<std::int32_t>({size}, 1), data, {.peer = 0});
  if (pld::rank(data) == 1) pld::notify(signal, {.peer = 0});
  pld::allreduce(data.slice({size - 1}, {4}));
  pld::remote_store(pl::full<std::int32_t>({size}, 1), data, {.peer = 0});
  pld::barrier(signal);
});

/// The report names both lines, with a rank each.
void check_race(const std::string& message, int first, int second) {
  CAPTURE(message);
  CHECK(contains(message, "race: nothing orders two accesses to rank "));
  CHECK(contains(message, at(__FILE__, first)));
  CHECK(contains(message, at(__FILE__, second)));
  CHECK(contains(message, "\n  rank "));
  CHECK(contains(message, "allocated at "));
}

}  // namespace

TEST_CASE("a read of the own part without a wait races with the peer's write") {
  for (const int ranks : {2, 3, 8})
    for (const int size : {1, 5, 64}) {
      const std::string message = outcome(reads_own_part_without_waiting, ranks, size);
      check_race(message, no_wait + 3, no_wait + 5);
      CHECK(contains(message, "pl::load reads bytes 0 to " + std::to_string(4 * size - 1)));
      CHECK(contains(message, "pld::remote_store writes bytes 0 to " + std::to_string(4 * size - 1)));
    }
}

TEST_CASE("a read of a peer's part without a wait races with the peer's own write") {
  for (const int ranks : {2, 5})
    for (const int size : {2, 17}) {
      const std::string message = outcome(loads_from_a_peer_without_waiting, ranks, size);
      check_race(message, no_notify + 3, no_notify + 4);
      CHECK(contains(message, "pld::remote_load reads bytes 8 to " + std::to_string(8 + 4 * size - 1)));
      CHECK(contains(message, "pl::store writes bytes 12 to " + std::to_string(12 + 4 * size - 1)));
    }
}

TEST_CASE("two ranks that write to one place without an order are reported") {
  for (const int ranks : {2, 3, 16})
    check_race(outcome(all_write_to_rank_zero, ranks, ranks), two_writers + 2, two_writers + 2);
}

TEST_CASE("a write into a buffer that its reader may still read is reported") {
  for (const int ranks : {2, 3})
    for (const int size : {1, 16})
      check_race(outcome(writes_before_the_last_round_is_read, ranks, size), too_early + 4, too_early + 7);
}

TEST_CASE("a wait for fewer signals than there are writers orders only those that it needs") {
  for (const int ranks : {3, 6}) check_race(outcome(waits_for_too_few, ranks, 8), too_few + 4, too_few + 8);
}

TEST_CASE("a wait on the cell of another signal orders nothing") {
  for (const int ranks : {2, 4})
    check_race(outcome(waits_on_another_cell, ranks, 3), other_cell + 4, other_cell + 7);
}

TEST_CASE("a write that is only announced to a third rank is not there for its peer") {
  for (const int ranks : {3, 4}) {
    const std::string message = outcome(relays_without_a_fence, ranks, 6);
    check_race(message, relayed + 4, relayed + 13);
  }
}

TEST_CASE("two writes of one task to one place may overtake each other") {
  const std::string message = outcome(writes_twice_without_a_fence, 2, 6);
  check_race(message, overtaking + 3, overtaking + 4);
  CHECK(contains(message, "Only a later pld::notify to rank 1"));
}

TEST_CASE("a write beside a collective's data is ordered by it, and two behind it are not") {
  for (const int ranks : {2, 3})
    check_race(outcome(writes_beside_a_collective, ranks, 6), against_collective + 5, against_collective + 5);
}
