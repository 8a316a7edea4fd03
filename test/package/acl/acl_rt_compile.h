// test/package/acl/acl_rt_compile.h -- the run-time compiler's part of it.
#pragma once

#include "acl/acl.h"

extern "C" {

typedef void* aclrtcProg;
aclError aclrtcCreateProg(aclrtcProg* prog, const char* src, const char* name, int numHeaders,
                          const char* const* headers, const char* const* includeNames);
aclError aclrtcCompileProg(aclrtcProg prog, int numOptions, const char* const* options);
aclError aclrtcGetBinDataSize(aclrtcProg prog, std::size_t* binDataSizeRet);
aclError aclrtcGetBinData(aclrtcProg prog, char* binData);
aclError aclrtcGetCompileLogSize(aclrtcProg prog, std::size_t* logSizeRet);
aclError aclrtcGetCompileLog(aclrtcProg prog, char* log);
aclError aclrtcDestroyProg(aclrtcProg* prog);
}
