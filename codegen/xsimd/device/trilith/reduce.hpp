// trilith/reduce.hpp -- one value of all elements of a vector, always in the same order.
//
// The upper half is folded onto the lower until one element is left: element i meets i + N/2, then i + N/4
// ... The order depends on N alone, so a Wide and a batch of the same N agree, on every target.
#pragma once

#include "scalar.hpp"

namespace trilith::device {

namespace native {
/// x with its elements [Half, 2 * Half) in the places [0, Half).
template <int Half, class V, std::size_t... Places>
TRILITH_INLINE V fold_down(V x, std::index_sequence<Places...>) {
  return __builtin_shufflevector(x, x, ((Places + Half) % sizeof...(Places))...);
}
}  // namespace native

#define TRILITH_REDUCE(name, operation)                                                       \
  namespace native {                                                                          \
  template <class T, int Count>                                                               \
  TRILITH_INLINE T name(Vector<T> x) {                                                        \
    if constexpr (Count == 1)                                                                 \
      return x[0];                                                                            \
    else                                                                                      \
      return name<T, Count / 2>(                                                              \
          operation(x, fold_down<Count / 2>(x, std::make_index_sequence<lanes<T>>{})));       \
  }                                                                                           \
  }                                                                                           \
  template <class T>                                                                          \
  TRILITH_INLINE T name(const xsimd::batch<T>& x) {                                           \
    return native::name<T, lanes<T>>(native::unwrap(x));                                      \
  }                                                                                           \
  template <class T, int N>                                                                   \
  TRILITH_INLINE T name(const Wide<T, N>& x) {                                                \
    xsimd::batch<T> parts[Wide<T, N>::parts];                                                 \
    for (int i = 0; i < x.parts; ++i) parts[i] = x.part[i];                                   \
    for (int half = x.parts / 2; half > 0; half /= 2)                                         \
      for (int i = 0; i < half; ++i) parts[i] = device::operation(parts[i], parts[i + half]); \
    return name(parts[0]);                                                                    \
  }
TRILITH_REDUCE(reduce_add, add)
TRILITH_REDUCE(reduce_mul, mul)
TRILITH_REDUCE(reduce_max, maximum)
TRILITH_REDUCE(reduce_min, minimum)
#undef TRILITH_REDUCE

}  // namespace trilith::device
