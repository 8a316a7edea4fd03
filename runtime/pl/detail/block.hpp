// runtime/pl/detail/block.hpp -- which block of a task the calling thread runs.
//
// Private: `block_idx` and `block_num` of a kernel that runs natively read it. Compiled kernels find the same
// numbers in abi::Args::block_index and block_count.
#pragma once

#include <cstdint>

namespace pl::detail {

struct Block {
  std::int64_t index;  ///< 0 where no `pl::spmd` is around
  std::int64_t count;  ///< 1 likewise
};

[[nodiscard]] Block current_block() noexcept;

}  // namespace pl::detail
