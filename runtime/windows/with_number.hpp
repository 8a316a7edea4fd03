// runtime/windows/with_number.hpp -- a dtype's number of C++, for loops over elements.
#pragma once

#include "codegen/dtype.hpp"
#include "codegen/error.hpp"
#include "codegen/half.hpp"

#include <cstdint>
#include <string>

namespace pl::detail {

/// Calls use with a null pointer of the dtype's C++ type. Throws DtypeError for bool: `what` is "a reduction".
template <class Use>
void with_number(trilith::codegen::DType dtype, const char* what, const Use& use) {
  using trilith::codegen::DType;
  switch (dtype) {
    case DType::Int8: return use(static_cast<std::int8_t*>(nullptr));
    case DType::Int16: return use(static_cast<std::int16_t*>(nullptr));
    case DType::Int32: return use(static_cast<std::int32_t*>(nullptr));
    case DType::Int64: return use(static_cast<std::int64_t*>(nullptr));
    case DType::UInt8: return use(static_cast<std::uint8_t*>(nullptr));
    case DType::UInt16: return use(static_cast<std::uint16_t*>(nullptr));
    case DType::UInt32: return use(static_cast<std::uint32_t*>(nullptr));
    case DType::UInt64: return use(static_cast<std::uint64_t*>(nullptr));
    case DType::Float16: return use(static_cast<pl::half*>(nullptr));
    case DType::BFloat16: return use(static_cast<pl::bfloat16*>(nullptr));
    case DType::Float32: return use(static_cast<float*>(nullptr));
    case DType::Float64: return use(static_cast<double*>(nullptr));
    default: throw DtypeError(what + std::string(" of bool; convert it with pl::cast<std::int32_t>(…)"));
  }
}

}  // namespace pl::detail
