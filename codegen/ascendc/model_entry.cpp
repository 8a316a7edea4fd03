// The entry that takes a kernel's arguments apart and launches it on the CPU model, with the kernel ABI of
// runtime/pl/abi.hpp. It is our own glue and no part of what goes to a device.
#include "codegen/ascendc/emit.hpp"

namespace trilith::codegen::ascendc {
namespace {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') result.push_back('\\');
    if (static_cast<unsigned char>(character) < 32)
      result += "?";
    else
      result.push_back(character);
  }
  return result + "\"";
}

std::string file_of(const Kernel& kernel, const SourceLocation& at) {
  return at.line != 0 && at.file < kernel.files.size() ? quoted(kernel.files[at.file]) : "nullptr";
}

std::string table_of_lines(const Emitted& emitted, const Kernel& kernel) {
  std::string text = "const AscendC::model::SourceLine source_lines[] = {";
  for (std::size_t i = 0; i < emitted.lines.size(); ++i) {
    const SourceLocation& at = emitted.lines[i];
    text += (i == 0 ? "\n  {" : i % 4 == 0 ? ",\n  {" : ", {");
    text += at.line == 0 ? "nullptr, 0, 0}"
                         : file_of(kernel, at) + ", " + std::to_string(at.line) + ", " +
                               std::to_string(at.column) + "}";
  }
  return text + "};\n";
}

std::string table_of_checks(const Emitted& emitted, const Kernel& kernel) {
  std::string text = "const pl::abi::Fault checks[] = {";
  for (std::size_t i = 0; i < emitted.checks.size(); ++i) {
    const Check& check = emitted.checks[i];
    text += std::string(i == 0 ? "" : ",") + "\n  {static_cast<pl::abi::FaultCode>(" +
            std::to_string(check.code) + "), " + std::to_string(check.location.line) + ", " +
            std::to_string(check.location.column) + ", " +
            (check.location.file < kernel.files.size() ? quoted(kernel.files[check.location.file]) : "\"\"") +
            ", " + quoted(check.what) + ", 0, 0, 0}";
  }
  return text + "};\n";
}

bool is_narrow(const KernelArgument& argument) { return is_narrow_float(argument.dtype); }

std::string slot(const KernelArgument& argument) {
  const std::string index = std::to_string(argument.index);
  switch (argument.kind) {
    case KernelArgument::Kind::Tensor: return "static_cast<GM_ADDR>(args->tensors[" + index + "].data)";
    case KernelArgument::Kind::Stride:
      return "args->tensors[" + index + "].strides[" + std::to_string(argument.axis) + "]";
    case KernelArgument::Kind::Workspace: return "workspace";
    case KernelArgument::Kind::Windows: return "nullptr";
    case KernelArgument::Kind::Scalar: break;
  }
  if (!is_narrow(argument)) return "model_scalar<" + argument.type + ">(args, " + index + ")";
  const std::string type = argument.dtype == DType::Float16 ? "half" : "bfloat16_t";
  return "static_cast<float>(model_scalar<" + type + ">(args, " + index + "))";
}

}  // namespace

