#include "runtime/mpi/mpi_library.hpp"

#include "pl/error.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <string>

namespace pl::detail {
namespace {

std::string library_path() {
  constexpr const char* name = "libtrilith-mpi.so";
  Dl_info info = {};
  if (dladdr(reinterpret_cast<void*>(&mpi_library), &info) == 0 || info.dli_fname == nullptr) return name;
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(info.dli_fname, error);
  return ((error ? std::filesystem::path(info.dli_fname) : real).parent_path() / name).string();
}

}  // namespace

const MpiCalls& mpi_library() {
  // Never closed: MPI does not survive that.
  void* library = dlopen(library_path().c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  void* function = library != nullptr ? dlsym(library, mpi_calls_function) : nullptr;
  if (function == nullptr) {
    const char* why = dlerror();
    throw ConfigError(
        "RunConfig.distributed.transport = \"mpi\": " + std::string(why != nullptr ? why : "no library") +
        "; install the Debian packages libopenmpi-dev and openmpi-bin, then configure and build Trilith "
        "again, or use the transport \"threads\"");
  }
  return *reinterpret_cast<MpiCallsFunction>(function)();
}

}  // namespace pl::detail
