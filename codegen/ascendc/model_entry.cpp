// The entry that takes a kernel's arguments apart and launches it on the CPU model, with the kernel ABI of
// runtime/pl/abi.hpp. It is our own glue and no part of what goes to a device.
#include "codegen/ascendc/emit.hpp"

#include "codegen/remote.hpp"

#include <array>
#include <map>
#include <span>

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

/// What moves elements at a place, as pl::abi has it; pl::load and pl::store are left out.
using Transfers = std::map<std::array<std::uint32_t, 3>, std::string>;

std::array<std::uint32_t, 3> key_of(const SourceLocation& at) { return {at.file, at.line, at.column}; }

void collect(std::span<const Statement> list, Transfers& transfers) {
  for (const Statement& statement : list) {
    const Op op = statement.value.op;
    if (op == Op::RemoteLoad || op == Op::RemoteStore || op == Op::RemotePut || op == Op::RemoteGet)
      transfers.emplace(key_of(statement.location), name_in_abi(op));
    if (op == Op::Read || op == Op::Write) transfers.emplace(key_of(statement.location), "remote_access");
    for (const auto* body : {&statement.body, &statement.else_body, &statement.step_body})
      collect(*body, transfers);
  }
}

std::string table_of_lines(const Emitted& emitted, const Kernel& kernel) {
  Transfers transfers;
  if (!emitted.windows.empty()) collect(kernel.body, transfers);
  std::string text = "const AscendC::model::SourceLine source_lines[] = {";
  for (std::size_t i = 0; i < emitted.lines.size(); ++i) {
    const SourceLocation& at = emitted.lines[i];
    text += (i == 0 ? "\n  {" : i % 4 == 0 ? ",\n  {" : ", {");
    if (at.line == 0) {
      text += "nullptr, 0, 0}";
      continue;
    }
    const auto transfer = transfers.find(key_of(at));
    text += file_of(kernel, at) + ", " + std::to_string(at.line) + ", " + std::to_string(at.column) +
            (transfer != transfers.end() ? ", pl::abi::" + transfer->second : "") + "}";
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

std::string table_of_calls(const Emitted& emitted) {
  std::string text = "const AscendC::model::WindowCall window_calls[] = {";
  for (std::size_t i = 0; i < emitted.calls.size(); ++i) {
    const WindowCall& call = emitted.calls[i];
    text += std::string(i == 0 ? "" : ",") + "\n  {" + std::to_string(call.first_line) + ", " +
            std::to_string(call.last_line) + ", pl::abi::" + std::string(name_in_abi(call.op));
    if (is_collective(call.op)) {
      const auto known = [](const std::optional<std::int64_t>& value) {
        return value ? std::to_string(*value) : std::string("AscendC::model::unknown");
      };
      text += ", " + std::to_string(call.tensor) + ", " + std::to_string(static_cast<int>(call.dtype)) +
              ", " + std::to_string(call.elements) + ", " + known(call.offset) + ", " + known(call.root) +
              ", " + known(call.to) + ", " + std::to_string(call.reduction) + ", " +
              (call.signal.empty() ? "nullptr" : quoted(call.signal));
    }
    text += "}";
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
    case KernelArgument::Kind::Windows: return "reinterpret_cast<GM_ADDR>(windows)";
    case KernelArgument::Kind::Scalar: break;
  }
  if (!is_narrow(argument)) return "model_scalar<" + argument.type + ">(args, " + index + ")";
  const std::string type = argument.dtype == DType::Float16 ? "half" : "bfloat16_t";
  return "static_cast<float>(model_scalar<" + type + ">(args, " + index + "))";
}

constexpr const char* window_glue = R"(
/// Asks the host where the parts of a window are.
std::int32_t model_window(const pl::abi::Services* services, std::int32_t tensor, AscendC::model::WindowParts& parts) {
  pl::abi::Remote request{};
  request.operation = static_cast<pl::abi::RemoteOperation>(AscendC::model::remote_parts);
  request.window = tensor;
  request.other = -1;
  request.data = &parts;
  request.file = "";
  return services->remote(services->context, &request);
}

/// The peers' parts are memory of the launch like the own one, and so are the cells of collectives.
std::int64_t model_peers(const AscendC::model::WindowParts& parts, const AscendC::model::Region& own, const void* data,
                         AscendC::model::Region* regions, std::int64_t count) {
  for (std::uint32_t rank = 0; rank < parts.ranks; ++rank) {
    AscendC::model::Region part = own;
    part.base = reinterpret_cast<char*>(parts.memory[rank]) +
                (static_cast<const char*>(own.base) - static_cast<const char*>(data));
    if (rank != parts.rank) regions[count++] = part;
    regions[count++] = {reinterpret_cast<void*>(parts.cells[rank]), 64 * static_cast<std::int64_t>(parts.ranks),
                        true, true, false, "cells of a collective", true};
  }
  return count;
}
)";

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
  const std::string window_count = std::to_string(emitted.windows.size());
  for (std::size_t i = 0; i < emitted.windows.size(); ++i) {
    const WindowArgument& window = emitted.windows[i];
    const std::string number = std::to_string(window.tensor);
    regions += "  regions[" + number + "].signals = " + (window.signals ? "true" : "false") +
               ";\n  region_count = " + "model_peers(windows[" + std::to_string(i) + "], regions[" + number +
               "], args->tensors[" + number + "].data, regions, region_count);\n";
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
  if (!emitted.windows.empty()) text += window_glue;
  text += table_of_lines(emitted, kernel);
  if (!emitted.checks.empty()) text += table_of_checks(emitted, kernel);
  if (!emitted.calls.empty()) text += table_of_calls(emitted);
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
  const auto windows = static_cast<int>(emitted.windows.size());
  if (windows > 0) {
    text += "  AscendC::model::WindowParts windows[" + window_count + "];\n";
    for (int i = 0; i < windows; ++i)
      text += "  if (const std::int32_t code = model_window(services, " +
              std::to_string(emitted.windows[static_cast<std::size_t>(i)].tensor) + ", windows[" +
              std::to_string(i) + "]); code != 0) return code;\n";
  }
  text += "  Arguments given{" + given + "};\n";
  const bool has_workspace = emitted.workspace_bytes > 0;
  text += "  AscendC::model::Region regions[" +
          std::to_string(region_count + 1 + windows * 2 * WindowArgument::most_ranks) + "];\n";
  text += "  [[maybe_unused]] std::int64_t region_count = " + std::to_string(region_count) + ";\n" + regions;
  if (has_workspace)
    text += "  regions[region_count++] = {workspace, " + bytes + ", true, false, true, \"workspace\"};\n";
  text += "  const AscendC::model::Launch request{" + quoted(kernel.name) +
          ",\n    [](void* arguments) {\n      const Arguments& given = *static_cast<const "
          "Arguments*>(arguments);\n" +
          (passed.empty() ? "      (void)given;\n" : "") + "      " + emitted.symbol + "(" + passed +
          ");\n    },\n    &given, AscendC::model::Cores::" +
          (emitted.cores == CoreType::Vector ? "Vector"
           : emitted.cores == CoreType::Cube ? "Cube"
                                             : "Mixed") +
          ", " + blocks + ", regions, region_count, source_lines, " + std::to_string(emitted.lines.size()) +
          (emitted.calls.empty() ? "" : ", window_calls, " + std::to_string(emitted.calls.size())) + "};\n";
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
