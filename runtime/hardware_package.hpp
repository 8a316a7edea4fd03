// runtime/hardware_package.hpp -- the recorded plan of a program as a package for the hardware.
#pragma once

#include "codegen/ascendc/package.hpp"
#include "runtime/recorder.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pl::detail {

class Program;

/// A plan as it was recorded, ready to be written; or why it cannot be.
struct HardwarePackage {
  trilith::codegen::ascendc::Package package;
  std::string refusal;  ///< empty: none
};

/// Emits every kernel of the plan. Throws what specialising and emitting throw.
[[nodiscard]] std::shared_ptr<const HardwarePackage> make_package(const Recorder& recorder,
                                                                  std::span<const RecordedArgument> arguments,
                                                                  const std::vector<int>& devices,
                                                                  const std::source_location& definition);

/// Writes the files into `folder`, which is made; nothing else in it is touched. Throws PlanError for a plan that the
/// hardware cannot be given, ConfigError where the folder cannot be written.
void write_package(const HardwarePackage& package, const std::string& folder,
                   const std::source_location& where);

}  // namespace pl::detail
