#include "codegen/ir.hpp"

#include <bit>

namespace trilith::codegen {

Constant Constant::of(bool value) { return {DType::Bool, value ? 1u : 0u}; }
Constant Constant::of(std::int32_t value) {
  return {DType::Int32, static_cast<std::uint64_t>(static_cast<std::int64_t>(value))};
}
Constant Constant::of(std::int64_t value) { return {DType::Int64, static_cast<std::uint64_t>(value)}; }
Constant Constant::of(float value) { return {DType::Float32, std::bit_cast<std::uint32_t>(value)}; }
Constant Constant::of(double value) { return {DType::Float64, std::bit_cast<std::uint64_t>(value)}; }

std::int64_t Constant::as_int64() const { return static_cast<std::int64_t>(bits); }

double Constant::as_double() const {
  if (dtype == DType::Float32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  if (dtype == DType::Float64) return std::bit_cast<double>(bits);
  if (dtype == DType::UInt64) return static_cast<double>(bits);
  return static_cast<double>(as_int64());
}

}  // namespace trilith::codegen
