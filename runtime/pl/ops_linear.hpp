// runtime/pl/ops_linear.hpp -- products of matrices and vectors.
//
//   auto c = pl::matmul(a, b);                             // [M, K] x [K, N] -> [M, N]
//   auto d = pl::matmul(a, b, {.trans_b = true});          // [M, K] x [N, K] -> [M, N]
//   acc = pl::matmul_acc(acc, a, b);                       // acc + a x b
//   auto e = pl::matmul<pl::half>(x, w);                   // the sum, converted once
//
// Operands: tiles of float, double, half, bfloat16 or int8, both of one dtype. Sums are kept in float (double for
// double, int32, wrapping, for int8), and that is the dtype of the result unless another is asked for. Each element
// is start + the sum over k of a(i, k) * b(k, j): fused multiply-adds in an order that the shape and the target
// fix, so the same bits come for any number of threads. It lies within (K + 1) * u * (|start| + sum of |a * b|) of
// the exact value, u = 2^-24 (double: 2^-53). An empty sum (K = 0) is the start: zeros, the accumulator or the bias.
//
// Errors: ShapeError (extents that do not fit, with what would), DtypeError (mixed or other dtypes).
#pragma once

#include "pl/detail/tile_call.hpp"

namespace pl {

/// Which operands of a product are given transposed: a as [K, M], b as [N, K].
struct MatmulOptions {
  bool trans_a = false;
  bool trans_b = false;
};

namespace detail {

/// The element type of a product's result: what sums of T are kept in.
template <class T>
struct Product {
  using type = float;
};
template <>
struct Product<double> {
  using type = double;
};
template <>
struct Product<std::int8_t> {
  using type = std::int32_t;
};
template <>
struct Product<void> {
  using type = void;
};
template <class A, class B>
struct ProductOf {
  static_assert(std::is_void_v<A> || std::is_void_v<B> || std::is_same_v<A, B>,
                "the operands of a product have different dtypes; convert one with pl::cast<T>(…)");
  using type = typename Product<std::conditional_t<std::is_void_v<A>, B, A>>::type;
};

template <class U, class A, class B>
[[nodiscard]] auto multiply(Op op, CallOperands operands, const MatmulOptions& options,
                            const std::source_location& where) {
  using R = typename ProductOf<A, B>::type;
  Attributes attributes;
  attributes.trans_a = options.trans_a;
  attributes.trans_b = options.trans_b;
  Tile<R> result = tile_call<R>(op, operands, attributes, where);
  if constexpr (std::is_void_v<U> || std::is_same_v<U, R>)
    return result;
  else
    return Tile<U>(trilith::codegen::reference::apply(Op::Cast, std::span(&result.value(), 1), {},
                                                      trilith::codegen::dtype_of<U>, location_of(where)));
}

}  // namespace detail

/// The matrix product a x b: [M, K] x [K, N] -> [M, N]. `matmul<U>`: converted to dtype U, rounded once.
template <class U = void, class A, class B>
[[nodiscard]] auto matmul(const Tile<A>& a, const Tile<B>& b, MatmulOptions options = {},
                          std::source_location where = std::source_location::current()) {
  return detail::multiply<U, A, B>(detail::Op::Matmul, {a.value(), b.value()}, options, where);
}

/// acc + a x b. The accumulator is [M, N] in the dtype of the sums (pl::zeros<float>({M, N}) for half).
template <class C, class A, class B>
[[nodiscard]] auto matmul_acc(const Tile<C>& acc, const Tile<A>& a, const Tile<B>& b,
                              MatmulOptions options = {},
                              std::source_location where = std::source_location::current()) {
  using R = typename detail::ProductOf<A, B>::type;
  static_assert(std::is_void_v<C> || std::is_void_v<R> || std::is_same_v<C, R>,
                "the accumulator of a product has the dtype of its sums: float for float, half and bfloat16, "
                "double for "
                "double, int32 for int8; convert it with pl::cast<T>(…)");
  return detail::multiply<void, A, B>(detail::Op::MatmulAcc, {acc.value(), a.value(), b.value()}, options,
                                      where);
}

/// a x b + bias, the bias [N] or [1, N] in the dtype of the sums and added to every row. `matmul_bias<U>`: converted.
template <class U = void, class A, class B, class C>
[[nodiscard]] auto matmul_bias(const Tile<A>& a, const Tile<B>& b, const Tile<C>& bias,
                               MatmulOptions options = {},
                               std::source_location where = std::source_location::current()) {
  using R = typename detail::ProductOf<A, B>::type;
  static_assert(
      std::is_void_v<C> || std::is_void_v<R> || std::is_same_v<C, R>,
      "the bias of a product has the dtype of its sums: float for float, half and bfloat16, double for "
      "double, int32 for int8; convert it with pl::cast<T>(…)");
  return detail::multiply<U, A, B>(detail::Op::MatmulBias, {a.value(), b.value(), bias.value()}, options,
                                   where);
}

/// Products of the last two axes: [..., M, K] x [..., K, N] -> [..., M, N]; leading axes broadcast.
template <class U = void, class A, class B>
[[nodiscard]] auto batch_matmul(const Tile<A>& a, const Tile<B>& b, MatmulOptions options = {},
                                std::source_location where = std::source_location::current()) {
  return detail::multiply<U, A, B>(detail::Op::BatchMatmul, {a.value(), b.value()}, options, where);
}

/// Matrix times vector or vector times matrix: [M, K] x [K] -> [M], [K] x [K, N] -> [N], and with an axis of 1
/// in the vector's place ([1, K] x [K, N] -> [1, N]).
template <class U = void, class A, class B>
[[nodiscard]] auto gemv(const Tile<A>& a, const Tile<B>& b,
                        std::source_location where = std::source_location::current()) {
  return detail::multiply<U, A, B>(detail::Op::Gemv, {a.value(), b.value()}, {}, where);
}

/// The dot product of two vectors: [K] x [K] -> [1].
template <class U = void, class A, class B>
[[nodiscard]] auto dot(const Tile<A>& a, const Tile<B>& b,
                       std::source_location where = std::source_location::current()) {
  return detail::multiply<U, A, B>(detail::Op::Dot, {a.value(), b.value()}, {}, where);
}

}  // namespace pl
