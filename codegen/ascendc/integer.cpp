// Division, remainders, bits and shifts of integers, which the vector unit has in part only.
#include "codegen/ascendc/integer_functions.hpp"
#include "codegen/ascendc/lowering.hpp"

#include "codegen/error.hpp"

namespace trilith::codegen::ascendc {
namespace {

Held held(const Tile& tile) { return {{.tile = tile}, {}}; }

constexpr const char* quotient_function = R"(
/// Towards zero, without the traps of C++: 0 where b is 0, and -a, wrapping, where it is -1.
template <typename T>
__aicore__ inline T Quotient(T a, T b) {
  if (b == 0) return 0;
  if (b == static_cast<T>(-1) && b < 0) return static_cast<T>(0u - static_cast<uint32_t>(a));
  return a / b;
}
)";

/// `function` of the two operands as `type`.
Tile by_element(Call& call, const std::string& type, const std::string& function) {
  const Tile result = call.v.fresh(DType::Int32, call.rows(), call.columns());
  call.v.by_element(result, call.all(), [&](const std::vector<std::string>& elements) {
    const auto as_type = [&](const std::string& element) {
      return "static_cast<" + type + ">(" + element + ")";
    };
    return "static_cast<int32_t>(" + function + "(" + as_type(elements[0]) + ", " + as_type(elements[1]) +
           "))";
  });
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
  if (is_floating(call.dtype)) return call.op() == Op::Div ? lower_arithmetic(call) : lower_by_bits(call);
  const bool is_unsigned = !is_signed_integer(call.dtype);
  if (size_of(call.dtype) == 4) {
    const std::string type = is_unsigned ? "uint32_t" : "int32_t";
    if (call.op() == Op::Div) {
      call.c.function("Quotient", quotient_function);
      return held(by_element(call, type, "Quotient<" + type + ">"));
    }
    call.c.function("Remainder", functions::remainder);
    return held(
        by_element(call, type, "Remainder<" + type + (call.op() == Op::Rem ? ", true>" : ", false>")));
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
