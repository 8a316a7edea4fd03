#include "codegen/passes/describe.hpp"

namespace trilith::codegen::passes {

pl::Location place(const Kernel& kernel, const SourceLocation& location) {
  if (location.line == 0) return {};
  const bool known = location.file < kernel.files.size();
  return {known ? kernel.files[location.file] : std::string("<unknown file>"), location.line,
          location.column};
}

std::string shape_text(const Kernel& kernel, const std::vector<Dim>& shape) {
  std::string text = "[";
  for (const Dim& dim : shape) {
    if (text.size() > 1) text += ", ";
    text += dim.is_constant() ? std::to_string(dim.extent)
                              : kernel.variables[static_cast<std::size_t>(dim.variable)].name;
  }
  return text + "]";
}

std::string type_text(const Kernel& kernel, const Type& type) {
  std::string text = type.any_dtype ? "any dtype" : std::string(name_of(type.dtype));
  if (type.is_scalar()) return text;
  if (type.any_shape) return text + "[any shape]";
  return text + shape_text(kernel, type.whole_shape()) +
         (type.physical.empty() ? "" : " valid " + shape_text(kernel, type.shape));
}

std::string argument_text(DType dtype, const std::vector<std::int64_t>& extents) {
  std::string text = std::string(name_of(dtype)) + "[";
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (axis > 0) text += ", ";
    text += extents[axis] < 0 ? std::string("?") : std::to_string(extents[axis]);
  }
  return text + "]";
}

std::string cast_hint(DType dtype) { return "pl::cast<" + std::string(cpp_name_of(dtype)) + ">"; }

}  // namespace trilith::codegen::passes
