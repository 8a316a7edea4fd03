// runtime/windows/task_watch.hpp -- who looks at the tasks of a rank: the checker, and the order of a seed.
#pragma once

#include "runtime/task_hooks.hpp"
#include "runtime/thread_annotations.hpp"
#include "runtime/windows/checker.hpp"
#include "runtime/windows/schedule.hpp"

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <span>

namespace pl::detail {

struct ViewRef;

/// One block of a task, or a device's orchestration; ThreadState has that of the calling thread.
class TaskWatch {
 public:
  TaskWatch(Checker* checker, CheckedThread thread, Schedule schedule)
      : schedule_(std::move(schedule)), checker_(checker), thread_(std::move(thread)) {}
  [[nodiscard]] Schedule& schedule() { return schedule_; }
  [[nodiscard]] Checker* checker() const { return checker_; }
  [[nodiscard]] CheckedThread& thread() { return thread_; }
  /// Somebody flushes it at its end.
  void set_is_block() { is_block_ = true; }
  [[nodiscard]] bool is_block() const { return is_block_; }
  /// Of a block. Elements of so many bytes from `begin` to `end`, one or many of a loop: kept until the loop has passed on,
  /// as one access. Until then nothing changes in the thread's order, for operations on windows flush first; so what is
  /// kept already is the same access again.
  void touch(WindowAccess::Kind kind, const char* what, const Place& where, const char* begin,
             const char* end, std::int64_t bytes);
  /// Tells the checker what is kept.
  void flush() {
    if (touched_count_ != 0) flush_all();
  }

 private:
  struct Touched {
    WindowAccess::Kind kind;
    const char* what;
    Place where;
    const char* begin;
    const char* end;
    std::int64_t bytes;
  };
  void flush_all();
  void tell(const Touched& touched);
  // A loop's body reads and writes few elements; of more the first one makes room.
  std::array<Touched, 4> touched_{};
  std::size_t touched_count_ = 0, next_ = 0;
  bool is_block_ = false;
  Schedule schedule_;
  Checker* const checker_;  ///< null: only the order
  CheckedThread thread_;
};

/// The tasks of one dispatch.
class RankWatch final : public TaskHooks {
 public:
  /// `device`: of the rank's orchestrations.
  RankWatch(TaskWatch& device, int rank, std::uint64_t seed) : device_(device), rank_(rank), seed_(seed) {}
  void submitted(TaskNumber task, std::span<const TaskNumber> after) override;
  [[nodiscard]] std::shared_ptr<TaskWatch> begin(TaskNumber task, std::int64_t block) override;
  void end(TaskNumber task, TaskWatch& watch) override;
  void waited(TaskNumber task) override;
  void waited_for_all() override;

 private:
  struct Task {
    VectorClock start, end;
    std::vector<TaskNumber> after;
    bool ran = false;
  };
  void join_end(TaskNumber task, VectorClock& clock) TRILITH_REQUIRES(mutex_);
  TaskWatch& device_;
  const int rank_;
  const std::uint64_t seed_;
  Mutex mutex_;
  std::map<TaskNumber, Task> tasks_ TRILITH_GUARDED_BY(mutex_);
  VectorClock all_ends_ TRILITH_GUARDED_BY(mutex_);
};

/// A kernel reads or writes the region of a tensor; noted where it lies in a window and the run is checked.
void note_access(WindowAccess::Kind kind, const char* what, const ViewRef& view,
                 std::span<const std::int64_t> offsets, std::span<const std::int64_t> shape,
                 const Place& where);
/// The same of `count` elements, one by one: each `steps` behind the one before.
void note_elements(WindowAccess::Kind kind, const char* what, const ViewRef& view,
                   std::span<const std::int64_t> offsets, std::span<const std::int64_t> steps,
                   std::int64_t count, const Place& where);

}  // namespace pl::detail
