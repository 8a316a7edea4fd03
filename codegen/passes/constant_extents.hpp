// codegen/passes/constant_extents.hpp -- for targets whose tiles have constant shapes.
#pragma once

#include "codegen/ir.hpp"

namespace trilith::codegen {

/// A captured kernel whose `pl::dynamic` extents are all `pl::specialised`: a signature with every extent makes each of
/// them a constant.
[[nodiscard]] Kernel with_constant_extents(Kernel captured);

}  // namespace trilith::codegen
