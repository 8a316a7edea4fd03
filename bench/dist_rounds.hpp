// bench/dist_rounds.hpp -- how often bench_dist and its peer over Open MPI repeat one step: the same, or they would not
// be compared.
#pragma once

#include <algorithm>
#include <cstddef>

namespace bench {

/// As many rounds as fill about a twentieth of a second, if memory is copied at 4 GB/s and a step takes 4 us.
[[nodiscard]] inline int rounds_for(std::size_t bytes) {
  return static_cast<int>(std::clamp(0.05 / (static_cast<double>(bytes) / 4e9 + 4e-6), 3.0, 5000.0));
}

}  // namespace bench
