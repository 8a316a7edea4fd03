// runtime/model/numbers.hpp -- elements as numbers, for the files that compute.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "codegen/ascendc/model/model_abi.h"
#include "codegen/half.hpp"

namespace trilith::model {

template <class T>
[[nodiscard]] inline T element(const std::byte* run, std::uint64_t index) {
  T value;
  std::memcpy(&value, run + index * sizeof(T), sizeof(T));
  return value;
}
template <class T>
inline void set_element(std::byte* run, std::uint64_t index, T value) {
  std::memcpy(run + index * sizeof(T), &value, sizeof(T));
}

/// What T is computed in: half in float, which has more than twice its digits.
template <class T>
using Wide = std::conditional_t<pl::is_narrow_float<T>, float, T>;

template <class T>
[[nodiscard]] inline Wide<T> greater(Wide<T> a, Wide<T> b) {
  if constexpr (std::is_floating_point_v<Wide<T>>) {
    if (a != a) return a;
    if (b != b) return b;
    if (a == 0 && b == 0) return std::signbit(a) ? b : a;
  }
  return a < b ? b : a;
}
template <class T>
[[nodiscard]] inline Wide<T> lesser(Wide<T> a, Wide<T> b) {
  if constexpr (std::is_floating_point_v<Wide<T>>) {
    if (a != a) return a;
    if (b != b) return b;
    if (a == 0 && b == 0) return std::signbit(a) ? a : b;
  }
  return b < a ? b : a;
}

/// Calls `function.template operator()<T>()` for float or half.
template <class Function>
auto visit_float(AscendC::model::Dtype dtype, Function&& function) {
  if (dtype == AscendC::model::Dtype::F16) return function.template operator()<pl::half>();
  return function.template operator()<float>();
}

}  // namespace trilith::model
