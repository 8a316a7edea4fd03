// runtime/measure.hpp -- where a view lies in memory and how it is laid out.
#pragma once

#include "codegen/specialise.hpp"
#include "pl/tensor.hpp"

namespace pl::detail {

/// Without initial values: a call has an array of them on its stack and fills only what it has arguments for.
struct Measured {
  const char* begin;  ///< the bytes [begin, end) hold every element; empty for an empty view
  const char* end;
  trilith::codegen::Layout layout;
};

/// One pass over the axes, since each call of a kernel does it for each tensor.
[[nodiscard]] inline Measured measure(const ViewRef& view) {
  using trilith::codegen::Layout;
  std::int64_t count = 1;
  bool dense = true;
  for (int axis = view.rank - 1; axis >= 0; --axis) {
    const std::int64_t extent = view.extents[axis];
    // The stride of an axis with one element is never used.
    dense &= extent == 1 || view.strides[axis] == count;
    count *= extent;
  }
  Measured result;
  result.begin = static_cast<const char*>(view.data);
  result.layout = Layout::Dense;
  const auto size = static_cast<std::int64_t>(trilith::codegen::size_of(view.dtype));
  if (dense || count == 0) [[likely]] {
    result.end = result.begin + count * size;
    return result;
  }
  const int last = view.rank - 1;
  result.layout = view.strides[last] == 1 || view.extents[last] == 1 ? Layout::InnerDense : Layout::Strided;
  std::int64_t low = 0, high = 0;
  for (int axis = 0; axis < view.rank; ++axis) {
    const std::int64_t reach = (view.extents[axis] - 1) * view.strides[axis];
    (reach < 0 ? low : high) += reach;
  }
  result.end = result.begin + (high + 1) * size;
  result.begin += low * size;
  return result;
}

/// The very same elements in the same places.
[[nodiscard]] bool same_view(const ViewRef& a, const ViewRef& b);

/// Do two views share a byte? Exact for the views of real programs (boxes of one base); where the strides are
/// so unusual that the search would be long, views whose byte ranges meet count as overlapping.
[[nodiscard]] bool overlap(const ViewRef& a, const ViewRef& b);

/// Is there an element of the view that lies where another one lies?
[[nodiscard]] bool overlaps_itself(const ViewRef& view);

}  // namespace pl::detail
