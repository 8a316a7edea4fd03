// runtime/program.hpp -- a compiled host orchestrator, and one run of it over the devices.
#pragma once

#include "pl/detail/program.hpp"
#include "runtime/context_state.hpp"
#include "runtime/recorder.hpp"
#include "runtime/run_times.hpp"
#include "runtime/task_graph.hpp"

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
};

class ProgramRun : public std::enable_shared_from_this<ProgramRun> {
 public:
  /// `config`: the program's, with the cores, the trace and the order of this run.
  ProgramRun(const Program& program, RunConfig config, RunTimes* times)
      : program_(program), config_(std::move(config)), times_(times) {}
  [[nodiscard]] int world_size() const {
    return static_cast<int>(program_.config.distributed.device_ids.size());
  }
  /// Hands work to the device of a rank.
  void enqueue(int rank, std::function<void()> work);
  /// The first failure counts; what is enqueued and not begun is dropped, running ranks stop at their next
  /// task.
  void fail(std::exception_ptr failure);
  void throw_if_stopped() const {
    if (stopped_.load(std::memory_order_relaxed)) throw Stopped{};
  }
  /// Waits for all ranks; throws the first failure.
  void finish();

 private:
  void execute(int rank, Clock::time_point queued, const std::function<void()>& work);

  const Program& program_;
  const RunConfig config_;
  RunTimes* const times_;
  std::atomic<bool> stopped_{false};
  Mutex mutex_;
  std::condition_variable_any done_;
  int pending_ TRILITH_GUARDED_BY(mutex_) = 0;
  std::exception_ptr failure_ TRILITH_GUARDED_BY(mutex_);
};

}  // namespace pl::detail
