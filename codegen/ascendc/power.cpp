// a^b = 2^(b * log2 a) in float alone. The exponent needs 8 digits more than a float has, so the logarithm and the product
// are pairs of floats, the second of which holds what the first has lost (Dekker 1971); the vector unit has no
// multiply-add whose one rounding is documented, so products are split by hand.
#include "codegen/ascendc/formula.hpp"

namespace trilith::codegen::ascendc {
namespace {

struct Pair {
  Tile high, low;
};

class Pairs {
 public:
  Pairs(Vector& v, const Tile& like) : v_(v), f_(v, like), rows_(like.rows), columns_(like.columns) {
    upper_digits_ = v.duplicate(DType::Int32, "-4096", rows_, columns_);
  }

  /// |x|^y without the special cases.
  Tile power(const Tile& size, const Tile& y) {
    const Pair exponent = log2(size);
    // A logarithm is 0 or above 2^-25: beyond 2^40 the result is 0, 1 or infinity already.
    const Tile bounded = f_.at_most(f_.at_least(y, "-0x1p+40f"), "0x1p+40f");
    const Pair product = two_product(exponent.high, bounded);
    const Tile lost = f_.add(f_.mul(exponent.low, bounded), product.low);
    const Tile high = f_.at_most(f_.at_least(product.high, "-151.0f"), "129.0f");
    const Tile low = f_.at_most(f_.at_least(lost, "-0.5f"), "0.5f");
    const Tile n = f_.whole(high, "RINT");
    return f_.exp2(n, f_.add(f_.sub(high, n), low));
  }

 private:
  /// Where |a| >= |b|.
  Pair fast_two_sum(const Tile& a, const Tile& b) {
    const Tile sum = f_.add(a, b);
    return {sum, f_.sub(b, f_.sub(sum, a))};
  }
  Pair two_sum(const Tile& a, const Tile& b) {
    const Tile sum = f_.add(a, b), back = f_.sub(sum, a);
    return {sum, f_.add(f_.sub(a, f_.sub(sum, back)), f_.sub(b, back))};
  }
  /// 12 digits each, whose products are exact.
  Pair split(const Tile& a) {
    const Tile high = v_.bitwise("And", a, upper_digits_);
    return {high, f_.sub(a, high)};
  }
  Pair two_product(const Tile& a, const Tile& b) {
    const Tile product = f_.mul(a, b);
    const Pair left = split(a), right = split(b);
    Tile lost = f_.sub(f_.mul(left.high, right.high), product);
    lost = f_.add(f_.add(lost, f_.mul(left.high, right.low)), f_.mul(left.low, right.high));
    return {product, f_.add(lost, f_.mul(left.low, right.low))};
  }

