#include "runtime/model/access_map.hpp"

#include <algorithm>

namespace trilith::model {

AccessMap::Segments::const_iterator AccessMap::first_in(Range range) const {
  auto segment = segments_.upper_bound(range.begin);
  if (segment != segments_.begin()) {
    const auto before = std::prev(segment);
    if (before->second.end > range.begin) return before;
  }
  return segment;
}

std::optional<AccessMap::Conflict> AccessMap::conflict(Range range, bool writes, const Stamp& stamp,
                                                       const Clock& clock) const {
  for (auto at = first_in(range); at != segments_.end() && at->first < range.end; ++at) {
    const Segment& segment = at->second;
    const Range common{std::max(range.begin, at->first), std::min(range.end, segment.end)};
    const bool commutes = writes && stamp.atomic != 0 && segment.write.atomic == stamp.atomic;
    if (segment.write.number != 0 && !commutes && !clock.knows(segment.write))
      return Conflict{segment.write, true, common};
    if (!writes) continue;
    for (const Stamp& read : segment.reads)
      if (!clock.knows(read)) return Conflict{read, false, common};
  }
  return std::nullopt;
}

void AccessMap::split(std::uint64_t at) {
  auto segment = segments_.upper_bound(at);
  if (segment == segments_.begin()) return;
  --segment;
  if (segment->first == at || segment->second.end <= at) return;
  Segment upper = segment->second;
  segment->second.end = at;
  segments_.emplace_hint(std::next(segment), at, std::move(upper));
}

void AccessMap::record(Range range, bool writes, const Stamp& stamp) {
  if (range.begin >= range.end) return;
  split(range.begin);
  split(range.end);
  auto at = segments_.lower_bound(range.begin);
  if (writes) {
    while (at != segments_.end() && at->first < range.end) at = segments_.erase(at);
    segments_.emplace_hint(at, range.begin, Segment{range.end, stamp, {}});
    return;
  }
  std::uint64_t done = range.begin;
  const auto fill = [&](Segments::iterator before, std::uint64_t end) {
    if (done < end) segments_.emplace_hint(before, done, Segment{end, {}, {stamp}});
  };
  for (; at != segments_.end() && at->first < range.end; ++at) {
    fill(at, at->first);
    std::vector<Stamp>& reads = at->second.reads;
    const auto same = std::find_if(reads.begin(), reads.end(), [&](const Stamp& read) {
      return read.core == stamp.core && read.pipe == stamp.pipe;
    });
    if (same != reads.end())
      *same = stamp;
    else
      reads.push_back(stamp);
    done = at->second.end;
  }
  fill(at, range.end);
}

std::optional<std::uint64_t> AccessMap::unwritten(Range range) const {
  std::uint64_t done = range.begin;
  for (auto at = first_in(range); at != segments_.end() && at->first < range.end; ++at) {
    if (at->first > done || at->second.write.number == 0) return done;
    done = at->second.end;
  }
  if (done < range.end) return done;
  return std::nullopt;
}

}  // namespace trilith::model
