// kernels/activation.hpp -- activations, element by element: y = f(x).
//
//   pl::kernels::gelu<float>(x, y);
//   pl::kernels::swiglu<pl::half>(gate, up, y);
//
// x and y have one shape, any rank. T: half, bfloat16, float or double; half and bfloat16 are computed in float and
// rounded once. y may be x itself. Errors: ShapeError.
#pragma once

#include "kernels/detail.hpp"

namespace pl::kernels {

namespace detail {

template <class T, class F>
auto make_activation(F) {
  return pl::jit.incore([](pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y) {
    const auto t = pl::cast<Wide<T>>(pl::load(x));
    y = pl::store(pl::cast<T>(F{}(t)), y);
  });
}
template <class T, class F>
auto make_gated(F) {
  return pl::jit.incore([](pl::Tensor<T> gate, pl::Tensor<T> up, pl::Out<pl::Tensor<T>> y) {
    const auto g = pl::cast<Wide<T>>(pl::load(gate));
    const auto u = pl::cast<Wide<T>>(pl::load(up));
    y = pl::store(pl::cast<T>(F{}(g)*u), y);
  });
}

struct Relu {
  template <class X>
  auto operator()(const X& x) const {
    return pl::relu(x);
  }
};
struct Silu {
  template <class X>
  auto operator()(const X& x) const {
    return pl::silu(x);
  }
};
struct GeluErf {
  template <class X>
  auto operator()(const X& x) const {
    return pl::gelu(x);
  }
};
struct GeluTanh {
  template <class X>
  auto operator()(const X& x) const {
    return pl::gelu<pl::Gelu::tanh>(x);
  }
};
struct Identity {
  template <class X>
  auto operator()(const X& x) const {
    return x;
  }
};

template <class T>
auto make_lrelu() {
  return pl::jit.incore([](pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y, pl::Scalar<Wide<T>> slope) {
    const auto t = pl::cast<Wide<T>>(pl::load(x));
    y = pl::store(pl::cast<T>(pl::lrelu(t, slope)), y);
  });
}
template <class T>
auto make_prelu() {
  return pl::jit.incore([](pl::Tensor<T> x, pl::Tensor<T> slope, pl::Out<pl::Tensor<T>> y) {
    const auto t = pl::cast<Wide<T>>(pl::load(x));
    y = pl::store(pl::cast<T>(pl::prelu(t, pl::cast<Wide<T>>(pl::load(slope)))), y);
  });
}

}  // namespace detail

/// max(x, 0); NaN stays.
template <class T>
inline const auto relu = detail::make_activation<T>(detail::Relu{});
/// x * sigmoid(x)
template <class T>
inline const auto silu = detail::make_activation<T>(detail::Silu{});
/// 0.5 x (1 + erf(x / sqrt 2))
template <class T>
inline const auto gelu = detail::make_activation<T>(detail::GeluErf{});
/// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
template <class T>
inline const auto gelu_tanh = detail::make_activation<T>(detail::GeluTanh{});
/// lrelu(x, y, slope): x > 0 ? x : slope x
template <class T>
inline const auto lrelu = detail::make_lrelu<T>();
/// prelu(x, slope, y): the slope is a tensor that broadcasts against x, one for each column or element.
template <class T>
inline const auto prelu = detail::make_prelu<T>();
/// swiglu(gate, up, y): silu(gate) * up
template <class T>
inline const auto swiglu = detail::make_gated<T>(detail::Silu{});
/// geglu(gate, up, y): gelu(gate) * up
template <class T>
inline const auto geglu = detail::make_gated<T>(detail::GeluErf{});

}  // namespace pl::kernels
