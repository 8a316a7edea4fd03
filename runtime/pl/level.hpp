// runtime/pl/level.hpp -- at which of the three levels this thread runs: host, device, core.
//
// Thread-safety: everything here is about the calling thread alone.
#pragma once

#include <cstdint>
#include <source_location>

namespace pl {

enum class Level : std::uint8_t {
  None,    ///< ordinary C++
  Host,    ///< in a pl::jit.host orchestrator
  Device,  ///< in a pl::jit device orchestration
  Core,    ///< in an in-core kernel that runs natively (TRILITH_EAGER)
};

[[nodiscard]] Level current_level();

/// True while `compile` runs the orchestrators to record their plan: kernels are compiled and do not run.
[[nodiscard]] bool recording();

namespace detail {

/// Throws LevelError where tile operations may not stand: at host and device level.
void require_tile_level(const char* operation, const std::source_location& where);

}  // namespace detail
}  // namespace pl
