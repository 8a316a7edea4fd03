// codegen/passes/resolve.hpp -- the walk that finds types, shapes, views and constants in program order.
#pragma once

#include "codegen/ir.hpp"
#include "codegen/passes/bind_signature.hpp"

namespace trilith::codegen::passes {

/// Walks the bound kernel once, in the order it runs, and writes it again in "let" form with every type
/// complete: tile expressions taken apart, views resolved to their parameter, one version of a variable per
/// assignment (one storage variable where branches or rounds of a loop meet), scalars folded, constant
/// branches chosen, unroll loops written out. One walk, because each of these needs what the others found
/// before it: a bound may be the rank of a tensor, a shape a folded local.
/// The result has dead code, copies that can be merged, and names that repeat: the passes behind it mend
/// that.
[[nodiscard]] Kernel resolve(const Bound& bound);

}  // namespace trilith::codegen::passes
