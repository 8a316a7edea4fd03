// The rounds of one loop on several threads: each once, in time, and none after a failure.
#include "runtime/parallel_rounds.hpp"

#include "runtime/support.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

using pl::detail::run_rounds;

TEST_CASE("every round runs once, in parts that begin in order") {
  for (const std::int64_t count : {0, 1, 2, 7, 100, 1001})
    for (const int threads : {1, 2, 3, 16}) {
      std::mutex mutex;
      std::set<std::int64_t> rounds;
      std::int64_t sum = 0;
      run_rounds(count, threads, [&](std::int64_t first, std::int64_t last) {
        const std::lock_guard lock(mutex);
        for (std::int64_t i = first; i < last; ++i) rounds.insert(i), ++sum;
        return first < last;
      });
      CHECK(sum == count);
      CHECK(static_cast<std::int64_t>(rounds.size()) == count);
    }
}

TEST_CASE("two parts run at the same time") {
  std::atomic<int> inside{0};
  std::atomic<bool> met{false};
  run_rounds(2, 2, [&](std::int64_t, std::int64_t) {
    ++inside;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (inside < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    if (inside == 2) met = true;
    return true;
  });
  CHECK(met);
}

TEST_CASE("after a part that fails no other begins, and all before it have run") {
  for (int again = 0; again < 50; ++again) {
    std::mutex mutex;
    std::set<std::int64_t> begun;
    run_rounds(1000, 4, [&](std::int64_t first, std::int64_t last) {
      const std::lock_guard lock(mutex);
      for (std::int64_t i = first; i < last; ++i) begun.insert(i);
      return last <= 500;
    });
    for (std::int64_t i = 0; i <= 500; ++i) CHECK(begun.count(i) == 1);
  }
}

TEST_CASE("loops on several threads at once, from several threads") {
  std::vector<std::thread> callers;
  std::atomic<std::int64_t> sum{0};
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int again = 0; again < 100; ++again)
        run_rounds(50, 3, [&](std::int64_t first, std::int64_t last) {
          sum += last - first;
          return true;
        });
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(sum == 4 * 100 * 50);
}
