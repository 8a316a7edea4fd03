// jit/tool/argument_text.hpp -- `x=float[8,8]` as an argument's signature.
#pragma once

#include "codegen/ir.hpp"
#include "codegen/specialise.hpp"

#include <string>
#include <vector>

namespace trilith::tool {

/// One `NAME=TYPE` a parameter, in any order: `x=float[8,8]`, `x=float[8,N]` (a name: a run-time extent),
/// `rank=int32`, `k=int32:4` (a `pl::Const` and its value). A tensor whose shape the kernel gives may be left
/// out. Throws pl::UserError that names the argument and what was expected.
[[nodiscard]] codegen::Signature signature_from_text(const codegen::Kernel& captured,
                                                     const std::vector<std::string>& arguments);

}  // namespace trilith::tool
