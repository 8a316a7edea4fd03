// runtime/run_trace.hpp -- what the trace of one run of a program keeps: who changed a signal cell, and which waits have
// ended, for the arrow from a change to the wait that it has satisfied.
//
// The two may lie in different processes, so arrows are made at the end of the run, where everything is together: in
// the process that writes the file. A change knows the values before and after it, and so its place among the others
// of its cell, whatever the clocks say. Threads whose work is shown have a TracedThread in their ThreadState; without a
// trace there is none, and whoever signals or waits tests that one pointer. Thread-safe.
#pragma once

#include "runtime/trace.hpp"
#include "runtime/windows/window_memory.hpp"

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// A signal cell as all processes of a program call it.
struct CellName {
  std::int32_t window;  ///< WindowMemory::number
  std::int32_t member;
  std::int64_t offset;  ///< in bytes from the beginning of the member's part
  auto operator<=>(const CellName&) const = default;
};

/// Of a cell.
struct CellChange {
  std::int32_t before, after;
  Clock::time_point time;  ///< a moment before it was made
  TraceRow row;
  int rank;
  std::string where;  ///< "file:line" as JSON
};

/// One that has been satisfied.
struct EndedWait {
  CellName cell;
  std::int32_t expected;
  bool at_least, wraps;  ///< as in CellWait
  TraceRow row;
  Clock::time_point begin, end;
  std::string name, arguments;  ///< of its span
};

class RunTrace {
 public:
  explicit RunTrace(Trace& trace) : trace_(trace) {}
  [[nodiscard]] Trace& trace() { return trace_; }

  /// Makes a change of a cell, which gives the value that the cell had, and remembers it. `after`: the value as it is
  /// made of that one.
  template <class Change, class After>
  void change(TracedThread& by, const WindowPart& part, const std::int32_t* cell, const Change& change,
              const After& after) {
    const Clock::time_point now = Clock::now();
    const std::int32_t before = change();
    note_change(by, part, cell, before, after(before), now);
  }
  /// A wait has ended; `satisfied`: not by a failure of the run.
  void waited(const TracedThread& by, const CellWait& wait, Clock::time_point begin, bool satisfied);

  /// A rank has done a job of the host's.
  void rank_ended(const TracePoint& at);
  /// The host orchestrator begins, and has returned.
  void host_begins() { host_begin_ = Clock::now(); }
  void host_returns() { host_return_ = Clock::now(); }

  /// The end of the run in this process: shows what is left to show, or hands it on. Once; also of a run that fails, since
  /// it is what shows where its ranks stood.
  void close();
  /// From a process that hands it on.
  void take(TracePiece piece, std::string_view text);
  /// Of a rank's process that begins: what was noted so far is the host's.
  void forget();

 private:
  void note_change(TracedThread& by, const WindowPart& part, const std::int32_t* cell, std::int32_t before,
                   std::int32_t after, Clock::time_point now);
  void show_host();
  void show_waits();
  [[nodiscard]] std::string pack();
  void unpack(std::string_view packed);

  Trace& trace_;
  // Of the host's thread.
  Clock::time_point host_begin_, host_return_;
  bool closed_ = false;
  Mutex mutex_;
  std::map<CellName, std::vector<CellChange>> changes_ TRILITH_GUARDED_BY(mutex_);
  std::vector<EndedWait> waits_ TRILITH_GUARDED_BY(mutex_);
  std::optional<TracePoint> last_rank_end_ TRILITH_GUARDED_BY(mutex_);
};

/// Puts the changes of a cell, each process's in its own order, into the order in which they were made.
void put_in_order(std::vector<CellChange>& changes);
/// Of changes in order: the one since which the wait has been satisfied; null: that is not known.
[[nodiscard]] const CellChange* cause_of(const EndedWait& wait, const std::vector<CellChange>& changes);

/// `"at": "file:line"`
[[nodiscard]] std::string traced_place(const Place& where);

}  // namespace pl::detail
