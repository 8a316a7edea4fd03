// test/package/acl_on_cpu.cpp -- the ACL functions of acl/acl.h over this machine: device memory is host memory, a stream
// runs each launch at once, and kernels run on the model of AscendC. A library that launchers link in the tests.
#include "acl/acl_rt_compile.h"
#include "codegen/ascendc/model/model_abi.h"
#include "jit/engine.hpp"
#include "runtime/model/launch.hpp"

#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <regex>
#include <string>
#include <vector>

namespace {

namespace jit = trilith::jit;
namespace model = AscendC::model;

std::string last_error;  // NOLINT: as the interface has it

aclError fail(const std::string& text) {
  last_error = text;
  return 1;
}

/// Device memory, so that the model knows what a kernel may touch.
std::map<char*, std::size_t> memory;

struct Program {
  std::string text, name, log;
};

struct Function {
  std::shared_ptr<const jit::Code> code;
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

}  // namespace

extern "C" {

aclError aclInit(const char*) { return ACL_SUCCESS; }
aclError aclFinalize() { return memory.empty() ? ACL_SUCCESS : fail("device memory was not freed"); }
const char* aclGetRecentErrMsg() { return last_error.c_str(); }
aclError aclrtSetDevice(std::int32_t) { return ACL_SUCCESS; }
aclError aclrtResetDevice(std::int32_t) { return ACL_SUCCESS; }
aclError aclrtCreateStream(aclrtStream* stream) {
  *stream = new int;
  return ACL_SUCCESS;
}
aclError aclrtDestroyStream(aclrtStream stream) {
  delete static_cast<int*>(stream);
  return ACL_SUCCESS;
}
aclError aclrtSynchronizeStream(aclrtStream) { return ACL_SUCCESS; }

aclError aclrtMalloc(void** devPtr, std::size_t size, aclrtMemMallocPolicy) {
  auto* bytes = static_cast<char*>(std::aligned_alloc(512, (size + 511) / 512 * 512));
  memory[bytes] = size;
  *devPtr = bytes;
  return ACL_SUCCESS;
}
aclError aclrtFree(void* devPtr) {
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
    functions.push_back(std::make_unique<Function>(Function{engine.get(key, [&]() -> jit::Source {
      return {text + adapter(text, kernelName), "acl_entry", kernelName, {}, {}};
    })}));
    *funcHandle = functions.back().get();
    return ACL_SUCCESS;
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}

aclError aclrtLaunchKernelWithArgsArray(void* func, std::uint32_t numBlocks, aclrtStream,
                                        aclrtLaunchKernelCfg*, void** args) {
  std::vector<model::Region> regions;
  for (const auto& [base, bytes] : memory)
    regions.push_back({base, static_cast<std::int64_t>(bytes), true, false, false, "device memory"});
  model::Launch launch{};
  launch.name = "kernel";
  launch.arguments = args;
  launch.blocks = numBlocks;
  launch.regions = regions.data();
  launch.region_count = static_cast<std::int64_t>(regions.size());
  Sink sink;
  trilith::model::Model cpu(sink);
  const std::uint64_t slot = reinterpret_cast<std::uint64_t>(&launch);
  const pl::abi::Args arguments{nullptr, &slot, 0, 1};
  pl::abi::Services services{};
  services.version = pl::abi::version;
  services.size = sizeof services;
  services.model = cpu.table();
  return static_cast<Function*>(func)->code->entry()(&arguments, &services) == 0 ? ACL_SUCCESS : 1;
}
}
