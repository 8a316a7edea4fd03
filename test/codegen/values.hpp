// test/codegen/values.hpp -- tiles and comparisons for tests of values.
#pragma once

#include "codegen/reference.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

namespace trilith::codegen::test {

/// A tile from its elements.
template <class T>
Value tile(Shape shape, std::initializer_list<T> elements) {
  Value value(dtype_of<T>, std::move(shape));
  REQUIRE(value.size() == static_cast<std::int64_t>(elements.size()));
  std::copy(elements.begin(), elements.end(), value.data<T>());
  return value;
}
/// A tile of rank 1.
template <class T>
Value row(std::initializer_list<T> elements) {
  return tile<T>({static_cast<std::int64_t>(elements.size())}, elements);
}

/// A dense view of a tile's bytes.
inline TensorView view_of(Value& value) {
  TensorView view{value.dtype, value.bytes.data(), value.shape, Shape(value.shape.size())};
  std::int64_t stride = 1;
  for (std::size_t i = value.shape.size(); i-- > 0;) {
    view.strides[i] = stride;
    stride *= value.shape[i];
  }
  return view;
}

/// Equal bit for bit, any NaN equal to any NaN.
template <class T>
bool same_element(T a, T b) {
  if constexpr (is_floating(dtype_of<T>)) {
    if (a != a || b != b) return a != a && b != b;
    return a == b && std::signbit(a) == std::signbit(b);
  } else {
    return a == b;
  }
}

inline bool same(const Value& a, const Value& b) {
  if (a.dtype != b.dtype || a.shape != b.shape || a.is_scalar != b.is_scalar) return false;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const std::size_t size = size_of(a.dtype), at = static_cast<std::size_t>(i) * size;
    const bool equal = a.dtype == DType::Float32   ? same_element(a.get<float>(i), b.get<float>(i))
                       : a.dtype == DType::Float64 ? same_element(a.get<double>(i), b.get<double>(i))
                       : a.dtype == DType::Float16 ? same_element(a.get<pl::half>(i), b.get<pl::half>(i))
                       : a.dtype == DType::BFloat16
                           ? same_element(a.get<pl::bfloat16>(i), b.get<pl::bfloat16>(i))
                           : std::memcmp(a.bytes.data() + at, b.bytes.data() + at, size) == 0;
    if (!equal) return false;
  }
  return true;
}

/// CHECKs equality and shows both where they differ.
#define CHECK_SAME(given, expected)                                     \
  do {                                                                  \
    const ::trilith::codegen::Value given_value = (given);              \
    const ::trilith::codegen::Value expected_value = (expected);        \
    CAPTURE(::trilith::codegen::reference::to_text(given_value));       \
    CAPTURE(::trilith::codegen::reference::to_text(expected_value));    \
    CHECK(::trilith::codegen::test::same(given_value, expected_value)); \
  } while (false)

/// The message of the error that `call` throws, or "no error".
template <class Error, class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}
#define CHECK_CONTAINS(text, part)                        \
  do {                                                    \
    const std::string contains_text = (text);             \
    CAPTURE(contains_text);                               \
    CHECK(contains_text.find(part) != std::string::npos); \
  } while (false)

inline constexpr float inf32 = std::numeric_limits<float>::infinity();
inline constexpr float nan32 = std::numeric_limits<float>::quiet_NaN();
inline constexpr double inf64 = std::numeric_limits<double>::infinity();
inline constexpr double nan64 = std::numeric_limits<double>::quiet_NaN();
inline constexpr std::int32_t lowest32 = std::numeric_limits<std::int32_t>::min();
inline constexpr std::int32_t highest32 = std::numeric_limits<std::int32_t>::max();
inline constexpr std::int64_t lowest64 = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t highest64 = std::numeric_limits<std::int64_t>::max();

}  // namespace trilith::codegen::test
