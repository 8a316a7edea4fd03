// runtime/windows/reduce_lines.hpp -- reduces lines of elements that lie in the parts of different ranks.
#pragma once

#include "codegen/dtype.hpp"

#include <cstdint>
#include <span>

namespace pl::detail {

enum class ReduceOperation : std::uint8_t { Sum, Max, Min, Prod };

/// Reduces `count` elements of each line, in the order of the lines, and writes the result to all targets. A target may be
/// one of the lines. 16-bit floats are reduced in float and rounded once. NaN goes through Max and Min; integers wrap.
/// Throws DtypeError for bool.
void reduce_lines(trilith::codegen::DType dtype, ReduceOperation operation,
                  std::span<const char* const> lines, std::span<char* const> targets, std::int64_t count);

}  // namespace pl::detail
