// runtime/entry_run.hpp -- one run of a pl::jit entry on the thread that is its device's scheduler.
#pragma once

#include "pl/config.hpp"
#include "runtime/task_graph.hpp"

#include <functional>

namespace pl::detail {

struct EntryRun {
  ContextState* context;  ///< null: the default one
  const RunConfig* config;
  int rank;
  ProgramRun* run = nullptr;                ///< the program it belongs to
  const std::atomic<bool>* stop = nullptr;  ///< set when that has failed elsewhere
  RunTimes* times = nullptr;
  Clock::time_point queued = Clock::now();
};

/// Runs `body` at device level and all tasks it makes. Throws the first error of either, or Stopped.
void run_entry_body(const EntryRun& entry, const std::function<void()>& body);

}  // namespace pl::detail
