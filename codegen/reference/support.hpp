// codegen/reference/support.hpp -- shared by the reference operations only: dtype dispatch, walking elements.
#pragma once

#include "codegen/reference.hpp"

#include <array>
#include <cmath>
#include <type_traits>
#include <utility>

namespace trilith::codegen::reference {

/// "[8, 4]"
[[nodiscard]] std::string text_of(const Shape& shape);
/// Throws ShapeError for a negative extent, a rank above 8, or more elements than memory can have.
void check_shape(const Shape& shape, std::string_view operation, const pl::Location& location);
[[noreturn]] void no_such_case(Op op, DType dtype);

/// Calls `function.template operator()<T>()` with the C++ type of an integer dtype.
template <class Function>
auto visit_integer(DType dtype, const Function& function) {
  switch (dtype) {
    case DType::Int8: return function.template operator()<std::int8_t>();
    case DType::Int16: return function.template operator()<std::int16_t>();
    case DType::Int32: return function.template operator()<std::int32_t>();
    case DType::UInt8: return function.template operator()<std::uint8_t>();
    case DType::UInt16: return function.template operator()<std::uint16_t>();
    case DType::UInt32: return function.template operator()<std::uint32_t>();
    case DType::UInt64: return function.template operator()<std::uint64_t>();
    default: return function.template operator()<std::int64_t>();
  }
}
template <class Function>
auto visit_floating(DType dtype, const Function& function) {
  if (dtype == DType::Float16) return function.template operator()<pl::half>();
  if (dtype == DType::BFloat16) return function.template operator()<pl::bfloat16>();
  if (dtype == DType::Float32) return function.template operator()<float>();
  return function.template operator()<double>();
}
template <class Function>
auto visit_numeric(DType dtype, const Function& function) {
  return is_floating(dtype) ? visit_floating(dtype, function) : visit_integer(dtype, function);
}
template <class Function>
auto visit_any(DType dtype, const Function& function) {
  return dtype == DType::Bool ? function.template operator()<bool>() : visit_numeric(dtype, function);
}

/// Visits the elements of `shape` in row-major order: body(index in the result, index in each operand), where
/// an operand's missing and size-1 axes repeat.
template <std::size_t N, class Body>
void walk(const Shape& shape, const std::array<const Shape*, N>& operands, const Body& body) {
  const std::size_t rank = shape.size();
  std::array<Shape, N> strides;
  for (std::size_t k = 0; k < N; ++k) {
    strides[k].assign(rank, 0);
    std::int64_t stride = 1;
    for (std::size_t i = operands[k]->size(); i-- > 0;) {
      const std::int64_t extent = (*operands[k])[i];
      if (extent != 1) strides[k][rank - operands[k]->size() + i] = stride;
      stride *= extent;
    }
  }
  const std::int64_t count = element_count(shape);
  Shape index(rank, 0);
  std::array<std::int64_t, N> at{};
  for (std::int64_t i = 0; i < count; ++i) {
    body(i, at);
    for (std::size_t axis = rank; axis-- > 0;) {
      for (std::size_t k = 0; k < N; ++k) at[k] += strides[k][axis];
      if (++index[axis] < shape[axis]) break;
      for (std::size_t k = 0; k < N; ++k) at[k] -= strides[k][axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

/// result[i] = function(a[i]) and the like, with R the result's element type and T the operands'.
template <class R, class T, class Function>
void map(Value& result, const Value& a, const Function& function) {
  R* out = result.data<R>();
  const T* in = a.data<T>();
  const std::int64_t count = result.size();
  for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<R>(function(in[i]));
}
template <class R, class T, class Function>
void map(Value& result, const Value& a, const Value& b, const Function& function) {
  R* out = result.data<R>();
  const T* x = a.data<T>();
  const T* y = b.data<T>();
  walk<2>(result.shape, {&a.shape, &b.shape}, [&](std::int64_t i, const std::array<std::int64_t, 2>& at) {
    out[i] = static_cast<R>(function(x[at[0]], y[at[1]]));
  });
}
template <class R, class T, class Function>
void map(Value& result, const Value& a, const Value& b, const Value& c, const Function& function) {
  R* out = result.data<R>();
  const T* x = a.data<T>();
  const T* y = b.data<T>();
  const T* z = c.data<T>();
  walk<3>(result.shape, {&a.shape, &b.shape, &c.shape},
          [&](std::int64_t i, const std::array<std::int64_t, 3>& at) {
            out[i] = static_cast<R>(function(x[at[0]], y[at[1]], z[at[2]]));
          });
}

/// The type that exact operations on T compute in: half and bfloat16 in double, whose result is rounded to them
/// once, since it has more than twice their digits.
template <class T>
using Compute = std::conditional_t<pl::is_narrow_float<T>, double, T>;

/// Integer arithmetic in 64 unsigned bits: wraps without undefined behaviour, also where narrow operands
/// would be promoted to a signed int.
template <class T>
constexpr std::uint64_t wide(T value) {
  return static_cast<std::uint64_t>(value);
}

/// The NaN and signed-zero rules of maximum, minimum, relu, clamp and the reductions.
template <class T>
T maximum_of(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a) return a;
    if (b != b) return b;
    if (a == 0 && b == 0) return std::signbit(a) ? b : a;
  }
  return a < b ? b : a;
}
template <class T>
T minimum_of(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a) return a;
    if (b != b) return b;
    if (a == 0 && b == 0) return std::signbit(a) ? a : b;
  }
  return b < a ? b : a;
}

/// The operations of each group. `result` has its dtype and shape; operands were checked by result_type.
void elementwise(Op op, std::span<const Value> operands, Value& result);
void integer_elementwise(Op op, std::span<const Value> operands, Value& result);
void floating_elementwise(Op op, std::span<const Value> operands, Value& result);
void compare(Op op, std::span<const Value> operands, Value& result);
void logic(Op op, std::span<const Value> operands, Value& result);
void bits(Op op, std::span<const Value> operands, Value& result);
void cast(const Value& operand, CastMode mode, Value& result);
void reduce(Op op, const Value& operand, Value& result);

}  // namespace trilith::codegen::reference
