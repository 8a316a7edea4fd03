// host/main.cpp and the tiling headers of a package.
#include "codegen/ascendc/package_files.hpp"

#include "codegen/fault_text.hpp"
#include "codegen/half.hpp"
#include "codegen/message.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <set>
#include <utility>

namespace trilith::codegen::ascendc {
namespace {

std::string hex(std::uint64_t bits) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "0x%llxU", static_cast<unsigned long long>(bits));
  return digits;
}

/// A scalar argument as C++: the bits are what counts, so floats are written as theirs.
std::string scalar_text(const LaunchArgument& argument) {
  switch (argument.dtype) {
    case DType::Float32: return "float_of_bits(" + hex(argument.bits) + ")";
    // Passed as float, which holds each of them.
    case DType::Float16:
      return "float_of_bits(" +
             hex(std::bit_cast<std::uint32_t>(
                 static_cast<float>(pl::half::from_bits(static_cast<std::uint16_t>(argument.bits))))) +
             ")";
    case DType::BFloat16: return "float_of_bits(" + hex((argument.bits & 0xffffU) << 16) + ")";
    case DType::Bool: return argument.bits != 0 ? "true" : "false";
    case DType::Int8:
      return "static_cast<std::int8_t>(" + std::to_string(static_cast<std::int8_t>(argument.bits)) + ")";
    case DType::Int16:
      return "static_cast<std::int16_t>(" + std::to_string(static_cast<std::int16_t>(argument.bits)) + ")";
    case DType::Int32:
      return "static_cast<std::int32_t>(" + std::to_string(static_cast<std::int32_t>(argument.bits)) + ")";
    // The smallest has no literal of its own.
    case DType::Int64: return "static_cast<std::int64_t>(" + hex(argument.bits) + "LL)";
    case DType::UInt8: return "static_cast<std::uint8_t>(" + hex(argument.bits) + ")";
    case DType::UInt16: return "static_cast<std::uint16_t>(" + hex(argument.bits) + ")";
    case DType::UInt32: return "static_cast<std::uint32_t>(" + hex(argument.bits) + ")";
    default: break;
  }
  return "static_cast<std::uint64_t>(" + hex(argument.bits) + "LL)";
}

std::string element_type(DType dtype) {
  switch (dtype) {
    case DType::Float16: return "Half";
    case DType::BFloat16: return "BFloat16";
    default: return std::string(cpp_name_of(dtype));
  }
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') result.push_back('\\');
    result.push_back(static_cast<unsigned char>(character) < 32 ? '?' : character);
  }
  return result + "\"";
}

std::int64_t bytes_of_buffer(const Package& package, const DeviceBuffer& buffer) {
  if (buffer.window < 0) return buffer.bytes;
  const PackagedWindow& window = package.windows[static_cast<std::size_t>(buffer.window)];
  return window.bytes + 64 * static_cast<std::int64_t>(window.ranks.size());
}

/// The member of a rank that is its part of a window.
const std::string& part_name(const Package& package, int rank, int window) {
  return std::ranges::find_if(
             package.buffers,
             [&](const DeviceBuffer& buffer) { return buffer.rank == rank && buffer.window == window; })
      ->name;
}

/// Lets devices that share windows reach each other, and tells each launch where the parts are.
std::string meet(const Package& package) {
  std::string text;
  std::set<std::pair<int, int>> pairs;
  for (const PackagedWindow& window : package.windows)
    for (const int a : window.ranks)
      for (const int b : window.ranks)
        if (a != b && pairs.insert({a, b}).second)
          text += "    rank" + std::to_string(a) + ".device.reach(rank" + std::to_string(b) + ".device);\n";
  for (std::size_t i = 0; i < package.launches.size(); ++i) {
    const Launch& launch = package.launches[i];
    if (launch.windows.empty()) continue;
    const std::string own = "rank" + std::to_string(launch.rank);
    text += "    {\n      const WindowRecord records[] = {";
    for (const Launch::Window& given : launch.windows) {
      const PackagedWindow& window = package.windows[static_cast<std::size_t>(given.window)];
      std::string parts;
      for (const int rank : window.ranks)
        parts += (parts.empty() ? "&rank" : ", &rank") + std::to_string(rank) + "." +
                 part_name(package, rank, given.window);
      const auto member = std::ranges::find(window.ranks, launch.rank) - window.ranks.begin();
      text += "\n          window_record(" + std::to_string(member) + ", {" + parts + "}, " +
              std::to_string(given.offset) + ", " + std::to_string(window.bytes) + "),";
    }
    text += "\n      };\n      " + own + ".device.use();\n      " + own + ".context_" + std::to_string(i) +
            ".copy_from(reinterpret_cast<const char*>(records), sizeof records);\n    }\n";
  }
  return text;
}

