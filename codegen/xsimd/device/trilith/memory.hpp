// trilith/memory.hpp -- vectors from and to memory: whole, partial, strided, streaming; bools as bytes.
//
// Pointers need no alignment beyond the element's own, except those of store_streaming. The partial forms
// touch elements [0, n) and no byte beside them: a tile may end at the last byte of a page.
#pragma once

#include "target.hpp"

namespace trilith::device {

namespace native {

template <class T>
TRILITH_INLINE Vector<T> load(const T* from) {
  Vector<T> result;
  __builtin_memcpy(&result, from, sizeof result);
  return result;
}
template <class T>
TRILITH_INLINE void store(T* to, Vector<T> value) {
  __builtin_memcpy(to, &value, sizeof value);
}

/// Bits [0, n) of a register of `count` elements; n may lie outside [0, count].
TRILITH_INLINE std::uint64_t first_bits(int n, int count) {
  if (n <= 0) return 0;
  return ~std::uint64_t{0} >> (64 - (n < count ? n : count));
}

/// Narrow elements of a part of a vector go over the stack: a branch for each of 32 would be slower and large.
template <class T>
TRILITH_INLINE Vector<T> load_over_stack(const T* from, int n, T fill) {
  Vector<T> result = splat<T>(fill);
  __builtin_memcpy(&result, from, sizeof(T) * (n <= 0 ? 0 : n < lanes<T> ? n : lanes<T>));
  return result;
}
template <class T>
TRILITH_INLINE void store_over_stack(T* to, Vector<T> value, int n) {
  __builtin_memcpy(to, &value, sizeof(T) * (n <= 0 ? 0 : n < lanes<T> ? n : lanes<T>));
}

template <class T>
TRILITH_INLINE Vector<T> load_partial(const T* from, int n, T fill) {
#if defined(__AVX512BW__)
  if constexpr (sizeof(T) == 1)
    return (Vector<T>)_mm512_mask_loadu_epi8((__m512i)splat<T>(fill), first_bits(n, lanes<T>), from);
  if constexpr (sizeof(T) == 2)
    return (Vector<T>)_mm512_mask_loadu_epi16((__m512i)splat<T>(fill),
                                              static_cast<__mmask32>(first_bits(n, lanes<T>)), from);
#endif
  if constexpr (sizeof(T) <= 2) return load_over_stack<T>(from, n, fill);
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    return (Vector<T>)_mm512_mask_loadu_epi32((__m512i)splat<T>(fill),
                                              static_cast<__mmask16>(first_bits(n, lanes<T>)), from);
  else if constexpr (sizeof(T) == 8)
    return (Vector<T>)_mm512_mask_loadu_epi64((__m512i)splat<T>(fill),
                                              static_cast<__mmask8>(first_bits(n, lanes<T>)), from);
  else
#elif defined(__AVX2__)
  if constexpr (sizeof(T) == 4) {
    const I32 inside = (I32)(count_from<std::int32_t>(0) < n);
    return inside ? (Vector<T>)_mm256_maskload_epi32(reinterpret_cast<const int*>(from), (__m256i)inside)
                  : splat<T>(fill);
  } else if constexpr (sizeof(T) == 8) {
    const I64 inside = (I64)(count_from<std::int64_t>(0) < static_cast<std::int64_t>(n));
    return inside
               ? (Vector<T>)_mm256_maskload_epi64(reinterpret_cast<const long long*>(from), (__m256i)inside)
               : splat<T>(fill);
  } else
#endif
  {
    Vector<T> result = splat<T>(fill);
    for (int i = 0; i < lanes<T>; ++i)
      if (i < n) result[i] = from[i];
    return result;
  }
}

template <class T>
TRILITH_INLINE void store_partial(T* to, Vector<T> value, int n) {
#if defined(__AVX512BW__)
  if constexpr (sizeof(T) == 1) return _mm512_mask_storeu_epi8(to, first_bits(n, lanes<T>), (__m512i)value);
  if constexpr (sizeof(T) == 2)
    return _mm512_mask_storeu_epi16(to, static_cast<__mmask32>(first_bits(n, lanes<T>)), (__m512i)value);
#endif
  if constexpr (sizeof(T) <= 2) return store_over_stack<T>(to, value, n);
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(first_bits(n, lanes<T>)), (__m512i)value);
  else if constexpr (sizeof(T) == 8)
    _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(first_bits(n, lanes<T>)), (__m512i)value);
  else
#elif defined(__AVX2__)
  if constexpr (sizeof(T) == 4)
    _mm256_maskstore_epi32(reinterpret_cast<int*>(to), (__m256i)(count_from<std::int32_t>(0) < n),
                           (__m256i)value);
  else if constexpr (sizeof(T) == 8)
    _mm256_maskstore_epi64(reinterpret_cast<long long*>(to),
                           (__m256i)(count_from<std::int64_t>(0) < static_cast<std::int64_t>(n)),
                           (__m256i)value);
  else
#endif
  {
    for (int i = 0; i < lanes<T>; ++i)
      if (i < n) to[i] = value[i];
  }
}

