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
  std::map<const char*, SharedPages> by_end TRILITH_GUARDED_BY(mutex);
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

SharedPages::SharedPages(std::size_t bytes) noexcept : bytes_(bytes) {
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory != MAP_FAILED) data_ = static_cast<char*>(memory);
}

SharedPages::~SharedPages() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

void* map_shared(std::size_t bytes) {
  // Not an empty mapping, which the kernel refuses.
  SharedPages pages(bytes + 1);
  char* const memory = pages.data();
  if (memory == nullptr) return nullptr;
  Mappings& all = mappings();
  const Lock lock(all.mutex);
  all.by_end.emplace(memory + bytes, std::move(pages));
  return memory;
}

bool unmap_shared(void* memory) noexcept {
  Mappings& all = mappings();
  const Lock lock(all.mutex);
  const auto found = all.by_end.lower_bound(static_cast<char*>(memory));
  if (found == all.by_end.end() || found->second.data() != memory) return false;
  all.by_end.erase(found);
  return true;
}

bool is_shared(const char* begin, const char* end) {
  Mappings& all = mappings();
  const Lock lock(all.mutex);
  const auto found = all.by_end.lower_bound(end);
  return found != all.by_end.end() && found->second.data() <= begin;
}

}  // namespace pl::detail
