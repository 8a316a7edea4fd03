// runtime/pl/detail/operand.hpp -- how the operands of an operation become values: tiles, scalars, C++
// numbers.
#pragma once

#include "codegen/operation.hpp"
#include "codegen/reference.hpp"
#include "pl/detail/level.hpp"
#include "pl/detail/location.hpp"
#include "pl/tile.hpp"

#include <source_location>
#include <type_traits>

namespace pl::detail {

using trilith::codegen::Op;
using trilith::codegen::Value;

enum class OperandKind : std::uint8_t { None, Number, Scalar, Tile };

template <class A>
struct Operand {
  static constexpr OperandKind kind = is_number<A> ? OperandKind::Number : OperandKind::None;
  using element = A;
};
template <class T>
struct Operand<Scalar<T>> {
  static constexpr OperandKind kind = OperandKind::Scalar;
  using element = T;
};
template <class T>
struct Operand<Const<T>> {
  static constexpr OperandKind kind = OperandKind::Scalar;
  using element = T;
};
template <class T>
struct Operand<Tile<T>> {
  static constexpr OperandKind kind = OperandKind::Tile;
  using element = T;
};

template <class A>
using Bare = std::remove_cvref_t<A>;
template <class A>
inline constexpr OperandKind kind_of = Operand<Bare<A>>::kind;

template <class... A>
concept Operands = ((kind_of<A> != OperandKind::None) && ...);
template <class... A>
concept AnyTile = ((kind_of<A> == OperandKind::Tile) || ...);
/// At least one operand is ours, so that an operator never captures plain C++ arithmetic.
template <class... A>
concept AnyOurs = ((kind_of<A> == OperandKind::Tile || kind_of<A> == OperandKind::Scalar) || ...);

struct NoElement {};

/// The dtype of an operation's tiles and scalars; of its C++ numbers only where there is neither. `void` where a dtype-erased tile decides at run time.
template <class First, class... Rest>
struct CommonElement {
  using Tail = typename CommonElement<Rest...>::type;
  static constexpr bool number = kind_of<First> == OperandKind::Number;
  using Own = typename Operand<Bare<First>>::element;
  static constexpr bool tail_empty = std::is_same_v<Tail, NoElement>;
  static_assert(number || tail_empty || std::is_void_v<Own> || std::is_void_v<Tail> ||
                    std::is_same_v<Own, Tail>,
                "the operands have different dtypes; convert one with pl::cast<T>(…)");
  using type =
      std::conditional_t<number, Tail, std::conditional_t<tail_empty || std::is_void_v<Own>, Own, Tail>>;
};
template <class Last>
struct CommonElement<Last> {
  using type = std::conditional_t<kind_of<Last> == OperandKind::Number, NoElement,
                                  typename Operand<Bare<Last>>::element>;
};
template <class... A>
struct Numbers {
  using type = std::common_type_t<typename Operand<Bare<A>>::element...>;
};
template <class... A>
struct NarrowElement {
  using type = typename std::conditional_t<std::is_same_v<typename CommonElement<A...>::type, NoElement>,
                                           Numbers<A...>, CommonElement<A...>>::type;
};
struct Int64Element {
  using type = std::int64_t;
};
template <class E>
inline constexpr bool within_int64 =
    std::is_integral_v<E> && !std::is_same_v<E, bool> && !std::is_same_v<E, std::uint64_t>;
/// Between scalars an int64 (a loop variable, an extent) makes the other integers as wide as itself.
template <class... A>
inline constexpr bool widens =
    AnyOurs<A...> && !AnyTile<A...> &&
    (std::is_same_v<typename Operand<Bare<A>>::element, std::int64_t> || ...) &&
    ((kind_of<A> == OperandKind::Number || within_int64<typename Operand<Bare<A>>::element>) && ...);
template <class... A>
using Element = typename std::conditional_t<widens<A...>, Int64Element, NarrowElement<A...>>::type;

/// A C++ number as a scalar of its own dtype.
template <class A>
[[nodiscard]] Value number_value(A number) {
  if constexpr (std::is_same_v<A, long double>)
    return Value::scalar(static_cast<double>(number));
  else
    return Value::scalar(number);
}
/// A C++ number beside a tile: rounded to its dtype, refused where an integer tile cannot hold it.
[[nodiscard]] Value number_as(DType dtype, const Value& number, std::string_view operation,
                              const std::source_location& where);

/// `operation` names what is asked for in messages. `auto` makes Clang show the user's line with a failed assertion: a
/// function of a known type is instantiated later, apart from its call.
template <class E, class A>
[[nodiscard]] auto to_value(const A& operand, DType erased, const std::source_location& where,
                            std::string_view operation = "constant") {
  if constexpr (kind_of<A> == OperandKind::Tile) {
    return operand.value();
  } else if constexpr (kind_of<A> == OperandKind::Scalar) {
    if constexpr (std::is_same_v<E, std::int64_t>)
      return Value::scalar(static_cast<E>(operand.value()));  // which may be narrower, see Element
    else
      return Value::scalar(operand.value());
  } else if constexpr (std::is_void_v<E>) {
    return number_as(erased, number_value(operand), operation, where);
  } else {
    static_assert(
        !(std::is_integral_v<E> && IsFloatingScalar<A>::value),
        "a floating constant beside an integer tile or scalar; convert that with pl::cast<float>(…)");
    if constexpr (std::is_integral_v<E> && !std::is_same_v<E, A>)
      return number_as(trilith::codegen::dtype_of<E>, number_value(operand), operation, where);
    else
      return Value::scalar(static_cast<E>(operand));
  }
}

/// The dtype of the first dtype-erased tile.
template <class... A>
[[nodiscard]] DType erased_dtype(const A&... operands) {
  DType dtype = DType::Float32;
  bool found = false;
  const auto look = [&](const auto& operand) {
    if constexpr (kind_of<decltype(operand)> == OperandKind::Tile)
      if (!found) {
        dtype = operand.dtype();
        found = true;
      }
  };
  (look(operands), ...);
  return dtype;
}

/// Wraps a result: a tile where an operand was one, a scalar otherwise.
template <class R, bool tile>
[[nodiscard]] auto wrap(Value value) {
  if constexpr (tile)
    return Tile<R>(std::move(value));
  else
    return Scalar<R>(value.get<R>());
}

/// Runs an elementwise, logic or bits operation; the result has the operands' element type. Between scalars it is
/// arithmetic, which an orchestration does too.
template <Op op, class... A>
[[nodiscard]] auto apply(const std::source_location& where, const A&... operands) {
  const std::string_view name = trilith::codegen::operation(op).name;
  if constexpr (AnyTile<A...>) require_core(name, where);
  using E = Element<A...>;
  const DType erased = erased_dtype(operands...);
  return wrap<E, AnyTile<A...>>(trilith::codegen::reference::apply(
      op, {to_value<E>(operands, erased, where, name)...}, location_of(where)));
}

/// `a += b`: a keeps its type, as C++ has it.
template <class A, class R>
A& assign(A& a, R&& result) {
  if constexpr (kind_of<A> == OperandKind::Scalar)
    return a = static_cast<typename A::value_type>(result.value());
  else
    return a = std::forward<R>(result);
}

/// Runs an operation whose result is bool.
template <Op op, class... A>
[[nodiscard]] auto compare(const std::source_location& where, const A&... operands) {
  const std::string_view name = trilith::codegen::operation(op).name;
  if constexpr (AnyTile<A...>) require_core(name, where);
  using E = Element<A...>;
  const DType erased = erased_dtype(operands...);
  return wrap<bool, AnyTile<A...>>(trilith::codegen::reference::apply(
      op, {to_value<E>(operands, erased, where, name)...}, location_of(where)));
}

}  // namespace pl::detail