template <class T>
TRILITH_INLINE void store_streaming(T* to, Vector<T> value) {
#if defined(__clang__)
  __builtin_nontemporal_store(value, reinterpret_cast<Vector<T>*>(to));
#elif defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), (__m512i)value);
#elif defined(__AVX__)
  _mm256_stream_si256(reinterpret_cast<__m256i*>(to), (__m256i)value);
#elif defined(__SSE2__)
  _mm_stream_si128(reinterpret_cast<__m128i*>(to), (__m128i)value);
#else
  store<T>(to, value);
#endif
}

}  // namespace native

/// from[0], ..., from[N - 1].
template <class T, int N>
TRILITH_INLINE Vec<T, N> load(const T* from) {
  if constexpr (N == lanes<T>) {
    return native::wrap<T>(native::load<T>(from));
  } else {
    Wide<T, N> result;
    for (int i = 0; i < result.parts; ++i)
      result.part[i] = native::wrap<T>(native::load<T>(from + i * lanes<T>));
    return result;
  }
}

/// from[0], ..., from[n - 1], then `fill`; reads nothing else. Any n: below 0 means 0, above N means N.
template <class T, int N>
TRILITH_INLINE Vec<T, N> load_partial(const T* from, int n, T fill = T(0)) {
  if constexpr (N == lanes<T>) {
    return native::wrap<T>(native::load_partial<T>(from, n, fill));
  } else {
    Wide<T, N> result;
    for (int i = 0; i < result.parts; ++i)
      result.part[i] = native::wrap<T>(native::load_partial<T>(from + i * lanes<T>, n - i * lanes<T>, fill));
    return result;
  }
}

template <class T>
TRILITH_INLINE void store(T* to, const xsimd::batch<T>& value) {
  native::store<T>(to, native::unwrap(value));
}
template <class T, int N>
TRILITH_INLINE void store(T* to, const Wide<T, N>& value) {
  for (int i = 0; i < value.parts; ++i) store(to + i * lanes<T>, value.part[i]);
}

/// Writes to[0], ..., to[n - 1] and nothing else. Any n, as for load_partial.
template <class T>
TRILITH_INLINE void store_partial(T* to, const xsimd::batch<T>& value, int n) {
  native::store_partial<T>(to, native::unwrap(value), n);
}
template <class T, int N>
TRILITH_INLINE void store_partial(T* to, const Wide<T, N>& value, int n) {
  for (int i = 0; i < value.parts; ++i) store_partial(to + i * lanes<T>, value.part[i], n - i * lanes<T>);
}

