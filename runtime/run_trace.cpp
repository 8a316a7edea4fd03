#include "runtime/run_trace.hpp"

#include "runtime/byte_stream.hpp"
#include "runtime/windows/remote_call.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace pl::detail {
namespace {

// Processes that change one cell at a time are seldom more changes apart than this: where the next value is not among so
// many, the order of the clocks stands.
constexpr std::size_t most_apart = 64;

std::string text_of(const Place& where) {
  return json_string(std::string(where.file) + ":" + std::to_string(where.line));
}

CellName name_of_cell(const WindowPart& part, const std::int32_t* cell) {
  return {part.memory->number(), part.member, reinterpret_cast<const char*>(cell) - part.base};
}

bool is_satisfied(const EndedWait& wait, std::int32_t seen) {
  return is_satisfied(CellWait{nullptr, nullptr, 0, wait.expected, wait.at_least, wait.wraps, {}, {}}, seen);
}

/// What the cell was in front of all changes: the one value that was found once more than it was made. Each as often as
/// the other: what the earliest found.
std::int32_t first_value(const std::vector<CellChange>& changes) {
  std::map<std::int32_t, std::ptrdiff_t> found;
  for (const CellChange& change : changes) {
    ++found[change.before];
    --found[change.after];
  }
  const auto first = std::ranges::find_if(found, [](const auto& each) { return each.second == 1; });
  return first != found.end() ? first->first : changes.front().before;
}

}  // namespace

std::string traced_place(const Place& where) { return R"("at": )" + text_of(where); }

void put_in_order(std::vector<CellChange>& changes) {
  if (changes.empty()) return;
  // Keeps the order of equal times. Not std::stable_sort: with the standard library of g++ 12 clang warns of its parts.
  std::multimap<Clock::time_point, CellChange> by_time;
  for (CellChange& change : changes) {
    const Clock::time_point time = change.time;
    by_time.emplace(time, std::move(change));
  }
  std::ranges::transform(by_time, changes.begin(), [](auto& each) { return std::move(each.second); });
  std::int32_t value = first_value(changes);
  Clock::time_point not_before = changes.front().time;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto here = changes.begin() + static_cast<std::ptrdiff_t>(i);
    const auto last = here + static_cast<std::ptrdiff_t>(std::min(most_apart, changes.size() - i));
    const auto next =
        std::find_if(here, last, [value](const CellChange& change) { return change.before == value; });
    if (next != last) std::rotate(here, next, next + 1);
    value = here->after;
    // It was made behind the one before it, and that one not before its own time.
    not_before = here->time = std::max(here->time, not_before);
  }
}

const CellChange* cause_of(const EndedWait& wait, const std::vector<CellChange>& changes) {
  auto behind = std::ranges::upper_bound(changes, wait.end, {}, &CellChange::time);
  // The last ones may have come after the wait had ended, and undone what it waited for.
  while (behind != changes.begin() && !is_satisfied(wait, std::prev(behind)->after)) --behind;
  if (behind == changes.begin()) return nullptr;
  auto first = std::prev(behind);
  while (is_satisfied(wait, first->before)) {
    // In front of all that are known, it was satisfied by nobody.
    if (first == changes.begin() || !is_satisfied(wait, std::prev(first)->after)) return nullptr;
    --first;
  }
  return &*first;
}

void RunTrace::note_change(TracedThread& by, const WindowPart& part, const std::int32_t* cell,
                           std::int32_t before, std::int32_t after, Clock::time_point now) {
  const CellName name = name_of_cell(part, cell);
  by.cell =
      name.offset < part.memory->bytes ? name.offset / static_cast<std::int64_t>(sizeof(std::int32_t)) : -1;
  CellChange change{before, after, now, by.row, by.rank, text_of(by.where)};
  const Lock lock(mutex_);
  changes_[name].push_back(std::move(change));
}

void RunTrace::waited(const TracedThread& by, const CellWait& wait, Clock::time_point begin, bool satisfied) {
  const Clock::time_point end = Clock::now();
  std::string arguments = R"("window": )" + json_string(wait.part->memory->title());
  if (wait.index >= 0) arguments += R"(, "cell": )" + std::to_string(wait.index);
  arguments += R"(, "expected": )" + std::to_string(wait.expected) + ", " + traced_place(wait.where);
  std::string name = (wait.index >= 0 ? "" : "wait in ") + std::string(name_of(wait.operation));
  if (!satisfied)
    return trace_.span(by.row, "wait", name, begin, end, arguments + R"(, "ended_by": "failure of the run")");
  EndedWait ended{name_of_cell(wait.holder != nullptr ? *wait.holder : *wait.part, wait.cell),
                  wait.expected,
                  wait.at_least,
                  wait.wraps,
                  by.row,
                  begin,
                  end,
                  std::move(name),
                  std::move(arguments)};
  const Lock lock(mutex_);
  waits_.push_back(std::move(ended));
}

