// trilith/half.hpp -- vectors and scalars of half and bfloat16. Only kernels that use one of them include it.
//
// In registers they are floats that hold exactly such values: what is loaded is widened, an operation computes in
// float and rounds its result, what is stored is narrowed without loss. Float has more than twice the digits, so
// rounding twice is rounding once, except in fma, which goes over double. A register holds as many elements as of
// float.
#pragma once

#include "device.hpp"
#include "half_convert.hpp"

namespace trilith::device {

/// N elements of half or bfloat16.
template <class T, int N>
struct Narrow {
  Vec<float, N> floats;
};
template <int N>
struct VecOf<pl::half, N> {
  using type = Narrow<pl::half, N>;
};
template <int N>
struct VecOf<pl::bfloat16, N> {
  using type = Narrow<pl::bfloat16, N>;
};

/// Floats rounded to T's values.
template <NarrowFloat T>
TRILITH_INLINE xsimd::batch<float> round_to(const xsimd::batch<float>& x) {
  return native::wrap<float>(native::rounded<T>(native::unwrap(x)));
}
template <NarrowFloat T, int N>
TRILITH_INLINE Wide<float, N> round_to(const Wide<float, N>& x) {
  Wide<float, N> result;
  for (int i = 0; i < result.parts; ++i) result.part[i] = round_to<T>(x.part[i]);
  return result;
}

template <NarrowFloat T, int N>
TRILITH_INLINE Narrow<T, N> splat(T x) {
  return {splat<float, N>(static_cast<float>(x))};
}
template <class T, int N>
TRILITH_INLINE T element(const Narrow<T, N>& x, int i) {
  return T(element(x.floats, i));
}

// Memory.
namespace native {
/// f(register of floats, its first element) for each register of a vector.
template <class F>
TRILITH_INLINE void for_each_part(xsimd::batch<float>& x, const F& f) {
  f(x, 0);
}
template <int N, class F>
TRILITH_INLINE void for_each_part(Wide<float, N>& x, const F& f) {
  for (int i = 0; i < x.parts; ++i) f(x.part[i], i * lanes<float>);
}
}  // namespace native

template <NarrowFloat T, int N>
TRILITH_INLINE Narrow<T, N> load(const T* from) {
  Narrow<T, N> result;
  native::for_each_part(result.floats, [&](xsimd::batch<float>& part, int at) {
    native::Patterns patterns;
    __builtin_memcpy(&patterns, from + at, sizeof patterns);
    part = native::wrap<float>(native::widened<T>(patterns));
  });
  return result;
}
template <NarrowFloat T, int N>
TRILITH_INLINE Narrow<T, N> load_partial(const T* from, int n, T fill = T(0)) {
  Narrow<T, N> result;
  native::for_each_part(result.floats, [&](xsimd::batch<float>& part, int at) {
    const native::Patterns patterns = native::load_patterns(from + at, n - at, fill.bits);
    part = native::wrap<float>(native::widened<T>(patterns));
  });
  return result;
}
template <NarrowFloat T, int N>
TRILITH_INLINE Narrow<T, N> load_strided(const T* from, std::int64_t stride) {
  T elements[N];
  for (int i = 0; i < N; ++i) elements[i] = from[i * stride];
  return load<T, N>(elements);
}
template <NarrowFloat T, int N>
TRILITH_INLINE Narrow<T, N> load_strided(const T* from, std::int64_t stride, int n, T fill = T(0)) {
  T elements[N];
  for (T& element : elements) element = fill;
  copy_strided(elements, 1, from, stride, n < N ? n : N);
  return load<T, N>(elements);
}
template <class T, int N>
TRILITH_INLINE void store(T* to, Narrow<T, N> value) {
  native::for_each_part(value.floats, [&](const xsimd::batch<float>& part, int at) {
    const native::Patterns patterns = native::narrowed<T>(native::unwrap(part));
    __builtin_memcpy(to + at, &patterns, sizeof patterns);
  });
}
template <class T, int N>
TRILITH_INLINE void store_partial(T* to, Narrow<T, N> value, int n) {
  native::for_each_part(value.floats, [&](const xsimd::batch<float>& part, int at) {
    native::store_patterns(to + at, native::narrowed<T>(native::unwrap(part)), n - at);
  });
}
template <class T, int N>
TRILITH_INLINE void store_streaming(T* to, const Narrow<T, N>& value) {
  store(
      to,
      value);  // a register of 16-bit elements is half a cache line at most: not worth the way past the caches
}
template <class T, int N>
TRILITH_INLINE void store_strided(T* to, std::int64_t stride, const Narrow<T, N>& value) {
  T elements[N];
  store(elements, value);
  for (int i = 0; i < N; ++i) to[i * stride] = elements[i];
}
template <class T, int N>
TRILITH_INLINE void store_strided(T* to, std::int64_t stride, const Narrow<T, N>& value, int n) {
  T elements[N];
  store(elements, value);
  copy_strided<T>(to, stride, elements, 1, n < N ? n : N);
}

// Operations. EXACT ones give a value of T for values of T; the others are rounded to it. A scalar is computed in
// float, too.
#define TRILITH_NARROW_1(name, vector_result, scalar_result)      \
  template <class T, int N>                                       \
  TRILITH_INLINE Narrow<T, N> name(const Narrow<T, N>& x) {       \
    return {vector_result(device::name(x.floats))};               \
  }                                                               \
  template <NarrowFloat T>                                        \
  TRILITH_INLINE T name(T x) {                                    \
    return T(scalar_result(device::name(static_cast<float>(x)))); \
  }
#define TRILITH_NARROW_2(name, vector_result)                                      \
  template <class T, int N>                                                        \
  TRILITH_INLINE Narrow<T, N> name(const Narrow<T, N>& a, const Narrow<T, N>& b) { \
    return {vector_result(device::name(a.floats, b.floats))};                      \
  }                                                                                \
  template <NarrowFloat T>                                                         \
  TRILITH_INLINE T name(T a, T b) {                                                \
    return T(device::name(static_cast<float>(a), static_cast<float>(b)));          \
  }
#define TRILITH_EXACT_1(name) TRILITH_NARROW_1(name, , )
#define TRILITH_ROUNDED_1(name) TRILITH_NARROW_1(name, round_to<T>, )
#define TRILITH_EXACT_2(name) TRILITH_NARROW_2(name, )
#define TRILITH_ROUNDED_2(name) TRILITH_NARROW_2(name, round_to<T>)
// clang-format off: calls of macros without semicolons
TRILITH_EXACT_1(neg) TRILITH_EXACT_1(abs) TRILITH_EXACT_1(sign) TRILITH_EXACT_1(relu) TRILITH_EXACT_1(floor)
TRILITH_EXACT_1(ceil) TRILITH_EXACT_1(round) TRILITH_EXACT_1(rint) TRILITH_EXACT_1(trunc)
TRILITH_ROUNDED_1(recip) TRILITH_ROUNDED_1(sqrt) TRILITH_ROUNDED_1(square) TRILITH_ROUNDED_1(exp)
TRILITH_ROUNDED_1(exp2) TRILITH_ROUNDED_1(expm1) TRILITH_ROUNDED_1(log) TRILITH_ROUNDED_1(log2)
TRILITH_ROUNDED_1(log1p) TRILITH_ROUNDED_1(sin) TRILITH_ROUNDED_1(cos) TRILITH_ROUNDED_1(tanh)
TRILITH_ROUNDED_1(erf) TRILITH_ROUNDED_1(sigmoid)
TRILITH_ROUNDED_2(add) TRILITH_ROUNDED_2(sub) TRILITH_ROUNDED_2(mul) TRILITH_ROUNDED_2(div)
TRILITH_EXACT_2(fmod) TRILITH_ROUNDED_2(rem) TRILITH_EXACT_2(maximum) TRILITH_EXACT_2(minimum)
TRILITH_ROUNDED_2(pow)
// clang-format on
#undef TRILITH_EXACT_1
#undef TRILITH_ROUNDED_1
#undef TRILITH_EXACT_2
#undef TRILITH_ROUNDED_2
#undef TRILITH_NARROW_1
#undef TRILITH_NARROW_2

