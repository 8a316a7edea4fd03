// runtime/recorded_view.hpp -- a view that outlives what it was made from.
#pragma once

#include "pl/tensor.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace pl::detail {

/// A view with its own extents and strides; the memory is not its own.
struct RecordedView {
  DType dtype{};
  int rank = 0;
  void* data = nullptr;
  const WindowPart* window = nullptr;
  std::array<std::int64_t, max_rank> extents{}, strides{};
  RecordedView() = default;
  explicit RecordedView(const ViewRef& view)
      : dtype(view.dtype), rank(view.rank), data(view.data), window(view.window) {
    std::copy_n(view.extents, rank, extents.begin());
    std::copy_n(view.strides, rank, strides.begin());
  }
  [[nodiscard]] ViewRef view() const {
    return {dtype, false, rank, data, extents.data(), strides.data(), window};
  }
};

}  // namespace pl::detail