std::string rank_function(const Package& package, int rank, const std::vector<std::string>& names) {
  const std::string number = std::to_string(rank);
  std::string text = "/// Rank " + number + ", on device " +
                     std::to_string(package.devices[static_cast<std::size_t>(rank)]) + ".\nstruct Rank" +
                     number + " {\n  Device device{" +
                     std::to_string(package.devices[static_cast<std::size_t>(rank)]) + "};\n";
  for (const DeviceBuffer& buffer : package.buffers)
    if (buffer.rank == rank)
      text +=
          "  Memory " + buffer.name + "{device, " + std::to_string(bytes_of_buffer(package, buffer)) + "};\n";
  if (const std::int64_t bytes = workspace_of(package, rank); bytes > 0)
    text += "  Memory workspace{device, " + std::to_string(bytes) + "};\n";

  std::string begin, plan, look, end;
  for (std::size_t i = 0; i < package.buffers.size(); ++i) {
    const DeviceBuffer& buffer = package.buffers[i];
    if (buffer.rank != rank || buffer.host_tensor < 0) continue;
    const HostTensor& tensor = package.tensors[static_cast<std::size_t>(buffer.host_tensor)];
    begin += "    " + buffer.name + ".copy_from(host." + tensor.name + ".bytes(" +
             std::to_string(buffer.host_offset) + "), " + std::to_string(buffer.bytes) + ");\n";
    for (const WrittenRange& range : package.written)
      if (range.buffer == static_cast<int>(i))
        end += "    " + buffer.name + ".copy_to(host." + tensor.name + ".bytes(" +
               std::to_string(buffer.host_offset + range.offset) + "), " + std::to_string(range.offset) +
               ", " + std::to_string(range.bytes) + ");\n";
  }
  for (std::size_t number_of_launch = 0; number_of_launch < package.launches.size(); ++number_of_launch) {
    const Launch& launch = package.launches[number_of_launch];
    if (launch.rank != rank) continue;
    const std::string own = std::to_string(number_of_launch);
    const PackagedKernel& kernel = package.kernels[static_cast<std::size_t>(launch.kernel)];
    const std::string& name = names[static_cast<std::size_t>(launch.kernel)];
    plan += "    // " + kernel.name + (launch.where.empty() ? "" : ", called at " + launch.where) + "\n";
    const bool checked = !kernel.code.checks.empty();
    const std::string blocks =
        kernel.code.spmd ? std::to_string(launch.blocks) : "tiling::" + name + "::blocks";
    if (checked) {
      text += "  Report report_" + own + "{\"" + kernel.name + "\", tiling::" + name + "::checks, " + blocks +
              "};\n";
      plan += "    report_" + own + ".clear(device, workspace);\n";
      look += "    report_" + own + ".look();\n";
    }
    if (!launch.windows.empty())
      text += "  Memory context_" + own + "{device, " + std::to_string(launch.windows.size()) +
              " * sizeof(WindowRecord)};\n";
    plan +=
        "    device.launch(device.kernel(root, \"" + name + "\", tiling::" + name + "::symbol), " + blocks;
    std::size_t next = 0;
    for (const KernelArgument& argument : kernel.code.arguments) {
      plan += ",\n                  ";
      if (argument.kind == KernelArgument::Kind::Workspace) {
        plan += "workspace.at(0)";
        continue;
      }
      if (argument.kind == KernelArgument::Kind::Windows) {
        plan += "context_" + own + ".at(0)";
        continue;
      }
      const LaunchArgument& given = launch.arguments[next++];
      if (given.buffer >= 0)
        plan += package.buffers[static_cast<std::size_t>(given.buffer)].name + ".at(" +
                std::to_string(given.offset) + ")";
      else
        plan += scalar_text(given);
    }
    plan += ");\n";
    if (checked) plan += "    report_" + own + ".fetch(device, workspace);\n";
  }
  const std::string parameters = "[[maybe_unused]] Tensors& host";
  const auto member = [&](const char* what, const std::string& body, const std::string& list) {
    return std::string("  void ") + what + "(" + list + ") {\n    device.use();\n" + body + "  }\n";
  };
  text += "\n" + member("begin", begin, parameters) + member("launch", plan, "const std::string& root") +
          "  /// Throws CheckFailed.\n  bool is_done() const {\n    const bool done = device.is_done();\n" +
          look + "    return done;\n  }\n  void finish() { device.wait(); }\n" +
          member("end", end, parameters) + "};\n";
  return text;
}

}  // namespace

