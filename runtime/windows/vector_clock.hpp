// runtime/windows/vector_clock.hpp -- what a thread of a checked program knows of the others: a time for each.
//
// A lane is one sequence of work: a device's orchestration, or tasks of a rank that follow one another. An access at
// time t of a lane happened before a thread's next step exactly where its clock holds t or more for that lane.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pl::detail {

class VectorClock {
 public:
  [[nodiscard]] std::uint32_t at(int lane) const {
    const auto i = static_cast<std::size_t>(lane);
    return i < times_.size() ? times_[i] : 0;
  }
  void set(int lane, std::uint32_t time) {
    const auto i = static_cast<std::size_t>(lane);
    if (i >= times_.size()) times_.resize(i + 1, 0);
    times_[i] = time;
  }
  void tick(int lane) { set(lane, at(lane) + 1); }
  void join(const VectorClock& other) {
    if (times_.size() < other.times_.size()) times_.resize(other.times_.size(), 0);
    for (std::size_t i = 0; i < other.times_.size(); ++i) times_[i] = std::max(times_[i], other.times_[i]);
  }

 private:
  std::vector<std::uint32_t> times_;
};

}  // namespace pl::detail
