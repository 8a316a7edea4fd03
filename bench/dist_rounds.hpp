// bench/dist_rounds.hpp -- how often bench_dist and its peer over Open MPI repeat one step: the same, or they would not
// be compared.
#pragma once

#include <algorithm>
#include <cstddef>

namespace bench {

/// As many rounds as fill about a twentieth of a second, if memory is copied at 4 GB/s and a step of two ranks takes
/// 2 us, of more ranks, which may have to share cores, 20 us.
[[nodiscard]] inline int rounds_for(std::size_t bytes, int ranks) {
  const double step = ranks <= 2 ? 2e-6 : 2e-5;
  return static_cast<int>(std::max(0.05 / (static_cast<double>(bytes) / 4e9 + step), 3.0));
}

}  // namespace bench
