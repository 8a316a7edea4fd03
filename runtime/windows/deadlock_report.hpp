// runtime/windows/deadlock_report.hpp -- the words for waits that nothing can end.
#pragma once

#include "pl/error.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace pl::detail {

struct CellWait;

/// A wait, without anything of the process in which it sleeps.
struct WaitReport {
  int rank = 0;
  Location where;
  std::string what;
  std::string window;      ///< its title
  std::vector<int> ranks;  ///< that share it
  std::int64_t index = 0;  ///< as in CellWait
  std::int32_t expected = 0;
  bool at_least = false;
  bool changes = false;
  std::int32_t seen = 0;
  int writer = -1;  ///< the rank that wrote the cell last; -1: none
  Location written_at;
  // Of a wait in a collective:
  std::string call;               ///< which one, equal on all ranks that make the same; empty: none
  std::string call_window;        ///< of its data
  std::uint32_t call_number = 0;  ///< among the rank's calls of that window
};

/// A wait until the cell has another value than `expected`, whatever that is: `wraps` without `at_least`.
[[nodiscard]] bool waits_for_change(const CellWait& wait);

[[nodiscard]] WaitReport report_of(const CellWait& wait);

/// `waits`: in the order of the report. `collectives`: lines on who called which, or nothing.
[[nodiscard]] std::string deadlock_text(const std::vector<WaitReport>& waits,
                                        const std::vector<int>& finished, const std::string& collectives);

}  // namespace pl::detail
