#include "codegen/ascendc/package.hpp"

#include "codegen/ascendc/package_files.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace trilith::codegen::ascendc {
namespace {

using Json = nlohmann::ordered_json;

const char* name_of(CoreType cores) {
  switch (cores) {
    case CoreType::Vector: return "vector";
    case CoreType::Cube: return "cube";
    case CoreType::Mixed: break;
  }
  return "mixed";
}

std::string shape_text(const HostTensor& tensor) {
  std::string text(codegen::name_of(tensor.dtype));
  text += "[";
  for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis)
    text += (axis == 0 ? "" : ", ") + std::to_string(tensor.shape[axis]);
  return text + "]";
}

/// FNV-1a of 64 bits, as hex digits: tells whether a text is the one that the manifest speaks of.
std::string hash_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  std::string digits(16, '0');
  for (int i = 15; i >= 0; --i, hash >>= 4)
    digits[static_cast<std::size_t>(i)] = "0123456789abcdef"[hash & 15];
  return digits;
}

Json json_of(const PackagedKernel& kernel, const std::string& file_name) {
  Json memory = Json::array();
  for (const Allocation& allocation : kernel.code.memory)
    memory.push_back({{"space", allocation.space},
                      {"name", allocation.name},
                      {"offset", allocation.offset},
                      {"bytes", allocation.bytes}});
  return {{"name", kernel.name},
          {"signature", kernel.signature},
          {"file", "kernels/" + file_name + ".cpp"},
          {"symbol", kernel.code.symbol},
          {"fnv1a64", hash_of(kernel.code.text)},
          {"cores", name_of(kernel.code.cores)},
          {"workspace_bytes", kernel.code.workspace_bytes},
          {"further_workspace_bytes", kernel.code.further_workspace_bytes},
          {"memory", memory}};
}

}  // namespace

Package package_of(const Kernel& specialised, Emitted emitted) {
  Package package;
  package.name = specialised.name;
  package.devices = {0};
  Launch launch;
  std::string signature;
  std::vector<int> buffers;  // by tensor parameter
  std::vector<DType> scalars;
  for (const Parameter& parameter : specialised.parameters) {
    const Variable& variable = specialised.variables[static_cast<std::size_t>(parameter.variable)];
    signature += (signature.empty() ? "" : ", ") + std::string(codegen::name_of(variable.type.dtype));
    if (!variable.type.is_tensor()) {
      scalars.push_back(variable.type.dtype);
      continue;
    }
    HostTensor tensor;
    tensor.name = variable.name;
    tensor.dtype = variable.type.dtype;
    tensor.read = parameter.access != Access::Out;
    tensor.written = parameter.access != Access::In;
    tensor.bytes = static_cast<std::int64_t>(size_of(variable.type.dtype));
    for (const Dim& dim : variable.type.shape) {
      tensor.shape.push_back(dim.extent);
      tensor.bytes *= dim.extent;
    }
    signature += shape_text(tensor).substr(codegen::name_of(tensor.dtype).size());
    const int number = static_cast<int>(package.tensors.size());
    buffers.push_back(number);
    package.buffers.push_back({0, tensor.name, tensor.bytes, number, 0});
    if (tensor.written) package.written.push_back({number, 0, tensor.bytes});
    package.tensors.push_back(std::move(tensor));
  }
  for (const auto& capture : specialised.captures)
    scalars.push_back(specialised.variables[static_cast<std::size_t>(capture.variable)].type.dtype);
  for (const KernelArgument& argument : emitted.arguments) {
    const auto index = static_cast<std::size_t>(argument.index);
    if (argument.kind == KernelArgument::Kind::Tensor)
      launch.arguments.push_back({buffers[index], 0, DType::Int64, 0});
    else if (argument.kind == KernelArgument::Kind::Scalar)
      launch.arguments.push_back({-1, 0, scalars[index], 0});
  }
  launch.blocks = emitted.blocks;
  // Alone it is rank 0 of 1: each window is a part of its own.
  for (const WindowArgument& window : emitted.windows) {
    launch.windows.push_back({static_cast<int>(package.windows.size()), 0});
    const int buffer = buffers[static_cast<std::size_t>(window.tensor)];
    DeviceBuffer& part = package.buffers[static_cast<std::size_t>(buffer)];
    package.windows.push_back({(part.bytes + 63) / 64 * 64, {0}});
    part.window = launch.windows.back().window;
  }
  package.kernels.push_back({std::move(emitted), specialised.name, signature, specialised.files});
  package.launches.push_back(std::move(launch));
  return package;
}

