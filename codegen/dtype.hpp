// codegen/dtype.hpp -- the element types of tensors, tiles and scalars.
//
// Thread-safety: everything here is a pure function or a constant.
#pragma once

#include "codegen/half.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace trilith::codegen {

/// Element types of `language.md`. The numeric values are part of the IR format: append only.
enum class DType : std::uint8_t {
  Bool,
  Int8,
  Int16,
  Int32,
  Int64,
  UInt8,
  UInt16,
  UInt32,
  UInt64,
  Float16,
  BFloat16,
  Float32,
  Float64,
};

inline constexpr int dtype_count = 13;

/// Size of one element in bytes.
[[nodiscard]] constexpr std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::Bool:
    case DType::Int8:
    case DType::UInt8: return 1;
    case DType::Int16:
    case DType::UInt16:
    case DType::Float16:
    case DType::BFloat16: return 2;
    case DType::Int32:
    case DType::UInt32:
    case DType::Float32: return 4;
    case DType::Int64:
    case DType::UInt64:
    case DType::Float64: return 8;
  }
  return 0;
}

[[nodiscard]] constexpr bool is_floating(DType dtype) {
  return dtype == DType::Float16 || dtype == DType::BFloat16 || dtype == DType::Float32 ||
         dtype == DType::Float64;
}

[[nodiscard]] constexpr bool is_integer(DType dtype) {
  return dtype >= DType::Int8 && dtype <= DType::UInt64;
}

[[nodiscard]] constexpr bool is_signed_integer(DType dtype) {
  return dtype >= DType::Int8 && dtype <= DType::Int64;
}

/// The name used in IR text, JSON, messages and on command lines ("float", "int32", "bool", ...).
[[nodiscard]] constexpr std::string_view name_of(DType dtype) {
  constexpr std::string_view names[dtype_count] = {"bool",     "int8",   "int16",  "int32",  "int64",
                                                   "uint8",    "uint16", "uint32", "uint64", "half",
                                                   "bfloat16", "float",  "double"};
  return names[static_cast<int>(dtype)];
}

/// The spelling in emitted C++ ("float", "std::int32_t", ...).
[[nodiscard]] constexpr std::string_view cpp_name_of(DType dtype) {
  constexpr std::string_view names[dtype_count] = {
      "bool",         "std::int8_t",   "std::int16_t",  "std::int32_t",  "std::int64_t",
      "std::uint8_t", "std::uint16_t", "std::uint32_t", "std::uint64_t", "pl::half",
      "pl::bfloat16", "float",         "double"};
  return names[static_cast<int>(dtype)];
}

[[nodiscard]] constexpr std::optional<DType> dtype_from_name(std::string_view name) {
  for (int i = 0; i < dtype_count; ++i)
    if (name_of(static_cast<DType>(i)) == name) return static_cast<DType>(i);
  return std::nullopt;
}

/// half and bfloat16: floats of 16 bits, computed in float and rounded after every operation.
[[nodiscard]] constexpr bool is_narrow_float(DType dtype) {
  return dtype == DType::Float16 || dtype == DType::BFloat16;
}

/// Maps a C++ type to its DType: `dtype_of<float> == DType::Float32`.
template <class T>
inline constexpr DType dtype_of = [] {
  static_assert(std::is_integral_v<T>, "this C++ type is no Trilith dtype");
  // `char`, `long long` and the like: the integer of their size and sign.
  constexpr DType signed_ones[] = {DType::Int8, DType::Int16, DType::Int32, DType::Int64};
  constexpr DType unsigned_ones[] = {DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64};
  constexpr int log = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  return std::is_signed_v<T> ? signed_ones[log] : unsigned_ones[log];
}();
template <>
inline constexpr DType dtype_of<bool> = DType::Bool;
template <>
inline constexpr DType dtype_of<std::int8_t> = DType::Int8;
template <>
inline constexpr DType dtype_of<std::int16_t> = DType::Int16;
template <>
inline constexpr DType dtype_of<std::int32_t> = DType::Int32;
template <>
inline constexpr DType dtype_of<std::int64_t> = DType::Int64;
template <>
inline constexpr DType dtype_of<std::uint8_t> = DType::UInt8;
template <>
inline constexpr DType dtype_of<std::uint16_t> = DType::UInt16;
template <>
inline constexpr DType dtype_of<std::uint32_t> = DType::UInt32;
template <>
inline constexpr DType dtype_of<std::uint64_t> = DType::UInt64;
template <>
inline constexpr DType dtype_of<pl::half> = DType::Float16;
template <>
inline constexpr DType dtype_of<pl::bfloat16> = DType::BFloat16;
template <>
inline constexpr DType dtype_of<float> = DType::Float32;
template <>
inline constexpr DType dtype_of<double> = DType::Float64;

}  // namespace trilith::codegen
