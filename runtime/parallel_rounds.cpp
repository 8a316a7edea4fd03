#include "runtime/parallel_rounds.hpp"

#include "runtime/core_pool.hpp"

#include <algorithm>
#include <atomic>
#include <memory>

namespace pl::detail {
namespace {

/// More parts than threads, so that a thread that is done early takes some of another's.
constexpr std::int64_t parts_of_a_thread = 4;

struct Loop {
  std::int64_t count = 0, parts = 0;
  const std::function<bool(std::int64_t, std::int64_t)>* part = nullptr;
  std::atomic<std::int64_t> next{0}, done{0};
  std::atomic<bool> stopped{false};

  [[nodiscard]] std::int64_t begin_of(std::int64_t number) const {
    return count / parts * number + std::min(number, count % parts);
  }

  /// Takes parts until none is left. A worker that comes late finds none and touches nothing of the caller's.
  void work() {
    for (;;) {
      const std::int64_t number = next.fetch_add(1, std::memory_order_relaxed);
      if (number >= parts) return;
      if (!stopped.load(std::memory_order_relaxed) && !(*part)(begin_of(number), begin_of(number + 1)))
        stopped.store(true, std::memory_order_relaxed);
      if (done.fetch_add(1, std::memory_order_acq_rel) + 1 == parts) done.notify_one();
    }
  }
};

}  // namespace

void run_rounds(std::int64_t count, int threads,
                const std::function<bool(std::int64_t, std::int64_t)>& part) {
  if (count <= 0) return;
  const auto loop = std::make_shared<Loop>();
  loop->count = count;
  loop->parts = std::min(count, threads * parts_of_a_thread);
  loop->part = &part;
  const std::int64_t helpers = std::min<std::int64_t>(threads, loop->parts) - 1;
  for (std::int64_t i = 0; i < helpers; ++i) {
    try {
      if (!run_on_core_pool([loop] { loop->work(); })) break;
    } catch (...) {  // no memory: with the helpers that there are
      break;
    }
  }
  loop->work();
  // What workers have begun they end: they never wait for anything.
  for (std::int64_t done = loop->done.load(std::memory_order_acquire); done != loop->parts;
       done = loop->done.load(std::memory_order_acquire))
    loop->done.wait(done, std::memory_order_acquire);
}

}  // namespace pl::detail
