// runtime/model/strips.hpp -- a vector request as strips: runs of lanes that are contiguous in all its operands.
//
// Form A is one strip; Form B is cut where a mask or a stride cuts it and joined where it is contiguous after all.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "codegen/ascendc/model/model_abi.h"
#include "runtime/model/core.hpp"

namespace trilith::model {

struct Strip {
  std::array<std::uint64_t, 4> offset;  ///< bytes into dst and the sources
  std::uint64_t lanes;
  std::uint64_t lane;    ///< of its first: 0 to the end of the last repeat, masked ones counted
  std::uint64_t repeat;  ///< the first that it belongs to
};

/// How a request's operands are walked: dst is operand 0, sources follow.
struct Walk {
  int operands;
  std::array<std::uint64_t, 4> size;  ///< of an element
  std::uint64_t lanes_per_repeat;     ///< 256 bytes of the widest
};

[[nodiscard]] Walk walk_of(const AscendC::model::VectorRequest& request);

/// Checks counts, masks, repeats and strides.
void check_form(const Operation& operation, const AscendC::model::VectorRequest& request, const Walk& walk);
[[nodiscard]] std::vector<Strip> strips_of(const AscendC::model::VectorRequest& request, const Walk& walk,
                                           bool join);
/// True for the lanes of a repeat that work.
[[nodiscard]] bool works(const AscendC::model::VectorRequest& request, std::uint64_t lane);

/// Places of an operand of all strips, in the memory that holds it, as few ranges.
[[nodiscard]] std::vector<Range> ranges_of(const std::vector<Strip>& strips, int operand, std::uint64_t size,
                                           std::uint64_t base);

/// Faults when a source and the destination overlap otherwise than element by element.
void check_overlap(const Operation& operation, const AscendC::model::VectorRequest& request, const Walk& walk,
                   const std::vector<Strip>& strips);

[[nodiscard]] const char* name_of(AscendC::model::VectorOp op);

}  // namespace trilith::model