  /// log2 x to 2^-33 of itself, for 0 < x < infinity: with x = 2^e * m, m from sqrt(1/2) to sqrt(2), and
  /// s = (m - 1) / (m + 1) it is e + 2 atanh(s) / ln 2.
  Pair log2(const Tile& x) {
    const Mask subnormal = f_.is("LT", x, "0x1p-126f");
    Tile bits = f_.where(subnormal, f_.mul(x, "0x1p+23f"), x);
    bits.dtype = DType::Int32;
    const Tile above = v_.with_scalar("Adds", bits, "-0x3f3504f3");  // of sqrt(1/2)
    const Tile whole = v_.shift(false, above, "23", false);
    Tile m = v_.binary("Sub", bits, v_.shift(true, whole, "23", false));
    m.dtype = DType::Float32;
    const Tile lifted = v_.cast(whole, DType::Float32, "RINT");
    const Tile e = f_.where(subnormal, f_.add(lifted, "-23.0f"), lifted);

    const Tile f = f_.add(m, "-1.0f"), below = f_.add(m, "1.0f");
    const Tile below_lost = f_.sub(m, f_.add(below, "-1.0f"));
    const Tile s = f_.div(f, below);
    const Pair back = two_product(s, below);
    const Tile rest = f_.sub(f_.sub(f_.sub(f, back.high), back.low), f_.mul(s, below_lost));
    const Tile s_low = f_.div(rest, below);
    const Pair z = two_product(s, s);
    const Tile z_low = f_.add(z.low, f_.mul(f_.mul(s, s_low), "2.0f"));
    // 2 atanh(s) = 2 s + s * (2/3 z + z^2 * tail): all but the tail in pairs.
    static constexpr const char* tail_of_z[] = {"0x1.3b13b2p-3f", "0x1.745d18p-3f", "0x1.c71c72p-3f",
                                                "0x1.24924ap-2f", "0x1.99999ap-2f"};
    const Tile tail = f_.mul(f_.mul(z.high, z.high), f_.polynomial(z.high, tail_of_z));
    const Pair cubic = two_product(z.high, f_.full("0x1.555556p-1f"));
    const Pair inner = fast_two_sum(cubic.high, tail);
    const Tile inner_lost = f_.add(f_.mul(z.high, "-0x1.555556p-26f"), f_.mul(z_low, "0x1.555556p-1f"));
    const Tile inner_low = f_.add(inner.low, f_.add(cubic.low, inner_lost));
    const Pair outer = two_product(s, inner.high);
    const Pair sum = fast_two_sum(f_.mul(s, "2.0f"), outer.high);
    const Tile outer_low = f_.add(outer.low, f_.add(f_.mul(s, inner_low), f_.mul(s_low, inner.high)));
    const Tile sum_low = f_.add(sum.low, f_.add(outer_low, f_.mul(s_low, "2.0f")));
    const Pair scaled = two_product(sum.high, f_.full("0x1.715476p+0f"));
    const Tile scaled_lost = f_.add(f_.mul(sum.high, "0x1.4ae0cp-26f"), f_.mul(sum_low, "0x1.715476p+0f"));
    const Pair total = two_sum(e, scaled.high);
    return fast_two_sum(total.high, f_.add(total.low, f_.add(scaled.low, scaled_lost)));
  }

  Vector& v_;
  Formula f_;
  bool rows_, columns_;
  Tile upper_digits_;
};

/// As C's Annex F has it.
Tile with_special_cases(Vector& v, const Tile& x, const Tile& y, const Tile& size, Tile result) {
  Formula f(v, x);
  const Tile infinity = f.full("__builtin_inff()"), one = f.full("1.0f"),
             nan = f.full("__builtin_nanf(\"\")");
  // 0 and infinity to a power are themselves or one another.
  const Tile end = f.where(f.is("GT", y, "0.0f"), size, f.div(one, size));
  const Mask infinite = v.compare("EQ", size, infinity);
  result = f.where(v.mask_binary("Or", f.is("EQ", size, "0.0f"), infinite), end, result);
  // The sign, for odd powers; none for other powers of a number below 0.
  const Mask integral = v.compare("EQ", f.whole(y, "RINT"), y);
  const Tile half = f.mul(y, "0.5f");
  const Mask odd = v.mask_binary("And", integral, v.compare("NE", f.whole(half, "RINT"), half));
  const Tile sign = v.bitwise("And", x, f.full("-0.0f"));
  const Tile signed_result = v.bitwise("Or", result, sign);
  result = f.where(odd, signed_result, result);
  const Mask power = v.mask_binary("Or", integral, infinite);
  result = f.where(v.mask_binary("Or", power, v.mask_not(f.is("LT", x, "0.0f"))), result, nan);
  const Mask ordered = v.mask_binary("And", v.compare("EQ", x, x), v.compare("EQ", y, y));
  result = f.where(ordered, result, nan);
  return f.where(v.mask_binary("Or", f.is("EQ", y, "0.0f"), f.is("EQ", x, "1.0f")), one, result);
}

}  // namespace

Held lower_power(Call& call) {
  Vector& v = call.v;
  const auto operand = [&](std::size_t i) {
    const Tile given = v.expand(call.tile(i), call.rows(), call.columns());
    return given.dtype == DType::Float32 ? given : v.cast(given, DType::Float32, "NONE");
  };
  const Tile x = operand(0), y = operand(1), size = v.unary("Abs", x);
  const Tile result = with_special_cases(v, x, y, size, Pairs(v, x).power(size, y));
  if (call.dtype == DType::Float16) return {{.tile = v.cast(result, DType::Float16, "RINT")}, {}};
  return {{.tile = round_to(v, result, call.dtype)}, {}};
}

}  // namespace trilith::codegen::ascendc
