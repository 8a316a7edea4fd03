// codegen/printer.hpp -- kernel IR as text a person reads (`kernel.lower(x, y)`, `trilith emit --target ir`).
#pragma once

#include "codegen/error.hpp"
#include "codegen/ir.hpp"

#include <string>

namespace trilith::codegen {

[[nodiscard]] std::string to_text(const Kernel& kernel);
[[nodiscard]] std::string to_text(const Kernel& kernel, const Expr& expression);
[[nodiscard]] std::string to_text(const Kernel& kernel, const Type& type);  ///< "tile<float>[8, N]"
/// "file:line:column" of a location in this kernel.
[[nodiscard]] pl::Location location_of(const Kernel& kernel, const SourceLocation& location);

}  // namespace trilith::codegen
