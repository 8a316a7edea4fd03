// runtime/pl/benchmark.hpp -- pl::benchmark: where the time of a program, an entry or a kernel goes.
//
//   auto compiled = host_orch.compile(x, y, config);
//   std::cout << pl::benchmark(compiled, x, y).text();
//
// Runs it some times to warm up, then until the measured runs have taken `seconds` (at least `runs` of them),
// and reports the run of median length. Call it from ordinary C++. It throws what the call throws.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace pl {

/// One rank's part of a run.
struct RankTimes {
  int rank = 0;
  int device = 0;
  std::uint64_t tasks = 0;         ///< blocks that ran
  double queue_seconds = 0;        ///< from the dispatch to the start of its orchestration
  double orchestrate_seconds = 0;  ///< the pl::jit body: it makes the tasks
  double task_seconds = 0;         ///< of all cores together, inside kernels
  double total_seconds = 0;        ///< from the start of the orchestration to the end of its last task
};

struct BenchmarkReport {
  std::uint64_t runs = 0;
  double host_seconds = 0;              ///< the whole call; of the median run, as everything below
  double fastest_seconds = 0;           ///< of the fastest run
  double host_orchestrate_seconds = 0;  ///< the host orchestrator's body
  double host_wait_seconds = 0;         ///< from its end to that of the last rank
  std::vector<RankTimes> ranks;         ///< empty for a kernel called without an entry
  /// A table: one line for the host, one a rank.
  [[nodiscard]] std::string text() const;
};

/// Last argument of `pl::benchmark` where the defaults do not do.
struct BenchmarkOptions {
  int warm_up = 2;
  int runs = 5;
  double seconds = 0.2;
};

namespace detail {

class RunTimes;

/// Runs `call` as often as the options say.
[[nodiscard]] BenchmarkReport measure_calls(void (*call)(void* closure), void* closure,
                                            const BenchmarkOptions& options);

}  // namespace detail

/// `pl::benchmark(compiled, args…[, options])`
template <class Compiled, class... A>
[[nodiscard]] BenchmarkReport benchmark(const Compiled& compiled, A&&... arguments) {
  BenchmarkOptions options;
  auto call = [&] {
    if constexpr ((std::is_same_v<std::remove_cvref_t<A>, BenchmarkOptions> || ...)) {
      const auto all = std::forward_as_tuple(arguments...);
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (void)compiled(std::get<I>(all)...);
      }(std::make_index_sequence<sizeof...(A) - 1>{});
    } else {
      (void)compiled(arguments...);
    }
  };
  if constexpr ((std::is_same_v<std::remove_cvref_t<A>, BenchmarkOptions> || ...))
    options = std::get<sizeof...(A) - 1>(std::forward_as_tuple(arguments...));
  return detail::measure_calls([](void* closure) { (*static_cast<decltype(call)*>(closure))(); }, &call,
                               options);
}

}  // namespace pl
