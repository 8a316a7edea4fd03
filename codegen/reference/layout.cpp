// Operations that move elements and change none.
#include "codegen/reference/tile_calls.hpp"

namespace trilith::codegen::reference {

void transpose(const CallInputs& in, Value& result) {
  const Value& x = in.tile(0);
  const std::size_t first = in.axis(in.attributes.axis), second = in.axis(in.attributes.axis2);
  for_each_index(result.shape, [&](std::int64_t i, Shape index) {
    std::swap(index[first], index[second]);
    copy_element(result, i, x, position_of(index, x.shape));
  });
}

void tile_slice(const CallInputs& in, Value& result) {
  const Value& x = in.tile(0);
  const Shape& offsets = in.list(1);
  for_each_index(result.shape, [&](std::int64_t i, Shape index) {
    for (std::size_t axis = 0; axis < index.size(); ++axis) index[axis] += offsets[axis];
    copy_element(result, i, x, position_of(index, x.shape));
  });
}

void assemble(const CallInputs& in, Value& result) {
  const Value& block = in.tile(1);
  const Shape& offsets = in.list(2);
  result.bytes = in.tile(0).bytes;
  for_each_index(block.shape, [&](std::int64_t i, Shape index) {
    for (std::size_t axis = 0; axis < index.size(); ++axis) index[axis] += offsets[axis];
    copy_element(result, position_of(index, result.shape), block, i);
  });
}

void concat(const CallInputs& in, Value& result) {
  const std::size_t axis = in.axis(in.attributes.axis);
  std::int64_t begin = 0;
  for (std::size_t tile = 0; tile < in.operands.size(); ++tile) {
    const Value& x = in.tile(tile);
    for_each_index(x.shape, [&](std::int64_t i, Shape index) {
      index[axis] += begin;
      copy_element(result, position_of(index, result.shape), x, i);
    });
    begin += x.shape[axis];
  }
}

void reshape(const CallInputs& in, Value& result) { result.bytes = in.tile(0).bytes; }

void pad(const CallInputs& in, Value& result) {
  const Value& x = in.tile(0);
  const Shape& before = in.list(1);
  for (std::int64_t i = 0; i < result.size(); ++i) copy_element(result, i, in.scalar(3), 0);
  for_each_index(x.shape, [&](std::int64_t i, Shape index) {
    for (std::size_t axis = 0; axis < index.size(); ++axis) index[axis] += before[axis];
    copy_element(result, position_of(index, result.shape), x, i);
  });
}

void expand(const CallInputs& in, Value& result) {
  const Value& x = in.tile(0);
  const std::size_t missing = result.shape.size() - x.shape.size();
  for_each_index(result.shape, [&](std::int64_t i, const Shape& index) {
    Shape source(index.begin() + static_cast<std::ptrdiff_t>(missing), index.end());
    for (std::size_t axis = 0; axis < source.size(); ++axis)
      if (x.shape[axis] == 1) source[axis] = 0;
    copy_element(result, i, x, position_of(source, x.shape));
  });
}

}  // namespace trilith::codegen::reference
