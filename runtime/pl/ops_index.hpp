// runtime/pl/ops_index.hpp -- choosing elements by position, finding positions by value, sorting.
//
//   auto best = pl::row_argmax(scores);                   // int32 positions, [..., R, C] -> [..., R, 1]
//   auto rows = pl::gather_row(table, ids);               // an embedding: the table stays in global memory
//   auto [values, indices] = pl::topk(scores, 5);
//   float first = pl::read(scores, {0, 0});
//
// `axis` options: an axis counted from 0, or from -1 backwards; by default the last. Indices may be tiles of any
// integer dtype. An index out of range is a ShapeError at the line of the call, in compiled and in eager runs;
// nothing is read or written there. Other errors: ShapeError (ranks and extents that do not fit), DtypeError.
#pragma once

#include "pl/detail/tile_call.hpp"
#include "pl/memory.hpp"
#include "pl/ops_layout.hpp"

#include <type_traits>

namespace pl {

struct SortOptions {
  int axis = -1;
  bool descending = false;
};
struct TopkOptions {
  int axis = -1;
  bool largest = true;  ///< false: the smallest
};
struct PagedOptions {
  Extent start = 0;  ///< the first row of each sequence that is wanted
};

/// What `sort` and `topk` give: `auto [values, indices] = pl::sort(x);`
template <class T>
struct Sorted {
  Tile<T> values;
  Tile<std::int32_t> indices;
};

namespace detail {
using trilith::codegen::Shape;
using trilith::codegen::TensorView;

[[nodiscard]] TensorView tensor_view(const ViewRef& view);
/// The same where an operation reads the rows, or pages, of these numbers.
[[nodiscard]] TensorView rows_view(const ViewRef& view, const Value& rows, const char* what,
                                   const std::source_location& where);
[[nodiscard]] Value read_tile(const Value& tile, const Index& offsets, const std::source_location& where);
[[nodiscard]] Value read_view(const ViewRef& view, const Index& offsets, const std::source_location& where);
void write_view(const ViewRef& view, const Index& offsets, const Value& element,
                const std::source_location& where);

template <class I>
inline constexpr bool is_index = std::is_void_v<I> || (std::is_integral_v<I> && !std::is_same_v<I, bool>);

/// The attributes of the operations here.
[[nodiscard]] inline Attributes along(int axis, bool flag = false) {
  Attributes attributes;
  attributes.axis = axis;
  attributes.flag = flag;
  return attributes;
}
}  // namespace detail

// clang-format off
#define PL_ARGUMENT(name, op)                                                                        \
  template <class T>                                                                                 \
  [[nodiscard]] Tile<std::int32_t> name(const Tile<T>& x,                                            \
                                        std::source_location where = std::source_location::current()) { \
    return detail::tile_call<std::int32_t>(detail::Op::op, {x.value()}, {}, where);                      \
  }
// clang-format on

/// Position of each row's maximum, [..., R, C] -> [..., R, 1]: the first of equals; the first NaN if there is
/// one, as in NumPy and torch; -1 where C is 0. Numeric.
PL_ARGUMENT(row_argmax, RowArgmax)
/// Position of each row's minimum, as row_argmax. Numeric.
PL_ARGUMENT(row_argmin, RowArgmin)
/// Position of each column's maximum, [..., R, C] -> [..., 1, C], as row_argmax. Numeric.
PL_ARGUMENT(col_argmax, ColArgmax)
/// Position of each column's minimum, as row_argmax. Numeric.
PL_ARGUMENT(col_argmin, ColArgmin)
#undef PL_ARGUMENT

/// Sums of the elements up to and with each one, along `axis`, in index order. Integers wrap; floats are summed
/// in double and each sum is rounded once. Numeric.
template <class T>
[[nodiscard]] Tile<T> cumsum(const Tile<T>& x, AxisOptions options = {},
                             std::source_location where = std::source_location::current()) {
  return detail::tile_call<T>(detail::Op::Cumsum, {x.value()}, detail::along(options.axis), where);
}

/// result[.., j, ..] = x[.., indices[.., j, ..], ..] along `axis`, as torch.gather: the result has the shape of
/// the indices, whose other extents are those of x.
template <class T, class I>
[[nodiscard]] Tile<T> gather(const Tile<T>& x, const Tile<I>& indices, AxisOptions options = {},
                             std::source_location where = std::source_location::current()) {
  static_assert(detail::is_index<I>,
                "pl::gather: the indices are a tile of integers; use pl::cast<std::int32_t>(…)");
  return detail::tile_call<T>(detail::Op::Gather, {x.value(), indices.value()}, detail::along(options.axis),
                              where);
}

/// result[j.., ...] = x[indices[j..], ...]: whole rows of the leading axis, [R, ...] by indices of shape S gives
/// [S, ...].
template <class T, class I>
[[nodiscard]] Tile<T> gather_row(const Tile<T>& x, const Tile<I>& indices,
                                 std::source_location where = std::source_location::current()) {
  static_assert(detail::is_index<I>,
                "pl::gather_row: the indices are a tile of integers; use pl::cast<std::int32_t>(…)");
  return detail::tile_call<T>(detail::Op::GatherRow, {x.value(), indices.value()}, {}, where);
}
/// The same from global memory: only the rows that are named are read.
template <class T, auto... Dims, class I>
[[nodiscard]] Tile<T> gather_row(const Tensor<T, Dims...>& x, const Tile<I>& indices,
                                 std::source_location where = std::source_location::current()) {
  static_assert(detail::is_index<I>,
                "pl::gather_row: the indices are a tile of integers; use pl::cast<std::int32_t>(…)");
  return detail::tile_call<T>(detail::Op::LoadRow,
                              {detail::rows_view(x.view(), indices.value(), "pl::gather_row", where),
                               detail::Shape(), detail::Shape(), indices.value()},
                              {}, where);
}

/// Rows of sequences that lie in pages, as a paged KV cache: pages [N, P, ...] in global memory, a block table
/// [S.., M] that names the pages of each sequence in order, and the number of rows that each sequence has,
/// lengths [S..] or one integer. Gives `count` rows of each, [S.., count, ...]: row i is row t = start + i of the
/// sequence, pages[table[s, t / P], t % P], and zero where t >= length; nothing of the table is read there.
template <class T, auto... Dims, class I, class L>
[[nodiscard]] Tile<T> paged_gather(const Tensor<T, Dims...>& pages, const Tile<I>& table, const L& lengths,
                                   const Extent& count, PagedOptions options = {},
                                   std::source_location where = std::source_location::current()) {
  static_assert(detail::is_index<I>, "pl::paged_gather: the block table is a tile of integers");
  static_assert(detail::kind_of<L> != detail::OperandKind::None &&
                    detail::is_index<typename detail::Operand<detail::Bare<L>>::element>,
                "pl::paged_gather: the lengths are a tile of integers or one integer");
  using E = typename detail::Operand<detail::Bare<L>>::element;
  return detail::tile_call<T>(
      detail::Op::PagedGather,
      {detail::rows_view(pages.view(), table.value(), "pl::paged_gather", where), detail::Shape(),
       detail::Shape(), table.value(), detail::to_value<E>(lengths, trilith::codegen::DType::Int64, where),
       detail::Value::scalar(count.value), detail::Value::scalar(options.start.value)},
      {}, where);
}

/// x with result[.., indices[.., j, ..], ..] = source[.., j, ..] along `axis`; of equal indices the last in
/// row-major order wins. The source has the shape of the indices, whose other extents are those of x.
template <class T, class I>
[[nodiscard]] Tile<T> scatter(const Tile<T>& x, const Tile<I>& indices, const Tile<T>& source,
                              AxisOptions options = {},
                              std::source_location where = std::source_location::current()) {
  static_assert(detail::is_index<I>,
                "pl::scatter: the indices are a tile of integers; use pl::cast<std::int32_t>(…)");
  return detail::tile_call<T>(detail::Op::Scatter, {x.value(), indices.value(), source.value()},
                              detail::along(options.axis), where);
}
/// The same with the source added: every one of equal indices counts, in row-major order, each sum rounded.
/// Numeric; integers wrap.
template <class T, class I>
[[nodiscard]] Tile<T> scatter_add(const Tile<T>& x, const Tile<I>& indices, const Tile<T>& source,
                                  AxisOptions options = {},
                                  std::source_location where = std::source_location::current()) {
  static_assert(detail::is_index<I>,
                "pl::scatter_add: the indices are a tile of integers; use pl::cast<std::int32_t>(…)");
  return detail::tile_call<T>(detail::Op::ScatterAdd, {x.value(), indices.value(), source.value()},
                              detail::along(options.axis), where);
}

/// Positions of the elements in sorted order along `axis`: stable, NaN last whatever the direction. Numeric.
template <class T>
[[nodiscard]] Tile<std::int32_t> sort_indices(const Tile<T>& x, SortOptions options = {},
                                              std::source_location where = std::source_location::current()) {
  return detail::tile_call<std::int32_t>(detail::Op::SortIndices, {x.value()},
                                         detail::along(options.axis, options.descending), where);
}
/// Positions of the k largest (`.largest = false`: smallest) elements along `axis`, the best first: of equals the
/// first index, NaN last. k at most the extent. Numeric.
template <class T>
[[nodiscard]] Tile<std::int32_t> topk_indices(const Tile<T>& x, const Extent& k, TopkOptions options = {},
                                              std::source_location where = std::source_location::current()) {
  return detail::tile_call<std::int32_t>(detail::Op::TopkIndices, {x.value(), detail::Value::scalar(k.value)},
                                         detail::along(options.axis, options.largest), where);
}
/// The elements in sorted order and their positions: sort_indices, and x gathered by them.
template <class T>
[[nodiscard]] Sorted<T> sort(const Tile<T>& x, SortOptions options = {},
                             std::source_location where = std::source_location::current()) {
  Tile<std::int32_t> indices = sort_indices(x, options, where);
  return {gather(x, indices, {options.axis}, where), std::move(indices)};
}
/// The k best elements and their positions: topk_indices, and x gathered by them.
template <class T>
[[nodiscard]] Sorted<T> topk(const Tile<T>& x, const Extent& k, TopkOptions options = {},
                             std::source_location where = std::source_location::current()) {
  Tile<std::int32_t> indices = topk_indices(x, k, options, where);
  return {gather(x, indices, {options.axis}, where), std::move(indices)};
}

namespace detail {
/// float and double are C++'s own; other dtypes compute by the language's rules, as tiles do.
template <class T>
using ReadElement = std::conditional_t<std::is_same_v<T, float> || std::is_same_v<T, double>, T, Scalar<T>>;
}  // namespace detail

/// One element of a tile or tensor, a scalar known when the kernel runs; one offset for each axis.
template <class T>
[[nodiscard]] detail::ReadElement<T> read(const Tile<T>& x, const Index& offsets,
                                          std::source_location where = std::source_location::current()) {
  static_assert(!std::is_void_v<T>,
                "pl::read: a scalar's dtype must be known; convert with pl::cast<T>(x) first");
  return detail::read_tile(x.value(), offsets, where).template get<T>();
}
/// In a kernel, and in a pl::jit body: there it waits for the tasks that write the tensor, and in the run that
/// records a program it ends the plan.
template <class T, auto... Dims>
[[nodiscard]] detail::ReadElement<T> read(const Tensor<T, Dims...>& x, const Index& offsets,
                                          std::source_location where = std::source_location::current()) {
  static_assert(!std::is_void_v<T>,
                "pl::read: a scalar's dtype must be known; declare the tensor pl::Tensor<T>");
  return detail::read_view(x.view(), offsets, where).template get<T>();
}

/// Changes one element of a tile.
template <class T, class A>
void write(Tile<T>& x, const Index& offsets, const A& element,
           std::source_location where = std::source_location::current()) {
  x = detail::tile_call<T>(detail::Op::Write,
                           {x.value(), offsets.values(), detail::to_value<T>(element, x.dtype(), where)}, {},
                           where);
}
/// Writes one element of a tensor and returns it: `y = pl::write(y, {i, j}, value)`.
template <class Y, class A>
  requires(detail::IsWritable<Y>::value)
Y write(const Y& y, const Index& offsets, const A& element,
        std::source_location where = std::source_location::current()) {
  detail::write_view(y.view(), offsets, detail::to_value<typename Y::value_type>(element, y.dtype(), where),
                     where);
  return y;
}

}  // namespace pl
