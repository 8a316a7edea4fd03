// runtime/windows/schedule.hpp -- another order of what ranks do, from a seed (RunConfig.schedule_seed).
//
// Each block of a task takes its decisions from the seed, its rank and its number: they are the same in every run. It
// pauses before some operations, and its remote writes to another rank arrive late and in another order: no later than
// its next notify to that rank, fence, collective or end, which is all that the memory model promises.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace pl::detail {

class Schedule {
 public:
  /// Changes nothing.
  Schedule() = default;
  Schedule(std::uint64_t seed, int rank, std::uint64_t task, std::int64_t block);
  [[nodiscard]] bool active() const { return state_ != 0; }
  /// Pauses, or not.
  void pause();
  /// Does a write to a rank later.
  void hold(int peer, std::function<void()> write);
  /// Does the writes to a rank that were held; -1: to every rank.
  void deliver(int peer);

 private:
  struct Held {
    int peer;
    std::function<void()> write;
  };
  [[nodiscard]] std::uint64_t next();
  std::uint64_t state_ = 0;
  int pauses_ = 0;
  std::vector<Held> held_;
};

}  // namespace pl::detail
