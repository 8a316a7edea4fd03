// runtime/kept_for_runs.hpp -- what a worker keeps for the runs of one of its programs.
#pragma once

#include "pl/host_callback.hpp"

#include <memory>
#include <vector>

namespace pl::detail {

class WindowMemory;
class WorkQueue;
class WorkerState;

struct KeptForRuns {
  WorkerState* worker;
  bool persistent;
  bool zero_windows;
  const HostCallbacks* callbacks;
  std::shared_ptr<WorkQueue> sub_workers;                   ///< null: callbacks run on the calling thread
  std::vector<std::shared_ptr<WindowMemory>> windows = {};  ///< in the order of allocation
};

struct ProgramArguments;
/// Throws PlanError where an argument lies in a resident tensor of another worker than `worker` (null: none).
void require_own_residents(const WorkerState* worker, const ProgramArguments& with,
                           const std::source_location& where);

}  // namespace pl::detail
