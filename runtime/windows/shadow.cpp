#include "runtime/windows/shadow.hpp"

namespace pl::detail {
namespace {

using Conflict = Shadow::Conflict;

void find_unordered(const std::vector<AccessRef>& earlier, const WindowAccess& next, const VectorClock& clock,
                    Conflict& found) {
  for (const AccessRef& access : earlier)
    if (!found.earlier && !access->before(next, clock)) found.earlier = access;
}

/// In the interval that begins at `byte` the one that `next` may not meet without an order.
template <class Interval>
void find_conflict(const Interval& interval, std::int64_t byte, const WindowAccess& next,
                   const VectorClock& clock, Conflict& found) {
  if (found.earlier) return;
  if (interval.write && !interval.write->before(next, clock)) found.earlier = interval.write;
  if (next.kind != WindowAccess::Kind::Add) find_unordered(interval.adds, next, clock, found);
  if (next.kind != WindowAccess::Kind::Read) find_unordered(interval.reads, next, clock, found);
  found.byte = byte;
}

void replace(std::vector<AccessRef>& list, const AccessRef& access) {
  for (AccessRef& known : list)
    if (known->lane == access->lane) {
      known = access;
      return;
    }
  list.push_back(access);
}

template <class Columns>
void split(Columns& columns, std::int64_t at) {
  const auto next = columns.lower_bound(at);
  if (next == columns.begin()) return;
  const auto before = std::prev(next);
  if (before->second.end <= at) return;
  columns.emplace_hint(next, at, before->second);
  before->second.end = at;
}

/// `row`: the first byte of the first row of these columns that is written.
template <class Columns>
void write(Columns& columns, std::int64_t row, std::int64_t begin, std::int64_t end, const AccessRef& access,
           const VectorClock& clock, Conflict& found) {
  auto at = columns.lower_bound(begin);
  if (at == columns.end() || at->first != begin || at->second.end != end) {
    split(columns, begin);
    split(columns, end);
    at = columns.lower_bound(begin);
    while (at != columns.end() && at->first < end) {
      find_conflict(at->second, row + at->first, *access, clock, found);
      at = columns.erase(at);
    }
    columns.emplace_hint(at, begin, typename Columns::mapped_type{end, access, {}, {}});
    return;
  }
  // The same bytes again: most programs do in every round what they did in the one before.
  find_conflict(at->second, row + at->first, *access, clock, found);
  at->second.write = access;
  at->second.adds.clear();
  at->second.reads.clear();
}

/// An access that leaves the last write what it is.
template <class Columns>
void touch(Columns& columns, std::int64_t row, std::int64_t begin, std::int64_t end, const AccessRef& access,
           const VectorClock& clock, Conflict& found) {
  split(columns, begin);
  split(columns, end);
  auto at = columns.lower_bound(begin);
  for (std::int64_t next = begin; next < end; ++at) {
    if (at == columns.end() || at->first > next) {
      const std::int64_t gap_end = at == columns.end() ? end : std::min(end, at->first);
      at = columns.emplace_hint(at, next, typename Columns::mapped_type{gap_end, nullptr, {}, {}});
    }
    find_conflict(at->second, row + at->first, *access, clock, found);
    replace(access->kind == WindowAccess::Kind::Read ? at->second.reads : at->second.adds, access);
    next = at->second.end;
  }
}

}  // namespace

template <class Visit>
void Shadow::for_each_rectangle(const ByteBox& box, const Visit& visit) const {
  if (box.rows > 1 && box.pitch == row_ && box.begin % row_ + box.width <= row_) {
    const std::int64_t row = box.begin / row_, column = box.begin % row_;
    visit(Rectangle{row, row + box.rows, column, column + box.width});
    return;
  }
  for (std::int64_t i = 0; i < box.rows; ++i) {
    const std::int64_t begin = box.begin + i * box.pitch, end = begin + box.width;
    std::int64_t row = begin / row_;
    if (const std::int64_t column = begin % row_; column != 0 || end < (row + 1) * row_) {
      visit(Rectangle{row, row + 1, column, std::min(row_, column + box.width)});
      ++row;
    }
    const std::int64_t last = end / row_;
    if (row < last) visit(Rectangle{row, last, 0, row_});
    if (row <= last && last * row_ < end) visit(Rectangle{last, last + 1, 0, end - last * row_});
  }
}

void Shadow::set_row(std::int64_t bytes) {
  const Bands one = std::move(bands_);
  bands_.clear();
  row_ = bytes;
  is_one_row_ = false;
  for (const auto& [row, band] : one)
    for (const auto& [begin, interval] : band.columns)
      for_each_rectangle({begin, interval.end - begin, 1, 0}, [&](const Rectangle& part) {
        for (auto at = bands(part.row, part.row_end); at != bands_.end() && at->first < part.row_end; ++at)
          at->second.columns.emplace(
              part.column, Interval{part.column_end, interval.write, interval.adds, interval.reads});
      });
}

void Shadow::split_band(std::int64_t row) {
  const auto next = bands_.lower_bound(row);
  if (next == bands_.begin()) return;
  const auto before = std::prev(next);
  if (before->second.end <= row) return;
  bands_.emplace_hint(next, row, before->second);
  before->second.end = row;
}

/// The first of the bands that are these rows.
Shadow::Bands::iterator Shadow::bands(std::int64_t row, std::int64_t row_end) {
  split_band(row);
  split_band(row_end);
  const auto first = bands_.lower_bound(row);
  auto at = first;
  const bool has_first = at != bands_.end() && at->first == row;
  for (std::int64_t next = row; next < row_end; ++at) {
    if (at == bands_.end() || at->first > next) {
      const std::int64_t gap_end = at == bands_.end() ? row_end : std::min(row_end, at->first);
      at = bands_.emplace_hint(at, next, Band{gap_end, {}});
    }
    next = at->second.end;
  }
  return has_first ? first : bands_.find(row);
}

void Shadow::add(const Rectangle& part, const AccessRef& access, const VectorClock& clock, Conflict& found) {
  const auto first = bands(part.row, part.row_end);
  const bool writes = access->kind == WindowAccess::Kind::Write;
  for (auto at = first; at != bands_.end() && at->first < part.row_end; ++at)
    if (writes)
      write(at->second.columns, at->first * row_, part.column, part.column_end, access, clock, found);
    else
      touch(at->second.columns, at->first * row_, part.column, part.column_end, access, clock, found);
  // Whole rows that one access has written are alike.
  if (!writes || part.column != 0 || part.column_end != row_) return;
  bands_.erase(std::next(first), bands_.lower_bound(part.row_end));
  first->second.end = part.row_end;
}

Conflict Shadow::add(const ByteBox& box, const AccessRef& access, const VectorClock& clock) {
  if (box.rows > 1 && is_one_row_) set_row(box.pitch);
  Conflict found;
  for_each_rectangle(box, [&](const Rectangle& part) { add(part, access, clock, found); });
  return found;
}

AccessRef Shadow::last_write(std::int64_t begin, std::int64_t end) const {
  AccessRef result;
  for_each_rectangle({begin, end - begin, 1, 0}, [&](const Rectangle& part) {
    auto band = bands_.upper_bound(part.row);
    if (band != bands_.begin()) --band;
    for (; band != bands_.end() && band->first < part.row_end; ++band) {
      if (band->second.end <= part.row) continue;
      const Columns& columns = band->second.columns;
      auto at = columns.upper_bound(part.column);
      if (at != columns.begin()) --at;
      for (; at != columns.end() && at->first < part.column_end; ++at) {
        if (result || at->second.end <= part.column) continue;
        result = at->second.write;
        if (!result && !at->second.adds.empty()) result = at->second.adds.front();
      }
    }
  });
  return result;
}

}  // namespace pl::detail
