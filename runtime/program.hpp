// runtime/program.hpp -- a compiled host orchestrator, and one run of it over the devices.
#pragma once

#include "pl/detail/program.hpp"
#include "runtime/context_state.hpp"
#include "runtime/hardware_package.hpp"
#include "runtime/kept_for_runs.hpp"
#include "runtime/rank_runner.hpp"
#include "runtime/recorder.hpp"
#include "runtime/run_times.hpp"
#include "runtime/run_trace.hpp"
#include "runtime/shared_memory.hpp"
#include "runtime/task_graph.hpp"
#include "runtime/windows/task_watch.hpp"
#include "runtime/windows/wait_monitor.hpp"
#include "runtime/windows/window_memory.hpp"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pl::detail {

class Program {
 public:
  Program(std::shared_ptr<ContextState> context_, RunConfig config_, std::source_location definition_)
      : context(std::move(context_)), config(std::move(config_)), definition(definition_) {}
  const std::shared_ptr<ContextState> context;
  const RunConfig config;
  const std::source_location definition;
  std::vector<RecordedArgument> arguments;
  std::string plan;
  std::string collectives;                ///< of the plan, as JSON
  std::vector<std::vector<int>> domains;  ///< for each window buffer the ranks that share it
  std::vector<RecordedCallback> callbacks;
  std::shared_ptr<const HardwarePackage> package;  ///< of programs for the hardware and its model
};

/// A call of pl::host_callback.
struct HostCallback {
  std::string name;  ///< empty: `work` was given itself
  std::function<void()> work;
  std::vector<Tensor<>> tensors;
  std::source_location where;
};
/// The worker in a call of which this thread runs a host callback; else null.
[[nodiscard]] const WorkerState* worker_of_callback();

class ProgramRun : public RankStates, public std::enable_shared_from_this<ProgramRun> {
 public:
  /// `config`: the program's, with the cores, the trace and the order of this run.
  /// `kept`: of the worker that it runs on, or null.
  /// `other_extents`: than those that the program was compiled with.
  ProgramRun(const Program& program, RunConfig config, RunTimes* times, KeptForRuns* kept,
             bool other_extents);
  [[nodiscard]] int world_size() const {
    return static_cast<int>(program_.config.distributed.device_ids.size());
  }
  /// Of this run.
  [[nodiscard]] const RunConfig& config() const { return config_; }
  /// Each dispatch is recorded before it is handed on, so that all its kernels are compiled.
  [[nodiscard]] bool compiles_first() const {
    return other_extents_ && runner_->regions() != nullptr && !runner_->ranks_are_far();
  }
  /// The thread of a rank's device; the host's thread alone.
  [[nodiscard]] WorkQueue& device(int rank);
  [[nodiscard]] RankRunner& runner() { return *runner_; }
  [[nodiscard]] WaitMonitor& monitor() { return *monitor_; }
  [[nodiscard]] ContextState& context() { return *program_.context; }
  /// null: nobody asks how long it takes.
  [[nodiscard]] RunTimes* times() { return times_; }
  /// What a rank was to do is done elsewhere, or is not done.
  void forget_jobs(int rank);
  /// The first one; null: none so far.
  [[nodiscard]] std::exception_ptr failure() {
    const Lock lock(mutex_);
    return failure_;
  }
  /// Takes over the memory of a pl::Array that ends in the host orchestrator: dispatches may still use it.
  void keep(void* elements) noexcept { arrays_.keep(elements); }
  /// Hands work to the device of a rank.
  void enqueue(int rank, std::function<void()> work);
  /// The same for a rank's part of a collective that the host has called.
  void enqueue_collective(int rank, std::function<void()> work);
  /// Runs it behind all that was dispatched and before all that will be.
  void call_back(HostCallback callback);
  [[nodiscard]] Windows& windows() { return windows_; }
  /// null: the run is not checked.
  [[nodiscard]] Checker* checker() const { return checker_.get(); }
  /// null: there is no trace.
  [[nodiscard]] RunTrace* trace() const { return trace_.get(); }
  /// Of a rank's orchestrations; null: the run is neither checked nor has it a seed.
  [[nodiscard]] TaskWatch* device_watch(int rank) const {
    return watches_.empty() ? nullptr : watches_[static_cast<std::size_t>(rank)].get();
  }
  /// The tasks of the dispatch that runs on a rank now; null: none.
  void set_tasks(int rank, TaskGraph* tasks);
  /// The first failure counts; what is enqueued and not begun is dropped, running ranks stop at their next
  /// task.
  void fail(std::exception_ptr failure) override;
  void throw_if_stopped() const {
    if (stopped()) throw Stopped{};
  }
  /// While the thread of a rank's device itself may sleep in a wait: in a collective that the host has called, or in the
  /// body of a pl::at that runs natively. No task of the rank runs meanwhile.
  class MayWait {
   public:
    MayWait(ProgramRun& run, int rank) : run_(run), rank_(rank) { run_.set_may_wait(rank_, true); }
    ~MayWait() { run_.set_may_wait(rank_, false); }
    MayWait(const MayWait&) = delete;
    MayWait& operator=(const MayWait&) = delete;

