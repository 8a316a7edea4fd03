// trilith/lift.hpp -- macros that give one `native` function its public overloads: on scalars, on batches and
// on Wides.
//
// The overloads for scalars and batches are no templates: the precompiled header then holds them ready, and
// a kernel's compilation neither deduces nor instantiates them.
#pragma once

#include "vec.hpp"

namespace trilith::device::native {
template <class V>
using Element = std::remove_cvref_t<decltype(std::declval<V&>()[0])>;
}

#define TRILITH_BATCH_1(name, T)                                  \
  TRILITH_INLINE xsimd::batch<T> name(const xsimd::batch<T>& x) { \
    return native::wrap<T>(native::name(native::unwrap(x)));      \
  }
#define TRILITH_BATCH_2(name, T)                                                            \
  TRILITH_INLINE xsimd::batch<T> name(const xsimd::batch<T>& a, const xsimd::batch<T>& b) { \
    return native::wrap<T>(native::name(native::unwrap(a), native::unwrap(b)));             \
  }
#define TRILITH_BATCH_3(name, T)                                                                   \
  TRILITH_INLINE xsimd::batch<T> name(const xsimd::batch<T>& a, const xsimd::batch<T>& b,          \
                                      const xsimd::batch<T>& c) {                                  \
    return native::wrap<T>(native::name(native::unwrap(a), native::unwrap(b), native::unwrap(c))); \
  }
#define TRILITH_BATCH_COMPARE(name, T)                                                                       \
  TRILITH_INLINE Mask<lanes<T>> name(const xsimd::batch<T>& a, const xsimd::batch<T>& b) {                   \
    return {static_cast<typename Mask<lanes<T>>::Bits>(native::name(native::unwrap(a), native::unwrap(b)))}; \
  }
#define TRILITH_BATCH_TEST(name, T)                                              \
  TRILITH_INLINE Mask<lanes<T>> name(const xsimd::batch<T>& x) {                 \
    return {static_cast<Mask<lanes<T>>::Bits>(native::name(native::unwrap(x)))}; \
  }

#define TRILITH_WIDE_1(name)                                                         \
  template <class T, int N>                                                          \
  TRILITH_INLINE Wide<T, N> name(const Wide<T, N>& x) {                              \
    Wide<T, N> result;                                                               \
    for (int i = 0; i < result.parts; ++i) result.part[i] = device::name(x.part[i]); \
    return result;                                                                   \
  }
#define TRILITH_WIDE_2(name)                                                                    \
  template <class T, int N>                                                                     \
  TRILITH_INLINE Wide<T, N> name(const Wide<T, N>& a, const Wide<T, N>& b) {                    \
    Wide<T, N> result;                                                                          \
    for (int i = 0; i < result.parts; ++i) result.part[i] = device::name(a.part[i], b.part[i]); \
    return result;                                                                              \
  }
#define TRILITH_WIDE_3(name)                                                                               \
  template <class T, int N>                                                                                \
  TRILITH_INLINE Wide<T, N> name(const Wide<T, N>& a, const Wide<T, N>& b, const Wide<T, N>& c) {          \
    Wide<T, N> result;                                                                                     \
    for (int i = 0; i < result.parts; ++i) result.part[i] = device::name(a.part[i], b.part[i], c.part[i]); \
    return result;                                                                                         \
  }
#define TRILITH_WIDE_COMPARE(name)                                                                   \
  template <class T, int N>                                                                          \
  TRILITH_INLINE Mask<N> name(const Wide<T, N>& a, const Wide<T, N>& b) {                            \
    std::uint64_t bits = 0;                                                                          \
    for (int i = 0; i < a.parts; ++i)                                                                \
      bits |= static_cast<std::uint64_t>(device::name(a.part[i], b.part[i]).bits) << (i * lanes<T>); \
    return {static_cast<typename Mask<N>::Bits>(bits)};                                              \
  }
#define TRILITH_WIDE_TEST(name)                                                           \
  template <class T, int N>                                                               \
  TRILITH_INLINE Mask<N> name(const Wide<T, N>& x) {                                      \
    std::uint64_t bits = 0;                                                               \
    for (int i = 0; i < x.parts; ++i)                                                     \
      bits |= static_cast<std::uint64_t>(device::name(x.part[i]).bits) << (i * lanes<T>); \
    return {static_cast<typename Mask<N>::Bits>(bits)};                                   \
  }

