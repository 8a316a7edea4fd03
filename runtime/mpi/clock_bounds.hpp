// runtime/mpi/clock_bounds.hpp -- how much another process's clock is ahead, from questions that it has answered.
//
// It answered between question and arrival, so each answer bounds the difference from both sides. Processes of one
// machine have one clock: where that is possible the difference is none.
#pragma once

#include "runtime/task_observer.hpp"

#include <algorithm>

namespace pl::detail {

class ClockBounds {
 public:
  /// `asked`, `heard`: by the own clock.
  void add(Clock::time_point asked, Clock::time_point told, Clock::time_point heard) {
    least_ = std::max(least_, told - heard);
    most_ = std::min(most_, told - asked);
  }
  [[nodiscard]] Clock::duration ahead() const {
    if (least_ <= Clock::duration::zero() && Clock::duration::zero() <= most_) return Clock::duration::zero();
    return least_ + (most_ - least_) / 2;
  }

 private:
  Clock::duration least_ = Clock::duration::min(), most_ = Clock::duration::max();
};

}  // namespace pl::detail
