// runtime/region_index.hpp -- which tasks read and write which memory: where automatic edges come from.
//
// Read-after-write, write-after-write and write-after-read. Exact for boxes of one base and stride (see
// `overlap` in measure.hpp), by byte range otherwise: an edge too many, never one too few.
// For one thread: the one that submits.
#pragma once

#include "runtime/measure.hpp"
#include "runtime/recorded_view.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace pl::detail {

/// Counts the tasks of one orchestration, from 0.
using TaskNumber = std::uint64_t;

/// A box of memory that a task reads or writes.
struct Region {
  RecordedView view;
  bool writes;
};

class RegionIndex {
 public:
  /// Adds to `found` every remembered task that one with this region must come after; may name a task twice.
  /// Regions for which `done(task)` holds are forgotten.
  template <class Done>
  void conflicts(const Region& region, const Done& done, std::vector<TaskNumber>& found);
  void add(TaskNumber task, const Region& region);
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  template <class Done>
  void forget(const Done& done) {
    std::erase_if(entries_, [&](const auto& entry) { return done(entry.second.task); });
  }

 private:
  struct Entry {
    const char* end;
    bool dense;
    bool writes;
    TaskNumber task;
    RecordedView view;
  };
  std::multimap<const char*, Entry> entries_;  ///< by first byte
  std::size_t longest_ = 0;                    ///< bytes of the longest range that was ever added
};

template <class Done>
void RegionIndex::conflicts(const Region& region, const Done& done, std::vector<TaskNumber>& found) {
  const Measured range = measure(region.view.view());
  if (range.begin == range.end) return;
  const bool dense = range.layout == trilith::codegen::Layout::Dense;
  const auto first = reinterpret_cast<std::uintptr_t>(range.begin);
  // Whatever begins further in front ends in front too.
  auto at = entries_.upper_bound(
      reinterpret_cast<const char*>(first > longest_ ? first - longest_ : std::uintptr_t{0}));
  while (at != entries_.end() && at->first < range.end) {
    const Entry& entry = at->second;
    if (done(entry.task)) {
      at = entries_.erase(at);
      continue;
    }
    const bool meets = entry.end > range.begin && (region.writes || entry.writes) &&
                       ((dense && entry.dense) || overlap(region.view.view(), entry.view.view()));
    if (!meets) {
      ++at;
      continue;
    }
    found.push_back(entry.task);
    // Whoever conflicts with what is covered conflicts with this task as well, which comes after it.
    const bool covered = region.writes && dense && range.begin <= at->first && entry.end <= range.end;
    at = covered ? entries_.erase(at) : std::next(at);
  }
}

}  // namespace pl::detail
