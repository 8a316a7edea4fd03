// runtime/trace.hpp -- what ran when, as a Chrome trace that Perfetto opens: TRILITH_TRACE, RunConfig.trace.
//
// One process track for the host and one a rank; in a rank's track the device's thread and a row a core. The
// file is complete JSON after every run. Thread-safe; one writer a file and process.
#pragma once

#include "runtime/fork_safe.hpp"
#include "runtime/task_observer.hpp"
#include "runtime/thread_annotations.hpp"

#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace pl::detail {

class Trace {
 public:
  /// The writer of this file; null for an empty path. Never destroyed.
  [[nodiscard]] static Trace* to(const std::string& path);

  static constexpr int host = 0;  ///< the track of the host; that of rank r is r + 1
  static constexpr int device_row = 0;
  [[nodiscard]] static int core_row(int lane);

  /// A span on a row; `arguments`: JSON members, such as `"block": 1`.
  void span(int track, int row, std::string_view name, Clock::time_point begin, Clock::time_point end,
            const std::string& arguments = {});
  /// Names a rank's track, once.
  void name_rank(int rank, int device, int cores);
  /// Writes what is pending. In the process of a rank: sends it to the host.
  void flush();
  /// What a rank's process has sent.
  void take(std::string_view events);
  /// Of a rank's process that begins: what is pending is the host's.
  void forget_pending();

 private:
  explicit Trace(std::string path) : path_(std::move(path)) {}
  void event(const std::string& json) TRILITH_REQUIRES(mutex_);
  void name(int track, int row, const std::string& text) TRILITH_REQUIRES(mutex_);

  const std::string path_;
  ForkSafeMutex mutex_;
  std::FILE* file_ TRILITH_GUARDED_BY(mutex_) = nullptr;
  bool failed_ TRILITH_GUARDED_BY(mutex_) = false;
  int owner_ TRILITH_GUARDED_BY(mutex_) = 0;  ///< the process that opened the file
  bool first_ TRILITH_GUARDED_BY(mutex_) = true;
  std::string pending_ TRILITH_GUARDED_BY(mutex_);
  std::set<std::pair<int, int>> named_ TRILITH_GUARDED_BY(mutex_);
};

/// `text` as a JSON string with its quotes.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace pl::detail
