// runtime/model/memory.hpp -- the on-chip memories of a core: their real sizes, their bytes, and for each byte whether
// something was written there and by whom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codegen/ascendc/model/types.h"
#include "runtime/model/access_map.hpp"

namespace trilith::model {

enum class Space : std::uint8_t { Gm, Ub, L1, L0a, L0b, L0c, BiasTable, FixpipeBuffer };
inline constexpr int space_count = 8;

struct SpaceFacts {
  const char* name;
  std::uint64_t size;  ///< bytes
  std::uint64_t plan;  ///< what InitBuffer may give out: the rest belongs to the interface's own operations
  std::uint64_t alignment;  ///< of a buffer
  bool cube;                ///< of the cube core, else of the vector core
};
[[nodiscard]] const SpaceFacts& facts(Space space);
[[nodiscard]] Space space_of(std::uint8_t position);
[[nodiscard]] const char* position_name(std::uint8_t position);

/// Poisoned: filled with a pattern that is a NaN in every float, and marked as unwritten. The mark is kept bit by bit and
/// moves with the data, so that an operation may read padding as long as nothing that leaves the core depends on it.
class Memory {
 public:
  explicit Memory(Space space);

  [[nodiscard]] Space space() const { return space_; }
  [[nodiscard]] std::byte* data(std::uint64_t at) { return data_.data() + at; }
  [[nodiscard]] std::uint8_t* valid(std::uint64_t at) { return valid_.data() + at; }
  [[nodiscard]] AccessMap& accesses() { return accesses_; }

  void poison(Range range);
  void mark_valid(Range range);
  [[nodiscard]] bool all_valid(Range range) const;
  [[nodiscard]] bool any_valid(Range range) const;

 private:
  Space space_;
  std::vector<std::byte> data_;
  std::vector<std::uint8_t> valid_;  ///< a bit for each bit of data_
  AccessMap accesses_;
};

}  // namespace trilith::model
