// test/package/acl_on_cpu.cpp -- the ACL functions of acl/acl.h over this machine: device memory is host memory, a stream
// is a thread that runs what was queued one after the other, and kernels run on the model of AscendC. A library that launchers link in the tests.
#include "acl/acl_rt_compile.h"
#include "codegen/ascendc/model/model_abi.h"
#include "jit/engine.hpp"
#include "runtime/model/launch.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <regex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

namespace jit = trilith::jit;
namespace model = AscendC::model;

std::string last_error;  // NOLINT: as the interface has it

aclError fail(const std::string& text) {
  last_error = text;
  return 1;
}

/// Device memory, so that the model knows what a kernel may touch; the device that was in use when it was made.
struct Block {
  std::size_t bytes;
  std::int32_t device;
};
std::map<char*, Block> memory;
std::mutex memory_mutex;
std::set<std::pair<std::int32_t, std::int32_t>>
    reached;  ///< pairs of devices, the second of which may be used by the first
thread_local std::int32_t current_device = 0;

class Stream {
 public:
  Stream() : device_(current_device), thread_([this] { work(); }) {}
  ~Stream() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  void queue(std::function<aclError()> work) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(work));
    }
    changed_.notify_all();
  }
  [[nodiscard]] bool is_done() {
    const std::lock_guard lock(mutex_);
    return waiting_.empty();
  }
  [[nodiscard]] aclError synchronise() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_.empty(); });
    return error_;
  }

 private:
  void work() {
    current_device = device_;
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      const auto work = waiting_.front();
      lock.unlock();
      const aclError error = work();
      lock.lock();
      if (error_ == ACL_SUCCESS) error_ = error;
      waiting_.pop_front();
      changed_.notify_all();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<aclError()>> waiting_;  ///< the first one is under way
  bool ends_ = false;
  aclError error_ = ACL_SUCCESS;
  const std::int32_t device_;
  std::thread thread_;  ///< last: it uses all of the above
};

struct Program {
  std::string text, name, log;
};

struct Function {
  std::shared_ptr<const jit::Code> code;
  std::vector<std::size_t> sizes;  ///< of its arguments
  bool has_windows = false;
};

struct Sink final : trilith::model::FaultSink {
  void fault(const trilith::model::Fault& fault) override { last_error = fault.message; }
};

/// `extern "C" … void NAME(T0 a, T1 b)`: a function that takes an array of pointers to such arguments.
std::string adapter(const std::string& text, const std::string& name) {
  std::smatch found;
  if (!std::regex_search(text, found, std::regex("void " + name + "\\(([^)]*)\\)")))
    throw pl::InternalError("no kernel " + name + " in the text");
  std::string call;
  std::string list = found[1];
  for (std::size_t at = 0, number = 0; at < list.size(); ++number) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    std::string parameter = list.substr(at, comma - at);
    parameter = parameter.substr(parameter.find_first_not_of(" \n"));
    const std::string type = parameter.substr(0, parameter.find_last_of(' '));
    call += (number == 0 ? "" : ", ") + ("*static_cast<" + type + "*>(list[" + std::to_string(number) + "])");
    at = comma + 1;
  }
  return "\nnamespace { void acl_run(void* arguments) { [[maybe_unused]] auto** list = "
         "static_cast<void**>(arguments); " +
         name + "(" + call +
         "); } }\nextern \"C\" std::int32_t acl_entry(const pl::abi::Args* args, const pl::abi::Services* "
         "services) {\n"
         "  auto* launch = reinterpret_cast<AscendC::model::Launch*>(args->scalars[0]);\n  launch->kernel = "
         "acl_run;\n"
         "  return AscendC::model::launch(static_cast<const AscendC::model::Table*>(services->model), "
         "*launch);\n}\n";
}

/// Bytes of each argument.
std::vector<std::size_t> sizes_of(const std::string& text, const std::string& name) {
  std::smatch found;
  std::vector<std::size_t> sizes;
  if (!std::regex_search(text, found, std::regex("void " + name + "\\(([^)]*)\\)"))) return sizes;
  const std::string list = found[1];
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    const std::string parameter = list.substr(at, comma - at);
    const bool one = parameter.find("int8_t") != std::string::npos ||
                     parameter.find("bool") != std::string::npos,
               two = parameter.find("int16_t") != std::string::npos,
               four = parameter.find("int32_t") != std::string::npos ||
                      parameter.find("float") != std::string::npos;
    sizes.push_back(one ? 1 : two ? 2 : four ? 4 : 8);
    at = comma + 1;
  }
  return sizes;
}