std::string model_entry(const Emitted& emitted, const Kernel& kernel) {
  std::string fields, given, passed, regions;
  int region_count = 0;
  for (const KernelArgument& argument : emitted.arguments) {
    fields += "    " + argument.type + " " + argument.name + ";\n";
    given += (given.empty() ? "" : ", ") + slot(argument);
    passed += (passed.empty() ? "" : ", ") + std::string("given.") + argument.name;
  }
  int tensor = 0;
  for (const Parameter& parameter : kernel.parameters) {
    const Variable& variable = kernel.variables[parameter.variable];
    if (!variable.type.is_tensor()) continue;
    regions += "  regions[" + std::to_string(region_count++) + "] = model_region(args->tensors[" +
               std::to_string(tensor++) + "], " + std::to_string(variable.type.shape.size()) + ", " +
               std::to_string(size_of(variable.type.dtype)) + ", " +
               (parameter.access == Access::In ? "false" : "true") + ", " +
               (parameter.window ? "true" : "false") + ", " + quoted(variable.name) + ");\n";
  }
  const std::string blocks = emitted.spmd ? "args->block_count" : std::to_string(emitted.blocks);
  std::string bytes = std::to_string(emitted.workspace_bytes);
  if (emitted.further_workspace_bytes > 0)
    bytes += " + (" + blocks + " - 1) * " + std::to_string(emitted.further_workspace_bytes);
  std::string text = R"(
// What launches the kernel on the CPU model.
#include "pl/abi.hpp"

namespace {

template <class T>
T model_scalar(const pl::abi::Args* args, int slot) {
  T value;
  __builtin_memcpy(&value, &args->scalars[slot], sizeof value);
  return value;
}

/// All memory that a tensor's elements lie in.
AscendC::model::Region model_region(const pl::abi::Tensor& tensor, int rank, std::int64_t size, bool writable, bool window,
                                    const char* name) {
  std::int64_t first = 0, last = 0;
  for (int axis = 0; axis < rank; ++axis) {
    const std::int64_t reach = (tensor.extents[axis] - 1) * tensor.strides[axis];
    if (tensor.extents[axis] == 0) return {tensor.data, 0, writable, window, false, name};
    (reach < 0 ? first : last) += reach;
  }
  return {static_cast<char*>(tensor.data) + first * size, (last - first + 1) * size, writable, window, false, name};
}

)";
  text += table_of_lines(emitted, kernel);
  if (!emitted.checks.empty()) text += table_of_checks(emitted, kernel);
  text += "\nstruct Arguments {\n" + fields + "};\n\n}  // namespace\n\n";
  text += "extern \"C\" std::int32_t " + emitted.symbol +
          "_entry(const pl::abi::Args* args, const pl::abi::Services* services) {\n";
  // One launch runs all blocks of an spmd call.
  if (emitted.spmd) text += "  if (args->block_index != 0) return pl::abi::fault_none;\n";
  if (emitted.workspace_bytes > 0) {
    text += "  const std::int64_t blocks = " + blocks + ";\n";
    text += "  const auto workspace = static_cast<GM_ADDR>(services->scratch(services->context, " + bytes +
            "));\n";
    text += "  if (workspace == nullptr) return pl::abi::fault_out_of_memory;\n";
    text += "  __builtin_memset(workspace, 0, " + bytes + ");\n";
  }
  text += "  Arguments given{" + given + "};\n";
  const bool has_workspace = emitted.workspace_bytes > 0;
  const int all = region_count + (has_workspace ? 1 : 0);
  text += "  AscendC::model::Region regions[" + std::to_string(all == 0 ? 1 : all) + "];\n" + regions;
  if (has_workspace)
    text += "  regions[" + std::to_string(region_count) + "] = {workspace, " + bytes +
            ", true, false, true, \"workspace\"};\n";
  text += "  const AscendC::model::Launch request{" + quoted(kernel.name) +
          ",\n    [](void* arguments) {\n      const Arguments& given = *static_cast<const "
          "Arguments*>(arguments);\n" +
          (passed.empty() ? "      (void)given;\n" : "") + "      " + emitted.symbol + "(" + passed +
          ");\n    },\n    &given, AscendC::model::Cores::" +
          (emitted.cores == CoreType::Vector ? "Vector"
           : emitted.cores == CoreType::Cube ? "Cube"
                                             : "Mixed") +
          ", " + blocks + ", regions, " + std::to_string(all) + ", source_lines, " +
          std::to_string(emitted.lines.size()) + "};\n";
  // One table serves all calls: what it reports to is the call's.
  text +=
      "  AscendC::model::Table table = *static_cast<const AscendC::model::Table*>(services->model);\n"
      "  if (table.context == nullptr) table.context = services->context;\n"
      "  const std::int32_t failed = AscendC::model::launch(&table, request);\n"
      "  if (failed != 0) return failed;\n";
  if (!emitted.checks.empty())
    text += R"(  // The first block whose check failed is told.
  for (std::int64_t block = 0; block < blocks; ++block) {
    std::int64_t report[4];
    __builtin_memcpy(report, workspace + 64 * block, sizeof report);
    if (report[0] == 0) continue;
    pl::abi::Fault fault = checks[report[0] - 1];
    fault.given = report[1];
    fault.expected = report[2];
    fault.length = report[3];
    services->fault(services->context, &fault);
    return fault.code;
  }
)";
  return text + "  return pl::abi::fault_none;\n}\n";
}

}  // namespace trilith::codegen::ascendc
