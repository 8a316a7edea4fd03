// runtime/pl/tile.hpp -- pl::Tile<T>: an on-chip block, what `load` and the operations return.
//
// In a compiled kernel a tile lives in registers or scratch; in an eager run it holds its elements here, and
// every operation on it is a reference operation. Value semantics: a copy shares nothing. Not synchronised.
#pragma once

#include "codegen/value.hpp"
#include "pl/scalar.hpp"

#include <utility>

namespace pl {

/// `Tile<>`: a tile whose dtype is known at specialisation and in eager runs only.
template <class T = void>
class Tile {
 public:
  using value_type = T;
  Tile() = default;
  /// For operations: takes the elements over.
  explicit Tile(trilith::codegen::Value value) : value_(std::move(value)) {}
  /// A tile of known dtype is a dtype-erased tile.
  template <class U>
    requires(std::is_void_v<T> && !std::is_void_v<U>)
  Tile(const Tile<U>& other) : value_(other.value()) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] DType dtype() const { return value_.dtype; }
  [[nodiscard]] int rank() const { return static_cast<int>(value_.shape.size()); }
  /// Extent along `axis`; negative axes count from the end.
  [[nodiscard]] std::int64_t dim(int axis) const {
    return value_.whole_shape()[static_cast<std::size_t>(axis < 0 ? axis + rank() : axis)];
  }
  /// How much of it is valid (ops_valid.hpp): `dim(axis)` or less.
  [[nodiscard]] std::int64_t valid(int axis) const {
    return value_.shape[static_cast<std::size_t>(axis < 0 ? axis + rank() : axis)];
  }
  [[nodiscard]] const trilith::codegen::Value& value() const { return value_; }

 private:
  trilith::codegen::Value value_;
};

}  // namespace pl
