// runtime/pl/rank.hpp -- who a rank is: pld::Rank, pld::world_size().
//
//   for (auto r : pl::range(pld::world_size())) device_orch(x[r], y[r], r, pld::device = r);
//
// Ranks exist in a host orchestrator only and go down as arguments. Values: not synchronised.
#pragma once

#include <cstddef>
#include <iterator>
#include <source_location>

namespace pld {

/// The number of one rank, 0 to world size - 1. Converts to int; the type tells the plan checks that it is a
/// rank.
class Rank {
 public:
  constexpr explicit Rank(int value) : value_(value) {}
  constexpr operator int() const {
    return value_;
  }  // NOLINT(google-explicit-constructor): a rank is a number
  [[nodiscard]] constexpr int value() const { return value_; }

 private:
  int value_;
};

/// How many ranks the running program has; `pl::range` of it yields ranks.
class WorldSize {
 public:
  constexpr explicit WorldSize(int value) : value_(value) {}
  constexpr operator int() const { return value_; }  // NOLINT(google-explicit-constructor)
  [[nodiscard]] constexpr int value() const { return value_; }

 private:
  int value_;
};

/// The number of devices of the program, in its host orchestrator. Elsewhere: pl::LevelError.
[[nodiscard]] WorldSize world_size(std::source_location where = std::source_location::current());

/// Always pl::LevelError: the host loops over all ranks and has none itself; a device is told its rank by
/// argument.
int rank(std::source_location where = std::source_location::current());

class RankRange {
 public:
  class Iterator {
   public:
    using value_type = Rank;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;
    constexpr explicit Iterator(int value) : value_(value) {}
    constexpr Rank operator*() const { return Rank(value_); }
    constexpr Iterator& operator++() {
      ++value_;
      return *this;
    }
    constexpr Iterator operator++(int) {
      const Iterator before = *this;
      ++value_;
      return before;
    }
    constexpr bool operator==(const Iterator&) const = default;

   private:
    int value_;
  };
  constexpr explicit RankRange(int count) : count_(count) {}
  [[nodiscard]] constexpr Iterator begin() const { return Iterator(0); }
  [[nodiscard]] constexpr Iterator end() const { return Iterator(count_); }

 private:
  int count_;
};

}  // namespace pld

namespace pl {

/// The ranks 0 to size - 1, as pld::Rank.
[[nodiscard]] constexpr pld::RankRange range(pld::WorldSize size) { return pld::RankRange(size.value()); }

}  // namespace pl
