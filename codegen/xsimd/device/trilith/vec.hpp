// trilith/vec.hpp -- the values of emitted kernels: vectors of N elements, masks of N bools.
//
// A vector is one xsimd::batch, or several where a loop runs wider than one register (float and double in one
// loop). The bodies in this folder work on the compiler's own vector of the same register (`native`): one
// line of source becomes one instruction of IR, where the layers of xsimd's dispatch would cost the
// in-process compiler time in every kernel, and a few of xsimd 8.1's functions are wrong (exp near overflow,
// max with a NaN, xor of AVX-512 masks).
#pragma once

#include <xsimd/xsimd.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

#define TRILITH_INLINE inline __attribute__((always_inline))

// First in a body whose error terms a contraction would falsify: kernels of fast_math are compiled with it.
#if defined(__clang__)
#define TRILITH_NO_CONTRACTION _Pragma("clang fp contract(off)")
#else
#define TRILITH_NO_CONTRACTION
#endif

namespace trilith::device {

/// Elements of T in one register of the target.
template <class T>
inline constexpr int lanes = static_cast<int>(xsimd::batch<T>::size);

/// N elements of T in several registers.
template <class T, int N>
struct Wide {
  static_assert(N > lanes<T> && N % lanes<T> == 0, "a Wide is a whole number of registers");
  static constexpr int parts = N / lanes<T>;
  xsimd::batch<T> part[parts];
};

/// N bools, element i in bit i; the bits from N on are zero.
template <int N>
struct Mask {
  static_assert(N >= 1 && N <= 64, "a mask has at most 64 elements");
  using Bits = std::conditional_t<
      N <= 8, std::uint8_t,
      std::conditional_t<N <= 16, std::uint16_t, std::conditional_t<N <= 32, std::uint32_t, std::uint64_t>>>;
  static constexpr std::uint64_t all = ~std::uint64_t{0} >> (64 - N);
  Bits bits;
};

template <class T, int N>
struct VecOf {
  using type = std::conditional_t<N == lanes<T>, xsimd::batch<T>, Wide<T, N>>;
};
template <int N>
struct VecOf<bool, N> {
  using type = Mask<N>;
};
/// N elements of T: a batch, a Wide, or for bool a Mask.
template <class T, int N>
using Vec = typename VecOf<T, N>::type;

namespace native {

template <class T, int N>
struct VectorOf {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};
/// The compiler's vector of N elements of T, by default one register of them.
template <class T, int N = lanes<T>>
using Vector = typename VectorOf<T, N>::type;

using F32 = Vector<float>;
using F64 = Vector<double>;
using I32 = Vector<std::int32_t>;
using I64 = Vector<std::int64_t>;
using U32 = Vector<std::uint32_t>;
using U64 = Vector<std::uint64_t>;

template <int Bytes>
struct IntegerOf;
template <>
struct IntegerOf<1> {
  using type = std::int8_t;
};
template <>
struct IntegerOf<2> {
  using type = std::int16_t;
};
template <>
struct IntegerOf<4> {
  using type = std::int32_t;
};
template <>
struct IntegerOf<8> {
  using type = std::int64_t;
};
/// The signed integer as wide as T: what comparisons of vectors of T give, 0 or -1 an element.
template <class T>
using Integer = typename IntegerOf<sizeof(T)>::type;
template <class T>
using Unsigned = std::make_unsigned_t<Integer<T>>;

template <class T>
TRILITH_INLINE Vector<T> unwrap(const xsimd::batch<T>& x) {
  return (Vector<T>)x.data;
}
template <class T>
TRILITH_INLINE xsimd::batch<T> wrap(Vector<T> x) {
  xsimd::batch<T> result;
  result.data = (typename xsimd::batch<T>::register_type)x;
  return result;
}
template <class T>
TRILITH_INLINE Vector<T> splat(T x) {
  return x - Vector<T>{};  // x - (+0) is x for every x, also -0
}

}  // namespace native

/// Every element x.
template <class T, int N>
TRILITH_INLINE Vec<T, N> splat(T x) {
  if constexpr (N == lanes<T>) {
    return native::wrap<T>(native::splat<T>(x));
  } else {
    Wide<T, N> result;
    for (int i = 0; i < result.parts; ++i) result.part[i] = splat<T, lanes<T>>(x);
    return result;
  }
}

template <int N>
TRILITH_INLINE Mask<N> splat_mask(bool x) {
  return {static_cast<typename Mask<N>::Bits>(x ? Mask<N>::all : 0)};
}

namespace native {
template <class T>
struct Counting {
  T values[64];
  constexpr Counting() : values{} {
    for (int i = 0; i < 64; ++i) values[i] = static_cast<T>(i);
  }
};
template <class T>
inline constexpr Counting<T> counting{};

/// first, first + 1, ... with `offset` < 64 added, rounded once.
template <class T>
TRILITH_INLINE Vector<T> count_from(T first, int offset = 0) {
  Vector<T> steps;
  __builtin_memcpy(&steps, counting<T>.values + offset, sizeof steps);
  if constexpr (std::is_integral_v<T>) {
    using U = Vector<Unsigned<T>>;
    return (Vector<T>)((U)splat<T>(first) + (U)steps);
  } else {
    return splat<T>(first) + steps;
  }
}
}  // namespace native

/// start, start + 1, ..., start + N - 1; integers wrap, floats are rounded once.
template <class T, int N>
TRILITH_INLINE Vec<T, N> iota(T start) {
  if constexpr (N == lanes<T>) {
    return native::wrap<T>(native::count_from<T>(start));
  } else {
    Wide<T, N> result;
    for (int i = 0; i < result.parts; ++i)
      result.part[i] = native::wrap<T>(native::count_from<T>(start, i * lanes<T>));
    return result;
  }
}

/// Element i; for tests and for lane-by-lane fallbacks.
template <class T>
TRILITH_INLINE T element(const xsimd::batch<T>& x, int i) {
  return native::unwrap(x)[i];
}
template <class T, int N>
TRILITH_INLINE T element(const Wide<T, N>& x, int i) {
  return native::unwrap(x.part[i / lanes<T>])[i % lanes<T>];
}
template <int N>
TRILITH_INLINE bool element(Mask<N> x, int i) {
  return (static_cast<std::uint64_t>(x.bits) >> i) & 1;
}

}  // namespace trilith::device
