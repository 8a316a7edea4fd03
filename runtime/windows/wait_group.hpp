// runtime/windows/wait_group.hpp -- the ranks that a search for a deadlock has to look at.
#pragma once

#include "runtime/windows/window_memory.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace pl::detail {

/// A rank, the ranks of the windows that it waits in, those of the windows that these wait in, and so on: whoever looks at
/// one adds its windows. Each rank comes once, and each window is passed once, however many wait in it.
class WaitGroup {
 public:
  void add(int rank) {
    if (ranks_.insert(rank).second) open_.push_back(rank);
  }
  void add(const WindowMemory& window) {
    if (!windows_.insert(reinterpret_cast<std::uintptr_t>(&window)).second) return;
    for (int member = 0; member < window.size(); ++member) add(window.part(member).rank);
  }
  /// A window by a number of its own and the ranks that share it.
  void add(std::uint64_t window, const std::vector<int>& ranks) {
    if (!windows_.insert(window).second) return;
    for (const int rank : ranks) add(rank);
  }
  /// One that has not come yet; nothing: that were all.
  [[nodiscard]] std::optional<int> next() {
    if (open_.empty()) return std::nullopt;
    const int rank = open_.back();
    open_.pop_back();
    return rank;
  }
  /// All that have been added.
  [[nodiscard]] const std::set<int>& ranks() const { return ranks_; }

 private:
  std::set<std::uint64_t> windows_;
  std::set<int> ranks_;
  std::vector<int> open_;
};

}  // namespace pl::detail
