#include "pl/tensor.hpp"

#include "codegen/message.hpp"
#include "pl/detail/location.hpp"

namespace pl::detail {

namespace message = trilith::codegen::message;

namespace {

std::string list(std::span<const std::int64_t> values, std::span<const std::string_view> names = {},
                 std::span<const std::int64_t> multiples = {}) {
  std::string text = "[";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i != 0) text += ", ";
    const bool named = i < names.size() && !names[i].empty();
    text += named ? std::string(names[i]) : std::to_string(values[i]);
    if (named && multiples[i] != 1) text += " (a multiple of " + std::to_string(multiples[i]) + ")";
  }
  return text + "]";
}

}  // namespace

std::string describe(const ViewRef& view) {
  return std::string(trilith::codegen::name_of(view.dtype)) +
         list(std::span(view.extents, static_cast<std::size_t>(view.rank)));
}

void throw_dtype_mismatch(const ViewRef& given, DType expected, const std::source_location& where) {
  throw DtypeError(message::annotated_dtype(describe(given), trilith::codegen::name_of(expected)),
                   location_of(where));
}

void throw_shape_mismatch(const ViewRef& given, std::span<const std::int64_t> extents,
                          std::span<const std::string_view> names, std::span<const std::int64_t> multiples,
                          const std::source_location& where) {
  throw ShapeError(
      message::annotated_shape(describe(given), std::string(trilith::codegen::name_of(given.dtype)) +
                                                    list(extents, names, multiples)),
      location_of(where));
}

void throw_read_only(const ViewRef& given, const std::source_location& where) {
  throw UserError("a read-only tensor " + describe(given) +
                      " (a view of const memory) was given for an output; pass memory that may be written",
                  location_of(where));
}

void throw_bad_region(const ViewRef& given, const Index& offsets, const Index& shape,
                      const std::source_location& where) {
  const auto& at = offsets.values();
  const auto& size = shape.values();
  const auto rank = static_cast<std::size_t>(given.rank);
  if (at.size() != rank || size.size() != rank)
    throw ShapeError(message::region_rank("slice", rank, at.size(), size.size()), location_of(where));
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (size[axis] < 0) throw ShapeError(message::negative_extent(size[axis]), location_of(where));
    if (at[axis] < 0 || at[axis] > given.extents[axis] - size[axis])
      throw ShapeError(message::region("slice", axis, at[axis], size[axis], given.extents[axis]),
                       location_of(where));
  }
  throw InternalError("slice: the region is inside the tensor; please report this", location_of(where));
}

void throw_bad_index(const ViewRef& given, std::int64_t index, const std::source_location& where) {
  throw ShapeError(
      given.rank == 0 ? message::no_leading_axis : message::leading_index(index, given.extents[0]),
      location_of(where));
}

void throw_bad_dims(const char* what, std::int64_t given, const std::source_location& where) {
  throw ShapeError(std::string("pl::tensor: expected ") + what + ", got " + std::to_string(given),
                   location_of(where));
}

std::array<std::int64_t, max_rank> dense_strides(std::span<const std::int64_t> extents,
                                                 const std::source_location& where) {
  if (extents.size() > max_rank)
    throw_bad_dims("rank 0 to 8", static_cast<std::int64_t>(extents.size()), where);
  std::array<std::int64_t, max_rank> strides{};
  std::int64_t stride = 1;
  for (std::size_t i = extents.size(); i-- > 0;) {
    if (extents[i] < 0) throw_bad_dims("extents of 0 or more", extents[i], where);
    strides[i] = stride;
    // Bytes must fit 63 bits too: an element has at most 8, and offsets are products of the same extents.
    if (__builtin_mul_overflow(stride, extents[i], &stride) || stride > std::int64_t{1} << 59)
      throw ShapeError("the shape " + list(extents) + " has more than 2^59 elements; use smaller extents",
                       location_of(where));
  }
  return strides;
}

void check_element_count(std::span<const std::int64_t> extents, std::size_t available,
                         const std::source_location& where) {
  (void)dense_strides(extents, where);
  std::int64_t needed = 1;
  for (std::int64_t extent : extents) needed *= extent;
  if (static_cast<std::size_t>(needed) > available)
    throw ShapeError("pl::tensor: the shape " + list(extents) + " needs " + std::to_string(needed) +
                         " elements, the container has " + std::to_string(available),
                     location_of(where));
}

}  // namespace pl::detail
