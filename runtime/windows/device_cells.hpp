// runtime/windows/device_cells.hpp -- signal cells for the collectives of AscendC kernels: behind Trilith's own cells of
// each part, a cache line for each rank that shares the window. Zero between collectives.
#pragma once

#include "runtime/windows/window_memory.hpp"

namespace pl::detail {

/// Behind the first of Trilith's own cells, in bytes.
inline constexpr std::int64_t device_cells_offset =
    (WindowMemory::own_cells * static_cast<std::int64_t>(sizeof(std::int32_t)) + 63) / 64 * 64;

/// Null: the parts lie in other processes and have no such cells.
[[nodiscard]] inline char* device_cells(const WindowPart& part) {
  if (part.memory->remote() != nullptr) return nullptr;
  return reinterpret_cast<char*>(part.own_cells) + device_cells_offset;
}

}  // namespace pl::detail
