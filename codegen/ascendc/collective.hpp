// codegen/ascendc/collective.hpp -- the collectives of a kernel: calls of functions in front of it.
#pragma once

#include "codegen/ascendc/context.hpp"

namespace trilith::codegen::ascendc {

/// Refuses what has no lowering, by name and with the reason.
void lower_collective(Context& context, const Statement& statement);

}  // namespace trilith::codegen::ascendc