std::string tiling_header(const PackagedKernel& kernel, const std::string& file_name) {
  std::string text =
      "// What a launch of kernels/" + file_name + ".cpp needs: " + kernel.name + " (" + kernel.signature +
      ").\n#pragma once\n\n#include <cstdint>\n\nnamespace tiling::" + file_name + " {\n\n" +
      "inline constexpr const char* symbol = \"" + kernel.code.symbol + "\";\n" +
      "inline constexpr std::uint32_t blocks = " + std::to_string(kernel.code.blocks) + ";  // " +
      (kernel.code.cores == CoreType::Vector ? "vector cores"
       : kernel.code.cores == CoreType::Cube ? "cube cores"
                                             : "groups of a cube core and its vector cores") +
      "\ninline constexpr std::int64_t workspace_bytes = " + std::to_string(kernel.code.workspace_bytes) +
      ";\n";
  if (kernel.code.further_workspace_bytes > 0)
    text += "inline constexpr std::int64_t further_workspace_bytes = " +
            std::to_string(kernel.code.further_workspace_bytes) + ";  // for each block behind the first\n";
  text += "\n// Arguments, in order:\n";
  for (const KernelArgument& argument : kernel.code.arguments)
    text += "//   " + argument.type + " " + argument.name + "\n";
  if (!kernel.code.checks.empty()) {
    text +=
        "\n// What a check that fails says: the kernel leaves its number, from 1.\ninline constexpr Check "
        "checks[] = {";
    for (const codegen::ascendc::Check& check : kernel.code.checks) {
      const std::string file =
          check.location.file < kernel.files.size() ? kernel.files[check.location.file] : "?";
      text += "\n    {" +
              quoted(file + ":" + std::to_string(check.location.line) + ":" +
                     std::to_string(check.location.column)) +
              ", " +
              quoted(fault_text(check.code, check.what, message::given_word, message::expected_word,
                                message::length_word)) +
              "},";
    }
    text += "\n};\n";
  }
  return text + "\n}  // namespace tiling::" + file_name + "\n";
}

std::string launcher(const Package& package) {
  const std::vector<std::string> names = file_names(package);
  std::string text = "// Carries out the plan of " + package.name +
                     ": launcher [FOLDER OF THIS PACKAGE]\n#include \"host/acl_runtime.hpp\"\n";
  for (const std::string& name : names) text += "#include \"tiling/" + name + ".hpp\"\n";
  text +=
      "\nnamespace {\n\n/// What the host gives to the plan and takes back.\nstruct Tensors {\n  const "
      "std::string folder;\n";
  for (const HostTensor& tensor : package.tensors)
    text += "  HostTensor " + tensor.name + "{folder + \"" + tensor.name + "\", " +
            std::to_string(tensor.bytes) + ", " + (tensor.read ? "true" : "false") + "};\n";
  text += "};\n\n";
  for (std::size_t rank = 0; rank < package.devices.size(); ++rank)
    text += rank_function(package, static_cast<int>(rank), names) + "\n";
  text +=
      "}  // namespace\n\nint main(int count, char** arguments) {\n  const std::string root = count > 1 ? "
      "arguments[1] : \".\";\n  try {\n    const Library library;\n";
  text += "    Tensors host{root + \"/data/\"};\n";
  const auto each = [&](const std::string& call) {
    for (std::size_t rank = 0; rank < package.devices.size(); ++rank)
      text += "    rank" + std::to_string(rank) + "." + call + ";\n";
  };
  for (std::size_t rank = 0; rank < package.devices.size(); ++rank)
    text += "    Rank" + std::to_string(rank) + " rank" + std::to_string(rank) + ";\n";
  text += meet(package);
  each("begin(host)");
  text += "    // Launches do not wait: kernels of several ranks may wait for each other.\n";
  each("launch(root)");
  text +=
      "    // A kernel whose check fails may leave those of other ranks waiting for ever: who is done is "
      "asked first.\n"
      "    for (bool done = false; !done;) {\n      done = true;\n";
  for (std::size_t rank = 0; rank < package.devices.size(); ++rank)
    text += "      done = rank" + std::to_string(rank) + ".is_done() && done;\n";
  text += "      if (!done) std::this_thread::sleep_for(std::chrono::microseconds(100));\n    }\n";
  each("finish()");
  each("end(host)");
  text += "    bool equal = true;\n";
  for (const HostTensor& tensor : package.tensors)
    if (tensor.written)
      text += "    equal = host." + tensor.name + ".write_and_compare<" + element_type(tensor.dtype) +
              ">() && equal;\n";
  text +=
      "    return equal ? 0 : 1;\n  } catch (const CheckFailed& failed) {\n    std::fprintf(stderr, "
      "\"launcher: %s\\n\", "
      "failed.what());\n    std::_Exit(3);\n  } catch (const std::exception& error) {\n    "
      "std::fprintf(stderr, "
      "\"launcher: "
      "%s\\n\", error.what());\n    return 2;\n  }\n}\n";
  return text;
}

}  // namespace trilith::codegen::ascendc
