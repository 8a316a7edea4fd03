#include "runtime/shared_memory.hpp"

#include "runtime/fork_safe.hpp"

#include <sys/mman.h>

#include <map>

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

}  // namespace

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

void unmap_shared(void* memory, std::size_t bytes) {
  {
    Mappings& all = mappings();
    const Lock lock(all.mutex);
    all.begin_by_end.erase(static_cast<char*>(memory) + bytes);
  }
  munmap(memory, bytes + 1);
}

bool is_shared(const char* begin, const char* end) {
  Mappings& all = mappings();
  const Lock lock(all.mutex);
  const auto found = all.begin_by_end.lower_bound(end);
  return found != all.begin_by_end.end() && found->second <= begin;
}

}  // namespace pl::detail
