#include "codegen/passes/describe.hpp"

namespace trilith::codegen::passes {

pl::Location place(const Kernel& kernel, const SourceLocation& location) {
  if (location.line == 0) return {};
  const bool known = location.file < kernel.files.size();
  return {known ? kernel.files[location.file] : std::string("<unknown file>"), location.line,
          location.column};
}

namespace {

constexpr std::size_t longest_expression = 60;

/// How tightly the text of an expression holds together: 0 a name or a call, 1 a product, 2 a sum, 3 what is looser.
struct Spelled {
  std::string text;
  int looseness = 0;
  [[nodiscard]] std::string inside(int most) const { return looseness > most ? "(" + text + ")" : text; }
};

Spelled spelled(const Kernel& kernel, const Expr& e) {
  const auto operand = [&](std::size_t i) { return spelled(kernel, e.operands[i]); };
  switch (e.op) {
    case Op::Constant:
      if (is_floating(e.value.dtype)) return {std::to_string(e.value.as_double())};
      return {std::to_string(e.value.as_int64()), e.value.as_int64() < 0 ? 2 : 0};
    case Op::Variable: {
      // A computed extent is named by its expression until the kernel is done (Resolver::numbered_extent).
      const std::string& name = kernel.variables[static_cast<std::size_t>(e.variable)].name;
      return {name, is_name(name) ? 0 : 3};
    }
    case Op::Cast: return operand(0);
    case Op::Neg: return {"-" + operand(0).inside(0), 2};
    case Op::Add: return {operand(0).inside(2) + " + " + operand(1).inside(1), 2};
    case Op::Sub: return {operand(0).inside(2) + " - " + operand(1).inside(1), 2};
    case Op::Mul: return {operand(0).inside(1) + " * " + operand(1).inside(0), 1};
    case Op::Div: return {operand(0).inside(1) + " / " + operand(1).inside(0), 1};
    case Op::Fmod: return {operand(0).inside(1) + " % " + operand(1).inside(0), 1};
    case Op::Minimum: return {"min(" + operand(0).text + ", " + operand(1).text + ")"};
    case Op::Maximum: return {"max(" + operand(0).text + ", " + operand(1).text + ")"};
    case Op::Lt: return {operand(0).inside(2) + " < " + operand(1).inside(2), 3};
    case Op::Le: return {operand(0).inside(2) + " <= " + operand(1).inside(2), 3};
    case Op::Gt: return {operand(0).inside(2) + " > " + operand(1).inside(2), 3};
    case Op::Ge: return {operand(0).inside(2) + " >= " + operand(1).inside(2), 3};
    case Op::Conditional:
      return {operand(0).inside(3) + " ? " + operand(1).inside(2) + " : " + operand(2).inside(2), 3};
    default: {
      std::string text(operation(e.op).name);
      for (std::size_t i = 0; i < e.operands.size(); ++i) text += (i == 0 ? "(" : ", ") + operand(i).text;
      return {text + (e.operands.empty() ? "()" : ")")};
    }
  }
}

}  // namespace

bool is_name(const std::string& text) { return text.find_first_of(" (-") == std::string::npos; }

std::string expression_text(const Kernel& kernel, const Expr& expression) {
  std::string text = spelled(kernel, expression).text;
  if (text.size() <= longest_expression) return text;
  return text.substr(0, text.rfind(' ', longest_expression)) + " …";
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
