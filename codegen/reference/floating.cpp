// Floating dtypes. Arithmetic is rounded once to the operands' type: half and bfloat16 compute in double. Transcendentals are computed in the
// next wider type and rounded, so that they are right to the last bit in nearly every case.
#include "codegen/reference/support.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace trilith::codegen::reference {
namespace {

template <class T>
using Wider = std::conditional_t<std::is_same_v<T, double>, long double, double>;

template <class T>
T sign_of(T x) {
  if (x != x) return x;
  return static_cast<T>((x > 0) - (x < 0));
}

/// The remainder with the sign of b, as Python's `%`: a remainder of zero has the sign of b too.
template <class T>
T remainder(T a, T b) {
  const T result = std::fmod(a, b);
  if (result == 0) return std::copysign(result, b);
  return (result < 0) != (b < 0) ? result + b : result;  // a NaN stays: NaN + b
}

template <class T>
T relu(T x) {
  return maximum_of(x, T{0});
}

/// a * b + c to be rounded to T once. For half and bfloat16 the product is exact in double and the sum is rounded to
/// odd: rounding it again then is the only rounding that counts.
template <class T>
Compute<T> fma_of(Compute<T> a, Compute<T> b, Compute<T> c) {
  if constexpr (!pl::is_narrow_float<T>) {
    return std::fma(a, b, c);
  } else {
    const double product = a * b, sum = product + c, back = sum - product;
    const double lost = (product - (sum - back)) + (c - back);
    if (!(lost < 0 || lost > 0) || (std::bit_cast<std::uint64_t>(sum) & 1) != 0) return sum;
    return std::nextafter(sum, std::copysign(std::numeric_limits<double>::infinity(), lost));
  }
}

template <class T>
void exact(Op op, std::span<const Value> in, Value& out) {
  using C = Compute<T>;
  const auto unary = [&](auto function) { map<T, T>(out, in[0], function); };
  const auto binary = [&](auto function) { map<T, T>(out, in[0], in[1], function); };
  switch (op) {
    case Op::Neg: return unary([](C x) { return -x; });
    case Op::Abs: return unary([](C x) { return std::fabs(x); });
    case Op::Recip: return unary([](C x) { return C{1} / x; });
    case Op::Sqrt: return unary([](C x) { return std::sqrt(x); });
    case Op::Rsqrt: return unary([](C x) { return C{1} / static_cast<T>(std::sqrt(x)); });
    case Op::Square: return unary([](C x) { return x * x; });
    case Op::Sign: return unary([](C x) { return sign_of(x); });
    case Op::Floor: return unary([](C x) { return std::floor(x); });
    case Op::Ceil: return unary([](C x) { return std::ceil(x); });
    case Op::Round: return unary([](C x) { return std::round(x); });
    case Op::Rint: return unary([](C x) { return std::nearbyint(x); });
    case Op::Trunc: return unary([](C x) { return std::trunc(x); });
    case Op::Relu: return unary([](C x) { return relu(x); });
    case Op::Add: return binary([](C a, C b) { return a + b; });
    case Op::Sub: return binary([](C a, C b) { return a - b; });
    case Op::Mul: return binary([](C a, C b) { return a * b; });
    case Op::Div: return binary([](C a, C b) { return a / b; });
    case Op::Fmod: return binary([](C a, C b) { return std::fmod(a, b); });
    case Op::Rem: return binary([](C a, C b) { return remainder(a, b); });
    case Op::Maximum: return binary([](C a, C b) { return maximum_of(a, b); });
    case Op::Minimum: return binary([](C a, C b) { return minimum_of(a, b); });
    case Op::Fma:
      return map<T, T>(out, in[0], in[1], in[2], [](C a, C b, C c) { return fma_of<T>(a, b, c); });
    case Op::Clamp:
      return map<T, T>(out, in[0], in[1], in[2],
                       [](C x, C low, C high) { return minimum_of(maximum_of(x, low), high); });
    default: no_such_case(op, out.dtype);
  }
}

template <class T>
void transcendental(Op op, std::span<const Value> in, Value& out) {
  using W = Wider<T>;
  const auto unary = [&](auto function) {
    map<T, T>(out, in[0], [&](T x) { return function(static_cast<W>(x)); });
  };
  switch (op) {
    case Op::Exp: return unary([](W x) { return std::exp(x); });
    case Op::Exp2: return unary([](W x) { return std::exp2(x); });
    case Op::Expm1: return unary([](W x) { return std::expm1(x); });
    case Op::Log: return unary([](W x) { return std::log(x); });
    case Op::Log2: return unary([](W x) { return std::log2(x); });
    case Op::Log1p: return unary([](W x) { return std::log1p(x); });
    case Op::Sin: return unary([](W x) { return std::sin(x); });
    case Op::Cos: return unary([](W x) { return std::cos(x); });
    case Op::Tanh: return unary([](W x) { return std::tanh(x); });
    case Op::Erf: return unary([](W x) { return std::erf(x); });
    case Op::Sigmoid: return unary([](W x) { return W{1} / (W{1} + std::exp(-x)); });
    case Op::Pow:
      return map<T, T>(out, in[0], in[1],
                       [](T a, T b) { return std::pow(static_cast<W>(a), static_cast<W>(b)); });
    default: no_such_case(op, out.dtype);
  }
}

}  // namespace

void floating_elementwise(Op op, std::span<const Value> operands, Value& result) {
  const bool rounded_once = operation(op).exactness == Exactness::Exact;
  visit_floating(result.dtype, [&]<class T>() {
    rounded_once ? exact<T>(op, operands, result) : transcendental<T>(op, operands, result);
  });
}

}  // namespace trilith::codegen::reference
