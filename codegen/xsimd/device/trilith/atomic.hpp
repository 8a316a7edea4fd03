// trilith/atomic.hpp -- stores that add: one indivisible step an element, so that kernels on several cores may
// add to one tensor. In which order they add is open; sums of floats depend on it.
#pragma once

#include "vec.hpp"

namespace trilith::device {

template <class T>
TRILITH_INLINE void atomic_add(T* to, T value) {
  if constexpr (std::is_integral_v<T>) {
    // Of the unsigned type: it wraps.
    using U = std::make_unsigned_t<T>;
    __atomic_fetch_add(reinterpret_cast<U*>(to), static_cast<U>(value), __ATOMIC_RELAXED);
  } else {
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>>;
    const auto bits = reinterpret_cast<Bits*>(to);
    Bits old = __atomic_load_n(bits, __ATOMIC_RELAXED);
    for (;;) {
      T sum;
      __builtin_memcpy(&sum, &old, sizeof sum);
      sum = static_cast<T>(sum + value);
      Bits next;
      __builtin_memcpy(&next, &sum, sizeof next);
      if (__atomic_compare_exchange_n(bits, &old, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
    }
  }
}

/// The first n elements of `value` to to[0], to[stride], ...
template <class T, class V>
TRILITH_INLINE void atomic_add(T* to, std::int64_t stride, const V& value, int n) {
  for (int i = 0; i < n; ++i) atomic_add(to + i * stride, element(value, i));
}

}  // namespace trilith::device
