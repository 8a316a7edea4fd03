// runtime/platform.hpp -- the names of RunConfig.platform and what they mean.
#pragma once

#include <optional>
#include <string_view>

namespace pl::detail {

enum class Platform {
  Simulator,  ///< "a2a3sim"
  Model,  ///< "a2a3model": simulated devices whose kernels are the emitted AscendC on a model of its interface
  Hardware,  ///< "a2a3": the program's package is written, nothing runs here
};

[[nodiscard]] constexpr std::optional<Platform> find_platform(std::string_view name) {
  if (name == "a2a3sim") return Platform::Simulator;
  if (name == "a2a3model") return Platform::Model;
  if (name == "a2a3") return Platform::Hardware;
  return {};
}

/// Of a name that `validate` has let through.
[[nodiscard]] constexpr Platform platform_of(std::string_view name) {
  return find_platform(name).value_or(Platform::Simulator);
}

/// Its kernels are AscendC, whose tiles have constant extents.
[[nodiscard]] constexpr bool is_ascendc(Platform platform) { return platform != Platform::Simulator; }

}  // namespace pl::detail
