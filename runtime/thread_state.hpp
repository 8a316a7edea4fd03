// runtime/thread_state.hpp -- what the runtime knows about the calling thread.
#pragma once

#include "pl/detail/level.hpp"

#include <cstdint>
#include <vector>

namespace pl::detail {

class ContextState;
class ProgramRun;
class Recorder;
class RunTimes;
class TaskGraph;
class TaskWatch;
struct CellWait;
class TracedThread;
struct TaskOptions;

/// Trivial on purpose: a thread_local with a destructor would cost a guard on every call.
struct ThreadState {
  Level level = Level::None;
  ContextState* context = nullptr;    ///< of a ContextScope or a running program; null: the default one
  Recorder* recorder = nullptr;       ///< set while `compile` records a program
  ProgramRun* run = nullptr;          ///< the program that runs here, on the host or a device
  int rank = -1;                      ///< at device level: of this device
  int threads = 0;                    ///< RunConfig.threads of the program's run; 0: the context's
  TaskGraph* tasks = nullptr;         ///< at device level: where kernel calls become tasks; null in recording
  TaskOptions* options = nullptr;     ///< of the pl::submit or pl::spmd that makes the next call
  RunTimes* times = nullptr;          ///< of the pl::benchmark that measures this call
  const TaskGraph* inside = nullptr;  ///< at core level: the graph whose task runs here
  bool manual = false;                ///< inside pl::manual_scope
  std::int64_t block_index = 0;       ///< in a kernel that runs natively: of `pl::spmd`
  std::int64_t block_count = 1;
  TaskWatch* watch =
      nullptr;  ///< of the block or orchestration that runs here, where a run is checked or has a seed
  std::vector<CellWait>* deferred_waits = nullptr;  ///< of the block that runs here
  TracedThread* traced =
      nullptr;              ///< where a trace shows the block or orchestration that runs here; null: no trace
  std::uint32_t shard = 0;  ///< 1 + which of the sharded counters this thread uses; 0: none yet
};

[[nodiscard]] ThreadState& thread_state() noexcept;

/// Puts the thread's state back at the end of a block.
class ThreadStateScope {
 public:
  ThreadStateScope() : saved_(thread_state()) {}
  ~ThreadStateScope() {
    const std::uint32_t shard = thread_state().shard;
    thread_state() = saved_;
    thread_state().shard = shard;
  }
  ThreadStateScope(const ThreadStateScope&) = delete;
  ThreadStateScope& operator=(const ThreadStateScope&) = delete;

 private:
  ThreadState saved_;
};

}  // namespace pl::detail
