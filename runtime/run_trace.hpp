// runtime/run_trace.hpp -- what the trace of one run of a program keeps: who changed a signal cell, for the arrow to the
// wait that the change has satisfied.
//
// Threads whose work is shown have a TracedThread in their ThreadState; without a trace there is none, and whoever
// signals or waits tests that one pointer. Thread-safe.
#pragma once

#include "runtime/trace.hpp"
#include "runtime/windows/window_memory.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

namespace pl::detail {

class RunTrace;
struct CellWait;

/// One block of a task, or a device's orchestration. Of its own thread alone.
class TracedThread {
 public:
  TracedThread(Trace& trace_, RunTrace* run_, TraceRow row_, int rank_)
      : trace(trace_), run(run_), row(row_), rank(rank_) {}
  Trace& trace;
  RunTrace* const run;  ///< null: an entry without a program
  const TraceRow row;
  const int rank;
  Place where;             ///< of the operation that it is in
  std::int64_t cell = -1;  ///< that its last change went to, as CellWait::index
};

class RunTrace {
 public:
  explicit RunTrace(Trace& trace) : trace_(trace) {}
  [[nodiscard]] Trace& trace() { return trace_; }

  /// Makes `change` of a cell, and remembers what it has made of it.
  template <class Change>
  void change(TracedThread& by, const WindowPart& part, const std::int32_t* cell, const Change& change) {
    const Clock::time_point now = Clock::now();
    const Lock lock(mutex_);
    change();
    note_change(by, part, cell, now);
  }
  /// A wait has ended; `satisfied`: not by a failure of the run.
  void waited(const TracedThread& by, const CellWait& wait, Clock::time_point begin, bool satisfied);

  /// A rank has done a job of the host's.
  void rank_ended(const TracePoint& at);
  [[nodiscard]] std::optional<TracePoint> last_rank_end() const;

 private:
  struct Change {
    std::int32_t value;  ///< that the cell had then
    TracePoint at;
    int rank;
    Place where;
  };
  struct Cell {
    std::deque<Change> changes;  ///< the last ones
    bool complete = true;        ///< none was forgotten
  };
  void note_change(TracedThread& by, const WindowPart& part, const std::int32_t* cell, Clock::time_point now)
      TRILITH_REQUIRES(mutex_);
  /// The change since which the wait has been satisfied, where that is known.
  [[nodiscard]] std::optional<Change> cause_of(const CellWait& wait) const;

  Trace& trace_;
  mutable Mutex mutex_;
  std::map<const std::int32_t*, Cell> cells_ TRILITH_GUARDED_BY(mutex_);
  std::optional<TracePoint> last_rank_end_ TRILITH_GUARDED_BY(mutex_);
};

/// `"at": "file:line"`
[[nodiscard]] std::string traced_place(const Place& where);

}  // namespace pl::detail
