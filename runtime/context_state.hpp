// runtime/context_state.hpp -- what stands behind a pl::Context.
#pragma once

#include "pl/config.hpp"
#include "pl/context.hpp"
#include "pl/statistics.hpp"
#include "runtime/device_pool.hpp"
#include "runtime/thread_annotations.hpp"
#include "runtime/thread_state.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pl::detail {

class Backend;

class ContextState : public std::enable_shared_from_this<ContextState> {
 public:
  /// `config` is validated and holds the environment's values.
  explicit ContextState(RunConfig config);
  ~ContextState();

  const RunConfig config;
  /// Code for this platform is made for constant extents alone, `pl::dynamic` or not.
  const bool constant_extents;
  /// Distinguishes contexts in dispatch keys; never used twice.
  const std::uint64_t id;

  /// The lambdas run natively: asked for, or because the JIT does not work here.
  [[nodiscard]] bool eager() const { return eager_.load(std::memory_order_relaxed); }
  /// Carries on without the JIT; says so once.
  void degrade(const std::string& reason);

  /// One more kernel call or compile request that memory answered.
  void count_hit(ThreadState& thread) {
    if (thread.shard == 0) [[unlikely]]
      assign_shard(thread);
    std::atomic<std::uint64_t>& count = hits_[thread.shard - 1].count;
    // A locked add costs more than all of the look-up: only the last shard has more than one writer.
    if (thread.shard < shards) [[likely]]
      count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    else
      count.fetch_add(1, std::memory_order_relaxed);
  }
  void count_eager_call() { eager_calls_.fetch_add(1, std::memory_order_relaxed); }
  void add_phase_seconds(double specialise, double emit);
  void add_specialisation(SpecialisationStatistics specialisation);
  [[nodiscard]] Statistics statistics() const;

  [[nodiscard]] Backend& backend() { return *backend_; }
  [[nodiscard]] DevicePool& devices() { return devices_; }
  /// The context for a program that is compiled with `wanted`: this one where only devices differ, else one
  /// of its own that further programs with the same configuration share.
  [[nodiscard]] std::shared_ptr<ContextState> for_config(const RunConfig& wanted);

 private:
  static constexpr std::uint32_t shards = 32;
  // A cache line each: threads that hit at the same time must not share one.
  struct alignas(64) Shard {
    std::atomic<std::uint64_t> count{0};
  };
  static void assign_shard(ThreadState& thread);

  std::atomic<bool> eager_;
  std::array<Shard, shards> hits_;
  std::atomic<std::uint64_t> eager_calls_{0};
  mutable Mutex mutex_;
  double specialise_seconds_ TRILITH_GUARDED_BY(mutex_) = 0;
  double emit_seconds_ TRILITH_GUARDED_BY(mutex_) = 0;
  std::vector<SpecialisationStatistics> specialisations_ TRILITH_GUARDED_BY(mutex_);
  std::vector<std::weak_ptr<ContextState>> derived_ TRILITH_GUARDED_BY(mutex_);
  std::unique_ptr<Backend> backend_;
  DevicePool devices_;  // last: its threads end before what they use
};

/// Null until the default context is needed for the first time.
extern std::atomic<ContextState*> default_context_state;
[[nodiscard]] ContextState& make_default_context();

/// The context of the calling thread.
[[nodiscard]] inline ContextState& current_context(const ThreadState& thread) {
  if (thread.context != nullptr) return *thread.context;
  ContextState* state = default_context_state.load(std::memory_order_acquire);
  return state != nullptr ? *state : make_default_context();
}
/// Of the calling thread's context; the default's before there is one.
[[nodiscard]] LogLevel log_level_in_force();

}  // namespace pl::detail
