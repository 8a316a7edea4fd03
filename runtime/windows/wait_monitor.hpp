// runtime/windows/wait_monitor.hpp -- blocking until a signal cell has a value, and finding out that it never will.
//
// A waiting thread sleeps on the cell itself (a futex); a notify wakes it. Threads that sleep long look whether the
// program can still go on. That is decided by state, not by time: a deadlock is where every rank of a domain, and of
// the domains that its waiting ranks belong to, is finished or sleeps in a wait that is not satisfied, and the host
// dispatches no more. Everything is looked at twice: a wait that is the same one in both passes lasted all the time
// between them, so no thread of these ranks ran there.
#pragma once

#include "pl/abi.hpp"
#include "pl/error.hpp"
#include "runtime/thread_annotations.hpp"
#include "runtime/windows/window_memory.hpp"

#include <cstdint>
#include <exception>
#include <initializer_list>
#include <optional>
#include <vector>

namespace pl::detail {

/// What a deadlock's detection needs to know of the running program.
class RankStates {
 public:
  virtual ~RankStates() = default;
  [[nodiscard]] virtual bool stopped() const = 0;
  virtual void fail(std::exception_ptr failure) = 0;
  /// Nothing of this rank runs or can run but `waits` threads, which sleep. A number that changes whenever it has run
  /// in between; nothing: it runs.
  [[nodiscard]] virtual std::optional<std::uint64_t> idle(int rank, std::size_t waits) = 0;
  /// Has it no work left at all?
  [[nodiscard]] virtual bool finished(int rank) = 0;
  /// Lines on what each rank has called on a window, where that is known.
  [[nodiscard]] virtual std::string collectives(const WindowMemory& window) = 0;
};

struct CellWait {
  const WindowPart* part;
  std::int32_t* cell;
  std::int64_t index;  ///< of the user's cell in elements; -1: Trilith's own, of a collective
  std::int32_t expected;
  bool at_least;  ///< else: equal
  /// A counter of Trilith's own: compared modulo 2^32. Without `at_least`: until it has another value than `expected`.
  bool wraps;
  abi::RemoteOperation operation;  ///< that waits
  Place where;
  const WindowPart* holder = nullptr;      ///< whose cell it is; null: the waiting part's own
  const WindowPart* collective = nullptr;  ///< of one with cells of the user's: the part with its data
  /// Who counts those that sleep on the cell.
  [[nodiscard]] std::atomic<std::uint32_t>& sleepers() const {
    return (holder != nullptr ? holder : part)->state->sleepers;
  }
  [[nodiscard]] bool is_of_collective() const {
    return operation != abi::remote_wait && operation != abi::remote_defer_wait;
  }
};

[[nodiscard]] bool is_satisfied(const CellWait& wait, std::int32_t seen);

/// A sleeping wait; `number`: in the order in which those of a process went to sleep.
struct ListedWait {
  CellWait wait;
  std::uint64_t number;
};
/// By rank, then by number.
std::vector<ListedWait>& in_order(std::vector<ListedWait>& waits);
/// The words of a deadlock. `collectives`: lines on what each rank has called.
[[nodiscard]] std::string deadlock_report(std::vector<ListedWait> waits, const std::vector<int>& finished,
                                          const std::string& collectives);

class SharedWaits;

class WaitMonitor {
 public:
  /// Before a wait sleeps.
  struct Patience {
    int looks, yields, looks_between;
  };
  /// `count`: of the ranks of the program.
  WaitMonitor(RankStates& ranks, int count);
  /// Returns when the cell has the value; throws Stopped when the program has failed.
  void wait(const CellWait& wait);
  /// Changes a cell and wakes who waits in that part.
  static void add(const WindowPart& part, std::int32_t* cell, std::int32_t value);
  static void set(const WindowPart& part, std::int32_t* cell, std::int32_t value);
  /// The same in two steps, where all ranks share memory: while a new value is on its way to the others, who has set it
  /// looks for theirs. Then it wakes who sleeps on these cells of the part.
  static void set_quietly(std::int32_t* cell, std::int32_t value);
  static void wake(const WindowPart& part, std::initializer_list<std::int32_t*> cells);
  /// After a failure: every sleeping thread looks again.
  void wake_all();
  /// This process runs one rank alone: its waits are noted there, and who sees all ranks looks for deadlocks.
  void publish_to(SharedWaits& waits, int rank);

  // Where other processes change cells and no notify wakes anybody here:
  /// Wakes the threads whose wait is satisfied; are there any that it had not woken before? Who is woken may need the
  /// core of the thread that asks before it can go.
  bool wake_satisfied();
  /// The waits of this process's rank, and numbers that change whenever it has not only slept in them.
  struct Idle {
    std::vector<std::uint64_t> numbers;
    std::vector<CellWait> waits;
  };
  /// Nothing: it can go on.
  [[nodiscard]] std::optional<Idle> idle(int rank);

 private:
  struct Sleeper {
    CellWait wait;
    std::uint64_t number;
    int slot = -1;       ///< of what is published
    bool woken = false;  ///< by wake_satisfied
  };
  struct Snapshot {
    std::vector<std::uint64_t> state;
    std::vector<const Sleeper*> sleepers;
    std::vector<int> ranks;
  };
  void wait_untraced(const CellWait& wait);
  [[nodiscard]] bool satisfied_soon(const CellWait& wait) const;
  void sleep(Sleeper& sleeper);
  [[nodiscard]] std::optional<Snapshot> all_idle(const Sleeper& from) TRILITH_REQUIRES(mutex_);
  void look_for_deadlock(const Sleeper& from);
  void publish_idle();
  [[nodiscard]] std::string report(const Snapshot& snapshot);

  RankStates& ranks_;
  const Patience& patience_;
  Mutex mutex_;
  std::vector<Sleeper*> sleepers_ TRILITH_GUARDED_BY(mutex_);
  std::uint64_t next_number_ TRILITH_GUARDED_BY(mutex_) = 1;
  SharedWaits* shared_ = nullptr;  ///< null: all ranks run in this process
  int rank_ = -1;                  ///< of what is published
};

}  // namespace pl::detail
