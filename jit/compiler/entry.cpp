// jit/compiler/entry.cpp -- the exported entry of libtrilith-compiler.so.
#include "jit/compiler/abi.h"
#include "jit/compiler/compile.hpp"
#include "jit/compiler/recovery.hpp"

#include "llvm/Config/llvm-config.h"

#include <memory>

namespace trilith::jit::compiler {
namespace {

trilith_text text_of(const std::string& text) { return {text.data(), text.size()}; }

void run(const trilith_compiler_request* request, trilith_compiler_result* result) {
  auto output = std::make_unique<Output>();
  if (const auto death = run_guarded([&] { compile(*request, *output); })) {
    // The dead run's own strings may be half-written: start from fresh ones and leak the old.
    (void)output.release();
    output = std::make_unique<Output>();
    output->status = trilith_compiler_fatal;
    output->first_error = *death;
  }
  result->status = output->status;
  result->output = text_of(output->bytes);
  result->messages = text_of(output->messages);
  result->first_error = text_of(output->first_error);
  result->ir = text_of(output->ir);
  result->assembly = text_of(output->assembly);
  result->dependencies = text_of(output->dependencies);
  result->frontend_seconds = output->frontend_seconds;
  result->backend_seconds = output->backend_seconds;
  result->owner = output.release();
}

void release(trilith_compiler_result* result) {
  delete static_cast<Output*>(result->owner);
  result->owner = nullptr;
}

constexpr trilith_compiler table = {trilith_compiler_abi_version, sizeof(trilith_compiler),
                                    LLVM_VERSION_STRING, run, release};

}  // namespace
}  // namespace trilith::jit::compiler

// Destructors of this library's static objects never run. The library is opened late, so they would run before those
// of the host's own static objects, which may still call kernels, and while other threads may be compiling: Clang
// would work on dead tables. Hidden, so that every static object in here registers with this one and nothing outside.
extern "C" __attribute__((visibility("hidden"))) int __cxa_atexit(void (* /*destroy*/)(void*),
                                                                  void* /*object*/, void* /*library*/) {
  return 0;
}

extern "C" __attribute__((visibility("default"))) const trilith_compiler* trilith_compiler_entry() {
  return &trilith::jit::compiler::table;
}
