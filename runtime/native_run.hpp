// runtime/native_run.hpp -- what a native (eager) run of a kernel has from its captured form: the words and the place
// of an error, and which arguments may share memory.
#pragma once

#include "codegen/interpreter.hpp"
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

/// Throws what a compiled run would say where an index lies outside of one of the kernel's arrays. In a native run C++
/// itself indexes them, so it is looked for before: the kernel is interpreted on copies of its arguments, if it has such
/// an index. Kernels with windows are not.
void require_positions(const CallPlan& plan, std::span<const ParameterInfo> parameters,
                       const Argument* arguments, const void* closure,
                       const trilith::codegen::Block& block = {});

}  // namespace pl::detail