/// Past the caches, for results larger than they are. `to` must be aligned to the register; other threads see
/// the values only after streaming_fence().
template <class T>
TRILITH_INLINE void store_streaming(T* to, const xsimd::batch<T>& value) {
  native::store_streaming<T>(to, native::unwrap(value));
}
template <class T, int N>
TRILITH_INLINE void store_streaming(T* to, const Wide<T, N>& value) {
  for (int i = 0; i < value.parts; ++i) store_streaming(to + i * lanes<T>, value.part[i]);
}
TRILITH_INLINE void streaming_fence() {
#if defined(__SSE2__)
  _mm_sfence();
#else
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/// to[i * to_stride] = from[i * from_stride] for i < n. A function that is called, and a loop: it ends rows, so its code
/// counts and its speed does not.
template <class T>
__attribute__((noinline)) void copy_strided(T* to, std::int64_t to_stride, const T* from,
                                            std::int64_t from_stride, int n) {
#if defined(__clang__)
#pragma clang loop unroll(disable) vectorize(disable)
#endif
  for (int i = 0; i < n; ++i) to[i * to_stride] = from[i * from_stride];
}

/// from[0], from[stride], ..., from[(N - 1) * stride].
template <class T, int N>
TRILITH_INLINE Vec<T, N> load_strided(const T* from, std::int64_t stride) {
  T elements[N];
  for (int i = 0; i < N; ++i) elements[i] = from[i * stride];
  return load<T, N>(elements);
}
/// The first n of them, then `fill`; reads nothing else.
template <class T, int N>
TRILITH_INLINE Vec<T, N> load_strided(const T* from, std::int64_t stride, int n, T fill = T(0)) {
  T elements[N];
  for (T& element : elements) element = fill;
  copy_strided(elements, 1, from, stride, n < N ? n : N);
  return load<T, N>(elements);
}
template <int N, class V, class T>
TRILITH_INLINE void store_strided_elements(T* to, std::int64_t stride, const V& value) {
  T elements[N];
  store(elements, value);
  for (int i = 0; i < N; ++i) to[i * stride] = elements[i];
}
template <int N, class V, class T>
TRILITH_INLINE void store_strided_elements(T* to, std::int64_t stride, const V& value, int n) {
  T elements[N];
  store(elements, value);
  copy_strided<T>(to, stride, elements, 1, n < N ? n : N);
}
/// Writes to[0], to[stride], ..., to[(n - 1) * stride] and nothing else; without n, N elements.
template <class T>
TRILITH_INLINE void store_strided(T* to, std::int64_t stride, const xsimd::batch<T>& value) {
  store_strided_elements<lanes<T>>(to, stride, value);
}
template <class T>
TRILITH_INLINE void store_strided(T* to, std::int64_t stride, const xsimd::batch<T>& value, int n) {
  store_strided_elements<lanes<T>>(to, stride, value, n);
}
template <class T, int N>
TRILITH_INLINE void store_strided(T* to, std::int64_t stride, const Wide<T, N>& value) {
  store_strided_elements<N>(to, stride, value);
}
template <class T, int N>
TRILITH_INLINE void store_strided(T* to, std::int64_t stride, const Wide<T, N>& value, int n) {
  store_strided_elements<N>(to, stride, value, n);
}

/// N bools of one byte each, 0 or 1.
template <int N>
TRILITH_INLINE Mask<N> load_mask(const bool* from) {
  std::uint64_t bits = 0;
  for (int i = 0; i < N; i += 8) {
    std::uint64_t bytes = 0;
    __builtin_memcpy(&bytes, from + i, N - i < 8 ? N - i : 8);
    bits |= native::gather_bytes(bytes) << i;
  }
  return {static_cast<typename Mask<N>::Bits>(bits)};
}
/// The first n, then false; reads nothing else.
template <int N>
TRILITH_INLINE Mask<N> load_mask_partial(const bool* from, int n) {
  if (n >= N) return load_mask<N>(from);
  std::uint64_t bits = 0;
  for (int i = 0; i < N; ++i)
    if (i < n) bits |= static_cast<std::uint64_t>(from[i]) << i;
  return {static_cast<typename Mask<N>::Bits>(bits)};
}
template <int N>
TRILITH_INLINE void store_mask(bool* to, Mask<N> value) {
  for (int i = 0; i < N; i += 8) {
    const std::uint64_t bytes = native::spread_bits(static_cast<std::uint64_t>(value.bits) >> i);
    __builtin_memcpy(to + i, &bytes, N - i < 8 ? N - i : 8);
  }
}
template <int N>
TRILITH_INLINE void store_mask_partial(bool* to, Mask<N> value, int n) {
  if (n >= N) return store_mask(to, value);
  for (int i = 0; i < N; ++i)
    if (i < n) to[i] = element(value, i);
}

/// As load_strided and store_strided, for bools.
template <int N>
TRILITH_INLINE Mask<N> load_mask_strided(const bool* from, std::int64_t stride, int n = N) {
  std::uint64_t bits = 0;
  for (int i = 0; i < N; ++i)
    if (i < n) bits |= static_cast<std::uint64_t>(from[i * stride]) << i;
  return {static_cast<typename Mask<N>::Bits>(bits)};
}
template <int N>
TRILITH_INLINE void store_mask_strided(bool* to, std::int64_t stride, Mask<N> value, int n = N) {
  for (int i = 0; i < N; ++i)
    if (i < n) to[i * stride] = element(value, i);
}

}  // namespace trilith::device
