// Operations of floats that the vector unit has not, or not with one documented rounding: of the bits of one element after
// the other, on the scalar pipe. Half and bfloat16 are computed as float.
#include "codegen/ascendc/float_bits.hpp"
#include "codegen/ascendc/lowering.hpp"

namespace trilith::codegen::ascendc {
namespace {

/// `function` of the bits of the operands, which are floats.
Tile of_bits(Vector& v, const std::vector<Tile>& operands, const std::string& function, bool rows,
             bool columns) {
  const auto as_bits = [](Tile tile) {
    tile.dtype = DType::UInt32;
    return tile;
  };
  const Tile result = v.fresh(DType::Float32, rows, columns);
  std::vector<Operand> bits;
  for (const Tile& operand : operands) bits.push_back({.tile = as_bits(operand)});
  v.by_element(as_bits(result), bits, [&](const std::vector<std::string>& elements) {
    std::string list;
    for (const std::string& element : elements) list += (list.empty() ? "" : ", ") + element;
    return function + "(" + list + ")";
  });
  return result;
}

/// The remainder with the sign of b, a zero's too, of the one with the sign of a.
Tile with_sign_of_divisor(Vector& v, const Tile& rest, const Tile& b) {
  const Tile divisor = v.expand(b, rest.rows, rest.columns);
  const Tile zero = v.duplicate(DType::Float32, "0.0f", rest.rows, rest.columns);
  const Tile signs = v.duplicate(DType::Float32, "-0.0f", rest.rows, rest.columns);
  const Mask below = v.compare("LT", rest, zero), below_b = v.compare("LT", divisor, zero);
  const Mask both = v.mask_binary("And", below, below_b), either = v.mask_binary("Or", below, below_b);
  const Mask differs = v.mask_binary("And", either, v.mask_not(both));
  const Tile moved = v.select(differs, v.binary("Add", rest, divisor), rest);
  return v.select(v.compare("EQ", rest, zero), v.bitwise("And", divisor, signs), moved);
}

}  // namespace

Held lower_by_bits(Call& call) {
  Vector& v = call.v;
  const bool is_half = call.dtype == DType::Float16;
  std::vector<Tile> operands;
  for (std::size_t i = 0; i < call.operands.size(); ++i)
    operands.push_back(is_half ? v.cast(call.tile(i), DType::Float32, "NONE") : call.tile(i));
  call.c.function("FloatOf", functions::float_of);
  call.c.function("DigitsOf", functions::float_parts);
  Tile result;
  if (call.op() == Op::Fma) {
    call.c.function("FusedMultiplyAdd", functions::fused_multiply_add);
    const char* rounding =
        call.dtype == DType::Float32 ? "FusedMultiplyAdd<false>" : "FusedMultiplyAdd<true>";
    result = of_bits(v, operands, rounding, call.rows(), call.columns());
  } else {
    call.c.function("FloatRemainder", functions::float_remainder);
    result = of_bits(v, operands, "FloatRemainder", call.rows(), call.columns());
    if (call.op() == Op::Rem) result = with_sign_of_divisor(v, result, operands[1]);
  }
  result = is_half ? v.cast(result, DType::Float16, "RINT") : round_to(v, result, call.dtype);
  return {{.tile = result}, {}};
}

}  // namespace trilith::codegen::ascendc
