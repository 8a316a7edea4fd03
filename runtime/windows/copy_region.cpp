#include "runtime/windows/copy_region.hpp"

#include "codegen/reference.hpp"
#include "pl/tensor.hpp"

#include <cstring>
#include <vector>

namespace pl::detail {
namespace {

/// The innermost run of elements, in bytes.
struct Line {
  std::int64_t count, to_step, from_step, bytes;
};

void copy_line(char* to, const char* from, const Line& line) {
  if (line.to_step == line.bytes && line.from_step == line.bytes) {
    std::memcpy(to, from, static_cast<std::size_t>(line.count * line.bytes));
    return;
  }
  for (std::int64_t i = 0; i < line.count; ++i)
    std::memcpy(to + i * line.to_step, from + i * line.from_step, static_cast<std::size_t>(line.bytes));
}

void copy_axes(char* to, std::span<const std::int64_t> to_strides, const char* from,
               std::span<const std::int64_t> from_strides, std::span<const std::int64_t> shape,
               const Line& line) {
  if (shape.empty()) {
    copy_line(to, from, line);
    return;
  }
  for (std::int64_t i = 0; i < shape[0]; ++i)
    copy_axes(to + i * to_strides[0] * line.bytes, to_strides.subspan(1),
              from + i * from_strides[0] * line.bytes, from_strides.subspan(1), shape.subspan(1), line);
}

}  // namespace

void copy_region(char* to, std::span<const std::int64_t> to_strides, const char* from,
                 std::span<const std::int64_t> from_strides, std::span<const std::int64_t> shape,
                 std::int64_t bytes) {
  for (const std::int64_t extent : shape)
    if (extent == 0) return;
  // Inner axes that are dense in both views are one line.
  std::size_t outer = shape.size();
  Line line{1, bytes, bytes, bytes};
  while (outer > 0 && (shape[outer - 1] == 1 ||
                       (to_strides[outer - 1] == line.count && from_strides[outer - 1] == line.count)))
    line.count *= shape[--outer];
  if (line.count == 1 && outer > 0) {
    --outer;
    line = {shape[outer], to_strides[outer] * bytes, from_strides[outer] * bytes, bytes};
  }
  copy_axes(to, to_strides, from, from_strides, shape.first(outer), line);
}

void add_region(char* to, std::span<const std::int64_t> to_strides, const char* from,
                std::span<const std::int64_t> from_strides, std::span<const std::int64_t> shape,
                trilith::codegen::DType dtype, const Location& where) {
  namespace codegen = trilith::codegen;
  const std::vector<std::int64_t> extents(shape.begin(), shape.end());
  const auto view_of = [&](char* data, std::span<const std::int64_t> strides) {
    return codegen::TensorView{dtype, data, extents, {strides.begin(), strides.end()}};
  };
  const codegen::Shape none(shape.size(), 0);
  const codegen::Value tile =
      codegen::reference::load(view_of(const_cast<char*>(from), from_strides), none, extents, where);
  codegen::reference::store(tile, none, view_of(to, to_strides), where, codegen::Atomic::Add);
}

void add_region(char* to, std::span<const std::int64_t> to_strides, const char* dense,
                std::span<const std::int64_t> shape, trilith::codegen::DType dtype, const Location& where) {
  const auto strides = dense_strides(shape, std::source_location{});
  add_region(to, to_strides, dense, {strides.data(), shape.size()}, shape, dtype, where);
}

}  // namespace pl::detail
