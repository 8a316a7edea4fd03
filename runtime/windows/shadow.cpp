#include "runtime/windows/shadow.hpp"

namespace pl::detail {
namespace {

const WindowAccess* unordered(const std::vector<WindowAccess>& earlier, const WindowAccess& next,
                              const VectorClock& clock) {
  for (const WindowAccess& access : earlier)
    if (!access.before(next, clock)) return &access;
  return nullptr;
}

void replace(std::vector<WindowAccess>& list, const WindowAccess& access) {
  for (WindowAccess& known : list)
    if (known.lane == access.lane) {
      known = access;
      return;
    }
  list.push_back(access);
}

}  // namespace

Shadow::Segments::iterator Shadow::split(std::int64_t at) {
  const auto next = segments_.lower_bound(at);
  if (next == segments_.begin()) return next;
  const auto before = std::prev(next);
  if (before->second.end <= at) return next;
  const auto second = segments_.emplace_hint(next, at, before->second);
  before->second.end = at;
  return second;
}

std::optional<WindowAccess> Shadow::add(std::int64_t begin, std::int64_t end, const WindowAccess& access,
                                        const VectorClock& clock) {
  if (begin >= end) return std::nullopt;
  auto at = split(begin);
  (void)split(end);
  const auto first_of = [&](const Segment& segment) -> const WindowAccess* {
    if (segment.write && !segment.write->before(access, clock)) return &*segment.write;
    if (access.kind != WindowAccess::Kind::Add)
      if (const WindowAccess* found = unordered(segment.adds, access, clock)) return found;
    if (access.kind != WindowAccess::Kind::Read)
      if (const WindowAccess* found = unordered(segment.reads, access, clock)) return found;
    return nullptr;
  };
  std::optional<WindowAccess> result;
  if (access.kind == WindowAccess::Kind::Write) {
    while (at != segments_.end() && at->first < end) {
      if (const WindowAccess* found = first_of(at->second); found != nullptr && !result) result = *found;
      at = segments_.erase(at);
    }
    segments_.emplace_hint(at, begin, Segment{end, access, {}, {}});
    return result;
  }
  for (std::int64_t next = begin; next < end;) {
    if (at == segments_.end() || at->first > next) {
      const std::int64_t gap_end = at == segments_.end() ? end : std::min(end, at->first);
      at = segments_.emplace_hint(at, next, Segment{gap_end, std::nullopt, {}, {}});
    }
    Segment& segment = at->second;
    if (const WindowAccess* found = first_of(segment); found != nullptr && !result) result = *found;
    replace(access.kind == WindowAccess::Kind::Read ? segment.reads : segment.adds, access);
    next = segment.end;
    ++at;
  }
  return result;
}

std::optional<WindowAccess> Shadow::last_write(std::int64_t begin, std::int64_t end) const {
  auto at = segments_.upper_bound(begin);
  if (at != segments_.begin()) --at;
  for (; at != segments_.end() && at->first < end; ++at) {
    if (at->second.end <= begin) continue;
    if (at->second.write) return at->second.write;
    if (!at->second.adds.empty()) return at->second.adds.front();
  }
  return std::nullopt;
}

}  // namespace pl::detail
