// runtime/model/operands.hpp -- operands of vector operations in UB: checked, declared to the operation, and their marks
// of what is initialised.
#pragma once

#include <vector>

#include "runtime/model/core.hpp"
#include "runtime/model/strips.hpp"

namespace trilith::model {

/// Checks a tensor's place (alignment of its start included) for all ranges of offsets, which become reads or writes.
/// What is read must have been written at least in part.
void use(Operation& operation, const AscendC::model::Span& tensor, const std::vector<Range>& offsets,
         bool writes, std::uint64_t alignment = 32);
/// One range from the start.
void use(Operation& operation, const AscendC::model::Span& tensor, std::uint64_t bytes, bool writes,
         std::uint64_t alignment = 32);

[[nodiscard]] bool is_valid(Memory& memory, std::uint64_t at, std::uint64_t bytes);
void set_valid(Memory& memory, std::uint64_t at, std::uint64_t bytes, bool valid);

// The groups of operations, each in a file of its name.
void elementwise(Operation& operation, const AscendC::model::VectorRequest& request);
void compare(Operation& operation, const AscendC::model::VectorRequest& request);
void select(Operation& operation, const AscendC::model::VectorRequest& request);
void reduce_repeats(Operation& operation, const AscendC::model::VectorRequest& request);
void reduce_range(Operation& operation, const AscendC::model::VectorRequest& request);
void broadcast_blocks(Operation& operation, const AscendC::model::VectorRequest& request);
void gather(Operation& operation, const AscendC::model::VectorRequest& request);
void transpose(Operation& operation, const AscendC::model::VectorRequest& request);

}  // namespace trilith::model