   private:
    ProgramRun& run_;
    const int rank_;
  };
  /// Waits for all ranks; throws the first failure.
  void finish();

  [[nodiscard]] bool stopped() const override { return runner_->stop_flag().load(std::memory_order_relaxed); }
  [[nodiscard]] std::optional<std::uint64_t> idle(int rank, std::size_t waits) override;
  [[nodiscard]] bool finished(int rank) override;
  [[nodiscard]] std::string collectives(const WindowMemory& window) override;

 private:
  /// What a rank does now.
  struct RankState {
    int jobs = 0;  ///< dispatches and collectives that are queued or run
    TaskGraph* tasks = nullptr;
    bool may_wait = false;  ///< see MayWait
    std::uint64_t changes = 0;
  };
  void set_may_wait(int rank, bool inside);
  void run_collective(int rank, Clock::time_point queued, const std::function<void()>& work);
  void enqueue(int rank, bool collective, std::function<void()> work);
  void execute(int rank, bool collective, Clock::time_point queued, const std::function<void()>& work);

  [[nodiscard]] std::function<void()> named_callback(const HostCallback& callback) const;
  void run_callback(const HostCallback& callback, const WorkerState* worker);
  void wait_for_ranks();
  void wait_for_callbacks();

  KeptElements arrays_;  // outlives all that runs
  const Program& program_;
  const RunConfig config_;
  KeptForRuns* const kept_;
  RunTimes* const times_;
  const bool other_extents_;
  const std::unique_ptr<RunTrace> trace_;
  const std::unique_ptr<RankRunner> runner_;
  Mutex mutex_;
  std::condition_variable_any done_;
  int callbacks_ TRILITH_GUARDED_BY(mutex_) = 0;  ///< that are queued or run on sub-workers
  std::exception_ptr failure_ TRILITH_GUARDED_BY(mutex_);
  std::atomic<bool> all_dispatched_{false};  ///< the host orchestrator has returned
  Mutex ranks_mutex_;
  std::vector<RankState> ranks_ TRILITH_GUARDED_BY(ranks_mutex_);
  std::unique_ptr<Checker> checker_;
  std::vector<std::unique_ptr<TaskWatch>> watches_;
  const std::shared_ptr<WaitMonitor> monitor_;
  Windows windows_;
  // Of the host's thread alone.
  std::vector<Tensor<>> callback_tensors_;  ///< of the callbacks that may run now
  std::shared_ptr<WorkQueue> sub_workers_;
  std::vector<std::unique_ptr<DevicePool::Loan>> devices_;  ///< by rank, where the program may have windows
};

}  // namespace pl::detail
