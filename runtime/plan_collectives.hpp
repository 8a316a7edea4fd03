// runtime/plan_collectives.hpp -- the collectives of a plan: those that the host calls, and those in the code of kernels.
#pragma once

#include "codegen/ir.hpp"
#include "runtime/recorder.hpp"

#include <string>
#include <vector>

namespace pl::detail {

/// What the kernel does when it is called with these arguments, as far as its code tells: how often where bounds of loops
/// are constants or integer arguments.
[[nodiscard]] std::vector<RecordedCollective> collectives_of(const trilith::codegen::Kernel& kernel,
                                                             const std::vector<RecordedArgument>& arguments);

/// For `trilith plan`. Each collective stands there once and not once a rank.
[[nodiscard]] std::string plan_as_json(const Recorder& recorder);

}  // namespace pl::detail
