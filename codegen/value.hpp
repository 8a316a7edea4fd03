// codegen/value.hpp -- a scalar or a tile with its bytes: what the reference operations work on.
//
// Eager `pl::Tile` and `pl::Scalar` hold one; the interpreter's variables are these. Dense, row-major,
// value semantics (copies share nothing). Not synchronised.
#pragma once

#include "codegen/dtype.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

namespace trilith::codegen {

using Shape = std::vector<std::int64_t>;

[[nodiscard]] inline std::int64_t element_count(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

struct Value {
  DType dtype = DType::Float32;
  bool is_scalar = false;  ///< a scalar has shape {} and one element; so has a rank-0 tile
  Shape shape;
  std::vector<std::byte> bytes;
  /// A partly valid tile: the shape it was made with, of which `shape` and `bytes` are the valid box at the origin.
  /// Empty: all of it is valid.
  Shape physical = {};

  Value() = default;
  Value(DType dtype_, Shape shape_)
      : dtype(dtype_),
        shape(std::move(shape_)),
        bytes(static_cast<std::size_t>(element_count(shape)) * size_of(dtype)) {}

  template <class T>
  [[nodiscard]] static Value scalar(T value) {
    Value result(dtype_of<T>, {});
    result.is_scalar = true;
    std::memcpy(result.bytes.data(), &value, sizeof value);
    return result;
  }

  [[nodiscard]] const Shape& whole_shape() const { return physical.empty() ? shape : physical; }
  [[nodiscard]] std::int64_t size() const { return element_count(shape); }
  template <class T>
  [[nodiscard]] T* data() {
    return reinterpret_cast<T*>(bytes.data());
  }
  template <class T>
  [[nodiscard]] const T* data() const {
    return reinterpret_cast<const T*>(bytes.data());
  }
  template <class T>
  [[nodiscard]] T get(std::int64_t index = 0) const {
    T value;
    std::memcpy(&value, bytes.data() + static_cast<std::size_t>(index) * sizeof(T), sizeof value);
    return value;
  }
};

/// A strided view of memory that a kernel reads or writes. Extents and strides count elements.
struct TensorView {
  DType dtype = DType::Float32;
  void* data = nullptr;
  Shape extents;
  Shape strides;
};

}  // namespace trilith::codegen
