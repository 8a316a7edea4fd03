// codegen/passes/number_variables.hpp -- drops variables nothing mentions and makes every name unique.
#pragma once

#include "codegen/ir.hpp"

namespace trilith::codegen::passes {

/// Parameters, captures and named extents keep their place and name; locals follow in the order they are
/// first assigned, a repeated name as "t_1", "t_2".
void number_variables(Kernel& kernel);

}  // namespace trilith::codegen::passes
