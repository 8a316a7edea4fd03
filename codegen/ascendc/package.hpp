// codegen/ascendc/package.hpp -- a program for the hardware, as the files of a folder that builds with CANN.
//
//   kernels/   the AscendC text of each kernel, as it was emitted
//   tiling/    for each kernel what its launch needs: cores, blocks, workspace, arguments
//   host/      the launcher: C++ against the ACL run-time compile and launch interface
//   manifest.json, CMakeLists.txt, README.md
//
// The launcher carries out the recorded dispatch plan: which rank's device runs which kernel on which memory.
#pragma once

#include "codegen/ascendc/emit.hpp"
#include "codegen/dtype.hpp"
#include "codegen/ir.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace trilith::codegen::ascendc {

/// A tensor that the host gives to the program and takes back from it.
struct HostTensor {
  std::string name;
  DType dtype = DType::Float32;
  std::vector<std::int64_t> shape;
  bool read = true, written = false;
  /// Bytes from the first to behind the last element that the program may touch.
  std::int64_t bytes = 0;
};

/// Memory of one device.
struct DeviceBuffer {
  int rank = 0;
  std::string name;
  std::int64_t bytes = 0;
  int host_tensor = -1;          ///< its part of this tensor; -1: the device's own memory
  std::int64_t host_offset = 0;  ///< in bytes
  int window = -1;  ///< the rank's part of this window, then a line of cells for each of its ranks
};

/// Memory of which each of some ranks has a part.
struct PackagedWindow {
  std::int64_t bytes = 0;  ///< of a part: a whole number of lines of 64
  std::vector<int> ranks;  ///< that share it, in the order of their numbers
};

/// A dense run of bytes that a launch writes and the host takes back.
struct WrittenRange {
  int buffer = 0;
  std::int64_t offset = 0, bytes = 0;
  bool operator<(const WrittenRange& other) const {
    return std::tie(buffer, offset, bytes) < std::tie(other.buffer, other.offset, other.bytes);
  }
};

struct LaunchArgument {
  int buffer = -1;          ///< a pointer into it; -1: a scalar
  std::int64_t offset = 0;  ///< in bytes
  DType dtype = DType::Int64;
  std::uint64_t bits = 0;  ///< the scalar's slot
};

struct Launch {
  int rank = 0;
  int kernel = 0;
  std::int64_t blocks = 1;
  std::vector<LaunchArgument> arguments;  ///< as Emitted::arguments without the workspace and the context
  struct Window {
    int window = 0;
    std::int64_t offset = 0;  ///< of the tensor argument in each part, in bytes
  };
  std::vector<Window> windows;  ///< as Emitted::windows
  std::string where;            ///< "program.cpp:31", the user's call
};

struct PackagedKernel {
  Emitted code;
  std::string name;                ///< the user's
  std::string signature;           ///< "float[8, 8], out float[8, 8], int32"
  std::vector<std::string> files;  ///< of the places of its checks
};

struct Package {
  std::string name;
  std::vector<int> devices;  ///< by rank
  std::vector<HostTensor> tensors;
  std::vector<DeviceBuffer> buffers;
  std::vector<PackagedWindow> windows;
  std::vector<PackagedKernel> kernels;
  std::vector<Launch> launches;  ///< of one rank in the order of its stream
  std::vector<WrittenRange> written;
};

/// One kernel alone, on device 0 and its arguments; run-time scalars are 0.
[[nodiscard]] Package package_of(const Kernel& specialised, Emitted emitted);

/// The files by their path in the package's folder. Deterministic to the byte.
[[nodiscard]] std::map<std::string, std::string> package_files(const Package& package);

}  // namespace trilith::codegen::ascendc
