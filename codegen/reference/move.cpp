#include "codegen/message.hpp"
#include "codegen/reference/support.hpp"

#include <atomic>

namespace trilith::codegen::reference {
namespace {

void check_view(const TensorView& tensor, const pl::Location& location) {
  if (tensor.extents.size() != tensor.strides.size())
    throw pl::InternalError("a tensor view with " + std::to_string(tensor.extents.size()) + " extents and " +
                                std::to_string(tensor.strides.size()) + " strides; please report this",
                            location);
}

void check_region(const TensorView& tensor, const Shape& offsets, const Shape& shape,
                  std::string_view operation, const pl::Location& location) {
  const std::size_t rank = tensor.extents.size();
  if (offsets.size() != rank || shape.size() != rank)
    throw pl::ShapeError(message::region_rank(operation, rank, offsets.size(), shape.size()), location);
  check_shape(shape, operation, location);
  for (std::size_t i = 0; i < rank; ++i)
    if (offsets[i] < 0 || offsets[i] > tensor.extents[i] || shape[i] > tensor.extents[i] - offsets[i])
      throw pl::ShapeError(message::region(operation, i, offsets[i], shape[i], tensor.extents[i]), location);
}

/// Calls function(element of the region in row-major order, element of the tensor).
template <class Function>
void for_each_element(const TensorView& tensor, const Shape& offsets, const Shape& shape,
                      const Function& function) {
  const std::size_t rank = shape.size();
  std::int64_t at = 0;
  for (std::size_t i = 0; i < rank; ++i) at += offsets[i] * tensor.strides[i];
  const std::int64_t count = element_count(shape);
  Shape index(rank, 0);
  for (std::int64_t i = 0; i < count; ++i) {
    function(i, at);
    for (std::size_t axis = rank; axis-- > 0;) {
      at += tensor.strides[axis];
      if (++index[axis] < shape[axis]) break;
      at -= tensor.strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

void refuse_atomic_bool(DType dtype, const pl::Location& location) {
  if (dtype == DType::Bool)
    throw pl::DtypeError("store: bools cannot be added; convert the tile with pl::cast<std::int32_t>(...)",
                         location);
}

template <class T>
void add_indivisibly(T* to, T value) {
  const std::atomic_ref<T> element(*to);
  T old = element.load(std::memory_order_relaxed);
  for (;;) {
    T sum;
    if constexpr (std::is_integral_v<T>)
      sum = static_cast<T>(wide(old) + wide(value));
    else
      sum = static_cast<T>(old + value);
    if (element.compare_exchange_weak(old, sum, std::memory_order_relaxed)) return;
  }
}

}  // namespace

Value full(const Shape& shape, const Value& element) {
  check_shape(shape, "full", {});
  if (element.bytes.size() != size_of(element.dtype))
    throw pl::ShapeError("full: the element must be a scalar, not a tile of shape " + text_of(element.shape));
  Value result(element.dtype, shape);
  const std::size_t size = element.bytes.size();
  for (std::size_t at = 0; at < result.bytes.size(); at += size)
    std::memcpy(result.bytes.data() + at, element.bytes.data(), size);
  return result;
}

Value load(const TensorView& tensor, const Shape& offsets, const Shape& shape, const pl::Location& location) {
  check_view(tensor, location);
  check_region(tensor, offsets, shape, "load", location);
  Value result(tensor.dtype, shape);
  const auto* from = static_cast<const std::byte*>(tensor.data);
  std::byte* to = result.bytes.data();
  const auto size = static_cast<std::int64_t>(size_of(tensor.dtype));
  for_each_element(tensor, offsets, shape, [&](std::int64_t i, std::int64_t at) {
    std::memcpy(to + i * size, from + at * size, static_cast<std::size_t>(size));
    // Memory of others may hold any byte for `true`; a C++ bool must not.
    if (tensor.dtype == DType::Bool) to[i] = std::byte{to[i] != std::byte{0}};
  });
  return result;
}

void store(const Value& tile, const Shape& offsets, const TensorView& tensor, const pl::Location& location,
           Atomic atomic) {
  check_view(tensor, location);
  if (tile.is_scalar)
    throw pl::ShapeError(
        "store: a scalar is no tile; make one of the shape to be written with pl::full<T>({...}, value)",
        location);
  if (tile.dtype != tensor.dtype)
    throw pl::DtypeError("store: the tile is " + std::string(name_of(tile.dtype)) + " and the tensor " +
                             std::string(name_of(tensor.dtype)) + "; convert the tile with pl::cast<" +
                             std::string(cpp_name_of(tensor.dtype)) + ">(...)",
                         location);
  check_region(tensor, offsets, tile.shape, "store", location);
  auto* to = static_cast<std::byte*>(tensor.data);
  const std::byte* from = tile.bytes.data();
  const auto size = static_cast<std::int64_t>(size_of(tensor.dtype));
  if (atomic == Atomic::Add) {
    refuse_atomic_bool(tensor.dtype, location);
    return visit_numeric(tensor.dtype, [&]<class T>() {
      for_each_element(tensor, offsets, tile.shape, [&](std::int64_t i, std::int64_t at) {
        add_indivisibly(static_cast<T*>(tensor.data) + at, tile.get<T>(i));
      });
    });
  }
  for_each_element(tensor, offsets, tile.shape, [&](std::int64_t i, std::int64_t at) {
    std::memcpy(to + at * size, from + i * size, static_cast<std::size_t>(size));
  });
}

TensorView slice(const TensorView& tensor, const Shape& offsets, const Shape& shape,
                 const pl::Location& location) {
  check_view(tensor, location);
  check_region(tensor, offsets, shape, "slice", location);
  TensorView result = tensor;
  result.extents = shape;
  std::int64_t at = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) at += offsets[i] * tensor.strides[i];
  // An empty view is never read, and its offset may lie behind the memory.
  if (element_count(shape) != 0)
    result.data =
        static_cast<std::byte*>(tensor.data) + at * static_cast<std::int64_t>(size_of(tensor.dtype));
  return result;
}

TensorView index(const TensorView& tensor, std::int64_t position, const pl::Location& location) {
  check_view(tensor, location);
  if (tensor.extents.empty()) throw pl::ShapeError(message::no_leading_axis, location);
  if (position < 0 || position >= tensor.extents[0])
    throw pl::ShapeError(message::leading_index(position, tensor.extents[0]), location);
  Shape offsets(tensor.extents.size(), 0), shape = tensor.extents;
  offsets[0] = position;
  shape[0] = 1;
  TensorView result = slice(tensor, offsets, shape, location);
  result.extents.erase(result.extents.begin());
  result.strides.erase(result.strides.begin());
  return result;
}

}  // namespace trilith::codegen::reference
