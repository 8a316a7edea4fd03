// trilith/matmul_operand.hpp -- what a matrix product reads: extents, strides, elements widened to the accumulator.
#pragma once

#include "memory.hpp"

#include <limits>
#include <type_traits>

#define TRILITH_UNROLL _Pragma("GCC unroll 64")

namespace trilith::device {

/// An extent or stride that only the run knows.
inline constexpr std::int64_t dynamic = std::numeric_limits<std::int64_t>::min();

/// A number that is a constant of the kernel where it can be: loops over it unroll, addresses fold.
template <std::int64_t Value>
struct Number {
  static constexpr bool known = true;
  TRILITH_INLINE Number(std::int64_t = Value) {}
  TRILITH_INLINE operator std::int64_t() const { return Value; }
};
template <>
struct Number<dynamic> {
  static constexpr bool known = false;
  std::int64_t value;
  TRILITH_INLINE Number(std::int64_t value_) : value(value_) {}
  TRILITH_INLINE operator std::int64_t() const { return value; }
};

/// A matrix in memory: element (i, j) at data[i * row + j * column].
template <class T, std::int64_t Row, std::int64_t Column>
struct Matrix {
  using Element = T;
  static constexpr std::int64_t row_step = Row, column_step = Column;
  const T* data;
  [[no_unique_address]] Number<Row> row;
  [[no_unique_address]] Number<Column> column;

  TRILITH_INLINE Matrix<T, Column, Row> transposed() const { return {data, {column}, {row}}; }
  TRILITH_INLINE const T* at(std::int64_t i, std::int64_t j) const { return data + i * row + j * column; }
};
/// `matrix<4096, 1>(x)`; strides given as `dynamic` follow the pointer: `matrix<dynamic, 1>(x, stride)`.
template <std::int64_t Row, std::int64_t Column, class T>
TRILITH_INLINE Matrix<T, Row, Column> matrix(const T* data, std::int64_t row = Row,
                                             std::int64_t column = Column) {
  return {data, {row}, {column}};
}

namespace product {

/// Products are summed in float, or double, or int32 (wrapping).
template <class T>
using Accumulator = std::conditional_t<std::is_integral_v<T>, std::int32_t,
                                       std::conditional_t<std::is_same_v<T, double>, double, float>>;

using native::Vector;

template <class A, class T>
TRILITH_INLINE A widen_one(T value) {
  return static_cast<A>(value);
}
/// A register of elements of T as A. half and bfloat16 add theirs (matmul_half.hpp).
template <class A, class T>
struct Widening {
  TRILITH_INLINE static Vector<A> whole(const T* from) {
    typename native::VectorOf<T, lanes<A>>::type narrow;
    __builtin_memcpy(&narrow, from, sizeof narrow);
    return __builtin_convertvector(narrow, Vector<A>);
  }
  TRILITH_INLINE static Vector<A> partial(const T* from, int n) {
    T elements[lanes<A>] = {};
    for (int i = 0; i < n; ++i) elements[i] = from[i];
    return whole(elements);
  }
};
template <class A>
struct Widening<A, A> {
  TRILITH_INLINE static Vector<A> whole(const A* from) { return native::load<A>(from); }
  TRILITH_INLINE static Vector<A> partial(const A* from, int n) {
    return native::load_partial<A>(from, n, A(0));
  }
};
template <class A, class T>
TRILITH_INLINE Vector<A> widen(const T* from) {
  return Widening<A, T>::whole(from);
}
/// The first n, then zeros.
template <class A, class T>
TRILITH_INLINE Vector<A> widen_partial(const T* from, std::int64_t n) {
  return Widening<A, T>::partial(from, n > lanes<A> ? lanes<A> : static_cast<int>(n));
}

/// a * b + c: fused where the target can, wrapping for integers.
template <class A>
TRILITH_INLINE Vector<A> multiply_add(Vector<A> a, Vector<A> b, Vector<A> c) {
  if constexpr (std::is_integral_v<A>) {
    using U = Vector<native::Unsigned<A>>;
    return (Vector<A>)((U)a * (U)b + (U)c);
  } else {
    return native::multiply_add(a, b, c);
  }
}

TRILITH_INLINE constexpr std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
TRILITH_INLINE constexpr std::int64_t parts(std::int64_t whole, std::int64_t part) {
  return (whole + part - 1) / part;
}
/// The size of equal parts of at most `most`, the last perhaps smaller; 1 for nothing.
TRILITH_INLINE constexpr std::int64_t evenly(std::int64_t whole, std::int64_t most) {
  return whole <= 0 ? 1 : parts(whole, parts(whole, most));
}

}  // namespace product
}  // namespace trilith::device
