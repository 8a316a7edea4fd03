// codegen/passes/merge_copies.hpp -- a value made only to be copied is made where the copy stands.
#pragma once

#include "codegen/ir.hpp"

namespace trilith::codegen::passes {

/// `t = a + b; …; c = t` becomes `…; c = a + b` where nothing else reads t and nothing between changes what
/// it reads or could be seen to happen in another order. What remains of the walk's copies are real ones.
void merge_copies(Kernel& kernel);

}  // namespace trilith::codegen::passes
