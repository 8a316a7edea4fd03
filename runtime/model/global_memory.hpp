// runtime/model/global_memory.hpp -- GM as one launch sees it: the tensors handed over, who touched them, and the lines
// that the cores' scalar caches hold back.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "codegen/ascendc/model/model_abi.h"
#include "runtime/model/access_map.hpp"

namespace trilith::model {

inline constexpr std::uint64_t cache_line = 64;

class GlobalMemory {
 public:
  explicit GlobalMemory(const AscendC::model::Launch& launch);

  /// The region that holds these bytes, or null.
  [[nodiscard]] const AscendC::model::Region* find(std::uint64_t address, std::uint64_t bytes) const;
  /// A cell by which launches tell each other something: no order is kept of it.
  [[nodiscard]] bool is_signal(std::uint64_t address, std::uint64_t bytes) const;
  /// What stands near: for messages.
  [[nodiscard]] std::string describe(std::uint64_t address) const;

  [[nodiscard]] AccessMap& accesses() { return accesses_; }

  /// Lines whose bytes a scalar store has changed in the cache of a core only.
  struct Dirty {
    std::uint32_t core, line;
  };
  std::map<std::uint64_t, Dirty> dirty;  ///< by address of the line
  /// Grows with every store: who spins sees whether anything can have changed.
  std::uint64_t stores = 0;

 private:
  std::vector<AscendC::model::Region> regions_;  ///< by their address
  AccessMap accesses_;
};

}  // namespace trilith::model
