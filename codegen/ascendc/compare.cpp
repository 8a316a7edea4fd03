// Comparisons give bits. Where bools are asked for as elements they become half 0 or 1; `where` and the logic of
// comparisons use the bits.
#include "codegen/ascendc/lowering.hpp"

#include "codegen/error.hpp"

namespace trilith::codegen::ascendc {
namespace {

const char* mode_of(Op op) {
  switch (op) {
    case Op::Eq: return "EQ";
    case Op::Ne: return "NE";
    case Op::Lt: return "LT";
    case Op::Le: return "LE";
    case Op::Gt: return "GT";
    default: return "GE";
  }
}

Held bits(Vector& v, const Mask& mask) {
  Held held;
  held.mask = mask;
  held.operand.tile = number_of(v, mask);
  return held;
}

/// Int32 knows only ==: a <= b is max(a, b) == b.
Mask compare_integers(Vector& v, Op op, const Tile& a, const Tile& b) {
  switch (op) {
    case Op::Eq: return v.compare("EQ", a, b);
    case Op::Ne: return v.mask_not(v.compare("EQ", a, b));
    case Op::Le: return v.compare("EQ", v.binary("Max", a, b), b);
    case Op::Ge: return v.compare("EQ", v.binary("Max", a, b), a);
    case Op::Lt: return v.mask_not(v.compare("EQ", v.binary("Max", a, b), a));
    default: return v.mask_not(v.compare("EQ", v.binary("Max", a, b), b));
  }
}

}  // namespace

Tile number_of(Vector& v, const Mask& mask) {
  const Tile one = v.duplicate(DType::Float16, "static_cast<half>(1)", mask.rows, mask.columns);
  return v.select(mask, one, "static_cast<half>(0)");
}

Mask mask_of(Vector& v, const Held& held, bool rows, bool columns) {
  if (held.mask && held.mask->rows == rows && held.mask->columns == columns) return *held.mask;
  const Tile number = held.operand.is_scalar()
                          ? v.duplicate(DType::Float16, held.operand.scalar, rows, columns)
                          : v.expand(held.operand.tile, rows, columns);
  return v.compare_scalar("NE", number, "static_cast<half>(0)");
}

Mask compare_tiles(Vector& v, Op op, const Tile& first, const Tile& second, DType dtype) {
  const bool rows = first.rows || second.rows, columns = first.columns || second.columns;
  Tile a = v.expand(first, rows, columns), b = v.expand(second, rows, columns);
  if (a.dtype != DType::Int32) return v.compare(mode_of(op), a, b);
  if (dtype == DType::UInt32 && op != Op::Eq && op != Op::Ne) {
    a = v.with_scalar("Adds", a, "static_cast<int32_t>(0x80000000u)");
    b = v.with_scalar("Adds", b, "static_cast<int32_t>(0x80000000u)");
  }
  return compare_integers(v, op, a, b);
}

Held lower_compare(Call& call) {
  Vector& v = call.v;
  if (call.op() == Op::IsNan) {
    const Tile x = call.tile(0);
    return bits(v, v.mask_not(v.compare("EQ", x, x)));
  }
  if (call.op() == Op::IsInf) {
    const Tile x = v.unary("Abs", call.tile(0));
    return bits(v, v.compare_scalar("EQ", x, "static_cast<" + type_name(x.dtype) + ">(__builtin_inff())"));
  }
  const bool floating = is_floating(call.dtype) || call.dtype == DType::Bool;
  if (floating && call.is_scalar(1) && !call.is_scalar(0))
    return bits(v, v.compare_scalar(mode_of(call.op()), call.tile(0), call.scalar(1)));
  return bits(v, compare_tiles(v, call.op(), call.tile(0), call.tile(1), call.dtype));
}

Held lower_logic(Call& call) {
  Vector& v = call.v;
  const auto one = [](const Tile& tile) { return Held{{.tile = tile}, {}}; };
  const std::string minus = "static_cast<half>(-1)", plus = "static_cast<half>(1)";
  switch (call.op()) {
    case Op::LogicalNot:
    case Op::BitNot: return one(v.with_scalar("Adds", v.with_scalar("Muls", call.tile(0), minus), plus));
    case Op::LogicalAnd:
    case Op::BitAnd: return one(v.binary("Min", call.tile(0), call.tile(1)));
    case Op::LogicalOr:
    case Op::BitOr: return one(v.binary("Max", call.tile(0), call.tile(1)));
    default: return one(v.unary("Abs", v.binary("Sub", call.tile(0), call.tile(1))));  // exclusive or
  }
}

Held lower_where(Call& call) {
  Vector& v = call.v;
  const bool rows = call.rows(), columns = call.columns();
  const Mask mask = mask_of(v, call.operands[0], rows, columns);
  const auto all = [&](std::size_t i) {
    return call.is_scalar(i) ? v.duplicate(held_as(call.dtype), call.scalar(i), rows, columns)
                             : v.expand(call.tile(i), rows, columns);
  };
  const Tile a = all(1);
  const bool scalar = call.is_scalar(2) && (a.dtype == DType::Float32 || a.dtype == DType::Float16);
  return {{.tile = scalar ? v.select(mask, a, call.scalar(2)) : v.select(mask, a, all(2))}, {}};
}

}  // namespace trilith::codegen::ascendc
