// runtime/shared_memory.hpp -- memory of the host's that children of fork() share: written in place by rank processes.
#pragma once

#include <cstddef>

namespace pl::detail {

/// Zero, without physical pages until they are touched; null, with errno: there is none. `bytes` may be 0.
[[nodiscard]] void* map_shared(std::size_t bytes);
/// False: it is none of them.
bool unmap_shared(void* memory) noexcept;
/// Does the range lie in one mapping of map_shared?
[[nodiscard]] bool is_shared(const char* begin, const char* end);

/// From now on pl::Array is shared, too: some ranks will be processes.
void share_arrays();

}  // namespace pl::detail
