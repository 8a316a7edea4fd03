// runtime/shared_memory.hpp -- memory of the host's that children of fork() share: written in place by rank processes.
#pragma once

#include "runtime/thread_annotations.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace pl::detail {

/// A mapping that children of fork() share: zero, without physical pages until they are touched.
class SharedPages {
 public:
  /// `data()` is null afterwards, with errno, where there is no memory.
  explicit SharedPages(std::size_t bytes) noexcept;
  ~SharedPages();
  SharedPages(SharedPages&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  SharedPages& operator=(SharedPages&&) = delete;
  [[nodiscard]] char* data() const { return data_; }

 private:
  char* data_ = nullptr;
  std::size_t bytes_;
};

/// One that is known by its address; null, with errno: there is none. `bytes` may be 0.
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
