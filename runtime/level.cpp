#include "pl/detail/level.hpp"

#include "pl/detail/block.hpp"
#include "pl/error.hpp"
#include "pl/log.hpp"
#include "pl/recording.hpp"
#include "runtime/thread_state.hpp"

#include <string>

namespace pl {
namespace detail {
namespace {
// initial-exec: one instruction to reach it, which a call that takes tens of nanoseconds notices.
__attribute__((tls_model("initial-exec"))) thread_local constinit ThreadState state;
}  // namespace

ThreadState& thread_state() noexcept { return state; }

Level current_level() noexcept { return state.level; }

Block current_block() noexcept { return {state.block_index, state.block_count}; }

LevelScope::LevelScope(Level entered) noexcept : previous_(state.level) { state.level = entered; }
LevelScope::~LevelScope() { state.level = previous_; }

void require_core(std::string_view operation, const std::source_location& where) {
  if (state.level != Level::Host && state.level != Level::Device) return;
  const std::string at = state.level == Level::Host ? "host orchestrator" : "device orchestration";
  throw LevelError(
      "pl::" + std::string(operation) + " was called in a " + at +
          "; tile operations belong in a pl::jit.incore kernel, which the " +
          (state.level == Level::Host ? "pl::jit entry calls (host → device → core)" : "orchestration calls"),
      {where.file_name(), where.line(), where.column()});
}

void print_text(std::string_view text) { print(text); }

}  // namespace detail

bool recording() { return detail::state.recorder != nullptr; }

}  // namespace pl
