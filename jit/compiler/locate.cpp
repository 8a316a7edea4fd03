// jit/compiler/locate.cpp
#include "jit/compiler/locate.hpp"

#include <dlfcn.h>
#include <cstdlib>
#include <filesystem>

namespace trilith::jit {
namespace {

namespace fs = std::filesystem;

fs::path own_folder() {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<void*>(&compiler_library_path), &info) == 0 || info.dli_fname == nullptr)
    return {};
  std::error_code error;
  const fs::path real = fs::canonical(info.dli_fname, error);
  return error ? fs::path(info.dli_fname).parent_path() : real.parent_path();
}

}  // namespace

std::string library_path(const char* name) { return (own_folder() / name).string(); }

std::string compiler_library_path() {
  if (const char* path = std::getenv("TRILITH_COMPILER_LIBRARY"); path != nullptr && *path != '\0')
    return path;
  return library_path("libtrilith-compiler.so");
}

std::string header_pack_path() {
  if (const char* path = std::getenv("TRILITH_HEADER_PACK"); path != nullptr && *path != '\0') return path;
  const fs::path folder = own_folder();
  // lib/ and Debian's lib/x86_64-linux-gnu/.
  for (const char* up : {"..", "../.."}) {
    const fs::path pack = folder / up / "share/trilith/headers";
    std::error_code error;
    if (fs::exists(pack / "manifest", error)) return pack.lexically_normal().string();
  }
  return (folder / "../share/trilith/headers").lexically_normal().string();
}

}  // namespace trilith::jit
