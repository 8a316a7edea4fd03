// Wrong use of signal cells is named: misuse, lost and stale signals, writes that nobody is told of.
#include "check.hpp"

using support::contains;
using windows::at;
using windows::Cells;
using windows::Data;
using windows::outcome;

namespace {

constexpr int many_set = __LINE__;
auto several_set_one_cell = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> cell) {
  const int me = pld::rank(data);
  if (me != 0)
    pld::notify(signal, {.peer = 0, .offsets = {cell}, .value = me, .op = pld::NotifyOp::Set});
  else
    pld::wait(signal, {.offsets = {cell}});
});

constexpr int set_and_add = __LINE__;
auto one_sets_and_one_adds = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> cell) {
  const int me = pld::rank(data);
  if (me == 1) pld::notify(signal, {.peer = 0, .offsets = {cell}, .value = 5, .op = pld::NotifyOp::Set});
  if (me == 2) pld::notify(signal, {.peer = 0, .offsets = {cell}});
  if (me == 0) pld::wait(signal, {.offsets = {cell}});
});

constexpr int own_store = __LINE__;
auto stores_into_its_signal = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> cell) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  pld::notify(signal, {.peer = next, .offsets = {cell}});
  pld::wait(signal, {.offsets = {cell}});
  signal = pl::store(pl::zeros<std::int32_t>({1}), {cell}, signal);
});

constexpr int plain_flag = __LINE__;
auto signals_by_a_store = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> cell) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  pld::remote_store(pl::full<std::int32_t>({1}, 1), signal, {.peer = next, .offsets = {cell}});
  pld::wait(signal, {.offsets = {cell}});
});

constexpr int in_collective = __LINE__;
auto signals_in_a_collectives_data = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> cell) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  pld::notify(signal, {.peer = next, .offsets = {cell}, .op = pld::NotifyOp::Set});
  pld::wait(signal, {.offsets = {cell}});
  pld::allreduce(signal);
});

constexpr int reset_first = __LINE__;
auto resets_at_the_start = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> cell) {
  const int me = pld::rank(data), next = (me + 1) % pld::nranks(data);
  pld::notify(signal, {.peer = me, .offsets = {cell}, .value = 0, .op = pld::NotifyOp::Set});
  pld::notify(signal, {.peer = next, .offsets = {cell}});
  pld::wait(signal, {.offsets = {cell}});
});

constexpr int reset_between = __LINE__;
auto resets_after_each_round = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> cell) {
  const int me = pld::rank(data), next = (me + 1) % pld::nranks(data);
  for (int round = 0; round < 3; ++round) {
    pld::notify(signal, {.peer = next, .offsets = {cell}});
    pld::wait(signal, {.offsets = {cell}});
    pld::notify(signal, {.peer = me, .offsets = {cell}, .value = 0, .op = pld::NotifyOp::Set});
  }
});

constexpr int exact_value = __LINE__;
auto waits_for_exactly_one_of_two = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> cell) {
  if (pld::rank(data) == 1) {
    pld::notify(signal, {.peer = 0, .offsets = {cell}});
    if (pld::nranks(data) > 2) pld::wait(signal, {.offsets = {9}});
    pld::notify(signal, {.peer = 0, .offsets = {cell}});
  }
  if (pld::rank(data) == 0) pld::wait(signal, {.offsets = {cell}, .expected = 1, .cmp = pld::WaitCmp::Eq});
  if (pld::rank(data) == 2) pld::notify(signal, {.peer = 1, .offsets = {9}});
});

constexpr int same_value = __LINE__;
auto waits_for_one_in_every_round = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> cell) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  for (int round = 0; round < 3; ++round) {
    pld::notify(signal, {.peer = next, .offsets = {cell}});
    pld::wait(signal, {.offsets = {cell}});
  }
});

constexpr int same_set = __LINE__;
auto sets_one_in_every_round = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> cell) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  for (int round = 0; round < 2; ++round) {
    pld::notify(signal, {.peer = next, .offsets = {cell}, .value = 1, .op = pld::NotifyOp::Set});
    pld::wait(signal, {.offsets = {cell}, .expected = 1, .cmp = pld::WaitCmp::Eq});
  }
});

constexpr int silent_store = __LINE__;
auto stores_and_tells_nobody = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> size) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  pld::notify(signal, {.peer = next});
  pld::wait(signal);
  pld::remote_store(pl::full<std::int32_t>({size}, 1), data, {.peer = next});
});

