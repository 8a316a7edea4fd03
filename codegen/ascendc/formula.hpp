// codegen/ascendc/formula.hpp -- formulas of float tiles of one shape, of which transcendentals are made.
#pragma once

#include "codegen/ascendc/lowering.hpp"

#include <span>
#include <string>

namespace trilith::codegen::ascendc {

/// Formulas of float tiles of one shape.
class Formula {
 public:
  Formula(Vector& v, const Tile& like) : v_(v), rows_(like.rows), columns_(like.columns) {}

  Tile add(const Tile& a, const Tile& b) { return v_.binary("Add", a, b); }
  Tile sub(const Tile& a, const Tile& b) { return v_.binary("Sub", a, b); }
  Tile mul(const Tile& a, const Tile& b) { return v_.binary("Mul", a, b); }
  Tile div(const Tile& a, const Tile& b) { return v_.binary("Div", a, b); }
  Tile add(const Tile& a, const std::string& s) { return v_.with_scalar("Adds", a, s); }
  Tile mul(const Tile& a, const std::string& s) { return v_.with_scalar("Muls", a, s); }
  Tile at_least(const Tile& a, const std::string& s) { return v_.with_scalar("Maxs", a, s); }
  Tile at_most(const Tile& a, const std::string& s) { return v_.with_scalar("Mins", a, s); }
  Tile negated(const Tile& a) { return mul(a, "-1.0f"); }
  Tile magnitude(const Tile& a) { return v_.unary("Abs", a); }
  Tile whole(const Tile& a, const char* mode) { return v_.cast(a, DType::Float32, mode); }
  Tile exp(const Tile& a) { return v_.unary("Exp", a); }
  Tile log(const Tile& a) { return v_.unary("Ln", a); }
  Tile full(const std::string& s) { return v_.duplicate(DType::Float32, s, rows_, columns_); }
  Tile where(const Mask& mask, const Tile& a, const Tile& b) { return v_.select(mask, a, b); }
  Tile where(const Mask& mask, const Tile& a, const std::string& s) { return v_.select(mask, a, s); }
  Mask is(const char* mode, const Tile& a, const std::string& s) { return v_.compare_scalar(mode, a, s); }
  /// Horner's rule; the coefficient of the highest power comes first.
  Tile polynomial(const Tile& x, std::span<const char* const> coefficients) {
    Tile sum = mul(x, coefficients[0]);
    for (std::size_t i = 1; i + 1 < coefficients.size(); ++i) sum = mul(add(sum, coefficients[i]), x);
    return add(sum, coefficients.back());
  }
  /// 2^n for whole n from -126 to 127.
  Tile power_of_two(const Tile& n) {
    const Tile exponent = v_.with_scalar("Adds", v_.cast(n, DType::Int32, "RINT"), "127");
    Tile bits = v_.shift(true, exponent, "23", false);
    bits.dtype = DType::Float32;  // the same bits
    return bits;
  }
  /// x * 2^n in two steps, so that results may be subnormal or overflow.
  Tile scaled(const Tile& x, const Tile& n) {
    const Tile half = whole(mul(n, "0.5f"), "FLOOR");
    return mul(mul(x, power_of_two(half)), power_of_two(sub(n, half)));
  }
  /// 2^(n + fraction), for whole n from -151 to 129 and fractions up to 1/2 on either side.
  Tile exp2(const Tile& n, const Tile& fraction) {
    static constexpr const char* series[] = {"0x1.4413dcp-13f",
                                             "0x1.5f0906p-10f",
                                             "0x1.3b2a52p-7f",
                                             "0x1.c6af6cp-5f",
                                             "0x1.ebfbe0p-3f",
                                             "0x1.62e430p-1f",
                                             "1.0f"};
    return scaled(polynomial(fraction, series), n);
  }
  /// The size of one with the sign of another; a NaN stays.
  Tile with_sign(const Tile& size, const Tile& sign_of) {
    return where(is("LT", sign_of, "0.0f"), negated(size), size);
  }

  // Tiles that change, in loops and branches.
  std::string open_count(const std::string& hint, int end) {
    const std::string name = v_.c.names.fresh(hint);
    v_.c.open("for (int32_t " + name + " = 0; " + name + " < " + std::to_string(end) + "; ++" + name + ") {");
    v_.c.turns(end);
    return name;
  }
  /// A condition that hardly ever holds.
  void open_if(const std::string& condition) {
    v_.c.open("if (" + condition + ") {", false);
    v_.c.turns(0);
  }
  void close() { v_.c.close(); }
  void put(const Tile& to, const Tile& from) { v_.copy_into(to, from); }
  void add_times(const Tile& sum, const Tile& a, const std::string& s) { v_.accumulate_times(sum, a, s); }
  /// The largest element, as a C++ scalar.
  std::string largest(const Tile& a) { return v_.largest(a); }
  void function(const std::string& name, const std::string& text) { v_.c.function(name, text); }

 private:
  Vector& v_;
  bool rows_, columns_;
};

}  // namespace trilith::codegen::ascendc
