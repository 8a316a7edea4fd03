// runtime/pl/ops_activation.hpp -- activations, each written in operations of the table.
//
// Their definition is the body here, for eager runs and compiled kernels alike: every step is rounded as its own
// operation, and all of them become part of one loop nest. Tiles and scalars; a C++ number takes the tile's dtype.
#pragma once

#include "pl/operators.hpp"
#include "pl/ops.hpp"

namespace pl {

/// Which gelu: with the error function, or its approximation by tanh.
enum class Gelu : std::uint8_t { erf, tanh };

// Functions of this namespace are captured by their body.
namespace composed {

using Where = std::source_location;

/// x * sigmoid(x). Floating.
template <class A>
  requires detail::Operands<A>
[[nodiscard]] auto silu(const A& x, Where where = Where::current()) {
  return mul(x, sigmoid(x, where), where);
}

/// x * sigmoid(beta * x). Floating.
template <class A, class B>
  requires detail::Operands<A, B>
[[nodiscard]] auto swish(const A& x, const B& beta, Where where = Where::current()) {
  return mul(x, sigmoid(mul(x, beta, where), where), where);
}

/// 0.5 * x * (1 + erf(x / sqrt(2))), or pl::gelu<pl::Gelu::tanh>:
/// 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))). Floating.
template <Gelu form = Gelu::erf, class A>
  requires detail::Operands<A>
[[nodiscard]] auto gelu(const A& x, Where where = Where::current()) {
  if constexpr (form == Gelu::erf) {
    auto whole = add(erf(mul(x, 0.70710678118654752440, where), where), 1.0, where);
    return mul(mul(x, 0.5, where), whole, where);
  } else {
    auto cube = mul(mul(x, x, where), x, where);
    auto inner = mul(add(x, mul(cube, 0.044715, where), where), 0.79788456080286535588, where);
    return mul(mul(x, 0.5, where), add(tanh(inner, where), 1.0, where), where);
  }
}

/// log(1 + e^x), as max(x, 0) + log1p(e^-|x|), which overflows nowhere. Floating.
template <class A>
  requires detail::Operands<A>
[[nodiscard]] auto softplus(const A& x, Where where = Where::current()) {
  return add(relu(x, where), log1p(exp(neg(abs(x, where), where), where), where), where);
}

/// x > 0 ? x : x * slope. Numeric.
template <class A, class B>
  requires detail::Operands<A, B>
[[nodiscard]] auto lrelu(const A& x, const B& slope, Where where = Where::current()) {
  return pl::where(gt(x, 0, where), x, mul(x, slope, where), where);
}

/// The same; the slope is a tile that broadcasts, one for each row, column or element.
template <class A, class B>
  requires detail::Operands<A, B>
[[nodiscard]] auto prelu(const A& x, const B& slope, Where where = Where::current()) {
  return pl::where(gt(x, 0, where), x, mul(x, slope, where), where);
}

}  // namespace composed

using composed::gelu;
using composed::lrelu;
using composed::prelu;
using composed::silu;
using composed::softplus;
using composed::swish;

}  // namespace pl
