// Conversions between dtypes, of what tiles of them hold: half, float (float and bfloat16), int32 (all integers up to 32
// bits), int64 (the two of 64 bits), half 0 or 1 (bool).
#include "codegen/ascendc/float_bits.hpp"
#include "codegen/ascendc/lowering.hpp"

#include "codegen/error.hpp"

#include <cmath>

namespace trilith::codegen::ascendc {
namespace {

const char* mode_of(CastMode mode) {
  switch (mode) {
    case CastMode::Rint: return "RINT";
    case CastMode::Round: return "ROUND";
    case CastMode::Floor: return "FLOOR";
    case CastMode::Ceil: return "CEIL";
    default: return "TRUNC";
  }
}

/// Element by element on the scalar pipe: `before` the element `after`.
Tile by_element(Vector& v, const Tile& x, DType held, const std::string& before, const std::string& after) {
  const Tile result = v.fresh(held, x.rows, x.columns);
  v.by_element(result, {{.tile = x}},
               [&](const std::vector<std::string>& elements) { return before + elements[0] + after; });
  return result;
}

Tile as(DType dtype, Tile tile) {
  tile.dtype = dtype;
  return tile;
}

/// uint64 to float by its digits; `odd`: not to the nearest float but to the odd one.
Tile float_of_digits(Vector& v, const Tile& x, bool odd) {
  v.c.function("FloatOf", functions::float_of);
  const Tile result = v.fresh(DType::Float32, x.rows, x.columns);
  v.by_element(as(DType::UInt32, result), {{.tile = x}}, [&](const std::vector<std::string>& elements) {
    return std::string(odd ? "FloatOf<true>" : "FloatOf<false>") + "(static_cast<uint64_t>(" + elements[0] +
           "), 0)";
  });
  return result;
}

Tile to_float(Vector& v, const Tile& x, DType from) {
  if (x.dtype == DType::Float32) return x;
  if (x.dtype == DType::Float16) return v.cast(x, DType::Float32, "NONE");
  if (from == DType::UInt64) return float_of_digits(v, x, false);
  if (from != DType::UInt32) return v.cast(x, DType::Float32, "RINT");
  // Both halves of 16 bits are exact in float, their sum is rounded once.
  const Tile high = v.cast(v.shift(false, x, "16", true), DType::Float32, "RINT");
  const Tile low = v.cast(v.shift(false, v.shift(true, x, "16", true), "16", true), DType::Float32, "RINT");
  return v.binary("Add", v.with_scalar("Muls", high, "65536.0f"), low);
}

/// An integer as a float, to be rounded to bfloat16 as if at once: where no float is equal, the one of the two around it
/// whose last bit is 1.
Tile to_odd_float(Vector& v, const Tile& x, DType from) {
  if (x.dtype != DType::Int32 && x.dtype != DType::Int64) return to_float(v, x, from);
  if (size_of(from) < 4) return to_float(v, x, from);  // exact
  if (from == DType::UInt64) return float_of_digits(v, x, true);
  if (from == DType::UInt32) {
    // Half of what has the sign bit; the bit that is lost goes into the last one.
    const Tile one = v.duplicate(DType::Int32, "1", x.rows, x.columns);
    const Tile zero = v.duplicate(DType::Int32, "0", x.rows, x.columns);
    const Tile half = v.bitwise("Or", v.shift(false, x, "1", true), v.bitwise("And", x, one));
    const Mask large = compare_tiles(v, Op::Lt, x, zero, DType::Int32);
    const Tile number = to_odd_float(v, v.select(large, half, x), DType::Int32);
    return v.select(large, v.with_scalar("Muls", number, "2.0f"), number);
  }
  const Tile below = v.cast(x, DType::Float32, "FLOOR"), above = v.cast(x, DType::Float32, "CEIL");
  const Tile inner = v.cast(x, DType::Float32, "TRUNC");
  const Tile odd = v.bitwise("Or", inner, v.duplicate(DType::Int32, "1", x.rows, x.columns));
  return v.select(v.compare("EQ", below, above), inner, odd);
}

/// To the odd one of the two whole numbers around x; whole numbers stay. Cast of float to float has no such mode.
Tile whole_and_odd(Vector& v, const Tile& x) {
  const Tile down = v.cast(x, DType::Float32, "FLOOR");
  const Tile even =
      v.with_scalar("Muls", v.cast(v.with_scalar("Muls", down, "0.5f"), DType::Float32, "FLOOR"), "2.0f");
  const Tile up = v.with_scalar("Adds", down, "1.0f");
  const Tile odd = v.select(v.compare("EQ", down, even), up, down);
  return v.select(v.compare("EQ", down, x), x, odd);
}

/// Saturates at the ends of the dtype; NaN becomes 0.
Tile to_integer(Vector& v, const Tile& x, DType to, CastMode mode) {
  const std::string zero = "0.0f";
  Tile number = v.select(v.compare("EQ", x, x), x, zero);
  number = mode == CastMode::Odd ? whole_and_odd(v, number) : v.cast(number, DType::Float32, mode_of(mode));
  if (size_of(to) == 8) {
    v.c.function("DigitsOf", functions::float_parts);
    v.c.function("WholeOf", functions::whole_of);
    const bool is_signed = is_signed_integer(to);
    return by_element(v, as(DType::UInt32, number), DType::Int64,
                      std::string("static_cast<int64_t>(WholeOf<") +
                          (is_signed ? "int64_t, true" : "uint64_t, false") + ">(",
                      "))");
  }
  if (size_of(to) < 4) {
    const auto limit = [](const Constant& constant) {
      return literal(Constant::rounded(DType::Float32, constant.as_double()));
    };
    number = v.with_scalar("Mins", v.with_scalar("Maxs", number, limit(Constant::lowest(to))),
                           limit(Constant::highest(to)));
    return v.cast(number, DType::Int32, "RINT");
  }
  if (to == DType::UInt32) {
    // Above 2^31 the difference is exact, too; 2^32 - 1 is no float, so the largest is put in by hand.
    number = v.with_scalar("Maxs", number, zero);
    const Mask high = v.compare_scalar("GE", number, "2147483648.0f");
    const Mask above = v.compare_scalar("GE", number, "4294967296.0f");
    const Tile low_part = v.cast(v.with_scalar("Mins", number, "2147483520.0f"), DType::Int32, "RINT");
    const Tile rest = v.with_scalar("Mins", v.with_scalar("Adds", number, "-2147483648.0f"), "2147483520.0f");
    const Tile high_part =
        v.with_scalar("Adds", v.cast(rest, DType::Int32, "RINT"), "static_cast<int32_t>(0x80000000u)");
    const Tile all = v.duplicate(DType::Int32, "-1", x.rows, x.columns);
    return v.select(above, all, v.select(high, high_part, low_part));
  }
  const Mask above = v.compare_scalar("GE", number, "2147483648.0f");
  const Tile inside = v.with_scalar("Mins", v.with_scalar("Maxs", number, "-2147483648.0f"), "2147483520.0f");
  const Tile highest = v.duplicate(DType::Int32, "2147483647", x.rows, x.columns);
  return v.select(above, highest, v.cast(inside, DType::Int32, "RINT"));
}

/// Between integers, of which one at least has 64 bits: modulo the width of the other.
Tile integer_to_integer(Vector& v, const Tile& x, DType from, DType to) {
  if (size_of(from) == 8 && size_of(to) == 8) return x;
  if (size_of(from) == 8) return wrap_to(v, by_element(v, x, DType::Int32, "static_cast<int32_t>(", ")"), to);
  if (from == DType::UInt32)
    return by_element(v, as(DType::UInt32, x), DType::Int64, "static_cast<int64_t>(", ")");
  return v.cast(x, DType::Int64, "NONE");
}

}  // namespace

Held lower_cast(Call& call) {
  Vector& v = call.v;
  const DType from = call.dtype, to = call.expr.type.dtype;
  if (const std::string reason = refusal(Op::Cast, to); !reason.empty())
    call.c.refuse("cast", to, reason, call.c.location);
  const Tile x = call.tile(0);
  const auto held = [](const Tile& tile) { return Held{{.tile = tile}, {}}; };
  if (from == to) return held(x);
  if (to == DType::Bool && size_of(from) == 8)
    return held(by_element(v, x, DType::Float16, "static_cast<half>(", " != 0 ? 1.0f : 0.0f)"));
  if (to == DType::Bool) {
    Mask mask;
    if (x.dtype == DType::Int32) {
      mask = v.mask_not(v.compare("EQ", x, v.duplicate(DType::Int32, "0", x.rows, x.columns)));
    } else {
      mask = v.mask_not(v.compare_scalar("EQ", x, "static_cast<" + type_name(x.dtype) + ">(0)"));
    }
    return {{.tile = number_of(v, mask)}, mask};
  }
  if (to == DType::Float32) return held(to_float(v, x, from));
  if (to == DType::BFloat16) return held(round_to(v, to_odd_float(v, x, from), to));
  if (to == DType::Float16)
    return held(x.dtype == DType::Float16 ? x : v.cast(to_float(v, x, from), DType::Float16, "RINT"));
  // To an integer.
  if (from == DType::Bool) {
    const Tile number = v.cast(x, DType::Int32, "RINT");
    return held(size_of(to) == 8 ? integer_to_integer(v, number, DType::Int32, to) : number);
  }
  if (is_integer(from) && (size_of(from) == 8 || size_of(to) == 8))
    return held(integer_to_integer(v, x, from, to));
  if (is_integer(from)) return held(wrap_to(v, x, to));
  return held(to_integer(v, to_float(v, x, from), to, call.expr.attributes.mode));
}

}  // namespace trilith::codegen::ascendc
