// runtime/shared_memory.hpp -- memory of the host's that children of fork() share: written in place by rank processes.
#pragma once

#include "runtime/thread_annotations.hpp"

#include <cstddef>
#include <vector>

namespace pl::detail {

/// Zero, without physical pages until they are touched; null, with errno: there is none. `bytes` may be 0.
[[nodiscard]] void* map_shared(std::size_t bytes);
/// False: it is none of them.
bool unmap_shared(void* memory) noexcept;
/// Does the range lie in one mapping of map_shared?
[[nodiscard]] bool is_shared(const char* begin, const char* end);

/// From now on pl::Array is shared, too: some ranks will be processes.
void share_arrays();

/// Gives back what allocate_elements gave, now.
void release_elements(void* memory) noexcept;

/// Memory of pl::Arrays that have ended and that something may still name. Thread-safe.
class KeptElements {
 public:
  KeptElements() = default;
  KeptElements(const KeptElements&) = delete;
  KeptElements& operator=(const KeptElements&) = delete;
  ~KeptElements();
  void keep(void* memory) noexcept;

 private:
  Mutex mutex_;
  std::vector<void*> memory_ TRILITH_GUARDED_BY(mutex_);
};

}  // namespace pl::detail
