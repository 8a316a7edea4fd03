// codegen/passes/constant_extents.hpp -- for targets whose tiles have constant shapes.
#pragma once

#include "codegen/specialise.hpp"

namespace trilith::codegen {

/// A captured kernel whose `pl::dynamic` extents are all `pl::specialised`: a signature with every extent makes each of
/// them a constant.
[[nodiscard]] Kernel with_constant_extents(Kernel captured);

/// `specialise` that also makes constants of extents that depend on a loop's counter, where it can: the last round of a
/// loop with constant bounds that its step does not divide is written out, and conditions are decided that are the same
/// in all other rounds.
[[nodiscard]] Kernel specialise_to_constant_extents(const Kernel& captured, const Signature& signature);

}  // namespace trilith::codegen
