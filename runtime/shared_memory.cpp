#include "runtime/shared_memory.hpp"

#include "pl/array.hpp"
#include "runtime/fork_safe.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <new>
#include <string_view>

namespace pl::detail {
namespace {

/// Never destroyed: tensors may live as long as static objects.
struct Mappings {
  ForkSafeMutex mutex;
  std::map<const char*, const char*> begin_by_end TRILITH_GUARDED_BY(mutex);
};
Mappings& mappings() {
  static Mappings& all = *new Mappings;
  return all;
}

constexpr std::align_val_t alignment{64};

/// Has the process asked for it?
std::atomic<bool>& arrays_are_shared() {
  static std::atomic<bool> shared = [] {
    const char* const transport = std::getenv("TRILITH_TRANSPORT");
    return transport != nullptr && std::string_view(transport) == "processes";
  }();
  return shared;
}
/// Was there ever one? Else nobody looks whether memory is.
std::atomic<bool> one_was_shared{false};

}  // namespace

void share_arrays() { arrays_are_shared().store(true, std::memory_order_relaxed); }

void* allocate_elements(std::size_t bytes) {
  if (arrays_are_shared().load(std::memory_order_relaxed)) {
    one_was_shared.store(true, std::memory_order_relaxed);
    // Where the system has no further mapping, ordinary memory does: ranks then send what they write.
    if (void* const memory = map_shared(bytes)) return memory;
  }
  return ::operator new(bytes, alignment);
}

void release_elements(void* memory) noexcept {
  if (one_was_shared.load(std::memory_order_relaxed) && unmap_shared(memory)) return;
  ::operator delete(memory, alignment);
}

void* map_shared(std::size_t bytes) {
  // Not an empty mapping, which the kernel refuses.
  void* const memory =
      mmap(nullptr, bytes + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  Mappings& all = mappings();
  const Lock lock(all.mutex);
  all.begin_by_end[static_cast<char*>(memory) + bytes] = static_cast<char*>(memory);
  return memory;
}

bool unmap_shared(void* memory) noexcept {
  std::size_t bytes = 0;
  {
    Mappings& all = mappings();
    const Lock lock(all.mutex);
    const auto found = all.begin_by_end.lower_bound(static_cast<char*>(memory));
    if (found == all.begin_by_end.end() || found->second != memory) return false;
    bytes = static_cast<std::size_t>(found->first - found->second);
    all.begin_by_end.erase(found);
  }
  munmap(memory, bytes + 1);
  return true;
}

bool is_shared(const char* begin, const char* end) {
  Mappings& all = mappings();
  const Lock lock(all.mutex);
  const auto found = all.begin_by_end.lower_bound(end);
  return found != all.begin_by_end.end() && found->second <= begin;
}

}  // namespace pl::detail
