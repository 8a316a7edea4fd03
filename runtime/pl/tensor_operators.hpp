// runtime/pl/tensor_operators.hpp -- arithmetic on tensors: refused, in words. A tensor is memory; numbers come from the
// tiles that pl::load makes of it.
#pragma once

#include "pl/detail/parameter.hpp"
#include "pl/tile.hpp"

namespace pl {
namespace detail {
template <class A>
concept TensorOperand = is_tensor<std::remove_cv_t<A>>;
}  // namespace detail

// clang-format off
#define PL_REFUSED(symbol)                                                                        \
  template <class A, class B>                                                                     \
    requires(detail::TensorOperand<A> || detail::TensorOperand<B>)                                \
  Tile<> operator symbol(const A&, const B&) {                                                    \
    static_assert(!detail::TensorOperand<A> && !detail::TensorOperand<B>,                         \
                  "arithmetic is for tiles: pl::load(x) makes one of the tensor x");              \
    return {};                                                                                    \
  }
// clang-format on

PL_REFUSED(+)
PL_REFUSED(-)
PL_REFUSED(*)
PL_REFUSED(/)
PL_REFUSED(%)

#undef PL_REFUSED

}  // namespace pl
