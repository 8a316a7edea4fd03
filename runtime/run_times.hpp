// runtime/run_times.hpp -- where one run's time goes: gathered for traces and benchmarks.
#pragma once

#include "pl/benchmark.hpp"
#include "runtime/task_observer.hpp"
#include "runtime/thread_annotations.hpp"

#include <utility>
#include <vector>

namespace pl::detail {

/// Of one program or entry run. Thread-safe: each rank adds its own.
class RunTimes {
 public:
  void add(const RankTimes& rank) {
    const Lock lock(mutex_);
    for (RankTimes& known : ranks_)
      if (known.rank == rank.rank) {
        known.queue_seconds += rank.queue_seconds;
        known.orchestrate_seconds += rank.orchestrate_seconds;
        known.task_seconds += rank.task_seconds;
        known.total_seconds += rank.total_seconds;
        known.tasks += rank.tasks;
        return;
      }
    ranks_.push_back(rank);
  }
  [[nodiscard]] std::vector<RankTimes> ranks() const {
    const Lock lock(mutex_);
    return ranks_;
  }
  /// All there is, which it forgets.
  [[nodiscard]] std::vector<RankTimes> take() {
    const Lock lock(mutex_);
    return std::exchange(ranks_, {});
  }
  double host_orchestrate_seconds = 0;  ///< of the calling thread, as the next one
  double host_wait_seconds = 0;

 private:
  mutable Mutex mutex_;
  std::vector<RankTimes> ranks_ TRILITH_GUARDED_BY(mutex_);
};

}  // namespace pl::detail
