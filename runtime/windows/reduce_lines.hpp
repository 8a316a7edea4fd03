// runtime/windows/reduce_lines.hpp -- reduces lines of elements that lie in the parts of different ranks.
#pragma once

#include "codegen/dtype.hpp"

#include <cstdint>
#include <vector>

namespace pl::detail {

enum class ReduceOperation : std::uint8_t { Sum, Max, Min, Prod };

/// Takes lines one after the other and gives their reduction. 16-bit floats are reduced in float and rounded once, by
/// `give`. NaN goes through Max and Min; integers wrap; bool is refused before.
class LineReducer {
 public:
  LineReducer(trilith::codegen::DType dtype, ReduceOperation operation, std::int64_t capacity);
  /// Elements that it can hold.
  [[nodiscard]] std::int64_t capacity() const { return capacity_; }
  /// `first`: forget what was there.
  void take(const void* line, std::int64_t count, bool first);
  void give(void* line, std::int64_t count);

 private:
  const trilith::codegen::DType dtype_;
  const ReduceOperation operation_;
  const std::int64_t capacity_;
  std::vector<std::uint64_t> memory_;
};

}  // namespace pl::detail
