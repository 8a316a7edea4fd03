#include "pl/detail/level.hpp"

#include "pl/error.hpp"

#include <cstdio>
#include <string>

namespace pl::detail {
namespace {
thread_local Level level = Level::None;
}  // namespace

Level current_level() noexcept { return level; }

LevelScope::LevelScope(Level entered) noexcept : previous_(level) { level = entered; }
LevelScope::~LevelScope() { level = previous_; }

void require_core(std::string_view operation, const std::source_location& where) {
  if (level != Level::Host && level != Level::Device) return;
  const std::string at = level == Level::Host ? "host orchestrator" : "device orchestration";
  throw LevelError(
      "pl::" + std::string(operation) + " was called in a " + at +
          "; tile operations belong in a pl::jit.incore kernel, which the " +
          (level == Level::Host ? "pl::jit entry calls (host → device → core)" : "orchestration calls"),
      {where.file_name(), where.line(), where.column()});
}

void print_text(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace pl::detail
