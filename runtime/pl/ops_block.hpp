// runtime/pl/ops_block.hpp -- which block of a task a kernel is, and waiting for the pipes of a core.
//
//   pl::store(tile, {pl::block_idx() * ROWS, 0}, y);   // each block of a pl::spmd task writes its own rows
#pragma once

#include "pl/detail/block.hpp"
#include "pl/detail/level.hpp"

#include <source_location>

namespace pl {

/// Number of this block of a `pl::spmd` task, and how many there are; 0 and 1 in a direct call.
[[nodiscard]] inline int block_idx(std::source_location where = std::source_location::current()) {
  detail::require_core("block_idx", where);
  return static_cast<int>(detail::current_block().index);
}
[[nodiscard]] inline int block_num(std::source_location where = std::source_location::current()) {
  detail::require_core("block_num", where);
  return static_cast<int>(detail::current_block().count);
}
/// Number of this vector core beside its cube core: 0 on the simulator.
[[nodiscard]] inline int subblock_idx(std::source_location where = std::source_location::current()) {
  detail::require_core("subblock_idx", where);
  return 0;
}

/// Waits for all pipes of the core; does nothing on the simulator, where operations end before the next begins.
inline void barrier_all(std::source_location where = std::source_location::current()) {
  detail::require_core("barrier_all", where);
}
/// Waits for the vector pipe of the core; does nothing on the simulator.
inline void pipe_barrier(std::source_location where = std::source_location::current()) {
  detail::require_core("pipe_barrier", where);
}

}  // namespace pl
