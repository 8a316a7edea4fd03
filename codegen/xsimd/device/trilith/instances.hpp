// trilith/instances.hpp -- uses every template that emitted kernels use, once, so that the precompiled header
// holds the instances ready: a kernel's compilation then makes none of its own.
//
// Never called. N of a loop is the lanes of its narrowest dtype, so only these pairs of T and N occur.
#pragma once

#include "cast.hpp"
#include "kernel.hpp"
#include "memory.hpp"
#include "reduce.hpp"

namespace trilith::device::instances {

template <class T, int N>
inline void vector(T* p, int n) {
  Vec<T, N> a[2] = {load<T, N>(p), load_partial<T, N>(p, n)};
  store(p, load_strided<T, N>(p, n));
  store(p, load_strided<T, N>(p, n, n));
  store(p, splat<T, N>(*p));
  store_partial(p, a[0], n);
  store_strided(p, n, a[1]);
  store_strided(p, n, a[1], n);
  store_streaming(p, a[0]);
  const auto chosen = where(first_lanes<N>(n), a[0], a[1]);
  *p = reduce_add(chosen);
  *p = reduce_mul(chosen);
  *p = reduce_max(chosen);
  *p = reduce_min(chosen);
  const auto same = eq(a[0], a[1]);
  store(p, where(bit_or(same, lt(a[0], a[1])), maximum(a[0], a[1]), add(a[0], cast<T>(same))));
  *p = scalar<T>(nullptr, n);
  n = static_cast<int>(to_alignment(p, n));
}

template <int N>
inline void mask(bool* p, int n) {
  store_mask(p, load_mask<N>(p));
  store_mask_partial(p, load_mask_partial<N>(p, n), n);
  store_mask_strided(p, n, load_mask_strided<N>(p, n));
  store_mask_strided(p, n, load_mask_strided<N>(p, n, n), n);
  store_mask(p, logical_not(logical_and(splat_mask<N>(*p), logical_or(first_lanes<N>(n), load_mask<N>(p)))));
}

template <class U, class T, int N>
inline void cast_one(void* p, T* from) {
  const auto x = load<T, N>(from);
  store(static_cast<U*>(p), cast<U>(x));
  store(static_cast<U*>(p), cast<U, CastMode::Trunc>(x));
  *static_cast<U*>(p) = cast<U>(*from);
  *static_cast<U*>(p) = cast<U, CastMode::Trunc>(*from);
}

inline void all(void* p, int n) {
  constexpr int narrow = lanes<float>, wide = lanes<double>;
  const auto f = static_cast<float*>(p);
  const auto d = static_cast<double*>(p);
  const auto i = static_cast<std::int32_t*>(p);
  const auto l = static_cast<std::int64_t*>(p);
  vector<float, narrow>(f, n);
  vector<std::int32_t, narrow>(i, n);
  vector<double, wide>(d, n);
  vector<std::int64_t, wide>(l, n);
  vector<double, narrow>(d, n);
  vector<std::int64_t, narrow>(l, n);
  mask<narrow>(static_cast<bool*>(p), n);
  mask<wide>(static_cast<bool*>(p), n);
  cast_one<float, std::int32_t, narrow>(p, i);
  cast_one<std::int32_t, float, narrow>(p, f);
  cast_one<double, float, narrow>(p, f);
  cast_one<float, double, narrow>(p, d);
  cast_one<float, std::int64_t, narrow>(p, l);
  cast_one<std::int64_t, float, narrow>(p, f);
  static_cast<Scratch<float>*>(p)->reserve(nullptr, n);
  static_cast<Scratch<double>*>(p)->reserve(nullptr, n);
  static_cast<Scratch<std::int32_t>*>(p)->reserve(nullptr, n);
  static_cast<Scratch<std::int64_t>*>(p)->reserve(nullptr, n);
  static_cast<Scratch<bool>*>(p)->reserve(nullptr, n);
}

}  // namespace trilith::device::instances
