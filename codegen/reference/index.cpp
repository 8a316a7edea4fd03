// Choosing elements by position (gather, scatter, read) and finding positions by value (argmax, sort).
#include "codegen/message.hpp"
#include "codegen/reference/lines.hpp"
#include "codegen/reference/tile_calls.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace trilith::codegen::reference {
namespace {

std::int64_t integer_at(const Value& indices, std::int64_t i) {
  return visit_integer(indices.dtype,
                       [&]<class I>() { return static_cast<std::int64_t>(indices.data<I>()[i]); });
}

/// The index, once it is known to lie inside [0, bound).
std::int64_t inside(std::int64_t index, std::int64_t bound, Op op, const pl::Location& location,
                    const char* part = "") {
  if (index < 0 || index >= bound)
    throw pl::ShapeError(message::index_outside(std::string(operation(op).name) + part, index, bound),
                         location);
  return index;
}

/// x comes before y in the order of a sort: NaN behind every number, equal elements as they stand.
template <class T>
bool before(T x, T y, bool descending) {
  if (x != x || y != y) return x == x;
  return descending ? y < x : x < y;
}

/// The positions of one line in sorted order.
template <class T>
std::vector<std::int64_t> order_of(const T* data, const Lines& lines, std::int64_t o, std::int64_t i,
                                   bool descending) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(lines.extent));
  std::iota(order.begin(), order.end(), 0);
  // Not std::stable_sort: with the standard library of g++ 12 clang warns of what it is made of.
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    const T x = data[lines.element(o, a, i)], y = data[lines.element(o, b, i)];
    if (before(x, y, descending)) return true;
    return !before(y, x, descending) && a < b;
  });
  return order;
}

/// The first `result` positions of each line's order.
void first_positions(const Value& x, std::size_t axis, bool descending, Value& result) {
  const Lines lines(x.shape, axis), out(result.shape, axis);
  visit_any(x.dtype, [&]<class T>() {
    for_each_line(lines, [&](std::int64_t o, std::int64_t i) {
      const std::vector<std::int64_t> order = order_of(x.data<T>(), lines, o, i, descending);
      for (std::int64_t at = 0; at < out.extent; ++at)
        result.data<std::int32_t>()[out.element(o, at, i)] =
            static_cast<std::int32_t>(order[static_cast<std::size_t>(at)]);
    });
  });
}

/// Copies one element; a bool of foreign memory may hold any byte for `true`, a C++ bool must not.
void copy_byte_element(DType dtype, std::byte* to, const std::byte* from) {
  std::memcpy(to, from, size_of(dtype));
  if (dtype == DType::Bool) *to = std::byte{*to != std::byte{0}};
}

/// Copies view[position, ...] to `to`, dense.
void copy_row(const TensorView& view, const Shape& leading, std::byte* to) {
  const auto size = static_cast<std::int64_t>(size_of(view.dtype));
  Shape offsets(view.extents.size(), 0), shape = view.extents;
  std::copy(leading.begin(), leading.end(), offsets.begin());
  std::fill_n(shape.begin(), leading.size(), 1);
  const Shape last = shape;
  const std::int64_t count = element_count(shape);
  Shape index(shape.size(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t at = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      at += (offsets[axis] + index[axis]) * view.strides[axis];
    copy_byte_element(view.dtype, to + i * size, static_cast<const std::byte*>(view.data) + at * size);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < last[axis]) break;
      index[axis] = 0;
    }
  }
}

template <class T>
T sum_of(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(wide(a) + wide(b));
  else
    return static_cast<T>(a + b);
}

TensorView dense_view(const Value& tile) {
  TensorView view{tile.dtype, const_cast<std::byte*>(tile.bytes.data()), tile.shape,
                  Shape(tile.shape.size())};
  std::int64_t stride = 1;
  for (std::size_t axis = tile.shape.size(); axis-- > 0; stride *= tile.shape[axis])
    view.strides[axis] = stride;
  return view;
}

