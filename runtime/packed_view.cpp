#include "runtime/packed_view.hpp"

#include "runtime/measure.hpp"
#include "runtime/windows/copy_region.hpp"

#include <span>

namespace pl::detail {
namespace {

std::size_t axes_of(const ViewRef& view) { return static_cast<std::size_t>(view.rank); }

std::int64_t element_of(const ViewRef& view) {
  return static_cast<std::int64_t>(trilith::codegen::size_of(view.dtype));
}

}  // namespace

PackedView::PackedView(const ViewRef& view)
    : view_(view), strides_(dense_strides({view.extents, axes_of(view)}, std::source_location{})) {}

std::size_t PackedView::bytes() const {
  std::int64_t bytes = element_of(view_);
  for (int axis = 0; axis < view_.rank; ++axis) bytes *= view_.extents[axis];
  return static_cast<std::size_t>(bytes);
}

bool PackedView::is_dense() const { return measure(view_).layout == trilith::codegen::Layout::Dense; }

void PackedView::read(char* to) const {
  const std::size_t axes = axes_of(view_);
  copy_region(to, {strides_.data(), axes}, static_cast<const char*>(view_.data), {view_.strides, axes},
              {view_.extents, axes}, element_of(view_));
}

void PackedView::write(const char* from) const {
  const std::size_t axes = axes_of(view_);
  copy_region(static_cast<char*>(view_.data), {view_.strides, axes}, from, {strides_.data(), axes},
              {view_.extents, axes}, element_of(view_));
}

const char* PackedView::elements(std::vector<char>& memory) const {
  if (is_dense()) return static_cast<const char*>(view_.data);
  memory.resize(bytes());
  read(memory.data());
  return memory.data();
}

}  // namespace pl::detail
