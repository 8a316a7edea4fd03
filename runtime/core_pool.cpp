#include "runtime/core_pool.hpp"

#include "jit/compiler/locate.hpp"
#include "pl/log.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

namespace pl::detail {
namespace {

using Enqueue = void (*)(void (*)(void*), void*);

struct Pool {
  Enqueue enqueue = nullptr;
  pid_t owner = 0;
};

Pool open_pool() {
  const std::string path = trilith::jit::library_path("libtrilith-cores.so");
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* why = dlerror();
    log(LogLevel::Warning,
        "degraded: tasks of a device run one after the other, since the pool of its cores "
        "cannot be opened: " +
            std::string(why != nullptr ? why : path));
    return {nullptr, getpid()};
  }
  return {reinterpret_cast<Enqueue>(dlsym(library, "trilith_cores_enqueue")), getpid()};
}

std::atomic<bool> opened{false};

const Pool& pool() {
  static const Pool instance = open_pool();
  opened.store(true, std::memory_order_relaxed);
  return instance;
}

}  // namespace

bool core_pool_is_open() noexcept { return opened.load(std::memory_order_relaxed); }

bool run_on_core_pool(std::function<void()> work) {
  const Pool& cores = pool();
  if (cores.enqueue == nullptr || cores.owner != getpid()) return false;
  // The flag says to ThreadSanitizer, which does not see into oneTBB, that the worker comes after this thread.
  struct Handover {
    std::function<void()> work;
    std::atomic<bool> given{false};
  };
  auto owned = std::make_unique<Handover>();
  owned->work = std::move(work);
  owned->given.store(true, std::memory_order_release);
  cores.enqueue(
      [](void* argument) {
        const std::unique_ptr<Handover> mine(static_cast<Handover*>(argument));
        if (mine->given.load(std::memory_order_acquire)) mine->work();
      },
      owned.release());
  return true;
}

}  // namespace pl::detail
