#include "codegen/xsimd/emit.hpp"

#include <algorithm>

#include "codegen/error.hpp"
#include "codegen/xsimd/context.hpp"

namespace trilith::codegen::xsimd {

[[nodiscard]] std::vector<std::pair<int, int>> in_place_pairs(const Context& context);

namespace {

/// Pointers, run-time strides and extents of the tensors, read from the arguments once.
void tensor_arguments(Context& context, Writer& out) {
  std::vector<bool> bound(context.kernel.variables.size());
  Writer checks;
  for (const Parameter& parameter : context.kernel.parameters) {
    const auto found = context.tensors.find(parameter.variable);
    if (found == context.tensors.end()) continue;
    const TensorInfo& tensor = found->second;
    const Type& type = context.kernel.variables[parameter.variable].type;
    const std::string source = "args->tensors[" + std::to_string(tensor.index) + "].";
    const bool used = context.uses.reads[parameter.variable] > 0;
    if (used) {
      const std::string pointer = (tensor.access == Access::In ? "const " : "") + type_name(type.dtype) + "*";
      out.line(pointer + " const " + tensor.name + " = static_cast<" + pointer + ">(" + source + "data);");
    }
    for (std::size_t axis = 0; axis < type.shape.size(); ++axis) {
      const std::string at = "[" + std::to_string(axis) + "]";
      if (tensor.uses_stride[axis])
        out.line("const std::int64_t " + tensor.run_time_strides[axis] + " = " + source + "strides" + at +
                 ";");
      const Dim& dim = type.shape[axis];
      if (dim.is_constant()) continue;
      const std::string& extent = context.variables[dim.variable];
      const Variable& variable = context.kernel.variables[parameter.variable];
      const auto fault = [&](const std::string& what, const std::string& given, const std::string& expected) {
        const std::string file = variable.location.file < context.kernel.files.size()
                                     ? context.kernel.files[variable.location.file]
                                     : "";
        checks.line("  return device::fault(services, pl::abi::fault_shape, " + quoted(file) + ", " +
                    std::to_string(variable.location.line) + ", " + std::to_string(variable.location.column) +
                    ", " + quoted("extent of " + variable.name + ", axis " + std::to_string(axis) + what) +
                    ", " + given + ", " + expected + ");");
      };
      if (!bound[dim.variable]) {
        bound[dim.variable] = true;
        out.line("const std::int64_t " + extent + " = " + source + "extents" + at + ";");
        if (const std::int64_t multiple = context.kernel.variables[dim.variable].multiple; multiple != 1) {
          // Checked by the caller, too; here it tells the compiler which tails there cannot be.
          const std::string number = std::to_string(multiple);
          checks.line("if (" + extent + " % " + number + " != 0)");
          fault(" (a multiple of " + number + ")", extent, extent + " / " + number + " * " + number);
        }
      } else {
        checks.line("if (" + source + "extents" + at + " != " + extent + ")");
        fault("", source + "extents" + at, extent);
      }
    }
  }
  out.append(checks.text());
}

void scalar_arguments(const Context& context, Writer& out) {
  int slot = 0;
  const auto bind = [&](VariableId id) {
    const int own = slot++;
    if (context.uses.reads[id] + context.uses.writes[id] == 0 && !context.is_extent_of_a_shape(id)) return;
    const std::string type = type_name(context.kernel.variables[id].type.dtype);
    out.line((context.uses.writes[id] == 0 ? "const " : "") + type + " " + context.variables[id] +
             " = device::scalar<" + type + ">(args, " + std::to_string(own) + ");");
  };
  for (const Parameter& parameter : context.kernel.parameters)
    if (!context.kernel.variables[parameter.variable].type.is_tensor()) bind(parameter.variable);
  for (const ClosureField& capture : context.kernel.captures) bind(capture.variable);
}

std::string symbol_of(const Kernel& kernel) {
  Names names;
  return names.fresh("trilith_" + kernel.name);
}

bool has_narrow_floats(const Expr& expression) {
  return is_narrow_float(expression.type.dtype) ||
         std::ranges::any_of(expression.operands,
                             [](const Expr& operand) { return has_narrow_floats(operand); });
}

bool has_narrow_floats(const std::vector<Statement>& list) {
  return std::ranges::any_of(list, [](const Statement& statement) {
    return has_narrow_floats(statement.value) || has_narrow_floats(statement.body) ||
           has_narrow_floats(statement.else_body) || has_narrow_floats(statement.step_body);
  });
}

/// Half or bfloat16 anywhere: of what only such kernels need the others are not to pay for.
bool has_narrow_floats(const Kernel& kernel) {
  return std::ranges::any_of(kernel.variables,
                             [](const Variable& variable) { return is_narrow_float(variable.type.dtype); }) ||
         has_narrow_floats(kernel.body);
}

}  // namespace

Emitted emit(const Kernel& specialised, const Signature& signature) {
  if (!specialised.specialised) throw pl::InternalError("emitter: the kernel is not specialised");
  Context context(specialised, signature);
  context.find_shapes();
  context.find_views();
  for (const Parameter& parameter : specialised.parameters) context.declared[parameter.variable] = true;
  for (const ClosureField& capture : specialised.captures) context.declared[capture.variable] = true;
  context.statements(specialised.body);

  Emitted emitted;
  emitted.symbol = symbol_of(specialised);
  Writer out;
  out.line("// Kernel " + (specialised.name.empty() ? "(unnamed)" : specialised.name) + ", " +
           context.place(specialised.location) + ". Emitted by Trilith for the CPU simulator.");
  out.line("#include \"trilith/device.hpp\"");
  // Before the others: their templates meet these types complete.
  if (has_narrow_floats(specialised)) out.line("#include \"trilith/half.hpp\"");
  for (const std::string& header : context.headers) out.line("#include \"trilith/" + header + "\"");
  out.line("");
  out.line("namespace device = trilith::device;");
  out.line("");
  out.open("extern \"C\" std::int32_t " + emitted.symbol +
           "(const pl::abi::Args* args, const pl::abi::Services* services) {");
  tensor_arguments(context, out);
  scalar_arguments(context, out);
  for (const std::string& declaration : context.declarations) out.line(declaration);
  out.append(context.out.text());
  out.line("return pl::abi::fault_none;");
  out.close();
  emitted.text = out.text();
  emitted.in_place = in_place_pairs(context);
  return emitted;
}

}  // namespace trilith::codegen::xsimd
