// runtime/model_launch.hpp -- kernels on the model of AscendC: what a launch is told of windows, and what it tells of them.
#pragma once

#include "codegen/ascendc/model/model_abi.h"
#include "pl/tensor.hpp"
#include "runtime/recorded_view.hpp"

#include <exception>
#include <span>

namespace pl::detail {

/// Where the parts of a window lie. Throws where a kernel cannot reach them by address.
void give_parts(const ViewRef& window, AscendC::model::WindowParts& parts);

/// Runs a kernel of the calling thread's task; `views`: its tensor arguments. False: it ended with `failure`.
[[nodiscard]] bool run_on_model(const AscendC::model::Launch& launch, std::span<const RecordedView> views,
                                std::exception_ptr& failure);

}  // namespace pl::detail
