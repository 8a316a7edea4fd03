// runtime/backend.hpp -- the way from a captured kernel and a signature to code that can be called.
#pragma once

#include "codegen/ascendc/emit.hpp"
#include "codegen/specialise.hpp"
#include "codegen/xsimd/emit.hpp"
#include "jit/engine.hpp"
#include "pl/abi.hpp"
#include "pl/config.hpp"
#include "pl/statistics.hpp"
#include "runtime/captured_kernel.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pl::detail {

class ContextState;

/// Code that is ready to be called; it stays loaded as long as `owner` lives.
struct Executable {
  std::shared_ptr<const void> owner;
  abi::Entry entry = nullptr;
  std::vector<std::pair<int, int>> in_place;  ///< (input, output) parameters that may be the same memory
  Origin origin = Origin::Compiled;
  std::shared_ptr<const trilith::codegen::ascendc::Emitted> for_hardware =
      {};  ///< on a2a3: what a package holds
};

/// The JIT does not work on this machine (no compiler library, no executable memory): carry on without it.
struct Unavailable {
  std::string reason;
};

/// For tests: what the engines of contexts that are made from now on do when trouble is played to them.
[[nodiscard]] trilith::jit::EngineHooks& engine_hooks_for_tests();

/// The engine of one context, started at the first kernel that is needed. Thread-safe.
class Backend {
 public:
  explicit Backend(const RunConfig& config);
  ~Backend();

  /// From memory, disk or the compiler; once per key, whatever the number of threads. In the process of a rank the host
  /// is asked to compile. Throws Unavailable, and what specialising and emitting throw.
  [[nodiscard]] Executable get(const CapturedKernel& kernel, const trilith::codegen::Signature& signature,
                               ContextState& context);
  /// What the process of a rank has asked for is put into the cache; false: that is not possible.
  [[nodiscard]] bool provide(std::string_view request) noexcept;
  void add_to(Statistics& statistics) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pl::detail
