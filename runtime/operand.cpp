#include "pl/detail/operand.hpp"

#include <cmath>
#include <limits>

namespace pl::detail {
namespace {

template <class T>
Value integer_value(double value, DType dtype, const std::source_location& where) {
  // 2^63 is exact in double while the largest int64 is not: compare against the exclusive power of two.
  const double limit = std::ldexp(1.0, std::numeric_limits<T>::digits);
  const double lowest = std::numeric_limits<T>::is_signed ? -limit : 0.0;
  if (value < lowest || value >= limit)
    throw DtypeError("the constant " + std::to_string(static_cast<long long>(value)) + " does not fit " +
                         std::string(trilith::codegen::name_of(dtype)) +
                         "; use a smaller constant or convert the tile with pl::cast",
                     location_of(where));
  return Value::scalar(static_cast<T>(value));
}

}  // namespace

Value number_as(DType dtype, double value, bool is_integer, const std::source_location& where) {
  switch (dtype) {
    case DType::Float32: return Value::scalar(static_cast<float>(value));
    case DType::Float64: return Value::scalar(value);
    default: break;
  }
  if (!is_integer)
    throw DtypeError("a floating constant stands beside a tile of " +
                         std::string(trilith::codegen::name_of(dtype)) +
                         "; convert the tile with pl::cast<float>(…) or use an integer constant",
                     location_of(where));
  switch (dtype) {
    case DType::Bool: return Value::scalar(value != 0);
    case DType::Int8: return integer_value<std::int8_t>(value, dtype, where);
    case DType::Int16: return integer_value<std::int16_t>(value, dtype, where);
    case DType::Int32: return integer_value<std::int32_t>(value, dtype, where);
    case DType::Int64: return integer_value<std::int64_t>(value, dtype, where);
    case DType::UInt8: return integer_value<std::uint8_t>(value, dtype, where);
    case DType::UInt16: return integer_value<std::uint16_t>(value, dtype, where);
    case DType::UInt32: return integer_value<std::uint32_t>(value, dtype, where);
    case DType::UInt64: return integer_value<std::uint64_t>(value, dtype, where);
    default: break;
  }
  throw DtypeError("dtype " + std::string(trilith::codegen::name_of(dtype)) + " is not built yet",
                   location_of(where));
}

}  // namespace pl::detail
