// runtime/mpi/mpi_world.hpp -- this process among those that mpirun started.
//
// One thread of its own makes every call of MPI. Other threads hand it what is to be done and sleep until it is. Between
// such requests it lets MPI go on (a target of one-sided calls over TCP must call MPI for them to happen), takes
// messages, and wakes threads that wait for signal cells. It sleeps longer the longer nothing happens, so a blocked rank
// uses little CPU time.
//
// A program has its memory for windows in a WindowPool. Made at the first program on this transport; ends with the
// process, together with those of all others.
#pragma once

#include "runtime/mpi/calls.hpp"
#include "runtime/mpi/coordinator.hpp"
#include "runtime/mpi/message.hpp"
#include "runtime/mpi/window_pool.hpp"
#include "runtime/thread_annotations.hpp"
#include "runtime/trace.hpp"
#include "runtime/windows/remote_memory.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace pl::detail {

class ProgramRun;
class MpiBacking;

class MpiWorld final : public RemoteMemory {
 public:
  /// Throws ConfigError where there is no MPI or mpirun has not started `ranks` processes.
  static MpiWorld& open(std::size_t ranks);

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] int own_rank() const override { return rank_; }

  struct Met {
    std::vector<std::string> payloads;  ///< of all processes
    int failed_rank = -1;               ///< at the end of a run: who failed first; -1: none
    std::string failure;
  };
  /// Returns when every process is there. `what`: for people; `key`: must be equal everywhere. Throws CommError where
  /// they never will be, Stopped where the run has failed meanwhile.
  Met meet(Meeting meeting, const std::string& what, const std::string& key = {},
           const std::string& payload = {});
  /// One run or comparison of plans at a time: the processes would meet crosswise. Throws LevelError in a host callback.
  [[nodiscard]] std::unique_lock<std::mutex> turn(const std::string& what);
  /// Inside it no other process takes part in what this thread does.
  class AloneHere {
   public:
    AloneHere() { alone_ = true; }
    ~AloneHere() { alone_ = false; }
    AloneHere(const AloneHere&) = delete;
    AloneHere& operator=(const AloneHere&) = delete;
  };
  /// As meet, at the beginning and the end of a run.
  Met begin(ProgramRun& run, const std::string& what, const std::string& key, const std::string& payload);
  [[nodiscard]] Met end(const std::string& what) { return meet(Meeting::End, what); }
  /// Where its end cannot be.
  void forget_run();
  /// Tells the others. Does not wait.
  void tell_failure(std::string failure);
  /// How much rank 0's clock is ahead of that of this process.
  [[nodiscard]] Clock::duration clock_of_first_rank();
  /// What this process has seen of a run goes to rank 0, in front of whatever it does afterwards. Does not wait.
  void send_trace(TracePiece piece, std::string_view text);
  /// What every process gives, in the order of ranks. All call it.
  [[nodiscard]] std::vector<std::string> exchange(const std::string& own);
  /// `data` of the root's goes to all. All call it.
  void broadcast(int root, void* data, std::int64_t bytes);

  /// The same place in every process, which all ask for in one order. Null, with errno: there is no memory.
  [[nodiscard]] char* allocate(std::int64_t bytes);
  void free(char* memory);
  /// Windows whose last writers a deadlock's report may need.
  void add(MpiBacking& backing);
  void remove(MpiBacking& backing);

  void get(int rank, const RemoteRegion& from, void* dense) override;
  void put(int rank, const RemoteRegion& to, const void* dense) override;
  void add(int rank, const RemoteRegion& to, const void* dense) override;
  std::int32_t signal(int rank, const std::int32_t* cell, std::int32_t value, bool add) override;
  void fence() override;

 private:
  struct Request {
    std::function<void()> work;
    bool keep = false;   ///< done when an answer comes, not when `work` returns
    std::string answer;  ///< with which it has come
    std::exception_ptr error;
    std::atomic<std::uint32_t> done{0};
  };
  struct Arrived {
    Request request;
    Met met;
  };

  explicit MpiWorld(const MpiCalls& calls);
  void serve();
  /// Runs it on the thread that owns MPI and waits for it.
  void on_thread(std::function<void()> work);
  void run_and_wait(Request& request);
  void post(std::function<void()> work);
  static void finish(Request& request, std::exception_ptr error = nullptr);

  // All of these on the owning thread.
  bool take_requests();
  bool take_messages();
  void handle(int from, std::string_view bytes);
  void send(int to, const std::string& message);
  void require(const char* problem) const;
  void flush_all();
  void apply_add(int from, Reader& message);
  [[nodiscard]] std::uint64_t expect_answer(Request& request);
  void answer(std::uint64_t question, std::string text);
  [[nodiscard]] RemoteState state();
  [[nodiscard]] WindowPool::Place place_of(const void* address);
  void leave();
  void give_up(std::exception_ptr why);
  void look();

  const MpiCalls& calls_;
  int rank_ = 0, size_ = 1;
  Mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<std::pair<Request*, std::function<void()>>> queue_ TRILITH_GUARDED_BY(mutex_);
  Mutex pool_mutex_;
  WindowPool pool_ TRILITH_GUARDED_BY(pool_mutex_);
  std::vector<MpiBacking*> backings_ TRILITH_GUARDED_BY(pool_mutex_);

  // Of the owning thread.
  std::unique_ptr<Coordinator> coordinator_;
  std::deque<std::string> to_self_;
  std::vector<std::vector<bool>> unflushed_;  ///< by window and rank: puts that may be under way
  std::map<std::uint64_t, Request*> asked_;   ///< by the number of the question: who wait for its answer
  std::uint64_t next_question_ = 0;
  Arrived* arrived_ = nullptr;
  ProgramRun* run_ = nullptr;
  bool failure_is_known_ = false;  ///< to the coordinator
  bool ending_ = false;
  bool busy_ = false;          ///< something has happened in this look
  std::exception_ptr broken_;  ///< MPI has failed: all that is asked for fails with it
  std::string problem_;        ///< why MPI could not be started

  std::atomic<bool> any_unflushed_{false};
  std::mutex turn_;
  static inline thread_local bool alone_ = false;

  std::thread thread_;
};

}  // namespace pl::detail
