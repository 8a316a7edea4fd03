#include "codegen/ir.hpp"

#include <bit>
#include <limits>

namespace trilith::codegen {

Constant Constant::of(bool value) { return {DType::Bool, value ? 1u : 0u}; }
Constant Constant::of(std::int32_t value) {
  return {DType::Int32, static_cast<std::uint64_t>(static_cast<std::int64_t>(value))};
}
Constant Constant::of(std::int64_t value) { return {DType::Int64, static_cast<std::uint64_t>(value)}; }
Constant Constant::of(float value) { return {DType::Float32, std::bit_cast<std::uint32_t>(value)}; }
Constant Constant::of(double value) { return {DType::Float64, std::bit_cast<std::uint64_t>(value)}; }

Constant Constant::of(DType dtype, std::int64_t value) {
  if (dtype == DType::Bool) return of(value != 0);
  if (dtype == DType::Float16) return {dtype, pl::half(value).bits};
  if (dtype == DType::BFloat16) return {dtype, pl::bfloat16(value).bits};
  if (dtype == DType::Float32) return of(static_cast<float>(value));
  if (dtype == DType::Float64) return of(static_cast<double>(value));
  const auto unused = static_cast<int>(64 - 8 * size_of(dtype));
  const auto bits = static_cast<std::uint64_t>(value) << unused;
  return {dtype, is_signed_integer(dtype)
                     ? static_cast<std::uint64_t>(static_cast<std::int64_t>(bits) >> unused)
                     : bits >> unused};
}

Constant Constant::rounded(DType dtype, double value) {
  if (dtype == DType::Float16) return {dtype, pl::half(value).bits};
  if (dtype == DType::BFloat16) return {dtype, pl::bfloat16(value).bits};
  if (dtype == DType::Float32) return of(static_cast<float>(value));
  return of(value);
}

Constant Constant::lowest(DType dtype) {
  if (is_floating(dtype)) return rounded(dtype, -std::numeric_limits<double>::infinity());
  if (!is_signed_integer(dtype)) return of(dtype, 0);
  return of(dtype, std::numeric_limits<std::int64_t>::min() >> (64 - 8 * size_of(dtype)));
}

Constant Constant::highest(DType dtype) {
  if (is_floating(dtype)) return rounded(dtype, std::numeric_limits<double>::infinity());
  return of(dtype, is_signed_integer(dtype) ? ~lowest(dtype).as_int64() : -1);
}

std::int64_t Constant::as_int64() const { return static_cast<std::int64_t>(bits); }

double Constant::as_double() const {
  if (dtype == DType::Float16) return pl::half::from_bits(static_cast<std::uint16_t>(bits));
  if (dtype == DType::BFloat16) return pl::bfloat16::from_bits(static_cast<std::uint16_t>(bits));
  if (dtype == DType::Float32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  if (dtype == DType::Float64) return std::bit_cast<double>(bits);
  if (dtype == DType::UInt64) return static_cast<double>(bits);
  return static_cast<double>(as_int64());
}

}  // namespace trilith::codegen
