// runtime/task_graph.hpp -- the tasks of one run of a pl::jit entry: their edges, and the cores that run them.
//
// One thread submits: the device's, which is its scheduler. While it waits it is also one of the device's
// cores; the others are workers of a pool, asked for only when two blocks of work are ready at once, so an
// entry whose tasks follow one another starts no pool. At most `cores` blocks run at a time. A task that can
// wait for another one never takes a core: each of its blocks has an OS thread of its own.
#pragma once

#include "runtime/region_index.hpp"
#include "runtime/task_hooks.hpp"
#include "runtime/task_observer.hpp"
#include "runtime/thread_annotations.hpp"
#include "runtime/thread_state.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace pl::detail {

/// Ends the orchestration of an entry that has failed elsewhere: in a task, or on another rank. Not a
/// std::exception: no handler of the user's should take it for an error of its own.
struct Stopped {};

class PointerMap;
class WrittenRegions;

/// For code of a task that waits: throws Stopped when a failure, here or on another rank, has ended its run.
void throw_if_task_must_stop();

/// What a task does.
class TaskWork {
 public:
  virtual ~TaskWork() = default;
  /// Runs one block of `blocks`, on any thread; blocks of one task may run at the same time.
  virtual void run(std::int64_t block, std::int64_t blocks) = 0;
  /// For people: in traces.
  [[nodiscard]] virtual std::string name() const = 0;
  /// For people: in errors, behind "in ".
  [[nodiscard]] virtual std::string title() const { return "task " + name(); }
  /// The same work on other memory, for a replay.
  [[nodiscard]] virtual std::unique_ptr<TaskWork> moved(const PointerMap& to) const = 0;
  /// Notes the memory that it reads and writes.
  virtual void note_regions(WrittenRegions& regions) const { (void)regions; }
  /// Adds the ranges of bytes that it reads and writes.
  virtual void add_memory(std::vector<std::pair<const char*, const char*>>& ranges) const { (void)ranges; }
};

struct TaskRequest {
  std::unique_ptr<TaskWork> work;
  std::vector<Region> waits_for;  ///< looked up for automatic edges
  std::vector<Region> touches;    ///< what later tasks look up
  std::vector<TaskNumber> after;  ///< explicit edges
  std::int64_t blocks = 1;
  bool own_thread = false;  ///< may wait for other work
};

/// A recorded orchestration: tasks with their edges as numbers of earlier tasks.
struct RecordedStep {
  std::unique_ptr<TaskWork> work;
  std::vector<TaskNumber> after;
  std::int64_t blocks;
  bool own_thread;
};
using RecordedSteps = std::vector<RecordedStep>;

class TaskGraph : public std::enable_shared_from_this<TaskGraph> {
 public:
  struct Settings {
    int cores = 1;
    std::uint64_t seed = 0;                   ///< not 0: ready tasks are taken in an order shuffled by it
    const std::atomic<bool>* stop = nullptr;  ///< set when the program has failed elsewhere
    ThreadState state;                        ///< what a thread that runs a task knows
    TaskObserver* observer = nullptr;         ///< trace and times; outlives the graph's tasks
    TaskHooks* hooks = nullptr;               ///< the checker of windows; as `observer`
    WrittenRegions* regions = nullptr;        ///< where the tasks' memory is noted; null: nowhere
  };
  explicit TaskGraph(Settings settings);
  ~TaskGraph();

  /// Of this graph alone: tells its TaskIds from those of others.
  [[nodiscard]] std::uint64_t id() const { return id_; }
  /// Throws Stopped after a failure.
  TaskNumber submit(TaskRequest request);
  /// Tasks with known edges, in order, on other memory.
  void replay(const RecordedSteps& steps, const PointerMap& to);
  /// Until the task is done; runs tasks meanwhile. Throws Stopped after a failure.
  void wait(TaskNumber task);
  /// Until every task is done that writes (`writes`: or reads) this memory.
  void wait_for(const Region& region);
  /// Until all tasks are done that there are so far. Throws Stopped after a failure.
  void wait_all();
  /// Until all tasks are done; throws the first failure.
  void finish();
  /// Ends an orchestration that has thrown: what has not begun is dropped. Returns when nothing runs any more.
  void abandon() noexcept;
  /// Nothing runs or can run but `waits` blocks on threads of their own, and the submitting thread sleeps until tasks are
  /// done. A number that changes when it has been awake in between; nothing: it is not so. Any thread.
  [[nodiscard]] std::optional<std::uint32_t> idle(std::size_t waits);
  /// Returns when no task uses this memory any more, which its owner is about to free.
  void let_go(void* memory, std::size_t bytes) noexcept;
  /// Memory that recorded tasks may name was freed: they cannot run again.
  [[nodiscard]] bool names_freed_memory() const { return names_freed_memory_; }
  /// Memory that lives as long as the graph.
  [[nodiscard]] void* allocate(std::size_t bytes);
  struct Buffer {
    void* data;
    std::size_t bytes;
  };
  [[nodiscard]] const std::vector<Buffer>& buffers() const { return buffers_; }
  /// A failure, here or on another rank, has ended the run: a task that waits must give up. Any thread.
  [[nodiscard]] bool must_stop() const {
    return stopping_.load(std::memory_order_acquire) ||
           (settings_.stop != nullptr && settings_.stop->load(std::memory_order_acquire));
  }
  /// From now on submit() appends to `steps` and runs nothing; null ends it.
  void record_into(RecordedSteps* steps) { recording_ = steps; }
  [[nodiscard]] bool is_recording() const { return recording_ != nullptr; }

