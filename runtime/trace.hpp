// runtime/trace.hpp -- what ran when, as a Chrome trace that Perfetto opens: TRILITH_TRACE, RunConfig.trace.
//
// One process track for the host and one a rank; in a rank's track the device's thread, a row a core and one a task
// that may wait. Categories of spans: orchestrate, task, wait, collective, remote, signal. Arrows go from what
// started or ended something: a notify, a dispatch, the last task of an entry. The file is complete JSON after every
// run. Thread-safe; one writer a file: other processes of a program hand it what they have seen (TraceSender).
#pragma once

#include "runtime/fork_safe.hpp"
#include "runtime/task_observer.hpp"
#include "runtime/thread_annotations.hpp"

#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace pl::detail {

/// A row of a track.
struct TraceRow {
  int track;
  int row;
};
/// A moment in a span.
struct TracePoint {
  TraceRow row;
  Clock::time_point time;
};

/// What a process hands to the one that writes the file: events as they stand there, or what RunTrace::pack gives.
enum class TracePiece : std::int32_t { Events, Signals };

/// How it does that.
struct TraceSender {
  std::function<void(TracePiece piece, std::string_view text)> send;
  std::uint64_t first_arrow = 0;    ///< and on: no number that another process gives
  std::optional<int> host_of_rank;  ///< of a process that runs the host orchestrator, too
  Clock::time_point start;          ///< when the file's times begin, by the clock of this process
};

class Trace {
 public:
  /// The writer of this file; null for an empty path. Never destroyed.
  [[nodiscard]] static Trace* to(const std::string& path);

  static constexpr int host = 0;  ///< the track of the host; that of rank r is r + 1
  static constexpr int device_row = 0;
  /// Of the host that this process runs.
  [[nodiscard]] TraceRow host_row() const { return {host_track_, device_row}; }
  [[nodiscard]] static TraceRow row_of_device(int rank) { return {rank + 1, device_row}; }
  [[nodiscard]] static TraceRow row_of_lane(int rank, int lane);

  /// A span on a row; `arguments`: JSON members, such as `"block": 1`.
  void span(TraceRow row, std::string_view category, std::string_view name, Clock::time_point begin,
            Clock::time_point end, const std::string& arguments = {});
  /// From a moment in one span to one in another.
  void arrow(std::string_view name, const TracePoint& from, const TracePoint& to);
  /// Names a rank's track, once.
  void name_rank(int rank, int device, int cores);
  /// Names the row of a task that may wait, once.
  void name_lane(int rank, int lane);
  /// Writes what is pending, or hands it on.
  void flush();
  /// Events of another process.
  void take(std::string_view events);
  /// Of a rank's process that begins: what is pending is the host's.
  void forget_pending();

  /// From now on another process writes what this one sees. While no thread of the program runs.
  void send_by(TraceSender sender);
  /// The end of that.
  void write_itself();
  [[nodiscard]] bool is_sent() const { return sender_.send != nullptr; }
  [[nodiscard]] bool has_host() const { return !is_sent() || sender_.host_of_rank.has_value(); }
  void send_signals(std::string_view packed) const { sender_.send(TracePiece::Signals, packed); }
  [[nodiscard]] Clock::time_point start() const { return sender_.start; }

 private:
  explicit Trace(std::string path);
  void event(const std::string& json) TRILITH_REQUIRES(mutex_);
  void name(TraceRow row, const std::string& text) TRILITH_REQUIRES(mutex_);

  const std::string path_;
  ForkSafeMutex mutex_;
  std::FILE* file_ TRILITH_GUARDED_BY(mutex_) = nullptr;
  bool failed_ TRILITH_GUARDED_BY(mutex_) = false;
  int owner_ TRILITH_GUARDED_BY(mutex_) = 0;  ///< the process that opened the file
  bool first_ TRILITH_GUARDED_BY(mutex_) = true;
  std::string pending_ TRILITH_GUARDED_BY(mutex_);
  std::uint64_t arrows_ TRILITH_GUARDED_BY(mutex_) = 0;
  std::set<std::pair<int, int>> named_ TRILITH_GUARDED_BY(mutex_);
  TraceSender sender_;
  int host_track_ = host;
};

/// The last moment that still lies in a span: the file's times have three digits behind the microsecond.
[[nodiscard]] Clock::time_point last_moment(Clock::time_point begin, Clock::time_point end);

/// `text` as a JSON string with its quotes.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace pl::detail