void RunTrace::rank_ended(const TracePoint& at) {
  const Lock lock(mutex_);
  if (!last_rank_end_ || last_rank_end_->time < at.time) last_rank_end_ = at;
}

void RunTrace::close() {
  if (std::exchange(closed_, true)) return;
  if (trace_.has_host()) show_host();
  if (trace_.is_sent())
    trace_.send_signals(pack());
  else
    show_waits();
  trace_.flush();
}

void RunTrace::show_host() {
  const Clock::time_point end = Clock::now();
  const TraceRow row = trace_.host_row();
  trace_.span(row, "orchestrate", "orchestrate", host_begin_, host_return_);
  trace_.span(row, "orchestrate", "wait for ranks", host_return_, end);
  const Lock lock(mutex_);
  if (last_rank_end_ && last_rank_end_->time >= host_return_)
    trace_.arrow("last rank", *last_rank_end_, {row, last_moment(host_return_, end)});
}

void RunTrace::show_waits() {
  const Lock lock(mutex_);
  for (auto& [cell, changes] : changes_) put_in_order(changes);
  for (const EndedWait& wait : waits_) {
    const auto known = changes_.find(wait.cell);
    const CellChange* const cause = known == changes_.end() ? nullptr : cause_of(wait, known->second);
    std::string arguments = wait.arguments;
    if (cause != nullptr)
      arguments += R"(, "peer": )" + std::to_string(cause->rank) + R"(, "notified_at": )" + cause->where;
    trace_.span(wait.row, "wait", wait.name, wait.begin, wait.end, arguments);
    if (cause != nullptr)
      trace_.arrow("signal", {cause->row, cause->time}, {wait.row, last_moment(wait.begin, wait.end)});
  }
}

void RunTrace::take(TracePiece piece, std::string_view text) {
  if (piece == TracePiece::Events)
    trace_.take(text);
  else
    unpack(text);
}

void RunTrace::forget() {
  const Lock lock(mutex_);
  changes_.clear();
  waits_.clear();
  last_rank_end_.reset();
}

// Times count from the beginning of the file's, which the processes have agreed on.
std::string RunTrace::pack() {
  const Clock::time_point start = trace_.start();
  const Lock lock(mutex_);
  Writer to;
  to << static_cast<std::uint64_t>(changes_.size());
  for (const auto& [cell, changes] : changes_) {
    to << cell << static_cast<std::uint64_t>(changes.size());
    for (const CellChange& change : changes)
      to << change.before << change.after << change.time - start << change.row << change.rank << change.where;
  }
  to << static_cast<std::uint64_t>(waits_.size());
  for (const EndedWait& wait : waits_)
    to << wait.cell << wait.expected << wait.at_least << wait.wraps << wait.row << wait.begin - start
       << wait.end - start << wait.name << wait.arguments;
  to << last_rank_end_.has_value();
  if (last_rank_end_) to << last_rank_end_->row << last_rank_end_->time - start;
  return std::move(to.bytes);
}

void RunTrace::unpack(std::string_view packed) {
  const Clock::time_point start = trace_.start();
  Reader from(packed);
  const auto time = [&] { return start + from.get<Clock::duration>(); };
  {
    const Lock lock(mutex_);
    for (auto cells = from.get<std::uint64_t>(); cells > 0; --cells) {
      std::vector<CellChange>& changes = changes_[from.get<CellName>()];
      for (auto count = from.get<std::uint64_t>(); count > 0; --count) {
        CellChange& change = changes.emplace_back();
        from >> change.before >> change.after;
        change.time = time();
        from >> change.row >> change.rank >> change.where;
      }
    }
    for (auto count = from.get<std::uint64_t>(); count > 0; --count) {
      EndedWait& wait = waits_.emplace_back();
      from >> wait.cell >> wait.expected >> wait.at_least >> wait.wraps >> wait.row;
      wait.begin = time();
      wait.end = time();
      from >> wait.name >> wait.arguments;
    }
  }
  if (!from.get<bool>()) return;
  const auto row = from.get<TraceRow>();
  rank_ended({row, time()});
}

}  // namespace pl::detail
