// codegen/passes/describe.hpp -- the words diagnostics of the specialiser use for types, shapes and places.
#pragma once

#include "codegen/error.hpp"
#include "codegen/ir.hpp"

#include <string>
#include <vector>

namespace trilith::codegen::passes {

/// "file:line:column" of a location in this kernel.
[[nodiscard]] pl::Location place(const Kernel& kernel, const SourceLocation& location);
/// An integer scalar in the kernel's words: "rows - 8"; the end of a long one is left out.
[[nodiscard]] std::string expression_text(const Kernel& kernel, const Expr& expression);
/// False for the text of an expression that is more than a name.
[[nodiscard]] bool is_name(const std::string& text);
/// "[8, N]"; run-time extents by their name.
[[nodiscard]] std::string shape_text(const Kernel& kernel, const std::vector<Dim>& shape);
/// "float[8, N]", "int32" for a scalar.
[[nodiscard]] std::string type_text(const Kernel& kernel, const Type& type);
/// "float[8, 4]" of an argument; run-time extents as "?".
[[nodiscard]] std::string argument_text(DType dtype, const std::vector<std::int64_t>& extents);
/// The C++ spelling for `pl::cast<…>` in a hint.
[[nodiscard]] std::string cast_hint(DType dtype);

}  // namespace trilith::codegen::passes
