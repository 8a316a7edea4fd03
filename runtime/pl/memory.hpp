// runtime/pl/memory.hpp -- moving tiles and reducing them: load, store, full, zeros, row_*, col_*, print.
#pragma once

#include "pl/detail/operand.hpp"
#include "pl/tensor.hpp"

namespace pl {

namespace detail {
[[nodiscard]] Value load_region(const ViewRef& view, const Index& offsets, const Index& shape, bool clamp,
                                const Index& valid, const std::source_location& where);
[[nodiscard]] Value load_all(const ViewRef& view, const std::source_location& where);
void store_region(const Value& tile, const Index* offsets, const ViewRef& view,
                  trilith::codegen::Atomic atomic, const std::source_location& where);
[[nodiscard]] Value full_tile(const Index& shape, const Value& element, const std::source_location& where);
[[nodiscard]] Value reduce(Op op, const Value& tile, const std::source_location& where);
void print_value(const Value& value, const std::source_location& where);
}  // namespace detail

/// Which part of what a load gives is valid (ops_valid.hpp). `clamp`: as much as x has at the offsets, at its end less
/// than `shape`, behind its end nothing. `valid`: no more than these extents, one for each axis; they may be run-time
/// numbers, and are cut to `shape` (below 0: nothing). Both: what is in both.
struct LoadOptions {
  bool clamp = false;
  Index valid = {};
};

/// Copies the region of `shape` at `offsets` into a tile; one offset and one extent for each axis of x.
/// ShapeError where the region does not lie inside x; with options, where the valid part of it does not.
template <class T, auto... Dims>
[[nodiscard]] Tile<T> load(const Tensor<T, Dims...>& x, const Index& offsets, const Index& shape,
                           const LoadOptions& options = {},
                           std::source_location where = std::source_location::current()) {
  return Tile<T>(detail::load_region(x.view(), offsets, shape, options.clamp, options.valid, where));
}
/// The whole tensor as a tile.
template <class T, auto... Dims>
[[nodiscard]] Tile<T> load(const Tensor<T, Dims...>& x,
                           std::source_location where = std::source_location::current()) {
  return Tile<T>(detail::load_all(x.view(), where));
}

namespace detail {
template <class Y>
struct IsWritable : std::false_type {};
template <class TensorType>
struct IsWritable<Out<TensorType>> : std::true_type {};
template <class TensorType>
struct IsWritable<InOut<TensorType>> : std::true_type {};
}  // namespace detail

/// How a store writes. `Add` adds each element of the tile to what is there, in one indivisible step, so that kernels
/// on several cores may add to one tensor; in which order is open, and sums of floats depend on it. Not for bool.
enum class Atomic : std::uint8_t { None, Add };
struct StoreOptions {
  Atomic atomic = Atomic::None;
};

/// Writes the tile to y at `offsets` and returns y: `y = pl::store(tile, {0, 0}, y)`, or adds it with
/// `{.atomic = pl::Atomic::Add}`.
/// ShapeError where the region does not lie inside y, DtypeError where the dtypes differ.
template <class T, class Y>
Y store(const Tile<T>& tile, const Index& offsets, const Y& y, StoreOptions options = {},
        std::source_location where = std::source_location::current()) {
  static_assert(
      detail::IsWritable<Y>::value,
      "pl::store: a plain pl::Tensor is read-only; declare the parameter pl::Out<…> or pl::InOut<…>");
  static_assert(
      !detail::IsWritable<Y>::value || std::is_void_v<T> || std::is_void_v<typename Y::value_type> ||
          std::is_same_v<T, typename Y::value_type>,
      "pl::store: the tile and the tensor have different dtypes; convert the tile with pl::cast<T>(…)");
  detail::store_region(tile.value(), &offsets, y.view(),
                       static_cast<trilith::codegen::Atomic>(options.atomic), where);
  return y;
}
/// Writes the tile to the start of y.
template <class T, class Y>
Y store(const Tile<T>& tile, const Y& y, StoreOptions options = {},
        std::source_location where = std::source_location::current()) {
  static_assert(
      detail::IsWritable<Y>::value,
      "pl::store: a plain pl::Tensor is read-only; declare the parameter pl::Out<…> or pl::InOut<…>");
  static_assert(
      !detail::IsWritable<Y>::value || std::is_void_v<T> || std::is_void_v<typename Y::value_type> ||
          std::is_same_v<T, typename Y::value_type>,
      "pl::store: the tile and the tensor have different dtypes; convert the tile with pl::cast<T>(…)");
  detail::store_region(tile.value(), nullptr, y.view(), static_cast<trilith::codegen::Atomic>(options.atomic),
                       where);
  return y;
}

/// A tile of `shape` with every element `value`.
template <class T, class A>
[[nodiscard]] Tile<T> full(const Index& shape, const A& value,
                           std::source_location where = std::source_location::current()) {
  return Tile<T>(detail::full_tile(
      shape, detail::to_value<T>(value, trilith::codegen::dtype_of<T>, where, "full"), where));
}
/// A tile of `shape` filled with zeros.
template <class T>
[[nodiscard]] Tile<T> zeros(const Index& shape,
                            std::source_location where = std::source_location::current()) {
  return Tile<T>(detail::full_tile(shape, detail::Value::scalar(T{}), where));
}

// clang-format off
#define PL_REDUCE(name, op)                                                                                  \
  template <class T>                                                                                         \
  [[nodiscard]] Tile<T> name(const Tile<T>& x, std::source_location where = std::source_location::current()) { \
    return Tile<T>(detail::reduce(detail::Op::op, x.value(), where));                                        \
  }
// clang-format on

// Reductions of each row: over the last axis, which stays as extent 1. [..., R, C] -> [..., R, 1].
/// The sum; 0 where there is nothing to add. Numeric; may re-associate.
PL_REDUCE(row_sum, RowSum)
/// The product; 1 where there is nothing. Numeric; may re-associate.
PL_REDUCE(row_prod, RowProd)
/// The maximum; NaN if any is. Numeric.
PL_REDUCE(row_max, RowMax)
/// The minimum; NaN if any is. Numeric.
PL_REDUCE(row_min, RowMin)
/// The sum / extent. Floating.
PL_REDUCE(row_mean, RowMean)

// Reductions of each column: over the second last axis, which stays as extent 1. [..., R, C] -> [..., 1, C].
/// The sum; 0 where there is nothing to add. Numeric; may re-associate.
PL_REDUCE(col_sum, ColSum)
/// The product; 1 where there is nothing. Numeric; may re-associate.
PL_REDUCE(col_prod, ColProd)
/// The maximum; NaN if any is. Numeric.
PL_REDUCE(col_max, ColMax)
/// The minimum; NaN if any is. Numeric.
PL_REDUCE(col_min, ColMin)
/// The sum / extent. Floating.
PL_REDUCE(col_mean, ColMean)

#undef PL_REDUCE

/// Prints a tile or scalar on the host: dtype, shape and elements.
template <class A>
  requires detail::Operands<A>
void print(const A& x, std::source_location where = std::source_location::current()) {
  using E = typename detail::Operand<A>::element;
  detail::print_value(detail::to_value<E>(x, detail::erased_dtype(x), where), where);
}

}  // namespace pl
