// jit/compiler/client.cpp
#include "jit/compiler/client.hpp"

#include "jit/compiler/locate.hpp"

#include <dlfcn.h>
#include <mutex>

namespace trilith::jit {

const trilith_compiler* open_compiler(std::string& reason) {
  static std::mutex lock;
  static const trilith_compiler* table = nullptr;
  const std::lock_guard guard(lock);
  if (table != nullptr) return table;
  const std::string path = compiler_library_path();
  // RTLD_LOCAL keeps its symbols to itself; RTLD_NODELETE since LLVM registers handlers that outlive a
  // dlclose.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* why = dlerror();
    reason = "the compiler library cannot be opened: " + std::string(why != nullptr ? why : path);
    return nullptr;
  }
  const auto entry =
      reinterpret_cast<const trilith_compiler* (*)()>(dlsym(library, "trilith_compiler_entry"));
  if (entry == nullptr || entry()->abi_version != trilith_compiler_abi_version) {
    reason = "the compiler library " + path + " is of another version of Trilith";
    return nullptr;
  }
  table = entry();
  return table;
}

CompilerOutput run_compiler(const trilith_compiler& compiler, const CompilerInput& input) {
  std::vector<const char*> arguments;
  for (const std::string& argument : input.arguments) arguments.push_back(argument.c_str());
  arguments.push_back(nullptr);
  trilith_compiler_request request = {};
  request.size = sizeof request;
  request.action = input.action;
  request.source = {input.source.data(), input.source.size()};
  request.file_name = {input.file_name.data(), input.file_name.size()};
  request.arguments = arguments.data();
  request.header_path = input.header_path.empty() ? nullptr : input.header_path.c_str();
  request.header = {input.header.data(), input.header.size()};
  request.want_listings = input.want_listings ? 1 : 0;
  request.want_dependencies = input.want_dependencies ? 1 : 0;
  request.injected_failure = input.injected_failure;

  trilith_compiler_result result = {};
  result.size = sizeof result;
  compiler.run(&request, &result);
  const auto take = [](const trilith_text& text) { return std::string(text.data, text.size); };
  CompilerOutput output;
  output.status = result.status;
  output.bytes = take(result.output);
  output.messages = take(result.messages);
  output.first_error = take(result.first_error);
  output.ir = take(result.ir);
  output.assembly = take(result.assembly);
  output.dependencies = take(result.dependencies);
  output.frontend_seconds = result.frontend_seconds;
  output.backend_seconds = result.backend_seconds;
  compiler.release(&result);
  return output;
}

}  // namespace trilith::jit
