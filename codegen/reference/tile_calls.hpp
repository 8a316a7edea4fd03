// codegen/reference/tile_calls.hpp -- the definitions of the tile calls; private to reference/.
#pragma once

#include "codegen/reference/support.hpp"

namespace trilith::codegen::reference {

/// The operands of one call, checked by its typing rule.
struct CallInputs {
  Op op;
  std::span<const CallOperand> operands;
  const Attributes& attributes;
  const pl::Location& location;

  [[nodiscard]] const Value& tile(std::size_t i) const { return std::get<Value>(operands[i]); }
  [[nodiscard]] const Value& scalar(std::size_t i) const { return std::get<Value>(operands[i]); }
  [[nodiscard]] const TensorView& tensor(std::size_t i) const { return std::get<TensorView>(operands[i]); }
  [[nodiscard]] const Shape& list(std::size_t i) const { return std::get<Shape>(operands[i]); }
  /// attributes.axis of operand 0, counted from 0.
  [[nodiscard]] std::size_t axis(std::int64_t given) const {
    return static_cast<std::size_t>(given < 0 ? given + std::ssize(tile(0).shape) : given);
  }
};

/// Calls function(element of the result in row-major order, its index).
template <class Function>
void for_each_index(const Shape& shape, const Function& function) {
  const std::int64_t count = element_count(shape);
  Shape index(shape.size(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    function(i, index);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
}

/// Row-major position of `index` in `shape`.
[[nodiscard]] inline std::int64_t position_of(const Shape& index, const Shape& shape) {
  std::int64_t position = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) position = position * shape[axis] + index[axis];
  return position;
}

/// result[to] = from[at], whatever the dtype.
inline void copy_element(Value& result, std::int64_t to, const Value& from, std::int64_t at) {
  const std::size_t size = size_of(result.dtype);
  std::memcpy(result.bytes.data() + static_cast<std::size_t>(to) * size,
              from.bytes.data() + static_cast<std::size_t>(at) * size, size);
}

// layout.cpp. `result` has its dtype and shape.
void transpose(const CallInputs& in, Value& result);
// linear.cpp
void linear(const CallInputs& in, Value& result);
void tile_slice(const CallInputs& in, Value& result);
void assemble(const CallInputs& in, Value& result);
void concat(const CallInputs& in, Value& result);
void reshape(const CallInputs& in, Value& result);  ///< Reinterpret too
void pad(const CallInputs& in, Value& result);
void expand(const CallInputs& in, Value& result);
// generate.cpp
void arange(const CallInputs& in, Value& result);
void tri(const CallInputs& in, Value& result);
void random(const CallInputs& in, Value& result);
// index.cpp
void index_call(const CallInputs& in, Value& result);

}  // namespace trilith::codegen::reference
