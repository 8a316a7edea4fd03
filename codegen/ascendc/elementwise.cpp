// Arithmetic, rounding and extrema. Half is computed as half, bfloat16 as float and rounded after each operation, short
// integers as int32 and wrapped to their width.
#include "codegen/ascendc/lowering.hpp"

#include "codegen/error.hpp"

namespace trilith::codegen::ascendc {

bool Call::rows() const {
  for (const Held& held : operands)
    if (!held.operand.is_scalar() && held.operand.tile.rows) return true;
  return false;
}

bool Call::columns() const {
  for (const Held& held : operands)
    if (!held.operand.is_scalar() && held.operand.tile.columns) return true;
  return false;
}

std::vector<Operand> Call::all() const {
  std::vector<Operand> result;
  for (const Held& held : operands) result.push_back(held.operand);
  return result;
}

Tile Call::tile(std::size_t i) {
  if (!is_scalar(i)) return operands[i].operand.tile;
  const bool condition = expr.op == Op::Where && i == 0;
  return v.duplicate(held_as(condition ? DType::Bool : dtype), scalar(i), rows(), columns());
}

Tile round_to(Vector& v, const Tile& tile, DType dtype) {
  if (dtype != DType::BFloat16) return tile;
  return v.cast(v.cast(tile, DType::BFloat16, "RINT"), DType::Float32, "NONE");
}

Tile wrap_to(Vector& v, const Tile& tile, DType dtype) {
  if (!is_integer(dtype) || size_of(dtype) >= 4) return tile;
  const std::string bits = size_of(dtype) == 1 ? "24" : "16";
  const bool is_unsigned = !is_signed_integer(dtype);
  return v.shift(false, v.shift(true, tile, bits, is_unsigned), bits, is_unsigned);
}

namespace {

Held held(const Tile& tile) { return {{.tile = tile}, {}}; }

/// A constant of the elements' type.
std::string number(DType dtype, const char* text) {
  return "static_cast<" + type_name(held_as(dtype)) + ">(" + text + ")";
}

std::string negated(const std::string& scalar, DType dtype) {
  switch (held_as(dtype)) {
    case DType::Int32: return "static_cast<int32_t>(0u - static_cast<uint32_t>(" + scalar + "))";
    case DType::Float16: return "static_cast<half>(-static_cast<float>(" + scalar + "))";
    default: return "-(" + scalar + ")";
  }
}

Tile finished(Call& call, const Tile& tile) {
  return is_floating(call.dtype) ? round_to(call.v, tile, call.dtype) : wrap_to(call.v, tile, call.dtype);
}

/// Add and Mul, whose operands may change places.
Tile commutative(Call& call, const char* tiles, const char* scalar) {
  if (call.is_scalar(0) && call.is_scalar(1)) return call.v.with_scalar(scalar, call.tile(0), call.scalar(1));
  if (call.is_scalar(1)) return call.v.with_scalar(scalar, call.tile(0), call.scalar(1));
  if (call.is_scalar(0)) return call.v.with_scalar(scalar, call.tile(1), call.scalar(0));
  return call.v.binary(tiles, call.tile(0), call.tile(1));
}

Tile subtract(Call& call) {
  Vector& v = call.v;
  if (call.is_scalar(1)) return v.with_scalar("Adds", call.tile(0), negated(call.scalar(1), call.dtype));
  if (call.is_scalar(0))
    return v.with_scalar("Adds", v.with_scalar("Muls", call.tile(1), number(call.dtype, "-1")),
                         call.scalar(0));
  return v.binary("Sub", call.tile(0), call.tile(1));
}

Tile divided(Vector& v, const Tile& a, const Tile& b) { return v.binary("Div", a, b); }

Tile ones_over(Call& call, const Tile& x) {
  return divided(call.v, call.v.duplicate(x.dtype, number(call.dtype, "1"), x.rows, x.columns), x);
}

}  // namespace

Held lower_arithmetic(Call& call) {
  Vector& v = call.v;
  const bool floating = is_floating(call.dtype);
  const bool is_unsigned = is_integer(call.dtype) && !is_signed_integer(call.dtype);
  switch (call.op()) {
    case Op::Add: return held(finished(call, commutative(call, "Add", "Adds")));
    case Op::Mul: return held(finished(call, commutative(call, "Mul", "Muls")));
    case Op::Sub: return held(finished(call, subtract(call)));
    case Op::Div: return held(finished(call, divided(v, call.tile(0), call.tile(1))));
    case Op::Neg:
      return held(wrap_to(v, v.with_scalar("Muls", call.tile(0), number(call.dtype, "-1")), call.dtype));
    case Op::Abs: {
      const Tile x = call.tile(0);
      if (floating) return held(v.unary("Abs", x));
      if (is_unsigned) return held(x);
      return held(
          wrap_to(v, v.binary("Max", x, v.with_scalar("Muls", x, number(call.dtype, "-1"))), call.dtype));
    }
    case Op::Square: {
      const Tile x = call.tile(0);
      return held(finished(call, v.binary("Mul", x, x)));
    }
    case Op::Sqrt: return held(finished(call, v.unary("Sqrt", call.tile(0))));
    case Op::Recip: return held(finished(call, ones_over(call, call.tile(0))));
    case Op::Rsqrt:
      return held(finished(call, ones_over(call, finished(call, v.unary("Sqrt", call.tile(0))))));
    case Op::Sign: {
      const Tile x = call.tile(0);
      if (!floating && call.dtype != DType::UInt32)
        return held(v.with_scalar("Maxs", v.with_scalar("Mins", x, number(call.dtype, "1")),
                                  number(call.dtype, "-1")));
      if (!floating) {
        const Tile zero = v.duplicate(x.dtype, "0", x.rows, x.columns),
                   one = v.duplicate(x.dtype, "1", x.rows, x.columns);
        return held(v.select(v.compare("EQ", x, zero), zero, one));
      }
      const std::string zero = number(call.dtype, "0");
      const Tile positive = v.select(v.compare_scalar("GT", x, zero),
                                     v.duplicate(x.dtype, number(call.dtype, "1"), x.rows, x.columns), zero);
      const Tile minus = v.duplicate(x.dtype, number(call.dtype, "-1"), x.rows, x.columns);
      const Tile sign = v.select(v.compare_scalar("LT", x, zero), minus, positive);
      return held(v.select(v.compare("EQ", x, x), sign, x));
    }
    case Op::Relu: {
      const Tile x = call.tile(0);
      if (is_unsigned) return held(x);
      if (!floating) return held(v.with_scalar("Maxs", x, "0"));
      return held(
          extremum(v, true, x, v.duplicate(x.dtype, number(call.dtype, "0"), x.rows, x.columns), call.dtype));
    }
    default:
      throw pl::InternalError("AscendC emitter: no arithmetic of " + std::string(operation(call.op()).name));
  }
}

Held lower_rounding(Call& call) {
  Vector& v = call.v;
  const char* mode = call.op() == Op::Floor   ? "FLOOR"
                     : call.op() == Op::Ceil  ? "CEIL"
                     : call.op() == Op::Round ? "ROUND"
                     : call.op() == Op::Rint  ? "RINT"
                                              : "TRUNC";
  const Tile x = call.tile(0);
  if (x.dtype == DType::Float32) return held(v.cast(x, DType::Float32, mode));
  return held(
      v.cast(v.cast(v.cast(x, DType::Float32, "NONE"), DType::Float32, mode), DType::Float16, "RINT"));
}

Tile extremum(Vector& v, bool larger, const Tile& a, const Tile& b, DType dtype) {
  const char* operation = larger ? "Max" : "Min";
  if (dtype == DType::UInt32) {
    const std::string turn = "static_cast<int32_t>(0x80000000u)";
    return v.with_scalar(
        "Adds", v.binary(operation, v.with_scalar("Adds", a, turn), v.with_scalar("Adds", b, turn)), turn);
  }
  return v.binary(operation, a, b);
}

Held lower_extremum(Call& call) {
  Vector& v = call.v;
  if (call.op() == Op::Clamp)
    return held(extremum(v, false, extremum(v, true, call.tile(0), call.tile(1), call.dtype), call.tile(2),
                         call.dtype));
  return held(extremum(v, call.op() == Op::Maximum, call.tile(0), call.tile(1), call.dtype));
}

}  // namespace trilith::codegen::ascendc
