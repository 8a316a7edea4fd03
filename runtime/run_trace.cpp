#include "runtime/run_trace.hpp"

#include "runtime/windows/remote_call.hpp"

#include <atomic>

namespace pl::detail {
namespace {

// A waiter that more signals than this have overtaken gets no arrow.
constexpr std::size_t most_changes = 64;

std::string text_of(const Place& where) {
  return json_string(std::string(where.file) + ":" + std::to_string(where.line));
}

}  // namespace

std::string traced_place(const Place& where) { return R"("at": )" + text_of(where); }

void RunTrace::note_change(TracedThread& by, const WindowPart& part, const std::int32_t* cell,
                           Clock::time_point now) {
  const auto offset = reinterpret_cast<const char*>(cell) - part.base;
  by.cell = offset < part.memory->bytes ? offset / static_cast<std::int64_t>(sizeof(std::int32_t)) : -1;
  Cell& known = cells_[cell];
  known.changes.push_back({std::atomic_ref<const std::int32_t>(*cell).load(std::memory_order_relaxed),
                           {by.row, now},
                           by.rank,
                           by.where});
  if (known.changes.size() <= most_changes) return;
  known.changes.pop_front();
  known.complete = false;
}

std::optional<RunTrace::Change> RunTrace::cause_of(const CellWait& wait) const {
  const Lock lock(mutex_);
  const auto at = cells_.find(wait.cell);
  if (at == cells_.end()) return std::nullopt;
  const std::deque<Change>& changes = at->second.changes;
  // The last one may have come after the wait had ended, and undone what it waited for.
  auto last = changes.rbegin();
  while (last != changes.rend() && !is_satisfied(wait, last->value)) ++last;
  if (last == changes.rend()) return std::nullopt;
  auto first = last;
  while (first != changes.rend() && is_satisfied(wait, first->value)) last = first++;
  if (first == changes.rend() && !at->second.complete) return std::nullopt;
  return *last;
}

void RunTrace::waited(const TracedThread& by, const CellWait& wait, Clock::time_point begin, bool satisfied) {
  const Clock::time_point end = Clock::now();
  const std::optional<Change> cause = satisfied ? cause_of(wait) : std::nullopt;
  std::string arguments = R"("window": )" + json_string(wait.part->memory->title());
  if (wait.index >= 0) arguments += R"(, "cell": )" + std::to_string(wait.index);
  arguments += R"(, "expected": )" + std::to_string(wait.expected) + ", " + traced_place(wait.where);
  if (cause)
    arguments +=
        R"(, "peer": )" + std::to_string(cause->rank) + R"(, "notified_at": )" + text_of(cause->where);
  if (!satisfied) arguments += R"(, "ended_by": "failure of the run")";
  trace_.span(by.row, "wait", (wait.index >= 0 ? "" : "wait in ") + std::string(name_of(wait.operation)),
              begin, end, arguments);
  if (cause) trace_.arrow("signal", cause->at, {by.row, last_moment(begin, end)});
}

void RunTrace::rank_ended(const TracePoint& at) {
  const Lock lock(mutex_);
  if (!last_rank_end_ || last_rank_end_->time < at.time) last_rank_end_ = at;
}

std::optional<TracePoint> RunTrace::last_rank_end() const {
  const Lock lock(mutex_);
  return last_rank_end_;
}

}  // namespace pl::detail
