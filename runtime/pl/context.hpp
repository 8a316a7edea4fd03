// runtime/pl/context.hpp -- pl::Context: one configuration with its caches, devices and counters.
//
//   pl::configure({.cache_dir = "/var/cache/app"});     // the default context, before its first use
//   pl::Context other({.fast_math = true});             // one more
//   pl::ContextScope scope(other);                      // this thread uses it until the end of the block
//
// Most programs never name a context: the default one is made at first use and lives until the process ends,
// so that kernels in static objects may be called and destroyed at any time. Thread-safe. A context may be
// destroyed while kernels compiled by it are alive; the code a thread is running stays until it returns.
#pragma once

#include "pl/config.hpp"
#include "pl/statistics.hpp"

#include <memory>

namespace pl {

namespace detail {
class ContextState;
}

class Context {
 public:
  /// Throws ConfigError.
  explicit Context(RunConfig config = {});
  ~Context();
  Context(Context&&) noexcept;
  Context& operator=(Context&&) noexcept;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// As it is in force: with the environment's values.
  [[nodiscard]] const RunConfig& config() const;
  [[nodiscard]] Statistics statistics() const;

 private:
  friend class ContextScope;
  std::shared_ptr<detail::ContextState> state_;
};

/// Makes `context` the calling thread's until the scope ends. Scopes nest.
class ContextScope {
 public:
  explicit ContextScope(const Context& context);
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  std::shared_ptr<detail::ContextState> context_;
  detail::ContextState* previous_;
};

/// Sets the default context's configuration. Throws ConfigError when it is already in use or the values are
/// wrong.
void configure(RunConfig config);

}  // namespace pl
