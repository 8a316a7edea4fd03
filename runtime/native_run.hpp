// runtime/native_run.hpp -- what a native (eager) run of a kernel has from its captured form: the words and the place
// of an error, and which arguments may share memory.
#pragma once

#include "codegen/specialise.hpp"
#include "pl/error.hpp"
#include "runtime/call_plan.hpp"

#include <utility>
#include <vector>

namespace pl::detail {

/// The (input, output) parameters that compiled code would allow to be one view.
[[nodiscard]] std::vector<std::pair<int, int>> in_place_pairs(const trilith::codegen::Kernel& captured,
                                                              const trilith::codegen::Signature& signature);

/// Throws what compiling or a compiled run would say of the mistake that ended a native run with `error`, at the
/// kernel's line: an operator of C++ cannot know the line it stands on. Returns where neither finds it.
void rethrow_at_the_kernels_line(const UserError& error, const CallPlan& plan,
                                 std::span<const ParameterInfo> parameters, const Argument* arguments,
                                 const trilith::codegen::Signature& signature, const void* closure);

}  // namespace pl::detail