    /// 1 / sqrt(x), each rounded once.
    template <class T, int N>
    TRILITH_INLINE Narrow<T, N> rsqrt(const Narrow<T, N>& x) {
  return recip(sqrt(x));
}
template <NarrowFloat T>
TRILITH_INLINE T rsqrt(T x) {
  return recip(sqrt(x));
}
template <class T, int N>
TRILITH_INLINE Narrow<T, N> clamp(const Narrow<T, N>& x, const Narrow<T, N>& lowest,
                                  const Narrow<T, N>& highest) {
  return {device::clamp(x.floats, lowest.floats, highest.floats)};
}
template <NarrowFloat T>
TRILITH_INLINE T clamp(T x, T lowest, T highest) {
  return minimum(maximum(x, lowest), highest);
}
template <class T, int N>
TRILITH_INLINE Narrow<T, N> fma(const Narrow<T, N>& a, const Narrow<T, N>& b, const Narrow<T, N>& c) {
  const auto sum = native::fma_to_odd<N>(native::whole<float, N>(a.floats), native::whole<float, N>(b.floats),
                                         native::whole<float, N>(c.floats));
  return {native::parts<float, N>(native::float_of_double<T, N>(sum))};
}
template <NarrowFloat T>
TRILITH_INLINE T fma(T a, T b, T c) {
  using Two = native::Whole<float, 2>;
  const auto sum = native::fma_to_odd<2>(Two{{static_cast<float>(a)}}, Two{{static_cast<float>(b)}},
                                         Two{{static_cast<float>(c)}});
  return T(native::float_of_double<T, 2>(sum).all[0]);
}

#define TRILITH_NARROW_COMPARE(name)                                          \
  template <class T, int N>                                                   \
  TRILITH_INLINE Mask<N> name(const Narrow<T, N>& a, const Narrow<T, N>& b) { \
    return device::name(a.floats, b.floats);                                  \
  }                                                                           \
  template <NarrowFloat T>                                                    \
  TRILITH_INLINE bool name(T a, T b) {                                        \
    return device::name(static_cast<float>(a), static_cast<float>(b));        \
  }
TRILITH_NARROW_COMPARE(eq)
TRILITH_NARROW_COMPARE(ne)
TRILITH_NARROW_COMPARE(lt)
TRILITH_NARROW_COMPARE(le)
TRILITH_NARROW_COMPARE(gt)
TRILITH_NARROW_COMPARE(ge)
#undef TRILITH_NARROW_COMPARE
#define TRILITH_NARROW_TEST(name)                      \
  template <class T, int N>                            \
  TRILITH_INLINE Mask<N> name(const Narrow<T, N>& x) { \
    return device::name(x.floats);                     \
  }                                                    \
  template <NarrowFloat T>                             \
  TRILITH_INLINE bool name(T x) {                      \
    return device::name(static_cast<float>(x));        \
  }
TRILITH_NARROW_TEST(isnan)
TRILITH_NARROW_TEST(isinf)
#undef TRILITH_NARROW_TEST

template <class T, int N>
TRILITH_INLINE Narrow<T, N> where(Mask<N> condition, const Narrow<T, N>& yes, const Narrow<T, N>& no) {
  return {where(condition, yes.floats, no.floats)};
}
template <class T, int N>
TRILITH_INLINE Narrow<T, N> where(bool condition, const Narrow<T, N>& yes, const Narrow<T, N>& no) {
  return condition ? yes : no;
}
template <NarrowFloat T>
TRILITH_INLINE T where(bool condition, T yes, T no) {
  return condition ? yes : no;
}

// Sums and products are kept in float; the largest and smallest are values of T.
template <class T, int N>
TRILITH_INLINE T reduce_max(const Narrow<T, N>& x) {
  return T(reduce_max(x.floats));
}
template <class T, int N>
TRILITH_INLINE T reduce_min(const Narrow<T, N>& x) {
  return T(reduce_min(x.floats));
}

// Conversions.
namespace native {
template <NarrowFloat U, int N, class T>
TRILITH_INLINE Narrow<U, N> cast_to_narrow(const Vec<T, N>& x) {
  if constexpr (std::is_same_v<T, float>) {
    return {round_to<U>(x)};
  } else if constexpr (sizeof(T) <= 2) {  // exact in float
    return {round_to<U>(device::cast<float>(x))};
  } else if constexpr (std::is_integral_v<T> && std::is_same_v<U, pl::half>) {
    // What float rounds is too large for a half: rounding twice does no harm.
    return {round_to<U>(device::cast<float>(x))};
  } else {
    if constexpr (std::is_integral_v<T>)
      return {parts<float, N>(float_of_double<U, N>(sticky_double<T, N>(whole<T, N>(x))))};
    else
      return {parts<float, N>(float_of_double<U, N>(whole<T, N>(x)))};
  }
}
}  // namespace native

template <NarrowFloat U, CastMode Mode = CastMode::Rint, class T>
TRILITH_INLINE Narrow<U, lanes<T>> cast(const xsimd::batch<T>& x) {
  return native::cast_to_narrow<U, lanes<T>, T>(x);
}
template <NarrowFloat U, CastMode Mode = CastMode::Rint, class T, int N>
TRILITH_INLINE Narrow<U, N> cast(const Wide<T, N>& x) {
  return native::cast_to_narrow<U, N, T>(x);
}
template <NarrowFloat U, CastMode Mode = CastMode::Rint, int N>
TRILITH_INLINE Narrow<U, N> cast(Mask<N> x) {
  return where(x, splat<U, N>(U(1)), splat<U, N>(U(0)));
}
template <class U, CastMode Mode = CastMode::Rint, class T, int N>
TRILITH_INLINE Vec<U, N> cast(const Narrow<T, N>& x) {
  if constexpr (std::is_same_v<U, T>)
    return x;
  else if constexpr (NarrowFloat<U>)
    return {round_to<U>(x.floats)};
  else
    return device::cast<U, Mode>(x.floats);
}
template <NarrowFloat U, CastMode Mode = CastMode::Rint, class T>
  requires std::is_arithmetic_v<T>
TRILITH_INLINE U cast(T x) {
  return U(x);
}
template <class U, CastMode Mode = CastMode::Rint, NarrowFloat T>
TRILITH_INLINE U cast(T x) {
  if constexpr (std::is_same_v<U, T>)
    return x;
  else if constexpr (NarrowFloat<U>)
    return U(static_cast<float>(x));
  else
    return device::cast<U, Mode>(static_cast<float>(x));
}

}  // namespace trilith::device
