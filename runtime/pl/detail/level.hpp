// runtime/pl/detail/level.hpp -- which of the three levels the calling thread is at.
//
// Private: used by the language headers to refuse tile operations outside a core, and by the orchestrators.
#pragma once

#include <cstdint>
#include <source_location>
#include <string_view>

namespace pl::detail {

enum class Level : std::uint8_t {
  None,    ///< ordinary C++: tile operations run eagerly
  Host,    ///< inside pl::jit.host
  Device,  ///< inside pl::jit
  Core,    ///< inside pl::jit.incore, run eagerly
};

[[nodiscard]] Level current_level() noexcept;

/// Sets the calling thread's level for a scope.
class LevelScope {
 public:
  explicit LevelScope(Level level) noexcept;
  LevelScope(const LevelScope&) = delete;
  LevelScope& operator=(const LevelScope&) = delete;
  ~LevelScope();

 private:
  Level previous_;
};

/// Throws LevelError when a tile operation is called at the host or device level.
void require_core(std::string_view operation, const std::source_location& where);

/// Where `pl::print` writes: the calling thread's context decides; the default is standard output.
void print_text(std::string_view text);

}  // namespace pl::detail
