#include "pl/memory.hpp"

#include "pl/ops_index.hpp"
#include "pl/ops_valid.hpp"
#include "runtime/windows/task_watch.hpp"
#include "runtime/written_regions.hpp"

#include <algorithm>
#include <optional>

namespace pl::detail {
namespace {

namespace reference = trilith::codegen::reference;

}  // namespace

Value load_region(const ViewRef& view, const Index& offsets, const Index& shape, bool clamp,
                  const Index& valid, const std::source_location& where) {
  require_core("load", where);
  std::optional<trilith::codegen::Shape> given;
  if (!valid.values().empty()) given = valid.values();
  Value tile =
      reference::load(tensor_view(view), offsets.values(), shape.values(), clamp, given, location_of(where));
  auto read = shape.values();
  for (std::size_t axis = 0; axis < read.size(); ++axis) {
    if (given) read[axis] = std::min(read[axis], (*given)[axis]);
    if (clamp)
      read[axis] =
          std::max<std::int64_t>(0, std::min(read[axis], view.extents[axis] - offsets.values()[axis]));
  }
  note_access(WindowAccess::Kind::Read, "pl::load", view, offsets.values(), read, Place(where));
  return tile;
}

Value load_all(const ViewRef& view, const std::source_location& where) {
  require_core("load", where);
  const auto tensor = tensor_view(view);
  Value tile = reference::load(tensor, trilith::codegen::Shape(tensor.extents.size(), 0), tensor.extents,
                               location_of(where));
  note_access(WindowAccess::Kind::Read, "pl::load", view, {}, tensor.extents, Place(where));
  return tile;
}

void store_region(const Value& tile, const Index* offsets, const ViewRef& view,
                  trilith::codegen::Atomic atomic, const std::source_location& where) {
  require_core("store", where);
  if (view.read_only) throw_read_only(view, where);
  note_written(view);
  const auto origin = trilith::codegen::Shape(static_cast<std::size_t>(view.rank), 0);
  reference::store(tile, offsets != nullptr ? offsets->values() : origin, tensor_view(view),
                   location_of(where), atomic);
  note_access(atomic == trilith::codegen::Atomic::Add ? WindowAccess::Kind::Add : WindowAccess::Kind::Write,
              "pl::store", view,
              offsets != nullptr ? std::span(offsets->values()) : std::span<const std::int64_t>(), tile.shape,
              Place(where));
}

Value set_valid_tile(const Value& tile, const Index& valid, const std::source_location& where) {
  require_core("set_valid", where);
  return reference::set_valid(tile, valid.values(), location_of(where));
}

Value fillpad_tile(const Value& tile, trilith::codegen::Fill fill, const std::source_location& where) {
  require_core("fillpad", where);
  return reference::fillpad(tile, fill, location_of(where));
}

Value full_tile(const Index& shape, const Value& element, const std::source_location& where) {
  require_core("full", where);
  for (const std::int64_t extent : shape.values())
    if (extent < 0)
      throw ShapeError("pl::full: an extent is " + std::to_string(extent) + "; expected 0 or more",
                       location_of(where));
  return reference::full(shape.values(), element);
}

Value reduce(Op op, const Value& tile, const std::source_location& where) {
  require_core(trilith::codegen::operation(op).name, where);
  return reference::apply(op, std::span(&tile, 1), {}, tile.dtype, location_of(where));
}

void print_value(const Value& value, const std::source_location& where) {
  require_core("print", where);
  print_text(reference::to_text(value) + "\n");
}

}  // namespace pl::detail
