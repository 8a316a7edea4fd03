#include "codegen/reference.hpp"
#include "pl/ops_index.hpp"
#include "pl/task.hpp"

namespace pl::detail {

namespace reference = trilith::codegen::reference;

TensorView tensor_view(const ViewRef& view) {
  const auto rank = static_cast<std::size_t>(view.rank);
  return {view.dtype, view.data, {view.extents, view.extents + rank}, {view.strides, view.strides + rank}};
}

Value read_tile(const Value& tile, const Index& offsets, const std::source_location& where) {
  require_core("read", where);
  return reference::read(tile, offsets.values(), location_of(where));
}

Value read_view(const ViewRef& view, const Index& offsets, const std::source_location& where) {
  if (current_level() == Level::Device)
    wait_to_read(view, where);
  else
    require_core("read", where);
  const Shape one(offsets.values().size(), 1);
  const Value tile = reference::load(tensor_view(view), offsets.values(), one, location_of(where));
  return reference::read(tile, Shape(one.size(), 0), location_of(where));
}

void write_view(const ViewRef& view, const Index& offsets, const Value& element,
                const std::source_location& where) {
  require_core("write", where);
  if (view.read_only) throw_read_only(view, where);
  const Value tile = reference::full(Shape(offsets.values().size(), 1), element);
  reference::store(tile, offsets.values(), tensor_view(view), location_of(where));
}

}  // namespace pl::detail
