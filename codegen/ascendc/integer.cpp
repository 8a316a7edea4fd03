// Division, remainders, bits and shifts of integers, which the vector unit has in part only.
#include "codegen/ascendc/lowering.hpp"

#include "codegen/error.hpp"

namespace trilith::codegen::ascendc {
namespace {

Held held(const Tile& tile) { return {{.tile = tile}, {}}; }

/// Element by element on the scalar pipe: `formula` of `a` and `b`.
Tile by_element(Call& call, const std::string& type, const std::string& formula) {
  Vector& v = call.v;
  const bool rows = call.rows(), columns = call.columns();
  const Tile a = v.expand(call.tile(0), rows, columns), b = v.expand(call.tile(1), rows, columns);
  const Tile result = v.fresh(a.dtype, rows, columns);
  // Rows of several are walked one by one: what lies between them is not theirs.
  const bool matrix = rows && columns && !v.block().rows.is(1);
  const std::string at = matrix ? "r * " + std::to_string(v.block().pitch) + " + i" : "i";
  const std::string count = matrix ? v.block().columns.text() : v.count(result).text();
  const auto read = [&](const std::string& name, const Tile& tile) {
    return "  const " + type + " " + name + " = static_cast<" + type + ">(" + v.text(tile) + ".GetValue(" +
           at + "));\n";
  };
  call.c.line(Pipe::Scalar,
              (matrix ? "for (int32_t r = 0; r < " + v.block().rows.text() + "; ++r)\n" : std::string()) +
                  "for (int32_t i = 0; i < " + count + "; ++i) {\n" + read("a", a) + read("b", b) + "  " +
                  v.text(result) + ".SetValue(" + at + ", static_cast<int32_t>(" + formula + "));\n}",
              {v.writes(result), v.reads(a), v.reads(b)});
  return result;
}

/// The quotient of integers below 2^24, towards zero: a float's quotient is never rounded up to the next integer.
Tile quotient(Call& call, const Tile& a, const Tile& b) {
  Vector& v = call.v;
  const Tile numbers = v.binary("Div", v.cast(a, DType::Float32, "RINT"), v.cast(b, DType::Float32, "RINT"));
  return v.cast(numbers, DType::Int32, "TRUNC");
}

}  // namespace

Held lower_division(Call& call) {
  Vector& v = call.v;
  if (is_floating(call.dtype)) return lower_arithmetic(call);
  const bool is_unsigned = !is_signed_integer(call.dtype);
  if (size_of(call.dtype) == 4) {
    const std::string type = is_unsigned ? "uint32_t" : "int32_t";
    const std::string trap = is_unsigned ? "b == 0 ? 0 : " : "b == 0 ? 0 : b == -1 ? ";
    switch (call.op()) {
      case Op::Div:
        return held(by_element(
            call, type,
            trap + (is_unsigned ? "" : "static_cast<int32_t>(0u - static_cast<uint32_t>(a)) : ") + "a / b"));
      case Op::Fmod: return held(by_element(call, type, trap + (is_unsigned ? "" : "0 : ") + "a % b"));
      default:
        if (is_unsigned) return held(by_element(call, type, trap + "a % b"));
        return held(
            by_element(call, type, trap + "0 : (a % b != 0 && (a % b < 0) != (b < 0) ? a % b + b : a % b)"));
    }
  }
  const bool rows = call.rows(), columns = call.columns();
  const Tile a = v.expand(call.tile(0), rows, columns), b = v.expand(call.tile(1), rows, columns);
  const Tile zero = v.duplicate(DType::Int32, "0", rows, columns);
  const Mask by_zero = v.compare("EQ", b, zero);
  const Tile divided = quotient(call, a, b);
  if (call.op() == Op::Div) return held(wrap_to(v, v.select(by_zero, zero, divided), call.dtype));
  const Tile rest = v.binary("Sub", a, v.binary("Mul", divided, b));
  Tile result = v.select(by_zero, zero, rest);
  if (call.op() == Op::Rem && !is_unsigned) {
    // Another sign than b's: one b more.
    const Mask none = v.compare("EQ", result, zero);
    const Mask differs = compare_tiles(v, Op::Lt, v.binary("Mul", result, b), zero, DType::Int32);
    const Tile moved = v.binary("Add", result, b);
    result = v.select(none, result, v.select(differs, moved, result));
  }
  return held(result);
}

Held lower_bits(Call& call) {
  Vector& v = call.v;
  if (call.dtype == DType::Bool) return lower_logic(call);
  const bool rows = call.rows(), columns = call.columns();
  if (call.op() == Op::BitNot) return held(wrap_to(v, v.bitwise_not(call.tile(0)), call.dtype));
  const Tile a = v.expand(call.tile(0), rows, columns), b = v.expand(call.tile(1), rows, columns);
  // Sign-extended operands give sign-extended results.
  if (call.op() == Op::BitAnd) return held(v.bitwise("And", a, b));
  if (call.op() == Op::BitOr) return held(v.bitwise("Or", a, b));
  const Tile both = v.bitwise("And", a, b), either = v.bitwise("Or", a, b);
  return held(v.bitwise("And", either, v.bitwise_not(both)));
}

Held lower_shift(Call& call) {
  Vector& v = call.v;
  const bool left = call.op() == Op::Shl, is_unsigned = !is_signed_integer(call.dtype);
  const std::int64_t width = 8 * bytes_of(call.dtype);
  const bool rows = call.rows(), columns = call.columns();
  const Tile a = v.expand(call.tile(0), rows, columns), b = v.expand(call.tile(1), rows, columns);
  const Tile zero = v.duplicate(DType::Int32, "0", rows, columns);
  // One bit of the amount after the other: a power of two either way.
  Tile result = a;
  for (std::int64_t bit = 1; bit < width; bit *= 2) {
    const Tile moved = v.shift(left, result, std::to_string(bit), left || is_unsigned);
    const Tile wanted = v.bitwise("And", b, v.duplicate(DType::Int32, std::to_string(bit), rows, columns));
    result = v.select(v.compare("EQ", wanted, zero), result, moved);
  }
  // Amounts outside [0, width): zero, or the sign.
  const Tile outside = v.bitwise("And", b, v.duplicate(DType::Int32, std::to_string(-width), rows, columns));
  const Tile lost = left || is_unsigned ? zero : v.shift(false, a, "31", false);
  return held(wrap_to(v, v.select(v.compare("EQ", outside, zero), result, lost), call.dtype));
}

}  // namespace trilith::codegen::ascendc