aclError run(const Function& function, std::uint32_t blocks, std::vector<std::uint64_t> values) {
  std::vector<model::Region> regions;
  {
    const std::lock_guard lock(memory_mutex);
    for (const auto& [base, block] : memory) {
      const bool peer = block.device != current_device;
      // Memory of other devices is there for those that were let in.
      if (peer && !reached.contains({current_device, block.device})) continue;
      const bool window = function.has_windows;
      regions.push_back(
          {base, static_cast<std::int64_t>(block.bytes), true, window, false, "device memory", window});
    }
  }
  std::vector<void*> arguments;
  for (std::uint64_t& value : values) arguments.push_back(&value);
  model::Launch launch{};
  launch.name = "kernel";
  launch.arguments = arguments.data();
  launch.blocks = blocks;
  launch.regions = regions.data();
  launch.region_count = static_cast<std::int64_t>(regions.size());
  Sink sink;
  trilith::model::Model cpu(sink);
  const std::uint64_t slot = reinterpret_cast<std::uint64_t>(&launch);
  const pl::abi::Args given{nullptr, &slot, 0, 1};
  pl::abi::Services services{};
  services.version = pl::abi::version;
  services.size = sizeof services;
  services.model = cpu.table();
  return function.code->entry()(&given, &services) == 0 ? ACL_SUCCESS : 1;
}

}  // namespace

extern "C" {

aclError aclInit(const char*) { return ACL_SUCCESS; }
aclError aclFinalize() { return memory.empty() ? ACL_SUCCESS : fail("device memory was not freed"); }
const char* aclGetRecentErrMsg() { return last_error.c_str(); }
aclError aclrtSetDevice(std::int32_t device) {
  current_device = device;
  return ACL_SUCCESS;
}
aclError aclrtResetDevice(std::int32_t) { return ACL_SUCCESS; }
aclError aclrtCreateStream(aclrtStream* stream) {
  *stream = new Stream;
  return ACL_SUCCESS;
}
aclError aclrtDestroyStream(aclrtStream stream) {
  delete static_cast<Stream*>(stream);
  return ACL_SUCCESS;
}
aclError aclrtSynchronizeStream(aclrtStream stream) { return static_cast<Stream*>(stream)->synchronise(); }
aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
  *status =
      static_cast<Stream*>(stream)->is_done() ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
  return ACL_SUCCESS;
}
aclError aclrtDeviceCanAccessPeer(std::int32_t* canAccessPeer, std::int32_t, std::int32_t) {
  *canAccessPeer = 1;
  return ACL_SUCCESS;
}
aclError aclrtDeviceEnablePeerAccess(std::int32_t peerDeviceId, std::uint32_t flags) {
  if (flags != 0) return fail("flags of aclrtDeviceEnablePeerAccess are 0");
  reached.insert({current_device, peerDeviceId});
  return ACL_SUCCESS;
}
aclError aclrtMallocHost(void** hostPtr, std::size_t size) {
  *hostPtr = std::malloc(size);
  return ACL_SUCCESS;
}
aclError aclrtFreeHost(void* hostPtr) {
  std::free(hostPtr);
  return ACL_SUCCESS;
}
aclError aclrtMemsetAsync(void* devPtr, std::size_t maxCount, std::int32_t value, std::size_t count,
                          aclrtStream stream) {
  static_cast<Stream*>(stream)->queue([=] { return aclrtMemset(devPtr, maxCount, value, count); });
  return ACL_SUCCESS;
}
aclError aclrtMemcpyAsync(void* dst, std::size_t destMax, const void* src, std::size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream) {
  static_cast<Stream*>(stream)->queue([=] { return aclrtMemcpy(dst, destMax, src, count, kind); });
  return ACL_SUCCESS;
}

