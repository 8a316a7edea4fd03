#include "codegen/reference/valid.hpp"

#include "codegen/message.hpp"
#include "codegen/passes/fold.hpp"
#include "codegen/reference/tile_calls.hpp"
#include "codegen/tile_call.hpp"
#include "codegen/valid.hpp"

#include <algorithm>
#include <map>

namespace trilith::codegen::reference {
namespace {

Value* tile_of(CallOperand& operand) {
  auto* value = std::get_if<Value>(&operand);
  return value != nullptr && !value->is_scalar ? value : nullptr;
}

/// The elements of `from` that lie in `to`, at the same places; the others are `value`.
Value in_shape(const Value& from, const Shape& to, const Value& value) {
  Value result = full(to, value);
  for_each_index(from.shape, [&](std::int64_t i, const Shape& index) {
    for (std::size_t axis = 0; axis < index.size(); ++axis)
      if (index[axis] >= to[axis]) return;
    copy_element(result, position_of(index, to), from, i);
  });
  return result;
}

Value zero_of(DType dtype) {
  Value zero(dtype, {});
  zero.is_scalar = true;
  return zero;
}

Shape asked_valid(const Shape& shape, const Shape& asked, std::string_view operation,
                  const pl::Location& location) {
  if (asked.size() != shape.size())
    throw pl::ShapeError(message::valid_rank(operation, shape.size(), asked.size()), location);
  Shape valid = shape;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    valid[axis] = std::min(shape[axis], std::max<std::int64_t>(asked[axis], 0));
  return valid;
}

}  // namespace

Expr as_expression(const CallOperand& operand) {
  if (const auto* list = std::get_if<Shape>(&operand)) {
    std::vector<Expr> items;
    for (const std::int64_t item : *list) items.push_back(passes::int64_constant(item));
    return passes::list_expression(std::move(items), {});
  }
  const auto* view = std::get_if<TensorView>(&operand);
  const auto* value = std::get_if<Value>(&operand);
  if (value != nullptr && value->is_scalar) return passes::constant_expression(passes::constant_of(*value));
  Expr use;
  use.op = Op::Variable;
  std::vector<Dim> shape;
  for (const std::int64_t extent : view != nullptr ? view->extents : value->shape) shape.push_back({extent});
  use.type = Type::tile(view != nullptr ? view->dtype : value->dtype, std::move(shape));
  if (view != nullptr) use.type.kind = TypeKind::Tensor;
  return use;
}

bool partly_valid(std::span<const Value> operands) {
  return std::any_of(operands.begin(), operands.end(),
                     [](const Value& operand) { return !operand.physical.empty(); });
}
bool partly_valid(std::span<const CallOperand> operands) {
  return std::any_of(operands.begin(), operands.end(), [](const CallOperand& operand) {
    const auto* value = std::get_if<Value>(&operand);
    return value != nullptr && !value->physical.empty();
  });
}

Value made_with(Shape whole, Value box) {
  if (box.shape != whole) box.physical = std::move(whole);
  return box;
}

Boxes boxes_of(Op op, std::span<const CallOperand> operands, const Attributes& attributes,
               const pl::Location& location,
               const std::function<Shape(std::span<const CallOperand>)>& whole_shape) {
  Boxes boxes;
  boxes.operands.assign(operands.begin(), operands.end());
  if (op == Op::Assemble) std::get<Value>(boxes.operands[1]).physical.clear();
  // The rule looks at shapes alone: tiles without elements stand for those that were made.
  std::vector<CallOperand> made = boxes.operands;
  for (CallOperand& operand : made)
    if (Value* tile = tile_of(operand)) {
      tile->shape = tile->whole_shape();
      tile->physical.clear();
      tile->bytes.clear();
    }
  boxes.whole = whole_shape(made);
  Expr call;
  call.op = op;
  call.attributes = attributes;
  for (const CallOperand& operand : made) call.operands.push_back(as_expression(operand));
  const ValidAxes axes = valid_axes(call);
  const auto each = [&](const auto& function) {
    for (std::size_t i = 0; i < boxes.operands.size(); ++i)
      if (Value* tile = tile_of(boxes.operands[i]))
        for (std::size_t axis = 0; axis < tile->shape.size(); ++axis)
          function(*tile, axis, axes.operands[i][axis]);
  };
  std::map<int, std::int64_t> extents;
  each([&](const Value& tile, std::size_t axis, int label) {
    const std::int64_t valid = tile.shape[axis], extent = tile.whole_shape()[axis];
    if (label == ValidAxes::whole && valid != extent)
      throw pl::ShapeError(
          message::partly_valid(operation(op).name, axis, std::to_string(valid), std::to_string(extent)),
          location);
    if (label < 0) return;
    const auto known = extents.emplace(label, valid).first;
    known->second = std::min(known->second, valid);
  });
  each([&](const Value& tile, std::size_t axis, int label) {
    if (label < ValidAxes::whole) extents[-2 - label] *= tile.shape[axis];
  });
  for (std::size_t i = 0; i < boxes.operands.size(); ++i) {
    Value* tile = tile_of(boxes.operands[i]);
    if (tile == nullptr) continue;
    Shape box = tile->shape;
    for (std::size_t axis = 0; axis < box.size(); ++axis) {
      const int label = axes.operands[i][axis];
      if (label >= 0) box[axis] = extents.at(label);
      if (label < ValidAxes::whole) box[axis] = 1;
    }
    tile->physical.clear();
    if (tile->shape != box) *tile = in_shape(*tile, box, zero_of(tile->dtype));
  }
  if (!axes.followed.empty()) {
    auto& list = std::get<Shape>(boxes.operands[static_cast<std::size_t>(shape_operand(op))]);
    for (const auto& [item, axis] : axes.followed)
      list[item] = std::get<Value>(boxes.operands[0]).shape[axis];
  }
  return boxes;
}

Value load(const TensorView& tensor, const Shape& offsets, const Shape& shape, bool clamp,
           const std::optional<Shape>& valid, const pl::Location& location) {
  Shape starts = offsets, box = valid ? asked_valid(shape, *valid, "load", location) : shape;
  if (clamp)
    for (std::size_t axis = 0; axis < std::min(offsets.size(), tensor.extents.size()); ++axis) {
      const std::int64_t extent = tensor.extents[axis];
      starts[axis] = std::min(offsets[axis], extent);
      if (axis < box.size() && starts[axis] >= 0) box[axis] = std::min(box[axis], extent - starts[axis]);
    }
  return made_with(shape, load(tensor, starts, box, location));
}

Value set_valid(const Value& tile, const Shape& valid, const pl::Location& location) {
  if (tile.is_scalar) throw pl::ShapeError("set_valid: a scalar has no shape", location);
  const Shape box = asked_valid(tile.shape, valid, "set_valid", location);
  Value result = in_shape(tile, box, zero_of(tile.dtype));
  return made_with(tile.whole_shape(), std::move(result));
}

Value fillpad(const Value& tile, Fill fill, const pl::Location& location) {
  if (tile.is_scalar) throw pl::ShapeError("fillpad: a scalar has no shape", location);
  return in_shape(tile, tile.whole_shape(), passes::value_of(fill_value(fill, tile.dtype)));
}

}  // namespace trilith::codegen::reference