std::vector<std::string> file_names(const Package& package) {
  std::map<std::string, int> seen;
  std::vector<std::string> names;
  for (const PackagedKernel& kernel : package.kernels) {
    const int number = ++seen[kernel.code.symbol];
    names.push_back(kernel.code.symbol + (number == 1 ? "" : "_" + std::to_string(number)));
  }
  return names;
}

std::int64_t workspace_of(const Package& package, int rank) {
  std::int64_t bytes = 0;
  for (const Launch& launch : package.launches)
    if (launch.rank == rank)
      bytes = std::max(
          bytes, package.kernels[static_cast<std::size_t>(launch.kernel)].code.workspace_for(launch.blocks));
  return bytes;
}

std::string manifest(const Package& package) {
  const std::vector<std::string> names = file_names(package);
  Json kernels = Json::array(), tensors = Json::array(), buffers = Json::array(), launches = Json::array();
  for (std::size_t i = 0; i < package.kernels.size(); ++i)
    kernels.push_back(json_of(package.kernels[i], names[i]));
  for (const HostTensor& tensor : package.tensors)
    tensors.push_back({{"name", tensor.name},
                       {"dtype", codegen::name_of(tensor.dtype)},
                       {"shape", tensor.shape},
                       {"bytes", tensor.bytes},
                       {"read", tensor.read},
                       {"written", tensor.written}});
  for (const DeviceBuffer& buffer : package.buffers) {
    Json json{{"name", buffer.name}, {"rank", buffer.rank}, {"bytes", buffer.bytes}};
    if (buffer.host_tensor >= 0) {
      json["tensor"] = package.tensors[static_cast<std::size_t>(buffer.host_tensor)].name;
      json["tensor_offset"] = buffer.host_offset;
    }
    if (buffer.window >= 0) json["window"] = buffer.window;
    buffers.push_back(std::move(json));
  }
  for (const Launch& launch : package.launches) {
    Json arguments = Json::array();
    for (const LaunchArgument& argument : launch.arguments) {
      if (argument.buffer >= 0)
        arguments.push_back({{"buffer", package.buffers[static_cast<std::size_t>(argument.buffer)].name},
                             {"offset", argument.offset}});
      else
        arguments.push_back({{"scalar", codegen::name_of(argument.dtype)}, {"bits", argument.bits}});
    }
    launches.push_back({{"rank", launch.rank},
                        {"kernel", names[static_cast<std::size_t>(launch.kernel)]},
                        {"blocks", launch.blocks},
                        {"at", launch.where},
                        {"arguments", arguments}});
    for (const Launch::Window& window : launch.windows)
      launches.back()["windows"].push_back({{"window", window.window}, {"offset", window.offset}});
  }
  Json windows = Json::array();
  for (const PackagedWindow& window : package.windows)
    windows.push_back({{"bytes", window.bytes}, {"ranks", window.ranks}});
  return Json{{"trilith_package", 1},       {"name", package.name}, {"npu_arch", "dav-2201"},
              {"devices", package.devices}, {"tensors", tensors},   {"buffers", buffers},
              {"windows", windows},         {"kernels", kernels},   {"launches", launches}}
             .dump(1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

std::string build_file(const Package& package) {
  return "# Builds the launcher of " + package.name +
         R"( with CANN 8.5 or later. The kernels are compiled by it when it starts.
cmake_minimum_required(VERSION 3.16)
project(launcher LANGUAGES CXX)
if(NOT DEFINED ENV{ASCEND_HOME_PATH})
  message(FATAL_ERROR "ASCEND_HOME_PATH is not set: run set_env.sh of the CANN toolkit first")
endif()
add_executable(launcher host/main.cpp)
target_compile_features(launcher PRIVATE cxx_std_17)
target_include_directories(launcher PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} $ENV{ASCEND_HOME_PATH}/include)
target_link_directories(launcher PRIVATE $ENV{ASCEND_HOME_PATH}/lib64)
target_link_libraries(launcher PRIVATE ascendcl acl_rtc)
)";
}

