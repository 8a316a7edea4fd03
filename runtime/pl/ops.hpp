// runtime/pl/ops.hpp -- the operations on tiles and scalars, by name.
//
//   auto y = pl::add(pl::mul(x, 2.0f), b);      // the same as x * 2.0f + b
//
// Operands are tiles, scalars (`pl::Scalar`, `pl::Const`) and C++ numbers; tiles broadcast as in NumPy
// (extents of 1 and missing leading axes). All tiles and scalars of a call have one dtype, else a build error
// names `pl::cast`; a C++ number takes the tile's dtype. The result is a tile where an operand is one, a
// scalar otherwise. Errors: ShapeError (shapes that do not broadcast), DtypeError (a dtype the operation does
// not take). "Numeric": every dtype but bool. "Floating": half, bfloat16, float, double; the first two are rounded after every
// operation. Formulas and exactness:
// codegen/operation.hpp.
#pragma once

#include "pl/detail/operand.hpp"

namespace pl {

// clang-format off
#define PL_UNARY(name, op)                                                                        \
  template <class A>                                                                              \
    requires detail::Operands<A>                                                                  \
  [[nodiscard]] auto name(const A& x, std::source_location where = std::source_location::current()) { \
    return detail::apply<detail::Op::op>(where, x);                                               \
  }
#define PL_BINARY(name, op, run)                                                                  \
  template <class A, class B>                                                                     \
    requires detail::Operands<A, B>                                                               \
  [[nodiscard]] auto name(const A& a, const B& b,                                                 \
                          std::source_location where = std::source_location::current()) {         \
    return detail::run<detail::Op::op>(where, a, b);                                              \
  }
// clang-format on

// One operand.
/// -x. Numeric; integers wrap.
PL_UNARY(neg, Neg)
/// |x|. Numeric; the smallest integer wraps to itself.
PL_UNARY(abs, Abs)
/// 1 / x. Floating.
PL_UNARY(recip, Recip)
/// The square root, rounded once. Floating; NaN below 0.
PL_UNARY(sqrt, Sqrt)
/// 1 / sqrt(x), each rounded once. Floating.
PL_UNARY(rsqrt, Rsqrt)
/// x * x. Numeric.
PL_UNARY(square, Square)
/// -1, 0 or 1; NaN for NaN. Numeric.
PL_UNARY(sign, Sign)
/// The largest integer <= x. Floating.
PL_UNARY(floor, Floor)
/// The smallest integer >= x. Floating.
PL_UNARY(ceil, Ceil)
/// The nearest integer, ties away from zero. Floating.
PL_UNARY(round, Round)
/// The nearest integer, ties to even. Floating.
PL_UNARY(rint, Rint)
/// x without its fraction. Floating.
PL_UNARY(trunc, Trunc)
/// max(x, 0); NaN stays. Numeric.
PL_UNARY(relu, Relu)
/// e^x, at most 4 ulp. Floating.
PL_UNARY(exp, Exp)
/// 2^x, at most 4 ulp. Floating.
PL_UNARY(exp2, Exp2)
/// e^x - 1, at most 4 ulp. Floating.
PL_UNARY(expm1, Expm1)
/// The natural logarithm, at most 4 ulp. Floating; NaN below 0.
PL_UNARY(log, Log)
/// The logarithm to base 2, at most 4 ulp. Floating.
PL_UNARY(log2, Log2)
/// log(1 + x), at most 4 ulp. Floating.
PL_UNARY(log1p, Log1p)
/// The sine of x in radians, at most 4 ulp. Floating.
PL_UNARY(sin, Sin)
/// The cosine of x in radians, at most 4 ulp. Floating.
PL_UNARY(cos, Cos)
/// The hyperbolic tangent, at most 4 ulp. Floating.
PL_UNARY(tanh, Tanh)
/// The error function, at most 4 ulp. Floating.
PL_UNARY(erf, Erf)
/// 1 / (1 + e^-x), at most 4 ulp. Floating.
PL_UNARY(sigmoid, Sigmoid)
/// !a. Bool.
PL_UNARY(logical_not, LogicalNot)
/// ~a. Integers and bool.
PL_UNARY(bit_not, BitNot)

// Two operands.
/// a + b; integers wrap. Numeric.
PL_BINARY(add, Add, apply)
/// a - b; integers wrap. Numeric.
PL_BINARY(sub, Sub, apply)
/// a * b; integers wrap. Numeric.
PL_BINARY(mul, Mul, apply)
/// a / b. Numeric; integers truncate, x / 0 is 0, the smallest integer / -1 wraps.
PL_BINARY(div, Div, apply)
/// The remainder with the sign of a. Numeric; integer x % 0 is 0.
PL_BINARY(fmod, Fmod, apply)
/// The remainder with the sign of b. Numeric; integer x rem 0 is 0.
PL_BINARY(rem, Rem, apply)
/// a^b, at most 4 ulp. Floating.
PL_BINARY(pow, Pow, apply)
/// The larger; NaN if either is. Numeric.
PL_BINARY(maximum, Maximum, apply)
/// The smaller; NaN if either is. Numeric.
PL_BINARY(minimum, Minimum, apply)
/// a && b, both evaluated. Bool.
PL_BINARY(logical_and, LogicalAnd, apply)
/// a || b, both evaluated. Bool.
PL_BINARY(logical_or, LogicalOr, apply)
/// a & b. Integers and bool.
PL_BINARY(bit_and, BitAnd, apply)
/// a | b. Integers and bool.
PL_BINARY(bit_or, BitOr, apply)
/// a ^ b. Integers and bool.
PL_BINARY(bit_xor, BitXor, apply)
/// a << b; 0 where b is negative or not below the width. Integers.
PL_BINARY(shl, Shl, apply)
/// a >> b; the sign (0 if unsigned) where b is negative or not below the width. Integers.
PL_BINARY(shr, Shr, apply)

// Comparisons: a bool tile or scalar. NaN compares unequal and unordered.
/// a == b
PL_BINARY(eq, Eq, compare)
/// a != b
PL_BINARY(ne, Ne, compare)
/// a < b
PL_BINARY(lt, Lt, compare)
/// a <= b
PL_BINARY(le, Le, compare)
/// a > b
PL_BINARY(gt, Gt, compare)
/// a >= b
PL_BINARY(ge, Ge, compare)

#undef PL_UNARY
#undef PL_BINARY

/// x is NaN. Floating.
template <class A>
  requires detail::Operands<A>
[[nodiscard]] auto isnan(const A& x, std::source_location where = std::source_location::current()) {
  return detail::compare<detail::Op::IsNan>(where, x);
}
/// x is an infinity. Floating.
template <class A>
  requires detail::Operands<A>
[[nodiscard]] auto isinf(const A& x, std::source_location where = std::source_location::current()) {
  return detail::compare<detail::Op::IsInf>(where, x);
}

/// a * b + c, rounded once. Floating.
template <class A, class B, class C>
  requires detail::Operands<A, B, C>
[[nodiscard]] auto fma(const A& a, const B& b, const C& c,
                       std::source_location where = std::source_location::current()) {
  return detail::apply<detail::Op::Fma>(where, a, b, c);
}
/// minimum(maximum(x, low), high). Numeric.
template <class A, class B, class C>
  requires detail::Operands<A, B, C>
[[nodiscard]] auto clamp(const A& x, const B& low, const C& high,
                         std::source_location where = std::source_location::current()) {
  return detail::apply<detail::Op::Clamp>(where, x, low, high);
}

/// condition ? a : b, element by element; the condition is a bool tile or scalar, the three broadcast.
template <class C, class A, class B>
  requires detail::Operands<C, A, B>
[[nodiscard]] auto where(const C& condition, const A& a, const B& b,
                         std::source_location place = std::source_location::current()) {
  static_assert(std::is_same_v<typename detail::Operand<C>::element, bool> ||
                    std::is_void_v<typename detail::Operand<C>::element>,
                "pl::where: the condition is a bool tile or scalar; write a comparison, as x > 0");
  detail::require_core("where", place);
  using E = detail::Element<A, B>;
  const DType erased = detail::erased_dtype(a, b);
  return detail::wrap<E, detail::AnyTile<C, A, B>>(trilith::codegen::reference::apply(
      detail::Op::Where,
      {detail::to_value<bool>(condition, DType::Bool, place, "where"),
       detail::to_value<E>(a, erased, place, "where"), detail::to_value<E>(b, erased, place, "where")},
      detail::location_of(place)));
}
/// The same as `where`.
template <class C, class A, class B>
  requires detail::Operands<C, A, B>
[[nodiscard]] auto sel(const C& condition, const A& a, const B& b,
                       std::source_location place = std::source_location::current()) {
  return where(condition, a, b, place);
}

/// How `cast` rounds. `rint`: to nearest, ties to even; `round`: ties away from zero; `odd`: to odd.
enum class CastMode : std::uint8_t { rint, round, floor, ceil, trunc, odd };
struct CastOptions {
  CastMode mode = CastMode::rint;
};

/// To dtype U. Float to integer saturates, NaN gives 0; C++ and torch truncate: ask for `trunc`.
template <class U, class A>
  requires detail::Operands<A>
[[nodiscard]] auto cast(const A& x, CastOptions options = {},
                        std::source_location where = std::source_location::current()) {
  detail::require_core("cast", where);
  using E = typename detail::Operand<A>::element;
  trilith::codegen::Attributes attributes;
  attributes.mode = static_cast<trilith::codegen::CastMode>(options.mode);
  const detail::Value operand = detail::to_value<E>(x, detail::erased_dtype(x), where);
  return detail::wrap<U, detail::AnyTile<A>>(
      trilith::codegen::reference::apply(detail::Op::Cast, std::span(&operand, 1), attributes,
                                         trilith::codegen::dtype_of<U>, detail::location_of(where)));
}

}  // namespace pl