aclError aclrtMalloc(void** devPtr, std::size_t size, aclrtMemMallocPolicy) {
  auto* bytes = static_cast<char*>(std::aligned_alloc(512, (size + 511) / 512 * 512));
  const std::lock_guard lock(memory_mutex);
  memory[bytes] = {size, current_device};
  *devPtr = bytes;
  return ACL_SUCCESS;
}
aclError aclrtFree(void* devPtr) {
  const std::lock_guard lock(memory_mutex);
  if (memory.erase(static_cast<char*>(devPtr)) == 0) return fail("no device memory");
  std::free(devPtr);
  return ACL_SUCCESS;
}
aclError aclrtMemset(void* devPtr, std::size_t maxCount, std::int32_t value, std::size_t count) {
  if (count > maxCount) return fail("aclrtMemset runs past the memory");
  std::memset(devPtr, value, count);
  return ACL_SUCCESS;
}
aclError aclrtMemcpy(void* dst, std::size_t destMax, const void* src, std::size_t count, aclrtMemcpyKind) {
  if (count > destMax) return fail("aclrtMemcpy runs past the memory");
  std::memcpy(dst, src, count);
  return ACL_SUCCESS;
}

aclError aclrtcCreateProg(aclrtcProg* prog, const char* src, const char* name, int, const char* const*,
                          const char* const*) {
  *prog = new Program{src, name, {}};
  return ACL_SUCCESS;
}
aclError aclrtcCompileProg(aclrtcProg prog, int numOptions, const char* const* options) {
  if (numOptions != 1 || std::string(options[0]) != "--npu-arch=dav-2201") return fail("unknown options");
  return prog != nullptr ? ACL_SUCCESS : fail("no program");
}
aclError aclrtcGetBinDataSize(aclrtcProg prog, std::size_t* size) {
  *size = static_cast<Program*>(prog)->text.size();
  return ACL_SUCCESS;
}
aclError aclrtcGetBinData(aclrtcProg prog, char* binData) {
  const Program& program = *static_cast<Program*>(prog);
  std::memcpy(binData, program.text.data(), program.text.size());
  return ACL_SUCCESS;
}
aclError aclrtcGetCompileLogSize(aclrtcProg prog, std::size_t* size) {
  *size = static_cast<Program*>(prog)->log.size();
  return ACL_SUCCESS;
}
aclError aclrtcGetCompileLog(aclrtcProg prog, char* log) {
  std::strcpy(log, static_cast<Program*>(prog)->log.c_str());
  return ACL_SUCCESS;
}
aclError aclrtcDestroyProg(aclrtcProg* prog) {
  delete static_cast<Program*>(*prog);
  *prog = nullptr;
  return ACL_SUCCESS;
}

aclError aclrtBinaryLoadFromData(const void* data, std::size_t length, const aclrtBinaryLoadOptions* options,
                                 aclrtBinHandle* binHandle) {
  if (options->numOpt != 1 || options->options[0].type != ACL_RT_BINARY_LOAD_OPT_MAGIC ||
      options->options[0].value.magic != ACL_RT_BINARY_MAGIC_ELF_AICORE)
    return fail("no AI core binary");
  *binHandle = new std::string(static_cast<const char*>(data), length);
  return ACL_SUCCESS;
}
aclError aclrtBinaryUnLoad(aclrtBinHandle binHandle) {
  delete static_cast<std::string*>(binHandle);
  return ACL_SUCCESS;
}
aclError aclrtBinaryGetFunction(aclrtBinHandle binHandle, const char* kernelName,
                                aclrtFuncHandle* funcHandle) {
  static jit::Engine engine({});
  static std::vector<std::unique_ptr<Function>> functions;
  try {
    const std::string& text = *static_cast<std::string*>(binHandle);
    const std::vector<jit::KeyPart> key{{"acl", text}, {"entry", kernelName}};
    auto code = engine.get(key, [&]() -> jit::Source {
      return {text + adapter(text, kernelName), "acl_entry", kernelName, {}, {}};
    });
    functions.push_back(std::make_unique<Function>(Function{
        std::move(code), sizes_of(text, kernelName), text.find("GM_ADDR windows") != std::string::npos}));
    *funcHandle = functions.back().get();
    return ACL_SUCCESS;
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}

aclError aclrtLaunchKernelWithArgsArray(void* func, std::uint32_t numBlocks, aclrtStream stream,
                                        aclrtLaunchKernelCfg*, void** args) {
  // Arguments are the caller's only until this returns; each has at most 8 bytes.
  auto values = std::make_shared<std::vector<std::uint64_t>>();
  for (void** argument = args; *argument != nullptr; ++argument) {
    std::uint64_t value = 0;
    std::memcpy(&value, *argument, static_cast<Function*>(func)->sizes[values->size()]);
    values->push_back(value);
  }
  static_cast<Stream*>(stream)->queue([=] { return run(*static_cast<Function*>(func), numBlocks, *values); });
  return ACL_SUCCESS;
}
}
