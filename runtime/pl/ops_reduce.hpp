// runtime/pl/ops_reduce.hpp -- reductions over any one axis.
//
//   auto total = pl::sum(x, {.axis = 0});     // [B, R, C] -> [1, R, C]
//
// The axis is a constant, negative ones count from the end; it stays as extent 1, so that the result broadcasts with
// x. pl::row_* and pl::col_* are the same over the last and the second last. Errors: ShapeError for an axis that is
// not there.
#pragma once

#include "pl/detail/tile_call.hpp"
#include "pl/ops_layout.hpp"

namespace pl {

namespace detail {
template <class T>
[[nodiscard]] Tile<T> reduce_axis(Op op, const Tile<T>& x, AxisOptions options,
                                  const std::source_location& where) {
  require_core(trilith::codegen::operation(op).name, where);
  Attributes attributes;
  attributes.axis = options.axis;
  return Tile<T>(trilith::codegen::reference::apply(op, std::span(&x.value(), 1), attributes, x.dtype(),
                                                    location_of(where)));
}
}  // namespace detail

// clang-format off
#define PL_REDUCE(name, op)                                                              \
  template <class T>                                                                     \
  [[nodiscard]] Tile<T> name(const Tile<T>& x, AxisOptions options,                      \
                             std::source_location where = std::source_location::current()) { \
    return detail::reduce_axis(detail::Op::op, x, options, where);                       \
  }
// clang-format on

/// The sum; 0 where there is nothing to add. Numeric; may re-associate.
PL_REDUCE(sum, Sum)
/// The product; 1 where there is nothing. Numeric; may re-associate.
PL_REDUCE(prod, Prod)
/// The maximum; NaN if any is. Numeric.
PL_REDUCE(max, Max)
/// The minimum; NaN if any is. Numeric.
PL_REDUCE(min, Min)
/// The sum / extent. Floating.
PL_REDUCE(mean, Mean)

#undef PL_REDUCE

}  // namespace pl
