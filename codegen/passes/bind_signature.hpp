// codegen/passes/bind_signature.hpp -- parameters and captures take what the signature says of them.
#pragma once

#include "codegen/ir.hpp"
#include "codegen/specialise.hpp"

#include <optional>
#include <vector>

namespace trilith::codegen::passes {

/// A kernel whose parameter types are complete, and the values of `pl::Const` parameters and specialised
/// captures, one per Kernel::variables.
struct Bound {
  Kernel kernel;
  std::vector<std::optional<Constant>> constants;
  bool constant_extents = false;  ///< wanted of loops, too (constant_extents.hpp)
};

/// Checks the signature against the declared parameters and binds it. Run-time extents become Extent
/// variables ("x_0"); a `pl::dynamic` extent stays the variable it is, whatever the signature says. Throws
/// ShapeError and DtypeError at the parameter's line with the given and the declared type, InternalError for
/// a signature that does not belong to the kernel.
[[nodiscard]] Bound bind_signature(const Kernel& captured, const Signature& signature);

}  // namespace trilith::codegen::passes
