// test/package/acl/acl.h -- the part of the ACL run-time interface that launchers use, as CANN documents it: so that a
// package's launcher is compiled and run here, where there is no CANN (acl_on_cpu.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

typedef int aclError;
constexpr aclError ACL_SUCCESS = 0;
typedef void* aclrtStream;
typedef void* aclrtBinHandle;
typedef void* aclrtFuncHandle;

enum aclrtMemcpyKind {
  ACL_MEMCPY_HOST_TO_HOST,
  ACL_MEMCPY_HOST_TO_DEVICE,
  ACL_MEMCPY_DEVICE_TO_HOST,
  ACL_MEMCPY_DEVICE_TO_DEVICE
};
enum aclrtMemMallocPolicy { ACL_MEM_MALLOC_HUGE_FIRST, ACL_MEM_MALLOC_HUGE_ONLY, ACL_MEM_MALLOC_NORMAL_ONLY };

enum aclrtBinaryLoadOptionType { ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD = 1, ACL_RT_BINARY_LOAD_OPT_MAGIC = 2 };
constexpr std::uint32_t ACL_RT_BINARY_MAGIC_ELF_AICORE = 0x43554245U;
union aclrtBinaryLoadOptionValue {
  std::uint32_t isLazyLoad;
  std::uint32_t magic;
  std::int32_t cpuKernelMode;
  std::uint32_t rsv[4];
};
struct aclrtBinaryLoadOption {
  aclrtBinaryLoadOptionType type;
  aclrtBinaryLoadOptionValue value;
};
struct aclrtBinaryLoadOptions {
  aclrtBinaryLoadOption* options;
  std::size_t numOpt;
};
struct aclrtLaunchKernelCfg;

aclError aclInit(const char* configPath);
aclError aclFinalize();
const char* aclGetRecentErrMsg();

aclError aclrtSetDevice(std::int32_t deviceId);
aclError aclrtResetDevice(std::int32_t deviceId);
aclError aclrtCreateStream(aclrtStream* stream);
aclError aclrtDestroyStream(aclrtStream stream);
aclError aclrtSynchronizeStream(aclrtStream stream);
enum aclrtStreamStatus {
  ACL_STREAM_STATUS_COMPLETE = 0,
  ACL_STREAM_STATUS_NOT_READY = 1,
  ACL_STREAM_STATUS_RESERVED = 0xFFFF
};
aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status);
aclError aclrtDeviceCanAccessPeer(std::int32_t* canAccessPeer, std::int32_t deviceId,
                                  std::int32_t peerDeviceId);
aclError aclrtDeviceEnablePeerAccess(std::int32_t peerDeviceId, std::uint32_t flags);

aclError aclrtMalloc(void** devPtr, std::size_t size, aclrtMemMallocPolicy policy);
aclError aclrtFree(void* devPtr);
aclError aclrtMallocHost(void** hostPtr, std::size_t size);
aclError aclrtFreeHost(void* hostPtr);
aclError aclrtMemsetAsync(void* devPtr, std::size_t maxCount, std::int32_t value, std::size_t count,
                          aclrtStream stream);
aclError aclrtMemcpyAsync(void* dst, std::size_t destMax, const void* src, std::size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream);
aclError aclrtMemset(void* devPtr, std::size_t maxCount, std::int32_t value, std::size_t count);
aclError aclrtMemcpy(void* dst, std::size_t destMax, const void* src, std::size_t count,
                     aclrtMemcpyKind kind);

aclError aclrtBinaryLoadFromData(const void* data, std::size_t length, const aclrtBinaryLoadOptions* options,
                                 aclrtBinHandle* binHandle);
aclError aclrtBinaryUnLoad(aclrtBinHandle binHandle);
aclError aclrtBinaryGetFunction(const aclrtBinHandle binHandle, const char* kernelName,
                                aclrtFuncHandle* funcHandle);
aclError aclrtLaunchKernelWithArgsArray(void* func, std::uint32_t numBlocks, aclrtStream stream,
                                        aclrtLaunchKernelCfg* cfg, void** args);
}
