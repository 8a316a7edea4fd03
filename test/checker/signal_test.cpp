// Wrong use of signal cells is named: misuse, lost and stale signals, writes that nobody is told of.
#include "signal_programs.hpp"

using support::contains;
using windows::at;
using windows::outcome;
using namespace wrong;

namespace {

void check_lines(const std::string& message, const std::string& title, int first, int second) {
  CAPTURE(message);
  CHECK(contains(message, title));
  CHECK(contains(message, at(signal_file, first)));
  CHECK(contains(message, at(signal_file, second)));
  CHECK(contains(message, "\n  rank "));
}

}  // namespace

TEST_CASE("several ranks that Set one cell misuse it") {
  BOTH_WAYS
  for (const int ranks : {3, 4, 9})
    for (const int cell : {0, 15}) {
      const std::string message = outcome(several_set_one_cell, ranks, cell);
      check_lines(message, "misuse of a signal cell: several writers Set cell " + std::to_string(cell),
                  many_set + 4, many_set + 4);
    }
}

TEST_CASE("a Set and an addition of two ranks misuse a cell") {
  BOTH_WAYS
  for (const int ranks : {3, 6})
    check_lines(outcome(one_sets_and_one_adds, ranks, 3), "misuse of a signal cell: one rank Sets cell 3",
                set_and_add + 3, set_and_add + 4);
}

TEST_CASE("a plain store into a signal cell misuses it, from the own rank or another") {
  BOTH_WAYS
  for (const int ranks : {1, 2, 5}) {
    CHECK(contains(outcome(stores_into_its_signal, ranks, 4), "misuse of a signal cell: cell 4"));
    CHECK(contains(outcome(stores_into_its_signal, ranks, 4), at(signal_file, own_store + 5)));
    CHECK(contains(outcome(signals_by_a_store, ranks, 2), "misuse of a signal cell: cell 2"));
    CHECK(contains(outcome(signals_by_a_store, ranks, 2), at(signal_file, plain_flag + 3)));
  }
}

TEST_CASE("a signal in the data of a collective misuses its cell") {
  BOTH_WAYS
  for (const int ranks : {2, 3})
    for (const int cell : {0, 7}) {
      const std::string message = outcome(signals_in_a_collectives_data, ranks, cell);
      CHECK(contains(message, "misuse of a signal cell: cell " + std::to_string(cell)));
      CHECK(contains(message, at(signal_file, in_collective + 5)));
    }
}

TEST_CASE("a reset that may overwrite a peer's first signal loses it, whoever comes first") {
  BOTH_WAYS
  for (const int ranks : {2, 3, 8})
    for (const std::uint64_t seed : {0, 1, 2, 3, 4}) {
      check_lines(outcome(resets_at_the_start, ranks, 1, seed), "lost signal: a reset of cell 1",
                  reset_first + 3, reset_first + 4);
      check_lines(outcome(resets_after_each_round, ranks, 1, seed), "lost signal: a reset of cell 1",
                  reset_between + 4, reset_between + 6);
    }
}

TEST_CASE("a wait for exactly a value that a change may replace before it is seen can lose it") {
  BOTH_WAYS
  for (const int ranks : {2, 3})
    for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
      const std::string message = outcome(waits_for_exactly_one_of_two, ranks, 2, seed);
      CAPTURE(message);
      // Where the change came first nothing can wake the wait.
      CHECK((contains(message, "lost signal: a change of cell 2") || contains(message, "deadlock")));
      CHECK(contains(message, at(signal_file, exact_value + 7)));
    }
}

TEST_CASE("a wait that an earlier round's signal satisfies is stale") {
  BOTH_WAYS
  for (const int ranks : {2, 3, 7})
    for (const std::uint64_t seed : {0, 1, 2, 3}) {
      check_lines(outcome(waits_for_one_in_every_round, ranks, 1, seed), "stale signal: a wait for cell 1",
                  same_value + 4, same_value + 5);
      check_lines(outcome(sets_one_in_every_round, ranks, 1, seed), "stale signal: a wait for cell 1",
                  same_set + 4, same_set + 5);
    }
}

TEST_CASE("a remote write that no signal, fence or collective follows is reported at the end of the run") {
  BOTH_WAYS
  for (const int ranks : {2, 3})
    for (const int size : {1, 30}) {
      const std::string message = outcome(stores_and_tells_nobody, ranks, size);
      CHECK(contains(message, "published but never signalled: no notify to rank "));
      CHECK(contains(message, at(signal_file, silent_store + 5)));
      const std::string put = outcome(puts_and_tells_another, ranks + 1, size);
      CHECK(contains(put, "published but never signalled: no notify to rank 1"));
      CHECK(contains(put, at(signal_file, silent_put + 3)));
    }
}