 private:
  struct Task {
    TaskNumber number = 0;
    std::unique_ptr<TaskWork> work;
    std::int64_t blocks = 1, next_block = 0, done_blocks = 0;
    std::uint64_t waiting_for = 0;  ///< predecessors that are not done
    bool own_thread = false;
    Clock::time_point submitted{};  ///< where there is an observer
    std::atomic<bool> done{false};
    std::vector<Task*> successors;
  };
  struct Piece {
    Task* task = nullptr;
    std::int64_t block = 0;
    int core = 0;
  };

  [[nodiscard]] bool is_done(TaskNumber number) const {
    return number < first_ || tasks_[number - first_].done.load(std::memory_order_acquire);
  }
  void run_block(const Piece& piece);
  void find_predecessors(const TaskRequest& request);
  void link(Task& task, std::span<const TaskNumber> predecessors) TRILITH_REQUIRES(mutex_);
  void make_ready(Task& task) TRILITH_REQUIRES(mutex_);
  void start_threads(Task& task) TRILITH_REQUIRES(mutex_);
  [[nodiscard]] Piece take() TRILITH_REQUIRES(mutex_);
  [[nodiscard]] std::exception_ptr run(const Piece& piece, int lane);
  /// Runs a piece on its core, without the lock meanwhile.
  void run_taken(const Piece& piece) TRILITH_REQUIRES(mutex_);
  void completed(Task& task, std::exception_ptr failure) TRILITH_REQUIRES(mutex_);
  void finish_task(Task& task) TRILITH_REQUIRES(mutex_);
  void stop(std::exception_ptr failure) TRILITH_REQUIRES(mutex_);
  [[nodiscard]] int helpers_wanted() TRILITH_REQUIRES(mutex_);
  void start_helpers(int count);
  void help();
  template <class Condition>
  void work_until(Condition condition) TRILITH_REQUIRES(mutex_);
  void stay_below(std::size_t unfinished);
  void forget_tasks() TRILITH_REQUIRES(mutex_);

  const std::uint64_t id_;
  const Settings settings_;
  RegionIndex index_;  // the submitting thread's alone, as the next four
  std::vector<TaskNumber> predecessors_;
  std::size_t forget_at_ = 1024;  ///< size of the index that makes it forget what is done
  std::vector<Buffer> buffers_;
  RecordedSteps* recording_ = nullptr;
  bool names_freed_memory_ = false;

  mutable Mutex mutex_;
  std::condition_variable_any changed_;
  // Written under the lock by the submitting thread alone, which may read them without it.
  std::deque<Task> tasks_;  ///< from number first_ on; earlier ones are done and forgotten
  TaskNumber first_ = 0;
  std::deque<Task*> ready_ TRILITH_GUARDED_BY(mutex_);
  std::vector<int> free_cores_ TRILITH_GUARDED_BY(mutex_);
  std::mt19937_64 order_ TRILITH_GUARDED_BY(mutex_);
  std::size_t unfinished_ TRILITH_GUARDED_BY(mutex_) = 0;
  std::size_t running_ TRILITH_GUARDED_BY(mutex_) = 0;      ///< blocks on cores
  std::size_t own_threads_ TRILITH_GUARDED_BY(mutex_) = 0;  ///< blocks on threads of their own
  int helpers_ TRILITH_GUARDED_BY(mutex_) = 0;              ///< pool workers that are asked for or work
  bool alone_ TRILITH_GUARDED_BY(mutex_) = false;     ///< there is no pool: the submitting thread does it all
  bool waiting_ TRILITH_GUARDED_BY(mutex_) = false;   ///< the submitting thread is in work_until
  bool sleeping_ TRILITH_GUARDED_BY(mutex_) = false;  ///< … and nothing has woken it yet
  std::uint32_t sleeps_ TRILITH_GUARDED_BY(mutex_) = 0;
  bool stopped_ TRILITH_GUARDED_BY(mutex_) = false;
  std::atomic<bool> stopping_{false};  ///< stopped_, for those who have no lock
  std::exception_ptr failure_ TRILITH_GUARDED_BY(mutex_);
};

}  // namespace pl::detail
