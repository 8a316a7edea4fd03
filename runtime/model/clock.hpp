// runtime/model/clock.hpp -- vector clocks: which operations of which pipes of which cores are known to be complete.
//
// A pipe numbers its operations from 1. The clock of a pipe says, for each pipe of each core, up to which number the next
// operation of this pipe starts after. An event carries the clock of the pipe that set it to the one that waits.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace trilith::model {

inline constexpr int pipe_count = 7;  ///< S V M MTE1 MTE2 MTE3 FIX: numbers of pipe_t

/// One operation, as memory remembers it.
struct Stamp {
  std::uint32_t number = 0;  ///< in its pipe; 0: none
  std::uint32_t core = 0;
  std::uint32_t line = 0;
  std::uint8_t pipe = 0;
  std::uint8_t atomic = 0;  ///< stores that commute with those of the same value; 0: does not commute
  const char* name = "";
};

class Clock {
 public:
  Clock() = default;
  explicit Clock(std::uint32_t core) : core_(core) {}

  [[nodiscard]] bool knows(const Stamp& stamp) const {
    if (stamp.core == core_) return stamp.number <= own_[stamp.pipe];
    const std::size_t at = std::size_t{stamp.core} * pipe_count + stamp.pipe;
    return at < others_.size() && stamp.number <= others_[at];
  }
  void learn(std::uint8_t pipe, std::uint32_t number) { own_[pipe] = std::max(own_[pipe], number); }

  void join(const Clock& other) {
    if (other.core_ == core_)
      for (int pipe = 0; pipe < pipe_count; ++pipe) own_[pipe] = std::max(own_[pipe], other.own_[pipe]);
    else
      for (int pipe = 0; pipe < pipe_count; ++pipe) raise(other.core_, pipe, other.own_[pipe]);
    for (std::size_t at = 0; at < other.others_.size(); ++at) {
      const auto core = static_cast<std::uint32_t>(at / pipe_count);
      const auto pipe = static_cast<std::uint8_t>(at % pipe_count);
      if (core == core_)
        learn(pipe, other.others_[at]);
      else
        raise(core, pipe, other.others_[at]);
    }
  }

 private:
  void raise(std::uint32_t core, int pipe, std::uint32_t number) {
    if (number == 0) return;
    const std::size_t at = std::size_t{core} * pipe_count + static_cast<std::size_t>(pipe);
    if (at >= others_.size()) others_.resize((std::size_t{core} + 1) * pipe_count);
    others_[at] = std::max(others_[at], number);
  }

  std::uint32_t core_ = 0;
  std::array<std::uint32_t, pipe_count> own_{};
  std::vector<std::uint32_t>
      others_;  ///< core times pipe_count plus pipe; empty until cores wait for each other
};

}  // namespace trilith::model
