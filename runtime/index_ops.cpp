#include "codegen/reference.hpp"
#include "pl/ops_index.hpp"
#include "pl/task.hpp"
#include "runtime/thread_state.hpp"
#include "runtime/windows/task_watch.hpp"
#include "runtime/written_regions.hpp"

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
  note_access(WindowAccess::Kind::Read, "pl::read", view, offsets.values(), one, Place(where));
  return reference::read(tile, Shape(one.size(), 0), location_of(where));
}

void write_view(const ViewRef& view, const Index& offsets, const Value& element,
                const std::source_location& where) {
  require_core("write", where);
  if (view.read_only) throw_read_only(view, where);
  note_written(view);
  const Value tile = reference::full(Shape(offsets.values().size(), 1), element);
  reference::store(tile, offsets.values(), tensor_view(view), location_of(where));
  note_access(WindowAccess::Kind::Write, "pl::write", view, offsets.values(), tile.shape, Place(where));
}

TensorView rows_view(const ViewRef& view, const Value& rows, const char* what,
                     const std::source_location& where) {
  const TensorView result = tensor_view(view);
  if (thread_state().watch == nullptr || view.rank == 0) return result;
  Shape offsets(result.extents.size(), 0), shape = result.extents;
  shape[0] = 1;
  const Value numbers = reference::apply(Op::Cast, std::span(&rows, 1), {}, DType::Int64, location_of(where));
  for (std::int64_t i = 0; i < numbers.size(); ++i) {
    offsets[0] = numbers.get<std::int64_t>(i);
    if (offsets[0] >= 0 && offsets[0] < result.extents[0])
      note_access(WindowAccess::Kind::Read, what, view, offsets, shape, Place(where));
  }
  return result;
}

}  // namespace pl::detail