void argument(Op op, const Value& x, Value& result) {
  const bool last = op == Op::RowArgmax || op == Op::RowArgmin;
  const bool largest = op == Op::RowArgmax || op == Op::ColArgmax;
  const Lines lines(x.shape, x.shape.size() - (last ? 1 : 2));
  visit_numeric(x.dtype, [&]<class T>() {
    const T* data = x.data<T>();
    for_each_line(lines, [&](std::int64_t o, std::int64_t i) {
      std::int64_t found = lines.extent == 0 ? -1 : 0;
      for (std::int64_t at = 1; at < lines.extent; ++at) {
        const T best = data[lines.element(o, found, i)], candidate = data[lines.element(o, at, i)];
        if (best != best) break;  // the first NaN stays
        if (candidate != candidate || (largest ? best < candidate : candidate < best)) found = at;
      }
      result.data<std::int32_t>()[o * lines.inner + i] = static_cast<std::int32_t>(found);
    });
  });
}

void cumsum(const Value& x, std::size_t axis, Value& result) {
  const Lines lines(x.shape, axis);
  visit_numeric(x.dtype, [&]<class T>() {
    using Sum = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;
    for_each_line(lines, [&](std::int64_t o, std::int64_t i) {
      Sum sum = 0;
      for (std::int64_t at = 0; at < lines.extent; ++at) {
        sum += static_cast<Sum>(x.data<T>()[lines.element(o, at, i)]);
        result.data<T>()[lines.element(o, at, i)] = static_cast<T>(sum);
      }
    });
  });
}

void gather(const Value& x, const Value& indices, std::size_t axis, Value& result,
            const pl::Location& location) {
  const Lines from(x.shape, axis), to(indices.shape, axis);
  const std::size_t size = size_of(x.dtype);
  for (std::int64_t o = 0; o < to.outer; ++o)
    for (std::int64_t at = 0; at < to.extent; ++at)
      for (std::int64_t i = 0; i < to.inner; ++i) {
        const std::int64_t element = to.element(o, at, i);
        const std::int64_t index = inside(integer_at(indices, element), from.extent, Op::Gather, location);
        std::memcpy(result.bytes.data() + static_cast<std::size_t>(element) * size,
                    x.bytes.data() + static_cast<std::size_t>(from.element(o, index, i)) * size, size);
      }
}

void gather_row(const TensorView& rows, const Value& indices, Value& result, const pl::Location& location) {
  const std::int64_t count = indices.size();
  const std::size_t row = count == 0 ? 0 : result.bytes.size() / static_cast<std::size_t>(count);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t index = inside(integer_at(indices, i), rows.extents[0], Op::GatherRow, location);
    copy_row(rows, {index}, result.bytes.data() + static_cast<std::size_t>(i) * row);
  }
}

void paged_gather(const TensorView& pages, const Value& table, const Value& lengths, std::int64_t start,
                  Value& result, const pl::Location& location) {
  const std::int64_t entries = table.shape.back(), page = pages.extents[1];
  const std::int64_t sequences = element_count({table.shape.begin(), table.shape.end() - 1});
  const std::int64_t rows = result.shape[table.shape.size() - 1];
  const std::int64_t all_rows = sequences * rows;
  const std::size_t row = all_rows == 0 ? 0 : result.bytes.size() / static_cast<std::size_t>(all_rows);
  for (std::int64_t s = 0; s < sequences; ++s) {
    const std::int64_t length = integer_at(lengths, lengths.is_scalar ? 0 : s);
    for (std::int64_t i = 0; i < rows; ++i) {
      std::byte* to = result.bytes.data() + static_cast<std::size_t>(s * rows + i) * row;
      // i < length - start, where the difference may not fit
      if (start >= length || static_cast<std::uint64_t>(i) >=
                                 static_cast<std::uint64_t>(length) - static_cast<std::uint64_t>(start)) {
        std::memset(to, 0, row);
        continue;
      }
      const std::int64_t position = start + i;
      const std::int64_t block = inside(page == 0 || position < 0 ? position : position / page,
                                        page == 0 ? 0 : entries, Op::PagedGather, location, ": block table");
      const std::int64_t at =
          inside(integer_at(table, s * entries + block), pages.extents[0], Op::PagedGather, location);
      copy_row(pages, {at, position % page}, to);
    }
  }
}

