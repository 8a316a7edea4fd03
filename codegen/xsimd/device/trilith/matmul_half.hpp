// trilith/matmul_half.hpp -- matrix products of half and bfloat16: their elements are widened as they are read, and
// summed in float.
#pragma once

#include "half.hpp"
#include "matmul_operand.hpp"

namespace trilith::device::product {

template <NarrowFloat T>
struct Widening<float, T> {
  TRILITH_INLINE static Vector<float> whole(const T* from) {
    native::Patterns patterns;
    __builtin_memcpy(&patterns, from, sizeof patterns);
    return native::widened<T>(patterns);
  }
  TRILITH_INLINE static Vector<float> partial(const T* from, int n) {
    return native::widened<T>(native::load_patterns(from, n, 0));
  }
};

}  // namespace trilith::device::product
