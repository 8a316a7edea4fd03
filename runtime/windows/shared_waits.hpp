// runtime/windows/shared_waits.hpp -- who waits for what, where ranks are processes: seen by all of them.
//
// Each rank's process notes its own sleeping waits, and that nothing of it runs but those. That stays true until one of
// them leaves, which is counted: so the host, which looks from outside, can tell whether what it reads is still so. All
// pointers are the same in every process, since windows and code are there before the host forks.
#pragma once

#include "runtime/shared_memory.hpp"
#include "runtime/windows/wait_monitor.hpp"

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pl::detail {

class SharedWaits {
 public:
  explicit SharedWaits(int ranks);
  SharedWaits(const SharedWaits&) = delete;
  SharedWaits& operator=(const SharedWaits&) = delete;

  /// Set when the run has failed.
  [[nodiscard]] std::atomic<bool>& stop_flag();

  // In the process of a rank.
  /// Gives the slot of a wait that goes to sleep.
  [[nodiscard]] int enter(int rank, const CellWait& wait, std::uint64_t number);
  void leave(int rank, int slot);
  /// The waits that have left so far; `note_idle` with it says that since then nothing else of the rank has run.
  [[nodiscard]] std::uint64_t left(int rank) const;
  void note_idle(int rank, std::uint64_t left);
  void finish(int rank);
  /// For texts of a rank that all processes read.
  [[nodiscard]] std::span<char> texts(int rank) const;
  /// Sleeps until the host has said what to do with the results.
  [[nodiscard]] bool wait_for_commit(int rank);
  /// The same for code that it was asked for: is it there?
  [[nodiscard]] bool wait_for_code(int rank);

  // In the host's.
  /// Before ranks are forked: which of them have work.
  void begin(const std::vector<bool>& has_work);
  void commit(int rank, bool send);
  void answer_for_code(int rank, bool is_there);
  /// Wakes every sleeping wait.
  void wake_all();
  /// What a deadlock's report says, where some ranks have come to one.
  struct Deadlock {
    std::string text;
    Location where;
  };
  [[nodiscard]] std::optional<Deadlock> find_deadlock() const;

 private:
  struct Rank;
  struct Snapshot;
  [[nodiscard]] Rank& rank(int number) const;
  [[nodiscard]] std::optional<Snapshot> idle_from(int rank) const;

  const int ranks_;
  const SharedPages pages_;
  std::vector<int> free_slots_;  ///< of the rank that this process is; under its monitor's lock
};

}  // namespace pl::detail
