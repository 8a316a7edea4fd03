// bench/dist_rounds.hpp -- which sizes bench_dist and its peer over Open MPI measure, and how often they repeat a step:
// the same, or they would not be compared.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace bench {

/// As many rounds as fill about a twentieth of a second, if memory is copied at 4 GB/s and a step of two ranks takes
/// 2 us, of more ranks, which may have to share cores, 20 us.
[[nodiscard]] inline int rounds_for(std::size_t bytes, int ranks) {
  const double step = ranks <= 2 ? 2e-6 : 2e-5;
  return static_cast<int>(std::max(0.05 / (static_cast<double>(bytes) / 4e9 + step), 3.0));
}

/// Bytes a rank: 8, 64, 512, … and the largest.
[[nodiscard]] inline std::vector<std::size_t> collective_sizes(std::size_t largest) {
  std::vector<std::size_t> sizes;
  for (std::size_t bytes = 8; bytes < largest; bytes *= 8) sizes.push_back(bytes);
  sizes.push_back(largest);
  return sizes;
}

}  // namespace bench