std::string read_me(const Package& package) {
  std::string text = "# " + package.name + R"( for Ascend 910B (A2, A3)

Written by Trilith from the plan of a program. Nothing of it was compiled by a device compiler yet: there was none where it
was written.

## Build and run

    source /usr/local/Ascend/ascend-toolkit/set_env.sh
    cmake -S . -B build && cmake --build build
    ./build/launcher .

The launcher compiles each kernel of `kernels/` with aclrtc (`--npu-arch=dav-2201`), reads `data/<tensor>.in.bin`, carries
out the plan and writes `data/<tensor>.out.bin`. The plan is launched from the host, on one stream a device; nothing of it
runs on the AICPU. It needs)";
  text += package.devices.size() == 1 ? " device" : " the devices";
  for (std::size_t i = 0; i < package.devices.size(); ++i)
    text += (i == 0 ? " " : ", ") + std::to_string(package.devices[i]);
  text += R"(.

## Compare with the simulator

Where `data/<tensor>.expected.bin` is there, what the simulator computed from the same inputs, the launcher compares each
element (relative 1e-3, half and bfloat16 1e-2, integers equal), prints the first that differs and exits with 1. Transcendental
functions and the order of sums differ between the two.

A check that fails in a kernel (an index or an offset out of range, a rank that a window has not) is printed with its line of the
program; the launcher then exits with 3 and writes no results.

## What is in it

| file | what it is |
|---|---|
| `manifest.json` | tensors, device buffers, kernels with their hashes and memory maps, launches in order |
| `host/main.cpp` | the launcher: the recorded plan |
| `host/acl_runtime.hpp` | devices, memory and kernels as C++ objects over the ACL interface |
)";
  const std::vector<std::string> names = file_names(package);
  for (std::size_t i = 0; i < names.size(); ++i)
    text += "| `kernels/" + names[i] + ".cpp`, `tiling/" + names[i] + ".hpp` | " + package.kernels[i].name +
            " (" + package.kernels[i].signature + "): its text; what a launch of it needs |\n";
  text += "\n| tensor | dtype and shape | |\n|---|---|---|\n";
  for (const HostTensor& tensor : package.tensors)
    text += "| " + tensor.name + " | " + shape_text(tensor) + " | " + (tensor.read ? "read" : "") +
            (tensor.read && tensor.written ? ", " : "") + (tensor.written ? "written" : "") + " |\n";
  if (!package.windows.empty())
    text += R"(
## Windows

Each device has its part of a window in memory of its own, zero at first, and behind it a line of 64 bytes of signal cells for
each rank. The launcher lets each device reach the memory of the others (aclrtDeviceEnablePeerAccess) and gives every launch
its context: for each window the rank's number, how many ranks share it, and where each rank's part lies. All devices belong
to the one process of the launcher, and all streams run at once: kernels of several ranks wait for each other.
)";
  return text;
}

std::map<std::string, std::string> package_files(const Package& package) {
  std::map<std::string, std::string> files{{"README.md", read_me(package)},
                                           {"CMakeLists.txt", build_file(package)},
                                           {"manifest.json", manifest(package)},
                                           {"host/acl_runtime.hpp", acl_runtime_header()},
                                           {"host/main.cpp", launcher(package)}};
  const std::vector<std::string> names = file_names(package);
  for (std::size_t i = 0; i < names.size(); ++i) {
    files["kernels/" + names[i] + ".cpp"] = package.kernels[i].code.text;
    files["tiling/" + names[i] + ".hpp"] = tiling_header(package.kernels[i], names[i]);
  }
  return files;
}

}  // namespace trilith::codegen::ascendc
