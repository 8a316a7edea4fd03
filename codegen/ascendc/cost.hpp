// codegen/ascendc/cost.hpp -- how long a kernel's pipes are busy, by published peak rates: an estimate.
//
// Walks the program, not its text: each line says what it asks of a unit of the core (`Node::work`), each loop how often its
// body runs. Starts of instructions and copies, waits and conflicts are not in it, so the cycles are a lower bound.
#pragma once

#include "codegen/ascendc/emit.hpp"
#include "codegen/ascendc/program.hpp"

#include <string>

namespace trilith::codegen::ascendc {

/// `blocks`: how many share the turns of loops that are spread.
[[nodiscard]] Estimate estimate(const Program& program, std::int64_t blocks);

/// A table of the pipes, which of them bounds the kernel, and what is not counted.
[[nodiscard]] std::string estimate_text(const Emitted& emitted);

}  // namespace trilith::codegen::ascendc
