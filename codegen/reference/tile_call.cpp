// Tile calls: their type comes from the one typing rule, given constants; their definitions from the files of
// each group.
#include "codegen/tile_call.hpp"

#include "codegen/passes/fold.hpp"
#include "codegen/reference/tile_calls.hpp"

namespace trilith::codegen::reference {
namespace {

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

}  // namespace

Value tile_call(Op op, std::span<const CallOperand> operands, const Attributes& attributes,
                std::optional<DType> wanted, const pl::Location& location) {
  Expr call;
  call.op = op;
  call.attributes = attributes;
  call.type = Type::tile(wanted.value_or(DType::Float32));
  call.type.any_dtype = !wanted.has_value();
  for (const CallOperand& operand : operands) call.operands.push_back(as_expression(operand));
  const TileCallType type = tile_call_type(Kernel(), call, location);
  Shape shape;
  for (const Expr& extent : type.shape) shape.push_back(extent.value.as_int64());
  check_shape(shape, operation(op).name, location);
  Value result(type.dtype, std::move(shape));
  define({op, operands, attributes, location}, result);
  return result;
}

}  // namespace trilith::codegen::reference
