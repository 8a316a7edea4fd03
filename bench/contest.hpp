// bench/contest.hpp -- times several contenders in turn (A B C A B C …) in one process.
//
// Google Benchmark runs all repetitions of one benchmark before the next one starts. On a shared machine the
// speed drifts by tens of percent within seconds, so such numbers cannot be compared with one another;
// interleaved ones can. That is why this small loop stands here instead.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace bench {

using Clock = std::chrono::steady_clock;

[[nodiscard]] inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Timings of one thing, in seconds a call.
struct Samples {
  std::vector<double> seconds;

  [[nodiscard]] double quantile(double q) const {
    if (seconds.empty()) return 0;
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1) + 0.5)];
  }
  [[nodiscard]] double median() const { return quantile(0.5); }
  [[nodiscard]] double min() const { return quantile(0); }
  /// Half the distance between the 10 % and 90 % quantiles, as a part of the median.
  [[nodiscard]] double spread() const {
    return seconds.empty() ? 0 : (quantile(0.9) - quantile(0.1)) / 2 / median();
  }
};

struct Contender {
  std::string name;
  std::function<void(std::size_t calls)>
      run;  ///< makes that many calls; the loop is inside, so it costs no call
  Samples samples{};
};

/// Runs every contender `rounds` times, in turn. One timing covers as many calls as last about `slice`
/// seconds, so that the clock's own cost vanishes and a cache-resident working set is warm again after the
/// others' turns.
inline void run_contest(std::vector<Contender>& contenders, int rounds, double slice = 1e-3) {
  std::vector<std::size_t> calls;
  for (Contender& contender : contenders) {
    contender.run(1);
    std::size_t count = 1;
    double elapsed = 0;
    for (;; count *= 2) {
      const auto begin = Clock::now();
      contender.run(count);
      elapsed = seconds_since(begin);
      if (elapsed >= slice / 2) break;
    }
    calls.push_back(
        std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(count) * slice / elapsed)));
  }
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      const auto begin = Clock::now();
      contenders[i].run(calls[i]);
      contenders[i].samples.seconds.push_back(seconds_since(begin) / static_cast<double>(calls[i]));
    }
}

}  // namespace bench
