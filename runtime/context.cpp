#include "pl/context.hpp"

#include "pl/error.hpp"
#include "runtime/backend.hpp"
#include "runtime/context_state.hpp"
#include "runtime/platform.hpp"
#include "runtime/shared_memory.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

namespace pl {
namespace detail {
namespace {

RunConfig in_force(RunConfig config) {
  config = with_environment(std::move(config));
  validate(config);
  return config;
}

std::atomic<std::uint64_t> next_context_id{1};
std::atomic<std::uint32_t> next_shard{0};

// The default context is never destroyed: objects with static storage may call kernels until the process
// ends.
struct DefaultContext {
  Mutex mutex;
  std::optional<RunConfig> config TRILITH_GUARDED_BY(mutex);
  std::shared_ptr<ContextState> owner TRILITH_GUARDED_BY(mutex);
};
DefaultContext& the_default() {
  static DefaultContext* instance = new DefaultContext;
  return *instance;
}

}  // namespace

ContextState::ContextState(RunConfig config_)
    : config(std::move(config_)),
      constant_extents(is_ascendc(platform_of(config.platform))),
      id(next_context_id.fetch_add(1)),
      eager_(config.eager),
      backend_(std::make_unique<Backend>(config)) {
  if (config.distributed.transport == "processes") share_arrays();
}

ContextState::~ContextState() = default;

void ContextState::degrade(const std::string& reason) {
  if (eager_.exchange(true)) return;
  log(LogLevel::Warning, "degraded: kernels are not compiled and run as plain C++ from now on: " + reason);
}

void ContextState::assign_shard(ThreadState& thread) {
  // The first threads of a process have a shard each, the others share the last.
  thread.shard = 1 + std::min(next_shard.fetch_add(1), shards - 1);
}

void ContextState::add_phase_seconds(double specialise, double emit) {
  const Lock lock(mutex_);
  specialise_seconds_ += specialise;
  emit_seconds_ += emit;
}

void ContextState::add_specialisation(SpecialisationStatistics specialisation) {
  const char* origins[] = {"compiled", "from the disk cache", "from memory"};
  if (log_level_in_force() <= LogLevel::Info)
    log(LogLevel::Info, specialisation.kernel + " (" + specialisation.signature + ") " +
                            origins[static_cast<int>(specialisation.origin)] + " in " +
                            std::to_string(specialisation.seconds * 1e3) + " ms");
  const Lock lock(mutex_);
  specialisations_.push_back(std::move(specialisation));
}

Statistics ContextState::statistics() const {
  Statistics result;
  backend_->add_to(result);
  for (const Shard& shard : hits_) result.memory_hits += shard.count.load(std::memory_order_relaxed);
  result.eager_calls = eager_calls_.load(std::memory_order_relaxed);
  const Lock lock(mutex_);
  result.specialise_seconds = specialise_seconds_;
  result.emit_seconds = emit_seconds_;
  result.specialisations = specialisations_;
  return result;
}

std::shared_ptr<ContextState> ContextState::for_config(const RunConfig& wanted) {
  // Devices, and how their tasks are run, belong to the program and not to the caches.
  RunConfig comparable = wanted;
  const auto take_over = [&](const RunConfig& from) {
    comparable.distributed = from.distributed;
    comparable.cores = from.cores;
    comparable.schedule_seed = from.schedule_seed;
    comparable.trace = from.trace;
  };
  take_over(config);
  if (comparable == config) return shared_from_this();
  const Lock lock(mutex_);
  std::erase_if(derived_, [](const auto& context) { return context.expired(); });
  for (const auto& weak : derived_)
    if (auto context = weak.lock()) {
      take_over(context->config);
      if (comparable == context->config) return context;
    }
  auto context = std::make_shared<ContextState>(wanted);
  derived_.push_back(context);
  return context;
}

constinit std::atomic<ContextState*> default_context_state{nullptr};

ContextState& make_default_context() {
  DefaultContext& instance = the_default();
  const Lock lock(instance.mutex);
  if (!instance.owner) {
    instance.owner = std::make_shared<ContextState>(in_force(instance.config.value_or(RunConfig{})));
    default_context_state.store(instance.owner.get(), std::memory_order_release);
  }
  return *instance.owner;
}

LogLevel log_level_in_force() {
  if (const ContextState* context = thread_state().context) return context->config.log_level;
  if (const ContextState* context = default_context_state.load(std::memory_order_acquire))
    return context->config.log_level;
  return RunConfig{}.log_level;
}

}  // namespace detail

Context::Context(RunConfig config)
    : state_(std::make_shared<detail::ContextState>(detail::in_force(std::move(config)))) {}
Context::~Context() = default;
Context::Context(Context&&) noexcept = default;
Context& Context::operator=(Context&&) noexcept = default;
const RunConfig& Context::config() const { return state_->config; }
Statistics Context::statistics() const { return state_->statistics(); }

ContextScope::ContextScope(const Context& context)
    : context_(context.state_),
      previous_(std::exchange(detail::thread_state().context, context.state_.get())) {}
ContextScope::~ContextScope() { detail::thread_state().context = previous_; }

void configure(RunConfig config) {
  config = detail::in_force(std::move(config));
  detail::DefaultContext& instance = detail::the_default();
  const detail::Lock lock(instance.mutex);
  if (instance.owner)
    throw ConfigError(
        "pl::configure was called after the default context came into use; call it before the first "
        "kernel, or make a pl::Context and a pl::ContextScope");
  instance.config = std::move(config);
}

Statistics statistics() { return detail::current_context(detail::thread_state()).statistics(); }

}  // namespace pl
