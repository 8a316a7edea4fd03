// Tile calls: their type comes from the one typing rule, given constants; their definitions from the files of
// each group.
#include "codegen/tile_call.hpp"

#include "codegen/reference/tile_calls.hpp"
#include "codegen/reference/valid.hpp"

namespace trilith::codegen::reference {
namespace {

void define(const CallInputs& in, Value& result) {
  switch (in.op) {
    case Op::Transpose: return transpose(in, result);
    case Op::Matmul:
    case Op::MatmulAcc:
    case Op::MatmulBias:
    case Op::BatchMatmul:
    case Op::Gemv:
    case Op::Dot: return linear(in, result);
    case Op::TileSlice: return tile_slice(in, result);
    case Op::Assemble: return assemble(in, result);
    case Op::Concat: return concat(in, result);
    case Op::Reshape:
    case Op::Reinterpret: return reshape(in, result);
    case Op::Pad: return pad(in, result);
    case Op::Expand: return expand(in, result);
    case Op::Arange: return arange(in, result);
    case Op::Tri: return tri(in, result);
    case Op::Random: return random(in, result);
    default: break;
  }
  switch (operation(in.op).group) {
    case Group::Index: return index_call(in, result);
    default: no_such_case(in.op, result.dtype);
  }
}

/// By the one typing rule.
TileCallType type_of(Op op, std::span<const CallOperand> operands, const Attributes& attributes,
                     std::optional<DType> wanted, const pl::Location& location) {
  Expr call;
  call.op = op;
  call.attributes = attributes;
  call.type = Type::tile(wanted.value_or(DType::Float32));
  call.type.any_dtype = !wanted.has_value();
  for (const CallOperand& operand : operands) call.operands.push_back(as_expression(operand));
  return tile_call_type(Kernel(), call, location);
}

Shape shape_of(const TileCallType& type) {
  Shape shape;
  for (const Expr& extent : type.shape) shape.push_back(extent.value.as_int64());
  return shape;
}

}  // namespace

Value tile_call(Op op, std::span<const CallOperand> operands, const Attributes& attributes,
                std::optional<DType> wanted, const pl::Location& location) {
  if (partly_valid(operands)) {
    Boxes boxes = boxes_of(op, operands, attributes, location, [&](std::span<const CallOperand> made) {
      return shape_of(type_of(op, made, attributes, wanted, location));
    });
    return made_with(std::move(boxes.whole), tile_call(op, boxes.operands, attributes, wanted, location));
  }
  const TileCallType type = type_of(op, operands, attributes, wanted, location);
  Shape shape = shape_of(type);
  check_shape(shape, operation(op).name, location);
  Value result(type.dtype, std::move(shape));
  define({op, operands, attributes, location}, result);
  return result;
}

}  // namespace trilith::codegen::reference
