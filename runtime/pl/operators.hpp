// runtime/pl/operators.hpp -- C++ operators on tiles and scalars; each means the operation of its name.
//
// `%` is fmod (the sign of the left operand). `&&`, `||` and `!` take bool tiles and evaluate both sides;
// between scalars they are C++'s own.
#pragma once

#include "pl/ops.hpp"

namespace pl {

// clang-format off
#define PL_OPERATOR(symbol, op, run)                                                          \
  template <class A, class B>                                                                 \
    requires(detail::Operands<A, B> && detail::AnyOurs<A, B>)                                 \
  [[nodiscard]] auto operator symbol(const A& a, const B& b) {                                \
    return detail::run<detail::Op::op>(std::source_location{}, a, b);                         \
  }
#define PL_COMPOUND(symbol, op)                                                               \
  template <class A, class B>                                                                 \
    requires(detail::Operands<A, B> && detail::AnyOurs<A>)                                    \
  A& operator symbol(A& a, const B& b) {                                                      \
    return detail::assign(a, detail::apply<detail::Op::op>(std::source_location{}, a, b));    \
  }
#define PL_TILE_OPERATOR(symbol, op)                                                          \
  template <class A, class B>                                                                 \
    requires(detail::Operands<A, B> && detail::AnyTile<A, B>)                                 \
  [[nodiscard]] auto operator symbol(const A& a, const B& b) {                                \
    return detail::apply<detail::Op::op>(std::source_location{}, a, b);                       \
  }
#define PL_PREFIX(symbol, op, ours)                                                           \
  template <class A>                                                                          \
    requires(detail::Operands<A> && detail::ours<A>)                                          \
  [[nodiscard]] auto operator symbol(const A& x) {                                            \
    return detail::apply<detail::Op::op>(std::source_location{}, x);                          \
  }
// clang-format on

PL_OPERATOR(+, Add, apply)
PL_OPERATOR(-, Sub, apply)
PL_OPERATOR(*, Mul, apply)
PL_OPERATOR(/, Div, apply)
PL_OPERATOR(%, Fmod, apply)
PL_OPERATOR(&, BitAnd, apply)
PL_OPERATOR(|, BitOr, apply)
PL_OPERATOR(^, BitXor, apply)
PL_OPERATOR(<<, Shl, apply)
PL_OPERATOR(>>, Shr, apply)
PL_OPERATOR(==, Eq, compare)
PL_OPERATOR(!=, Ne, compare)
PL_OPERATOR(<, Lt, compare)
PL_OPERATOR(<=, Le, compare)
PL_OPERATOR(>, Gt, compare)
PL_OPERATOR(>=, Ge, compare)
PL_TILE_OPERATOR(&&, LogicalAnd)
PL_TILE_OPERATOR(||, LogicalOr)
PL_PREFIX(-, Neg, AnyOurs)
PL_PREFIX(~, BitNot, AnyOurs)
PL_PREFIX(!, LogicalNot, AnyTile)
PL_COMPOUND(+=, Add)
PL_COMPOUND(-=, Sub)
PL_COMPOUND(*=, Mul)
PL_COMPOUND(/=, Div)
PL_COMPOUND(%=, Fmod)
PL_COMPOUND(&=, BitAnd)
PL_COMPOUND(|=, BitOr)
PL_COMPOUND(^=, BitXor)
PL_COMPOUND(<<=, Shl)
PL_COMPOUND(>>=, Shr)

#undef PL_OPERATOR
#undef PL_COMPOUND
#undef PL_TILE_OPERATOR
#undef PL_PREFIX

}  // namespace pl
