#include "runtime/rank_runner.hpp"

#include "pl/error.hpp"
#include "runtime/program.hpp"

#include <utility>

namespace pl::detail {
namespace {

/// Each rank on the thread of its device.
class ThreadRunner final : public RankRunner {
 public:
  explicit ThreadRunner(ProgramRun& run) : run_(run) {}

  void enqueue(int rank, Job job) override {
    {
      const Lock lock(mutex_);
      ++pending_;
    }
    // The run, and with it this runner, outlives its jobs.
    run_.device(rank).enqueue([this, run = run_.shared_from_this(), job = std::move(job)]() mutable {
      job();
      job = nullptr;
      const Lock lock(mutex_);
      // Under the lock: the host may leave, and the program go, as soon as it sees none pending.
      if (--pending_ == 0) done_.notify_all();
    });
  }

  void wait() override {
    const Lock lock(mutex_);
    while (pending_ != 0) done_.wait(mutex_);
  }

 private:
  ProgramRun& run_;
  Mutex mutex_;
  std::condition_variable_any done_;
  int pending_ TRILITH_GUARDED_BY(mutex_) = 0;
};

}  // namespace

std::unique_ptr<RankRunner> make_thread_runner(ProgramRun& run) {
  return std::make_unique<ThreadRunner>(run);
}

std::unique_ptr<RankRunner> make_rank_runner(ProgramRun& run) {
  const std::string& transport = run.config().distributed.transport;
  if (transport == "threads") return make_thread_runner(run);
  if (transport == "mpi") return make_mpi_runner(run);
  if (transport == "processes") return make_process_runner(run);
  throw InternalError("no runner for the transport \"" + transport + "\"");
}

}  // namespace pl::detail
