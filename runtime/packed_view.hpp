// runtime/packed_view.hpp -- the elements of a view one behind the other, in row-major order, and back.
#pragma once

#include "pl/tensor.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pl::detail {

class PackedView {
 public:
  /// The view's extents and strides must live as long.
  explicit PackedView(const ViewRef& view);
  [[nodiscard]] std::size_t bytes() const;
  /// They lie like that already.
  [[nodiscard]] bool is_dense() const;
  void read(char* to) const;
  void write(const char* from) const;
  /// Where they lie, if they are dense; otherwise a copy in `memory`.
  [[nodiscard]] const char* elements(std::vector<char>& memory) const;

 private:
  const ViewRef view_;
  const std::array<std::int64_t, max_rank> strides_;
};

}  // namespace pl::detail