constexpr int silent_put = __LINE__;
auto puts_and_tells_another = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> size) {
  if (pld::rank(data) == 0) {
    pld::put(data, {.peer = 1, .src = data, .dst_offsets = {0}, .src_offsets = {1}, .shape = {size}});
    pld::notify(signal, {.peer = 2});
  }
  if (pld::rank(data) == 2) pld::wait(signal);
});

void check_lines(const std::string& message, const std::string& title, int first, int second) {
  CAPTURE(message);
  CHECK(contains(message, title));
  CHECK(contains(message, at(__FILE__, first)));
  CHECK(contains(message, at(__FILE__, second)));
  CHECK(contains(message, "\n  rank "));
}

}  // namespace

TEST_CASE("several ranks that Set one cell misuse it") {
  for (const int ranks : {3, 4, 9})
    for (const int cell : {0, 15}) {
      const std::string message = outcome(several_set_one_cell, ranks, cell);
      check_lines(message, "misuse of a signal cell: several writers Set cell " + std::to_string(cell),
                  many_set + 4, many_set + 4);
    }
}

TEST_CASE("a Set and an addition of two ranks misuse a cell") {
  for (const int ranks : {3, 6})
    check_lines(outcome(one_sets_and_one_adds, ranks, 3), "misuse of a signal cell: one rank Sets cell 3",
                set_and_add + 3, set_and_add + 4);
}

TEST_CASE("a plain store into a signal cell misuses it, from the own rank or another") {
  for (const int ranks : {1, 2, 5}) {
    CHECK(contains(outcome(stores_into_its_signal, ranks, 4), "misuse of a signal cell: cell 4"));
    CHECK(contains(outcome(stores_into_its_signal, ranks, 4), at(__FILE__, own_store + 5)));
    CHECK(contains(outcome(signals_by_a_store, ranks, 2), "misuse of a signal cell: cell 2"));
    CHECK(contains(outcome(signals_by_a_store, ranks, 2), at(__FILE__, plain_flag + 3)));
  }
}

TEST_CASE("a signal in the data of a collective misuses its cell") {
  for (const int ranks : {2, 3})
    for (const int cell : {0, 7}) {
      const std::string message = outcome(signals_in_a_collectives_data, ranks, cell);
      CHECK(contains(message, "misuse of a signal cell: cell " + std::to_string(cell)));
      CHECK(contains(message, at(__FILE__, in_collective + 5)));
    }
}

TEST_CASE("a reset that may overwrite a peer's first signal loses it, whoever comes first") {
  for (const int ranks : {2, 3, 8})
    for (const std::uint64_t seed : {0, 1, 2, 3, 4}) {
      check_lines(outcome(resets_at_the_start, ranks, 1, seed), "lost signal: a reset of cell 1",
                  reset_first + 3, reset_first + 4);
      check_lines(outcome(resets_after_each_round, ranks, 1, seed), "lost signal: a reset of cell 1",
                  reset_between + 4, reset_between + 6);
    }
}

TEST_CASE("a wait for exactly a value that a change may replace before it is seen can lose it") {
  for (const int ranks : {2, 3})
    for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
      const std::string message = outcome(waits_for_exactly_one_of_two, ranks, 2, seed);
      CAPTURE(message);
      // Where the change came first nothing can wake the wait.
      CHECK((contains(message, "lost signal: a change of cell 2") || contains(message, "deadlock")));
      CHECK(contains(message, at(__FILE__, exact_value + 7)));
    }
}

TEST_CASE("a wait that an earlier round's signal satisfies is stale") {
  for (const int ranks : {2, 3, 7})
    for (const std::uint64_t seed : {0, 1, 2, 3}) {
      check_lines(outcome(waits_for_one_in_every_round, ranks, 1, seed), "stale signal: a wait for cell 1",
                  same_value + 4, same_value + 5);
      check_lines(outcome(sets_one_in_every_round, ranks, 1, seed), "stale signal: a wait for cell 1",
                  same_set + 4, same_set + 5);
    }
}

TEST_CASE("a remote write that no signal, fence or collective follows is reported at the end of the run") {
  for (const int ranks : {2, 3})
    for (const int size : {1, 30}) {
      const std::string message = outcome(stores_and_tells_nobody, ranks, size);
      CHECK(contains(message, "published but never signalled: no notify to rank "));
      CHECK(contains(message, at(__FILE__, silent_store + 5)));
      const std::string put = outcome(puts_and_tells_another, ranks + 1, size);
      CHECK(contains(put, "published but never signalled: no notify to rank 1"));
      CHECK(contains(put, at(__FILE__, silent_put + 3)));
    }
}