// A scalar is lane 0 of a vector: the same bits as the vector gives.
#define TRILITH_SCALAR_1(name, T) \
  TRILITH_INLINE T name(T x) { return native::name(native::splat<T>(x))[0]; }
#define TRILITH_SCALAR_2(name, T) \
  TRILITH_INLINE T name(T a, T b) { return native::name(native::splat<T>(a), native::splat<T>(b))[0]; }
#define TRILITH_SCALAR_3(name, T)                                                          \
  TRILITH_INLINE T name(T a, T b, T c) {                                                   \
    return native::name(native::splat<T>(a), native::splat<T>(b), native::splat<T>(c))[0]; \
  }

/// Floats and doubles, scalars too: for operations whose scalar form has no simpler definition.
#define TRILITH_FLOATING_1(name) \
  TRILITH_SCALAR_1(name, float)  \
  TRILITH_SCALAR_1(name, double) \
  TRILITH_BATCH_1(name, float)   \
  TRILITH_BATCH_1(name, double)  \
  TRILITH_WIDE_1(name)
#define TRILITH_FLOATING_2(name) \
  TRILITH_SCALAR_2(name, float)  \
  TRILITH_SCALAR_2(name, double) \
  TRILITH_BATCH_2(name, float)   \
  TRILITH_BATCH_2(name, double)  \
  TRILITH_WIDE_2(name)
#define TRILITH_FLOATING_3(name) \
  TRILITH_SCALAR_3(name, float)  \
  TRILITH_SCALAR_3(name, double) \
  TRILITH_BATCH_3(name, float)   \
  TRILITH_BATCH_3(name, double)  \
  TRILITH_WIDE_3(name)

namespace trilith::device {
/// The integers that kernels use less: their overloads are templates, so that the precompiled header does not
/// grow by six instances of every operation.
template <class T>
inline constexpr bool is_other_integer = std::is_integral_v<T> && !std::is_same_v<T, bool> &&
                                         !std::is_same_v<T, std::int32_t> && !std::is_same_v<T, std::int64_t>;
}  // namespace trilith::device

#define TRILITH_OTHER_1(name)    \
  template <class T>             \
    requires is_other_integer<T> \
  TRILITH_BATCH_1(name, T)
#define TRILITH_OTHER_2(name)    \
  template <class T>             \
    requires is_other_integer<T> \
  TRILITH_BATCH_2(name, T)
#define TRILITH_OTHER_3(name)    \
  template <class T>             \
    requires is_other_integer<T> \
  TRILITH_BATCH_3(name, T)

/// Batches and Wides of every element type tiles have; their scalars are in scalar.hpp.
#define TRILITH_NUMERIC_1(name) \
  TRILITH_BATCH_1(name, float)  \
  TRILITH_BATCH_1(name, double) \
  TRILITH_INTEGER_1(name)
#define TRILITH_INTEGER_1(name)       \
  TRILITH_BATCH_1(name, std::int32_t) \
  TRILITH_BATCH_1(name, std::int64_t) \
  TRILITH_OTHER_1(name)               \
  TRILITH_WIDE_1(name)
#define TRILITH_NUMERIC_2(name) \
  TRILITH_BATCH_2(name, float)  \
  TRILITH_BATCH_2(name, double) \
  TRILITH_INTEGER_2(name)
#define TRILITH_INTEGER_2(name)       \
  TRILITH_BATCH_2(name, std::int32_t) \
  TRILITH_BATCH_2(name, std::int64_t) \
  TRILITH_OTHER_2(name)               \
  TRILITH_WIDE_2(name)
#define TRILITH_COMPARE(name)               \
  TRILITH_BATCH_COMPARE(name, float)        \
  TRILITH_BATCH_COMPARE(name, double)       \
  TRILITH_BATCH_COMPARE(name, std::int32_t) \
  TRILITH_BATCH_COMPARE(name, std::int64_t) \
  template <class T>                        \
    requires is_other_integer<T>            \
  TRILITH_BATCH_COMPARE(name, T)            \
  TRILITH_WIDE_COMPARE(name)
