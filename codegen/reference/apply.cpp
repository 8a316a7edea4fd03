#include "codegen/reference/support.hpp"

namespace trilith::codegen::reference {

Value apply(Op op, std::span<const Value> operands, const Attributes& attributes, DType result_dtype,
            const pl::Location& location) {
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
