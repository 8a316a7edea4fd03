// host/acl_runtime.hpp of a package.
#include "codegen/ascendc/package_files.hpp"

namespace trilith::codegen::ascendc {

std::string acl_runtime_header() {
  return R"acl(// Devices, memory and kernels as C++ objects over the ACL run-time interface of CANN 8.5 or later. C++17.
#pragma once

#include "acl/acl.h"
#include "acl/acl_rt_compile.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

inline void check(aclError error, const char* call) {
  if (error == ACL_SUCCESS) return;
  const char* message = aclGetRecentErrMsg();
  throw std::runtime_error(std::string(call) + " failed with error " + std::to_string(error) +
                           (message != nullptr ? std::string(": ") + message : std::string()));
}
#define CHECK_ACL(call) check((call), #call)

inline float float_of_bits(std::uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// 16-bit floats, as far as a comparison needs them.
struct Half {
  std::uint16_t bits;
  operator double() const {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
    return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
  }
};
struct BFloat16 {
  std::uint16_t bits;
  operator double() const { return float_of_bits(static_cast<std::uint32_t>(bits) << 16); }
};

/// The library as a whole: initialised once in a process.
class Library {
 public:
  Library() { CHECK_ACL(aclInit(nullptr)); }
  ~Library() { aclFinalize(); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
};

/// A tensor of the host, kept in files: NAME.in.bin is read, NAME.out.bin written, NAME.expected.bin compared with.
class HostTensor {
 public:
  HostTensor(std::string path, std::size_t bytes, bool read) : path_(std::move(path)), bytes_(bytes) {
    if (!read) return;
    bytes_ = load(path_ + ".in.bin", bytes);
    if (bytes_.size() != bytes) throw std::runtime_error(path_ + ".in.bin is missing or has another size");
  }
  char* bytes(std::size_t offset) { return bytes_.data() + offset; }

  template <class T>
  bool write_and_compare() {
    std::ofstream file(path_ + ".out.bin", std::ios::binary);
    file.write(bytes_.data(), static_cast<std::streamsize>(bytes_.size()));
    if (!file.flush()) throw std::runtime_error(path_ + ".out.bin cannot be written");
    const std::vector<char> expected = load(path_ + ".expected.bin", bytes_.size());
    if (expected.size() != bytes_.size()) {
      std::printf("%s: written, nothing to compare with\n", path_.c_str());
      return true;
    }
    const double tolerance = std::is_same<T, Half>::value || std::is_same<T, BFloat16>::value ? 1e-2
                             : std::is_floating_point<T>::value                               ? 1e-3
                                                                                              : 0;
    for (std::size_t i = 0; i * sizeof(T) < expected.size(); ++i) {
      T got, wanted;
      std::memcpy(&got, bytes_.data() + i * sizeof(T), sizeof(T));
      std::memcpy(&wanted, expected.data() + i * sizeof(T), sizeof(T));
      if (std::memcmp(&got, &wanted, sizeof(T)) == 0) continue;
      const double a = static_cast<double>(got), b = static_cast<double>(wanted);
      if ((std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b))) continue;
      std::printf("%s: element %zu is %.9g, expected %.9g\n", path_.c_str(), i, a, b);
      return false;
    }
    std::printf("%s: OK\n", path_.c_str());
    return true;
  }

 private:
  static std::vector<char> load(const std::string& path, std::size_t bytes) {
    std::ifstream file(path, std::ios::binary);
    std::vector<char> content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (content.size() != bytes) content.clear();
    return content;
  }
  std::string path_;
  std::vector<char> bytes_;
};

/// A device with the stream that its launches are queued on, and the kernels it has compiled.
class Device {
 public:
  explicit Device(int number) : number_(number) {
    CHECK_ACL(aclrtSetDevice(number_));
    CHECK_ACL(aclrtCreateStream(&stream_));
  }
  ~Device() {
    aclrtSetDevice(number_);
    for (auto& kernel : kernels_) aclrtBinaryUnLoad(kernel.second.binary);
    aclrtDestroyStream(stream_);
    aclrtResetDevice(number_);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  void use() const { CHECK_ACL(aclrtSetDevice(number_)); }
  aclrtStream stream() const { return stream_; }
  /// Has all that was queued ended?
  bool is_done() const {
    use();
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    CHECK_ACL(aclrtStreamQuery(stream_, &status));
    return status == ACL_STREAM_STATUS_COMPLETE;
  }
  /// Kernels of this device may then use the memory of the other one.
  void reach(const Device& peer) const {
    if (peer.number_ == number_) return;
    use();
    std::int32_t can = 0;
    CHECK_ACL(aclrtDeviceCanAccessPeer(&can, number_, peer.number_));
    if (can == 0)
      throw std::runtime_error("device " + std::to_string(number_) + " cannot reach the memory of device " +
                               std::to_string(peer.number_) + ": the devices of a window need a direct link");
    CHECK_ACL(aclrtDeviceEnablePeerAccess(peer.number_, 0));
  }
  void wait() const {
    use();
    CHECK_ACL(aclrtSynchronizeStream(stream_));
  }

  /// The kernel of this name in the package at `root`, compiled at its first use.
  aclrtFuncHandle kernel(const std::string& root, const std::string& name, const char* symbol) {
    Kernel& kernel = kernels_[name];
    if (kernel.function == nullptr) kernel = compile(root + "/kernels/" + name + ".cpp", symbol);
    return kernel.function;
  }

  /// Queues it; each argument has the type of the kernel's parameter.
  template <class... Arguments>
  void launch(aclrtFuncHandle function, std::uint32_t blocks, Arguments... arguments) const {
    void* list[] = {static_cast<void*>(&arguments)..., nullptr};
    CHECK_ACL(aclrtLaunchKernelWithArgsArray(function, blocks, stream_, nullptr, list));
  }

 private:
  struct Kernel {
    aclrtBinHandle binary = nullptr;
    aclrtFuncHandle function = nullptr;
  };

  static Kernel compile(const std::string& path, const char* symbol) {
    std::ifstream file(path);
    const std::string source{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (source.empty()) throw std::runtime_error(path + " cannot be read: give the package's folder as argument");
    aclrtcProg program = nullptr;
    CHECK_ACL(aclrtcCreateProg(&program, source.c_str(), symbol, 0, nullptr, nullptr));
    const char* options[] = {"--npu-arch=dav-2201"};
    if (aclrtcCompileProg(program, 1, options) != ACL_SUCCESS) {
      std::size_t size = 0;
      aclrtcGetCompileLogSize(program, &size);
      std::string log(size + 1, '\0');
      aclrtcGetCompileLog(program, &log[0]);
      throw std::runtime_error(path + " does not compile:\n" + log.c_str());
    }
    std::size_t size = 0;
    CHECK_ACL(aclrtcGetBinDataSize(program, &size));
    std::vector<char> bytes(size);
    CHECK_ACL(aclrtcGetBinData(program, bytes.data()));
    aclrtcDestroyProg(&program);

    Kernel kernel;
    aclrtBinaryLoadOption option{};
    option.type = ACL_RT_BINARY_LOAD_OPT_MAGIC;
    option.value.magic = ACL_RT_BINARY_MAGIC_ELF_AICORE;
    aclrtBinaryLoadOptions load{};
    load.options = &option;
    load.numOpt = 1;
    CHECK_ACL(aclrtBinaryLoadFromData(bytes.data(), bytes.size(), &load, &kernel.binary));
    CHECK_ACL(aclrtBinaryGetFunction(kernel.binary, symbol, &kernel.function));
    return kernel;
  }

  int number_;
  aclrtStream stream_ = nullptr;
  std::map<std::string, Kernel> kernels_;
};

/// Memory of a device; the device is in use while one is made or copied.
class Memory {
 public:
  Memory(const Device& device, std::size_t bytes) : bytes_(bytes) {
    device.use();
    CHECK_ACL(aclrtMalloc(&data_, bytes == 0 ? 32 : bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK_ACL(aclrtMemset(data_, bytes, 0, bytes));
  }
  ~Memory() { aclrtFree(data_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  void* at(std::size_t offset) const { return static_cast<char*>(data_) + offset; }
  void copy_from(const char* source, std::size_t bytes) const {
    CHECK_ACL(aclrtMemcpy(data_, bytes_, source, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  }
  void copy_to(char* destination, std::size_t offset, std::size_t bytes) const {
    CHECK_ACL(aclrtMemcpy(destination, bytes, at(offset), bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
};

/// What a kernel is told of one window: the struct `Window` of its text.
struct WindowRecord {
  std::uint32_t rank, ranks;
  std::uint64_t unused;
  std::uint64_t memory[64], cells[64];
};

/// `parts`: of the ranks that share it; a kernel's tensor begins at `offset` in each, the cells at `cells`.
inline WindowRecord window_record(std::uint32_t rank, const std::vector<const Memory*>& parts, std::size_t offset,
                                  std::size_t cells) {
  WindowRecord record{};
  record.rank = rank;
  record.ranks = static_cast<std::uint32_t>(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    record.memory[i] = reinterpret_cast<std::uint64_t>(parts[i]->at(offset));
    record.cells[i] = reinterpret_cast<std::uint64_t>(parts[i]->at(cells));
  }
  return record;
}

/// A check of a kernel that only the run can make: its place in the program, and what it says when it fails.
struct Check {
  const char *place, *text;
};

struct CheckFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What the blocks of one launch leave at the start of the workspace: a line of 64 bytes each, zero where all was right.
class Report {
 public:
  Report(const char* kernel, const Check* checks, std::size_t blocks) : kernel_(kernel), checks_(checks), bytes_(blocks * line) {
    void* data = nullptr;
    CHECK_ACL(aclrtMallocHost(&data, bytes_));
    std::memset(data, 0, bytes_);
    lines_ = static_cast<const volatile std::int64_t*>(data);
  }
  ~Report() { aclrtFreeHost(const_cast<std::int64_t*>(lines_)); }
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  /// In front of the launch, on its stream.
  void clear(const Device& device, const Memory& workspace) const {
    CHECK_ACL(aclrtMemsetAsync(workspace.at(0), bytes_, 0, bytes_, device.stream()));
  }
  /// Behind it.
  void fetch(const Device& device, const Memory& workspace) const {
    CHECK_ACL(aclrtMemcpyAsync(const_cast<std::int64_t*>(lines_), bytes_, workspace.at(0), bytes_,
                               ACL_MEMCPY_DEVICE_TO_HOST, device.stream()));
  }
  /// Throws CheckFailed for the first block that has left something.
  void look() const {
    for (std::size_t block = 0; block * line < bytes_; ++block) {
      const volatile std::int64_t* const at = lines_ + block * (line / sizeof(std::int64_t));
      if (at[0] == 0) continue;
      // The copy may still be under way.
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      const Check& check = checks_[at[0] - 1];
      std::string text = check.text;
      const std::pair<const char*, std::int64_t> words[] = {{"{given}", at[1]}, {"{expected}", at[2]}, {"{length}", at[3]}};
      for (const auto& word : words)
        for (std::size_t found = text.find(word.first); found != std::string::npos; found = text.find(word.first))
          text.replace(found, std::strlen(word.first), std::to_string(word.second));
      throw CheckFailed(std::string(check.place) + ": " + text + " (kernel " + kernel_ + ", block " +
                        std::to_string(block) + ")");
    }
  }

 private:
  static constexpr std::size_t line = 64;
  const char* kernel_;
  const Check* checks_;
  std::size_t bytes_;
  const volatile std::int64_t* lines_ = nullptr;
};
)acl";
}

}  // namespace trilith::codegen::ascendc
