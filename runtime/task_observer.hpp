// runtime/task_observer.hpp -- who wants to know when tasks ran: traces and benchmarks.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace pl::detail {

using Clock = std::chrono::steady_clock;

/// Called from the threads that run tasks, several at once.
class TaskObserver {
 public:
  /// A block begins on this thread, on core `lane`, or in `own_thread_lane` where its task may wait. Gives the lane that
  /// it is shown in: another one for each such block that runs.
  [[nodiscard]] virtual int task_begins(int lane) = 0;
  /// Block `block` of `blocks` of a task ran in the lane that task_begins gave; those from `own_thread_lane` on are
  /// threads of tasks that may wait.
  virtual void task_ran(const std::string& name, int lane, std::int64_t block, std::int64_t blocks,
                        Clock::time_point submitted, Clock::time_point begin, Clock::time_point end) = 0;
  static constexpr int own_thread_lane = 1 << 20;

 protected:
  ~TaskObserver() = default;
};

}  // namespace pl::detail
