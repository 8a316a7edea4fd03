#include "runtime/windows/copy_region.hpp"

#include "pl/tensor.hpp"
#include "runtime/windows/add_line.hpp"

#include <cstring>

namespace pl::detail {
namespace {

/// The innermost run of elements: how many, and from one to the next, in elements.
struct Line {
  std::int64_t count, to_step, from_step;
};

template <class Move>
void move_axes(char* to, std::span<const std::int64_t> to_strides, const char* from,
               std::span<const std::int64_t> from_strides, std::span<const std::int64_t> shape,
               std::int64_t bytes, const Line& line, const Move& move) {
  if (shape.empty()) return move(to, from, line);
  for (std::int64_t i = 0; i < shape[0]; ++i)
    move_axes(to + i * to_strides[0] * bytes, to_strides.subspan(1), from + i * from_strides[0] * bytes,
              from_strides.subspan(1), shape.subspan(1), bytes, line, move);
}

/// Calls move(to, from, line) for every line of the region, unless that has no elements.
template <class Move>
void move_region(char* to, std::span<const std::int64_t> to_strides, const char* from,
                 std::span<const std::int64_t> from_strides, std::span<const std::int64_t> shape,
                 std::int64_t bytes, const Move& move) {
  for (const std::int64_t extent : shape)
    if (extent == 0) return;
  // Inner axes that are dense in both views are one line.
  std::size_t outer = shape.size();
  Line line{1, 1, 1};
  while (outer > 0 && (shape[outer - 1] == 1 ||
                       (to_strides[outer - 1] == line.count && from_strides[outer - 1] == line.count)))
    line.count *= shape[--outer];
  if (line.count == 1 && outer > 0) {
    --outer;
    line = {shape[outer], to_strides[outer], from_strides[outer]};
  }
  move_axes(to, to_strides, from, from_strides, shape.first(outer), bytes, line, move);
}

}  // namespace

void copy_region(char* to, std::span<const std::int64_t> to_strides, const char* from,
                 std::span<const std::int64_t> from_strides, std::span<const std::int64_t> shape,
                 std::int64_t bytes) {
  move_region(to, to_strides, from, from_strides, shape, bytes,
              [bytes](char* target, const char* source, const Line& line) {
                if (line.to_step == 1 && line.from_step == 1) {
                  std::memcpy(target, source, static_cast<std::size_t>(line.count * bytes));
                  return;
                }
                for (std::int64_t i = 0; i < line.count; ++i)
                  std::memcpy(target + i * line.to_step * bytes, source + i * line.from_step * bytes,
                              static_cast<std::size_t>(bytes));
              });
}

void add_region(char* to, std::span<const std::int64_t> to_strides, const char* from,
                std::span<const std::int64_t> from_strides, std::span<const std::int64_t> shape,
                trilith::codegen::DType dtype, const Location& where) {
  if (dtype == trilith::codegen::DType::Bool)
    throw DtypeError("an addition to a window: bools cannot be added; use a window of another dtype", where);
  move_region(to, to_strides, from, from_strides, shape,
              static_cast<std::int64_t>(trilith::codegen::size_of(dtype)),
              [dtype](char* target, const char* source, const Line& line) {
                add_line(target, line.to_step, source, line.from_step, line.count, dtype);
              });
}

void add_region(char* to, std::span<const std::int64_t> to_strides, const char* dense,
                std::span<const std::int64_t> shape, trilith::codegen::DType dtype, const Location& where) {
  const auto strides = dense_strides(shape, std::source_location{});
  add_region(to, to_strides, dense, {strides.data(), shape.size()}, shape, dtype, where);
}

}  // namespace pl::detail
