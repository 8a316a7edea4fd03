// Signals of several processes: their order from the values they found, causes of waits, and clocks that differ.
#include "runtime/mpi/clock_bounds.hpp"
#include "runtime/run_trace.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace pl::detail;
using namespace std::chrono_literals;

namespace {

Clock::time_point at(int microseconds) {
  return Clock::time_point() + std::chrono::microseconds(microseconds);
}
CellChange change(std::int32_t before, std::int32_t after, int time) {
  return {before, after, at(time), {1, 0}, 0, {}};
}
EndedWait wait_until(std::int32_t expected, bool at_least, int end) {
  return {{0, 0, 0}, expected, at_least, false, {2, 0}, at(0), at(end), {}, {}};
}
std::vector<std::int32_t> values(const std::vector<CellChange>& changes) {
  std::vector<std::int32_t> result;
  for (const CellChange& each : changes) result.push_back(each.after);
  return result;
}

}  // namespace

TEST_CASE("changes of a cell stand in the order of the values they found, whatever their clocks say") {
  // Two processes add at the same time; who looked at its clock first was second.
  std::vector<CellChange> added{change(1, 2, 10), change(0, 1, 12), change(2, 3, 11), change(3, 4, 20)};
  put_in_order(added);
  CHECK(values(added) == std::vector<std::int32_t>{1, 2, 3, 4});
  // Nobody made a change before the one whose value it found.
  CHECK(added[1].time == at(12));
  CHECK(added[2].time == at(12));

  std::vector<CellChange> set{change(0, 1, 10), change(2, 0, 14), change(1, 2, 15), change(0, 3, 30)};
  put_in_order(set);
  CHECK(values(set) == std::vector<std::int32_t>{1, 2, 0, 3});

  // Of cells that were not zero at first; and where values come round again.
  std::vector<CellChange> kept{change(5, 0, 2), change(0, 5, 1), change(5, 0, 3)};
  put_in_order(kept);
  CHECK(values(kept) == std::vector<std::int32_t>{0, 5, 0});
  std::vector<CellChange> none;
  put_in_order(none);
  CHECK(none.empty());
}

TEST_CASE("the cause of a wait is the change since which it was satisfied when it ended") {
  const std::vector<CellChange> changes{change(0, 1, 10), change(1, 2, 20), change(2, 3, 30),
                                        change(3, 0, 50), change(0, 1, 60)};
  const auto cause = [&](const EndedWait& wait) {
    const CellChange* const found = cause_of(wait, changes);
    return found != nullptr ? static_cast<int>(found - changes.data()) : -1;
  };
  CHECK(cause(wait_until(2, true, 40)) == 1);
  CHECK(cause(wait_until(1, true, 40)) == 0);
  // What came after its end is not looked at, nor what undid it meanwhile.
  CHECK(cause(wait_until(3, true, 55)) == 2);
  CHECK(cause(wait_until(1, true, 70)) == 4);
  CHECK(cause(wait_until(2, false, 29)) == 1);
  // It was satisfied before all of them, or by something that is not known.
  CHECK(cause(wait_until(0, true, 40)) == -1);
  CHECK(cause(wait_until(9, true, 40)) == -1);
}

TEST_CASE(
    "the clock of another process is as far ahead as its answers allow, and not at all where they can") {
  ClockBounds same;
  same.add(at(100), at(104), at(120));
  same.add(at(200), at(239), at(240));
  CHECK(same.ahead() == 0us);

  ClockBounds ahead;
  ahead.add(at(100), at(1150), at(300));  // 850 to 1050
  ahead.add(at(400), at(1405), at(410));  // 995 to 1005
  CHECK(ahead.ahead() == 1000us);

  ClockBounds behind;
  behind.add(at(5000), at(20), at(5040));
  CHECK(behind.ahead() == -5000us);
}
