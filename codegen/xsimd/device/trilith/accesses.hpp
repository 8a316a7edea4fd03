// trilith/accesses.hpp -- what a checked kernel says, in front of a loop, of the elements that its rounds touch.
#pragma once

#include "kernel.hpp"

namespace trilith::device {

/// Of a loop from `begin` to `end`.
TRILITH_INLINE std::int64_t rounds_of(std::int64_t begin, std::int64_t end, std::int64_t step) {
  if (step > 0 ? begin >= end : begin <= end) return 0;
  const std::uint64_t distance = step > 0
                                     ? static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin)
                                     : static_cast<std::uint64_t>(begin) - static_cast<std::uint64_t>(end);
  const std::uint64_t length =
      step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
  return static_cast<std::int64_t>((distance - 1) / length + 1);
}

/// An element of a tensor that moves on by the same steps from round to round.
template <int rank>
struct Line {
  std::int64_t first[rank], steps[rank];
  /// So many of the rounds it lies inside of these extents, before it leaves them.
  [[nodiscard]] std::int64_t rounds_inside(const std::int64_t (&extents)[rank], std::int64_t rounds) const {
    for (int axis = 0; axis < rank; ++axis) {
      if (outside(first[axis], 1, extents[axis])) return 0;
      if (steps[axis] == 0) continue;
      const bool rises = steps[axis] > 0;
      const auto room = static_cast<std::uint64_t>(rises ? extents[axis] - 1 - first[axis] : first[axis]);
      const auto step = static_cast<std::uint64_t>(steps[axis]);
      const auto inside = static_cast<std::int64_t>(room / (rises ? step : 0 - step)) + 1;
      if (inside < rounds) rounds = inside;
    }
    return rounds;
  }
};

/// `offsets(i, at)` gives the element of round i, which is a sum of products with i.
template <int rank, class Offsets>
TRILITH_INLINE Line<rank> line_of(std::int64_t begin, std::int64_t step, const Offsets& offsets) {
  Line<rank> line;
  offsets(begin, line.first);
  offsets(begin + step, line.steps);
  for (int axis = 0; axis < rank; ++axis) line.steps[axis] -= line.first[axis];
  return line;
}

}  // namespace trilith::device
