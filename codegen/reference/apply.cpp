#include "codegen/reference/support.hpp"
#include "codegen/reference/valid.hpp"

namespace trilith::codegen::reference {

namespace {

Op column_reduction(Op op) {
  switch (op) {
    case Op::Sum: return Op::ColSum;
    case Op::Prod: return Op::ColProd;
    case Op::Max: return Op::ColMax;
    case Op::Min: return Op::ColMin;
    default: return Op::ColMean;
  }
}

/// Over any axis: the column reduction of [outer, extent, inner].
Value reduce_axis(Op op, const Value& x, std::int32_t given, const pl::Location& location) {
  const std::string name(operation(op).name);
  const auto rank = static_cast<std::int32_t>(x.shape.size());
  if (x.is_scalar) throw pl::ShapeError(name + " needs a tile, not a scalar", location);
  if (given < -rank || given >= rank)
    throw pl::ShapeError(name + ": axis " + std::to_string(given) + " of a tile of rank " +
                             std::to_string(rank) + "; axes are 0 to rank - 1, or negative from the end",
                         location);
  const auto axis = static_cast<std::size_t>(given < 0 ? given + rank : given);
  Value flat = x;
  flat.shape = {1, x.shape[axis], 1};
  for (std::size_t i = 0; i < axis; ++i) flat.shape[0] *= x.shape[i];
  for (std::size_t i = axis + 1; i < x.shape.size(); ++i) flat.shape[2] *= x.shape[i];
  Value result = apply(column_reduction(op), std::span(&flat, 1), {}, x.dtype, location);
  result.shape = x.shape;
  result.shape[axis] = 1;
  return result;
}

/// Operands of which some are partly valid.
Value apply_to_boxes(Op op, std::span<const Value> operands, const Attributes& attributes, DType result_dtype,
                     const pl::Location& location) {
  const std::vector<CallOperand> given(operands.begin(), operands.end());
  const Boxes boxes = boxes_of(op, given, attributes, location, [&](std::span<const CallOperand> made) {
    std::vector<TypeOf> types;
    for (const CallOperand& operand : made) {
      const Value& value = std::get<Value>(operand);
      types.push_back({value.dtype, value.is_scalar, value.shape});
    }
    if (operation(op).group != Group::Reduce) return result_type(op, types, result_dtype, location).shape;
    Shape shape = types[0].shape;
    const auto rank = static_cast<std::int32_t>(shape.size());
    const std::int32_t axis = attributes.axis < 0 ? attributes.axis + rank : attributes.axis;
    if (axis >= 0 && axis < rank) shape[static_cast<std::size_t>(axis)] = 1;
    return shape;
  });
  std::vector<Value> inner;
  for (const CallOperand& operand : boxes.operands) inner.push_back(std::get<Value>(operand));
  return made_with(boxes.whole, apply(op, inner, attributes, result_dtype, location));
}

}  // namespace

Value apply(Op op, std::span<const Value> operands, const Attributes& attributes, DType result_dtype,
            const pl::Location& location) {
  if (operation(op).group == Group::Reduce && !partly_valid(operands))
    return reduce_axis(op, operands[0], attributes.axis, location);
  if (partly_valid(operands)) return apply_to_boxes(op, operands, attributes, result_dtype, location);
  std::vector<TypeOf> types;
  for (const Value& operand : operands) types.push_back({operand.dtype, operand.is_scalar, operand.shape});
  const TypeOf type = result_type(op, types, result_dtype, location);
  check_shape(type.shape, operation(op).name, location);
  Value result(type.dtype, type.shape);
  result.is_scalar = type.is_scalar;
  switch (operation(op).group) {
    case Group::Elementwise: elementwise(op, operands, result); break;
    case Group::Compare: compare(op, operands, result); break;
    case Group::Logic: logic(op, operands, result); break;
    case Group::Bits: bits(op, operands, result); break;
    case Group::Cast: cast(operands[0], attributes.mode, result); break;
    case Group::RowReduce:
    case Group::ColReduce: reduce(op, operands[0], result); break;
    default: no_such_case(op, type.dtype);
  }
  return result;
}

}  // namespace trilith::codegen::reference
