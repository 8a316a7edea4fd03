// runtime/rank_runner.hpp -- who runs the jobs of a program's ranks: RunConfig.distributed.transport.
//
// A run of a program makes one. The host's thread hands it jobs (dispatches, and ranks' parts of collectives that the
// host calls), waits for them at host callbacks and at the end, and asks it for the memory behind windows. A job
// reports its failure to the run by itself and does not throw.
#pragma once

#include "pl/detail/kernel_object.hpp"
#include "runtime/windows/window_memory.hpp"

#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace pl::detail {

class ProgramRun;
class WrittenRegions;
struct HostCallback;

class RankRunner {
 public:
  using Job = std::function<void()>;
  RankRunner() = default;
  virtual ~RankRunner() = default;
  RankRunner(const RankRunner&) = delete;
  RankRunner& operator=(const RankRunner&) = delete;

  /// A job behind the rank's earlier ones. It begins at any time from now on, or when wait() is called. The host's
  /// thread alone.
  virtual void enqueue(int rank, Job job) = 0;
  /// Returns when everything that was enqueued has ended, in whatever process. The host's thread alone; does not throw:
  /// failures of ranks elsewhere go to ProgramRun::fail.
  virtual void wait() = 0;
  /// The run has failed and stop_flag() is set: wakes ranks that this process cannot reach by its own signal cells. Any
  /// thread, more than once.
  virtual void stop() {}
  /// What every rank looks at between its tasks; set by ProgramRun::fail.
  [[nodiscard]] virtual std::atomic<bool>& stop_flag() { return stopped_; }
  /// Memory for a window that `ranks` ranks share, each with `part_bytes` bytes, all zero.
  [[nodiscard]] virtual std::unique_ptr<WindowBacking> back_window(std::size_t part_bytes,
                                                                   std::size_t ranks) {
    return map_window(part_bytes, ranks);
  }
  /// Where the ranks of this process note which of the host's memory they use; null: they use it in place.
  [[nodiscard]] virtual WrittenRegions* regions() { return nullptr; }

  // Where every process runs the host orchestrator, and only the jobs of its own rank:
  [[nodiscard]] virtual bool ranks_are_far() const { return false; }
  /// In front of the host orchestrator. `what`: "the program defined at …"; `key`: equal in all processes. Throws.
  virtual void begin(const std::string& what, const std::string& key) { (void)what, (void)key; }
  /// The tensors of a dispatch, to whatever rank.
  virtual void note_dispatch(int rank, std::span<const ParameterInfo> parameters,
                             std::span<const Argument> arguments) {
    (void)rank, (void)parameters, (void)arguments;
  }
  /// All ranks have come to rest and `run` is to be run.
  virtual void call_back(const HostCallback& callback, const std::function<void()>& run) {
    (void)callback;
    run();
  }
  /// The own part of a persistent window is zero again, and others may write to it only when theirs are.
  virtual void window_was_cleared() {}
  /// Behind wait(), at the end: the failure of the whole run, null if there is none, given that of this process. Does not
  /// throw.
  [[nodiscard]] virtual std::exception_ptr end(std::exception_ptr failure) { return failure; }

 private:
  std::atomic<bool> stopped_{false};
};

[[nodiscard]] std::unique_ptr<RankRunner> make_thread_runner(ProgramRun& run);
[[nodiscard]] std::unique_ptr<RankRunner> make_process_runner(ProgramRun& run);
[[nodiscard]] std::unique_ptr<RankRunner> make_mpi_runner(ProgramRun& run);

/// The runner of the run's transport.
[[nodiscard]] std::unique_ptr<RankRunner> make_rank_runner(ProgramRun& run);

}  // namespace pl::detail
