#include "pl/benchmark.hpp"

#include "pl/error.hpp"
#include "runtime/run_times.hpp"
#include "runtime/thread_state.hpp"

#include <algorithm>
#include <cstdio>

namespace pl {
namespace detail {

BenchmarkReport measure_calls(void (*call)(void* closure), void* closure, const BenchmarkOptions& options) {
  ThreadState& thread = thread_state();
  if (thread.level != Level::None)
    throw LevelError("pl::benchmark was called inside a program; call it from ordinary C++");
  if (options.warm_up < 0 || options.runs < 1 || !(options.seconds >= 0))
    throw UserError("pl::benchmark: warm_up = " + std::to_string(options.warm_up) + ", runs = " +
                    std::to_string(options.runs) + ", seconds = " + std::to_string(options.seconds) +
                    "; expected warm_up >= 0, runs >= 1 and seconds >= 0");
  for (int i = 0; i < options.warm_up; ++i) call(closure);
  std::vector<BenchmarkReport> runs;
  const ThreadStateScope scope;
  double spent = 0;
  // A call may be so fast that its record is what fills the memory.
  constexpr std::size_t most_runs = 100'000;
  while (static_cast<int>(runs.size()) < options.runs ||
         (spent < options.seconds && runs.size() < most_runs)) {
    RunTimes times;
    thread.times = &times;
    const auto begin = Clock::now();
    call(closure);
    const std::chrono::duration<double> seconds = Clock::now() - begin;
    spent += seconds.count();
    runs.push_back(
        {1, seconds.count(), 0, times.host_orchestrate_seconds, times.host_wait_seconds, times.ranks()});
  }
  const auto middle = runs.begin() + static_cast<std::ptrdiff_t>(runs.size() / 2);
  const auto faster = [](const BenchmarkReport& a, const BenchmarkReport& b) {
    return a.host_seconds < b.host_seconds;
  };
  std::nth_element(runs.begin(), middle, runs.end(), faster);
  BenchmarkReport report = *middle;
  report.runs = runs.size();
  report.fastest_seconds = std::min_element(runs.begin(), runs.end(), faster)->host_seconds;
  std::sort(report.ranks.begin(), report.ranks.end(),
            [](const RankTimes& a, const RankTimes& b) { return a.rank < b.rank; });
  return report;
}

}  // namespace detail

std::string BenchmarkReport::text() const {
  char line[200];
  std::snprintf(line, sizeof line,
                "host: %.3f ms (median of %llu runs, fastest %.3f ms): orchestrate %.3f ms, wait %.3f ms\n",
                host_seconds * 1e3, static_cast<unsigned long long>(runs), fastest_seconds * 1e3,
                host_orchestrate_seconds * 1e3, host_wait_seconds * 1e3);
  std::string result = line;
  for (const RankTimes& rank : ranks) {
    std::snprintf(line, sizeof line,
                  "rank %d (device %d): %.3f ms: queue %.3f ms, orchestrate %.3f ms, %llu tasks %.3f ms\n",
                  rank.rank, rank.device, rank.total_seconds * 1e3, rank.queue_seconds * 1e3,
                  rank.orchestrate_seconds * 1e3, static_cast<unsigned long long>(rank.tasks),
                  rank.task_seconds * 1e3);
    result += line;
  }
  return result;
}

}  // namespace pl
