// Accesses of several ranks without an order between them are reported with both ranks and lines.
#include "race_programs.hpp"

using support::contains;
using windows::at;
using windows::outcome;
using namespace wrong;

namespace {

/// The report names both lines, with a rank each.
void check_race(const std::string& message, int first, int second) {
  CAPTURE(message);
  CHECK(contains(message, "race: nothing orders two accesses to rank "));
  CHECK(contains(message, at(race_file, first)));
  CHECK(contains(message, at(race_file, second)));
  CHECK(contains(message, "\n  rank "));
  CHECK(contains(message, "allocated at "));
}

}  // namespace

TEST_CASE("a read of the own part without a wait races with the peer's write") {
  BOTH_WAYS
  for (const int ranks : {2, 3, 8})
    for (const int size : {1, 5, 64}) {
      const std::string message = outcome(reads_own_part_without_waiting, ranks, size);
      check_race(message, no_wait + 3, no_wait + 5);
      CHECK(contains(message, "pl::load reads bytes 0 to " + std::to_string(4 * size - 1)));
      CHECK(contains(message, "pld::remote_store writes bytes 0 to " + std::to_string(4 * size - 1)));
    }
}

TEST_CASE("a read of a peer's part without a wait races with the peer's own write") {
  BOTH_WAYS
  for (const int ranks : {2, 5})
    for (const int size : {2, 17}) {
      const std::string message = outcome(loads_from_a_peer_without_waiting, ranks, size);
      check_race(message, no_notify + 3, no_notify + 4);
      CHECK(contains(message, "pld::remote_load reads bytes 8 to " + std::to_string(8 + 4 * size - 1)));
      CHECK(contains(message, "pl::store writes bytes 12 to " + std::to_string(12 + 4 * size - 1)));
    }
}

TEST_CASE("two ranks that write to one place without an order are reported") {
  BOTH_WAYS
  for (const int ranks : {2, 3, 16})
    check_race(outcome(all_write_to_rank_zero, ranks, ranks), two_writers + 2, two_writers + 2);
}

TEST_CASE("a write into a buffer that its reader may still read is reported") {
  BOTH_WAYS
  for (const int ranks : {2, 3})
    for (const int size : {1, 16})
      check_race(outcome(writes_before_the_last_round_is_read, ranks, size), too_early + 4, too_early + 7);
}

TEST_CASE("a wait for fewer signals than there are writers orders only those that it needs") {
  BOTH_WAYS
  for (const int ranks : {3, 6}) check_race(outcome(waits_for_too_few, ranks, 8), too_few + 4, too_few + 8);
}

TEST_CASE("a wait on the cell of another signal orders nothing") {
  BOTH_WAYS
  for (const int ranks : {2, 4})
    check_race(outcome(waits_on_another_cell, ranks, 3), other_cell + 4, other_cell + 7);
}

TEST_CASE("a write that is only announced to a third rank is not there for its peer") {
  BOTH_WAYS
  for (const int ranks : {3, 4}) {
    const std::string message = outcome(relays_without_a_fence, ranks, 6);
    check_race(message, relayed + 4, relayed + 13);
  }
}

TEST_CASE("two writes of one task to one place may overtake each other") {
  BOTH_WAYS
  const std::string message = outcome(writes_twice_without_a_fence, 2, 6);
  check_race(message, overtaking + 3, overtaking + 4);
  CHECK(contains(message, "Only a later pld::notify to rank 1"));
}

TEST_CASE("a write beside a collective's data is ordered by it, and two behind it are not") {
  BOTH_WAYS
  for (const int ranks : {2, 3})
    check_race(outcome(writes_beside_a_collective, ranks, 6), against_collective + 5, against_collective + 5);
}