void scatter(Op op, const Value& indices, const Value& source, std::size_t axis, Value& result,
             const pl::Location& location) {
  const Lines to(result.shape, axis), from(indices.shape, axis);
  visit_any(result.dtype, [&]<class T>() {
    for (std::int64_t o = 0; o < from.outer; ++o)
      for (std::int64_t at = 0; at < from.extent; ++at)
        for (std::int64_t i = 0; i < from.inner; ++i) {
          const std::int64_t element = from.element(o, at, i);
          const std::int64_t index = inside(integer_at(indices, element), to.extent, op, location);
          T& changed = result.data<T>()[to.element(o, index, i)];
          const T given = source.data<T>()[element];
          if constexpr (std::is_same_v<T, bool>)
            changed = given;
          else
            changed = op == Op::ScatterAdd ? sum_of(changed, given) : given;
        }
  });
}

/// Number of the element at `offsets` in a tile of `shape`.
std::int64_t element_at(Op op, const Shape& shape, const Shape& offsets, const pl::Location& location) {
  if (offsets.size() != shape.size())
    throw pl::ShapeError(std::string(operation(op).name) + ": " + std::to_string(offsets.size()) +
                             " offsets in a tile of rank " + std::to_string(shape.size()) +
                             "; give one for each axis",
                         location);
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    (void)inside(offsets[axis], shape[axis], op, location, (": axis " + std::to_string(axis)).c_str());
  return position_of(offsets, shape);
}

/// Operand 0, a tensor, its region cut out and the dropped axes gone.
TensorView view_of(const CallInputs& in) {
  if (in.list(2).empty()) return in.tensor(0);
  TensorView view = slice(in.tensor(0), in.list(1), in.list(2), in.location);
  for (std::int32_t axis = 0; axis < in.attributes.axis; ++axis) {
    view.extents.erase(view.extents.begin());
    view.strides.erase(view.strides.begin());
  }
  return view;
}

}  // namespace

void index_call(const CallInputs& in, Value& result) {
  const pl::Location& location = in.location;
  const auto axis = [&] { return in.axis(in.attributes.axis); };
  switch (in.op) {
    case Op::RowArgmax:
    case Op::RowArgmin:
    case Op::ColArgmax:
    case Op::ColArgmin: return argument(in.op, in.tile(0), result);
    case Op::Cumsum: return cumsum(in.tile(0), axis(), result);
    case Op::Gather: return gather(in.tile(0), in.tile(1), axis(), result, location);
    case Op::GatherRow: return gather_row(dense_view(in.tile(0)), in.tile(1), result, location);
    case Op::LoadRow: return gather_row(view_of(in), in.tile(3), result, location);
    case Op::PagedGather:
      return paged_gather(view_of(in), in.tile(3), in.tile(4), in.scalar(6).get<std::int64_t>(), result,
                          location);
    case Op::Scatter:
    case Op::ScatterAdd:
      result = in.tile(0);
      return scatter(in.op, in.tile(1), in.tile(2), axis(), result, location);
    case Op::SortIndices:
    case Op::TopkIndices: return first_positions(in.tile(0), axis(), in.attributes.flag, result);
    case Op::Write: {
      result = in.tile(0);
      const std::int64_t at = element_at(in.op, result.shape, in.list(1), location);
      return copy_element(result, at, in.scalar(2), 0);
    }
    default: no_such_case(in.op, result.dtype);
  }
}

Value read(const Value& tile, const Shape& offsets, const pl::Location& location) {
  const std::int64_t at = element_at(Op::Read, tile.shape, offsets, location);
  Value element(tile.dtype, {});
  element.is_scalar = true;
  copy_element(element, 0, tile, at);
  return element;
}

}  // namespace trilith::codegen::reference
