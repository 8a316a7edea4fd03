#include "runtime/mpi/mpi_library.hpp"

#include "jit/compiler/locate.hpp"
#include "pl/error.hpp"

#include <dlfcn.h>

#include <string>

namespace pl::detail {

const MpiCalls& mpi_library() {
  // Never closed: MPI does not survive that.
  void* library =
      dlopen(trilith::jit::library_path("libtrilith-mpi.so").c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
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
