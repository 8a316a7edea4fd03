// codegen/ascendc/integer_functions.hpp -- functions of integers that kernels have in front of them, for tiles and scalars.
#pragma once

namespace trilith::codegen::ascendc::functions {

inline constexpr const char* remainder = R"(
/// With the sign of a, or with that of b; 0 where b is 0.
template <typename T, bool floored>
__aicore__ inline T Remainder(T a, T b) {
  if (b == 0 || (b == static_cast<T>(-1) && b < 0)) return 0;
  const T rest = a % b;
  return floored && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
)";

}  // namespace trilith::codegen::ascendc::functions
