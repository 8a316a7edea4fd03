#include "codegen/passes/constant_extents.hpp"

namespace trilith::codegen {

Kernel with_constant_extents(Kernel captured) {
  for (Variable& variable : captured.variables)
    if (variable.kind == VariableKind::Extent) variable.specialised = true;
  return captured;
}

}  // namespace trilith::codegen
