#include "runtime/region_index.hpp"

namespace pl::detail {

void RegionIndex::add(TaskNumber task, const Region& region) {
  const Measured range = measure(region.view.view());
  if (range.begin == range.end) return;
  if (entries_.empty()) longest_ = 0;
  longest_ = std::max(longest_, static_cast<std::size_t>(range.end - range.begin));
  entries_.emplace(range.begin, Entry{range.end, range.layout == trilith::codegen::Layout::Dense,
                                      region.writes, task, region.view});
}

}  // namespace pl::detail
