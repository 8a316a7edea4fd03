// Transcendentals in float, whatever the dtype; half and bfloat16 are rounded at the end. Exponential and logarithm are the
// vector unit's own; all else is made of them and of polynomials, which were fitted for the CPU simulator (xsimd/device).
// No fused multiply-add: its rounding is not documented.
#include "codegen/ascendc/formula.hpp"
#include "codegen/error.hpp"

#include <array>

namespace trilith::codegen::ascendc {
namespace {

constexpr const char* expm1_fraction[] = {"0x1.6d9f54p-10f", "0x1.122860p-7f", "0x1.55547ep-5f",
                                          "0x1.5554b0p-3f", "0x1.000000p-1f"};
constexpr const char* erf_inner[] = {"0x1.494666p-14f", "-0x1.a3eab8p-11f", "0x1.540422p-8f",
                                     "-0x1.b7f8e0p-6f", "0x1.ce2cf4p-4f",   "-0x1.81273ep-2f",
                                     "0x1.06eba8p-3f"};
constexpr const char* erf_outer[] = {"-0x1.d88b6cp+2f", "0x1.45e132p+3f", "-0x1.071778p-1f",
                                     "0x1.96304cp+0f",  "0x1.09f91cp-1f", "0x1.dc9442p-10f"};
constexpr const char* sine_tail[] = {"0x1.6cd634p-19f", "-0x1.a00f96p-13f", "0x1.111108p-7f",
                                     "-0x1.555556p-3f"};
constexpr const char* cosine_tail[] = {"0x1.99ff96p-16f", "-0x1.6c0c82p-10f", "0x1.55554ap-5f"};

Tile exp2(Formula& f, const Tile& x) {
  const Tile bounded = f.at_most(f.at_least(x, "-151.0f"), "129.0f");
  const Tile n = f.whole(bounded, "RINT");
  return f.exp2(n, f.sub(bounded, n));
}

// e^x - 1 = 2^n * ((e^r - 1) + (1 - 2^-n)), with x = n * ln 2 + r.
Tile expm1(Formula& f, const Tile& x) {
  const Tile bounded = f.at_most(f.at_least(x, "-20.0f"), "89.0f");
  const Tile n = f.whole(f.mul(bounded, "0x1.715476p+0f"), "RINT");
  // The first product is exact, and so is the first difference.
  const Tile r = f.add(f.add(bounded, f.mul(n, "-0x1.62e8p-1f")), f.mul(n, "0x1.e8082ep-16f"));
  const Tile fraction = f.add(f.mul(f.mul(r, r), f.polynomial(r, expm1_fraction)), r);
  const Tile less = f.add(f.negated(f.scaled(f.full("1.0f"), f.negated(n))), "1.0f");
  const Tile result = f.scaled(f.add(fraction, less), n);
  // Small arguments are their own result: -0 and subnormals, too.
  return f.where(f.is("LT", f.magnitude(x), "0x1p-25f"), x, result);
}

// With t = e^(-2|x|) - 1, tanh |x| = -t / (t + 2).
Tile tanh(Formula& f, const Tile& x) {
  const Tile t = expm1(f, f.mul(f.magnitude(x), "-2.0f"));
  const Tile result = f.with_sign(f.div(f.negated(t), f.add(t, "2.0f")), x);
  return f.where(f.is("LT", f.magnitude(x), "0x1p-13f"), x, result);
}

// e^-|x| cannot overflow; where x is negative it is the numerator, and may be subnormal.
Tile sigmoid(Formula& f, const Tile& x) {
  const Tile e = f.exp(f.negated(f.magnitude(x)));
  return f.div(f.where(f.is("LT", x, "0.0f"), e, "1.0f"), f.add(e, "1.0f"));
}

// ln(1 + x) = ln(u) * x / (u - 1) with u = 1 + x rounded: what the rounding lost, the quotient brings back.
Tile log1p(Formula& f, const Tile& x) {
  const Tile u = f.add(x, "1.0f");
  const Tile result = f.mul(f.log(u), f.div(x, f.add(u, "-1.0f")));
  const Tile finite = f.where(f.is("LT", u, "__builtin_inff()"), result, u);
  return f.where(f.is("EQ", u, "1.0f"), x, finite);
}

// Below 1, x times a polynomial in x^2. From 1 on, 1 - e^(-x^2) * Q(1 / (x + 2)): there the second term is small and so
// are its errors.
Tile erf(Formula& f, const Tile& x) {
  const Tile size = f.magnitude(x), capped = f.at_most(size, "4.0f"), z = f.mul(capped, capped);
  const Tile inner = f.add(f.mul(f.polynomial(z, erf_inner), x), x);
  const Tile q = f.polynomial(f.div(f.full("1.0f"), f.add(capped, "2.0f")), erf_outer);
  const Tile outer = f.with_sign(f.add(f.negated(f.mul(f.exp(f.negated(z)), q)), "1.0f"), x);
  return f.where(f.is("LT", size, "1.0f"), inner, outer);
}

/// x = turns * pi/2 + rest, with |rest| <= pi/4.
struct Reduced {
  Tile turns, rest;
};

// The pieces of pi/2 have 8 bits, so that their products with `turns` are exact up to 2^16: up to |x| = 102943.
constexpr const char* most_by_pieces = "102943.0f";

Reduced reduced_by_pieces(Formula& f, const Tile& x) {
  const Tile turns = f.whole(f.mul(x, "0x1.45f306p-1f"), "RINT");
  Tile rest = x;
  for (const char* piece : {"-0x1.92p+0f", "-0x1.fap-12f", "-0x1.54p-20f", "-0x1.1p-30f", "-0x1.68c234p-39f"})
    rest = f.add(rest, f.mul(turns, piece));
  return {turns, rest};
}

constexpr const char* two_over_pi = R"(
/// The binary digits of 2/pi behind nine zeros, 64 at a time.
__aicore__ inline uint64_t WordOfTwoOverPi(int32_t i) {
  switch (i) {
    case 0: return 0x00517cc1b727220aull;
    case 1: return 0x94fe13abe8fa9a6eull;
    case 2: return 0xe06db14acc9e21c8ull;
    case 3: return 0x20ff28b1d5ef5de2ull;
    default: return 0;
  }
}

/// `count` of them from number `first` on, as a whole number.
__aicore__ inline float BitsOfTwoOverPi(int32_t first, int32_t count) {
  const int32_t i = first / 64, skipped = first % 64;
  uint64_t bits = WordOfTwoOverPi(i) << skipped;
  if (skipped > 0) bits |= WordOfTwoOverPi(i + 1) >> (64 - skipped);
  return static_cast<float>(static_cast<int32_t>(bits >> (64 - count)));
}
)";

// Any |x| from 2^16 on, in fixed point: |x| is a sum of digits of 10 bits, the first one worth 2^-7, of which four at most
// are not zero. A digit times 2/pi needs 70 bits of 2/pi from the digit's own place on, all in front of them being whole
// turns by four: 12 bits at a time, so that sums of products are whole numbers below 2^24 and exact, and 24 bits for the
// last, which is small enough to be rounded. (Payne and Hanek 1983, in floats.)
Reduced reduced_by_bits(Formula& f, const Tile& x) {
  constexpr int digits = 14, levels = 5;
  const Tile size = f.magnitude(x);
  const Tile left = f.whole(f.mul(size, "0.125f"), "FLOOR");
  const Tile digit = f.mul(f.add(size, f.mul(left, "-8.0f")), "128.0f");
  std::array<Tile, levels> sums;
  for (Tile& sum : sums) sum = f.full("0.0f");
  const std::string place = f.open_count("place", digits);
  for (int level = 0; level < levels; ++level)
    f.add_times(sums[static_cast<std::size_t>(level)], digit,
                "BitsOfTwoOverPi(10 * " + place + (level == 0 ? "" : " + " + std::to_string(12 * level)) +
                    (level + 1 < levels ? ", 12)" : ", 24)"));
  const Tile next = f.whole(f.mul(left, "0x1p-10f"), "FLOOR");
  f.put(digit, f.add(left, f.mul(next, "-1024.0f")));
  f.put(left, next);
  f.close();
  // What a level has above its 12 bits belongs to the one before.
  for (std::size_t level = levels - 2; level > 0; --level) {
    const Tile above = f.whole(f.mul(sums[level], "0x1p-12f"), "RINT");
    sums[level - 1] = f.add(sums[level - 1], above);
    sums[level] = f.add(sums[level], f.mul(above, "-4096.0f"));
  }
  const Tile turns = f.whole(f.mul(sums[0], "0x1p-10f"), "RINT");
  const Tile high =
      f.add(f.mul(f.add(sums[0], f.mul(turns, "-1024.0f")), "0x1p-10f"), f.mul(sums[1], "0x1p-22f"));
  const Tile low = f.add(f.mul(sums[2], "0x1p-34f"), f.mul(sums[3], "0x1p-46f"));
  const Tile part = f.add(high, f.add(low, f.mul(sums[4], "0x1p-70f")));
  return {f.with_sign(turns, x), f.with_sign(f.mul(part, "0x1.921fb6p+0f"), x)};
}

/// Large angles are rare and cost five times as much: a block without one goes without.
Reduced reduced(Formula& f, const Tile& x, bool may_be_large) {
  const Reduced result = reduced_by_pieces(f, x);
  if (!may_be_large) return result;
  const Tile size = f.magnitude(x);
  // A NaN may be the largest beside a large angle.
  f.open_if("!(" + f.largest(size) + " < " + most_by_pieces + ")");
  f.function("BitsOfTwoOverPi", two_over_pi);
  const Reduced large = reduced_by_bits(f, x);
  const Mask small = f.is("LT", size, most_by_pieces);
  f.put(result.turns, f.where(small, result.turns, large.turns));
  f.put(result.rest, f.where(small, result.rest, large.rest));
  f.close();
  return result;
}

// turns mod 4 says which of +-sin, +-cos of the rest it is; `shift`, of the cosine, is one quarter.
Tile sine(Formula& f, const Tile& x, const char* shift, bool may_be_large) {
  const auto [turns, r] = reduced(f, x, may_be_large);
  const Tile z = f.mul(r, r);
  const Tile sin_r = f.add(f.mul(f.mul(z, r), f.polynomial(z, sine_tail)), r);
  const Tile cos_r =
      f.add(f.add(f.mul(z, "-0.5f"), "1.0f"), f.mul(f.mul(z, z), f.polynomial(z, cosine_tail)));
  // The quadrant: odd ones take the cosine, 2 and 3 change the sign.
  const Tile quadrant = shift == nullptr ? turns : f.add(turns, shift);
  const Tile odd = f.sub(quadrant, f.mul(f.whole(f.mul(quadrant, "0.5f"), "FLOOR"), "2.0f"));
  const Tile quarter = f.sub(quadrant, f.mul(f.whole(f.mul(quadrant, "0.25f"), "FLOOR"), "4.0f"));
  const Tile chosen = f.where(f.is("EQ", odd, "1.0f"), cos_r, sin_r);
  return f.where(f.is("GE", quarter, "2.0f"), f.negated(chosen), chosen);
}

Tile formula(Call& call, const Tile& x) {
  Formula f(call.v, x);
  const bool may_be_large = call.dtype != DType::Float16;  // the largest half is 65504
  switch (call.op()) {
    case Op::Exp: return f.exp(x);
    case Op::Log: return f.log(x);
    case Op::Log2: return f.mul(f.log(x), "0x1.715476p+0f");
    case Op::Exp2: return exp2(f, x);
    case Op::Expm1: return expm1(f, x);
    case Op::Log1p: return log1p(f, x);
    case Op::Tanh: return tanh(f, x);
    case Op::Sigmoid: return sigmoid(f, x);
    case Op::Erf: return erf(f, x);
    case Op::Sin:
      return f.where(f.is("LT", f.magnitude(x), "0x1p-13f"), x, sine(f, x, nullptr, may_be_large));
    case Op::Cos: return sine(f, x, "1.0f", may_be_large);
    default:
      throw pl::InternalError("AscendC emitter: no formula of " + std::string(operation(call.op()).name));
  }
}

}  // namespace

Held lower_transcendental(Call& call) {
  Vector& v = call.v;
  const Tile given = call.tile(0);
  const Tile x = given.dtype == DType::Float32 ? given : v.cast(given, DType::Float32, "NONE");
  const Tile result = formula(call, x);
  if (call.dtype == DType::Float16) return {{.tile = v.cast(result, DType::Float16, "RINT")}, {}};
  return {{.tile = round_to(v, result, call.dtype)}, {}};
}

}  // namespace trilith::codegen::ascendc
