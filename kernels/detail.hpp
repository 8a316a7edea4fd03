// kernels/detail.hpp -- what the kernels here share. Private.
#pragma once

#include <pl/pl.hpp>

#include <type_traits>

namespace pl::kernels::detail {

/// What is computed in: float, but double for double.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

}  // namespace pl::kernels::detail
