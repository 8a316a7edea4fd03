// runtime/pl/recording.hpp -- pl::recording(): is this the run that records the plan?
#pragma once

namespace pl {

/// True while `compile` runs the orchestrators once to record their plan: kernels are compiled and do not
/// run, so an orchestrator must not use their results there. Thread-safe.
[[nodiscard]] bool recording();

}  // namespace pl
