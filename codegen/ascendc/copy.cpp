// From device memory to device memory through the unified buffer: boxes of elements with any strides. DataCopyPad takes rows
// of neighbouring elements, at worst of one each; what has more axes is a loop around it.
#include "codegen/ascendc/call.hpp"

#include <algorithm>

namespace trilith::codegen::ascendc {
namespace {

constexpr std::int64_t most_scratch = 64 << 10;  ///< bytes

}  // namespace

const char* const copy_rows = R"(
/// Rows of elements that lie side by side, from device memory to device memory through the buffer.
template <typename T>
__aicore__ inline void CopyRows(const AscendC::GlobalTensor<T>& to, const AscendC::GlobalTensor<T>& from,
                                const AscendC::LocalTensor<T>& buffer, int64_t rows, int64_t columns,
                                int64_t to_pitch, int64_t from_pitch) {
  const int64_t size = sizeof(T), room = buffer.GetSize() * size;
  const int64_t most_columns = columns * size < room ? columns : room / size;
  for (int64_t column = 0; column < columns; column += most_columns) {
    const int64_t width = columns - column < most_columns ? columns - column : most_columns;
    int64_t most_rows = room / ((width * size + 31) / 32 * 32);
    if (most_rows > 4095) most_rows = 4095;
    if (from_pitch < width || to_pitch < width) most_rows = 1;
    for (int64_t row = 0; row < rows; row += most_rows) {
      const int64_t height = rows - row < most_rows ? rows - row : most_rows;
      const uint16_t count = static_cast<uint16_t>(height);
      const uint32_t length = static_cast<uint32_t>(width * size);
      const uint32_t from_gap = height > 1 ? static_cast<uint32_t>((from_pitch - width) * size) : 0;
      const uint32_t to_gap = height > 1 ? static_cast<uint32_t>((to_pitch - width) * size) : 0;
      AscendC::DataCopyPad(buffer, from[row * from_pitch + column],
                           AscendC::DataCopyExtParams{count, length, from_gap, 0, 0},
                           AscendC::DataCopyPadExtParams<T>{false, 0, 0, 0});
      AscendC::PipeBarrier<PIPE_ALL>();
      AscendC::DataCopyPad(to[row * to_pitch + column], buffer,
                           AscendC::DataCopyExtParams{count, length, 0, to_gap, 0});
      AscendC::PipeBarrier<PIPE_ALL>();
    }
  }
}
)";

const char* const fill_rows = R"(
/// Rows of one value each, from the buffer.
template <typename T>
__aicore__ inline void FillRows(const AscendC::GlobalTensor<T>& to, const AscendC::LocalTensor<T>& buffer, T value,
                                int64_t rows, int64_t columns, int64_t pitch) {
  const int64_t size = sizeof(T), room = buffer.GetSize();
  const int64_t width = columns < room ? columns : room;
  for (int64_t i = 0; i < width; ++i) buffer.SetValue(i, value);
  AscendC::PipeBarrier<PIPE_ALL>();
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; column += width) {
      const int64_t count = columns - column < width ? columns - column : width;
      AscendC::DataCopyPad(to[row * pitch + column], buffer,
                           AscendC::DataCopyExtParams{1, static_cast<uint32_t>(count * size), 0, 0, 0});
    }
  AscendC::PipeBarrier<PIPE_ALL>();
}
)";

namespace {

struct Axis {
  Extent extent;
  Amount to, from;
};

/// Axes of more than one element; neighbours that both ends walk as one are one.
std::vector<Axis> axes_of(const View& to, const View& from) {
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < to.extents.size(); ++i) {
    const Axis axis{to.extents[i], to.strides[i], from.strides[i]};
    if (axis.extent.is(1)) continue;
    if (!axes.empty() && axis.extent.is_constant() && axes.back().to == axis.to.times(axis.extent.most) &&
        axes.back().from == axis.from.times(axis.extent.most))
      axes.back() = {axes.back().extent.times(axis.extent), axis.to, axis.from};
    else
      axes.push_back(axis);
  }
  return axes;
}

/// The last axis, where its elements lie side by side at both ends.
Extent take_columns(std::vector<Axis>& axes) {
  if (axes.empty() || !axes.back().to.is(1) || !axes.back().from.is(1)) return 1;
  const Extent columns = axes.back().extent;
  axes.pop_back();
  return columns;
}

/// Loops over the axes around the lines that follow; `views` are at the element of each turn.
void open_loops(Context& c, const std::vector<Axis>& axes, View& to, View* from) {
  for (const Axis& axis : axes) {
    const std::string i = c.names.fresh("i");
    c.open("for (int64_t " + i + " = 0; " + i + " < " + axis.extent.text() + "; ++" + i + ") {");
    c.turns(static_cast<double>(axis.extent.most));
    to.at.add(axis.to, i);
    if (from != nullptr) from->at.add(axis.from, i);
  }
}

/// Takes the axis that one DataCopyPad walks: the longest of those with room between their rows.
Axis take_rows(std::vector<Axis>& axes, const Extent& columns) {
  if (axes.empty()) return {1, columns.amount(), columns.amount()};
  const auto has_room = [&](const Amount& pitch) {
    return pitch == columns.amount() || (pitch.is_constant() && pitch.factor >= columns.most);
  };
  const auto worth = [&](const Axis& axis) {
    return has_room(axis.to) && has_room(axis.from) ? axis.extent.most : 0;
  };
  const auto best = std::ranges::max_element(axes, {}, worth);
  const Axis rows = *best;
  axes.erase(best);
  return rows;
}

}  // namespace

void copy(TileCall& call, const View& to, const View& from) {
  if (to.size().is(0)) return;
  Context& c = call.c;
  std::vector<Axis> axes = axes_of(to, from);
  const Extent columns = take_columns(axes);
  const Axis rows = take_rows(axes, columns);
  const std::string type = type_name(stored_as(to.dtype));
  c.function("CopyRows", copy_rows);
  View target = to, source = from;
  open_loops(c, axes, target, &source);
  const std::int64_t row = round_up(columns.most * bytes_of(to.dtype), 32);
  const ObjectId buffer =
      c.scratch(std::min(most_scratch, row * std::min<std::int64_t>(rows.extent.most, 4095)));
  c.call("CopyRows<" + type + ">(" + text_of(target) + ", " + text_of(source) + ", " + Context::name(buffer) +
             ".ReinterpretCast<" + type + ">(), " + rows.extent.text() + ", " + columns.text() + ", " +
             rows.to.text() + ", " + rows.from.text() + ");",
         {{to.object, true}, {from.object, false}, {buffer, true}});
  c.takes({{Work::Unit::MoveIn, rows.extent.most * row}, {Work::Unit::MoveOut, rows.extent.most * row}});
  for (std::size_t i = 0; i < axes.size(); ++i) c.close();
}

void fill(TileCall& call, const View& to, const std::string& value) {
  if (to.size().is(0)) return;
  Context& c = call.c;
  const std::string type = type_name(stored_as(to.dtype));
  std::vector<Axis> axes = axes_of(to, to);
  const Extent columns = take_columns(axes);
  const Axis rows = take_rows(axes, columns);
  c.function("FillRows", fill_rows);
  View target = to;
  open_loops(c, axes, target, nullptr);
  const std::int64_t row = round_up(columns.most * bytes_of(to.dtype), 32);
  const ObjectId buffer = c.scratch(std::min<std::int64_t>(8192, row));
  c.call("FillRows<" + type + ">(" + text_of(target) + ", " + Context::name(buffer) + ".ReinterpretCast<" +
             type + ">(), static_cast<" + type + ">(" + value + "), " + rows.extent.text() + ", " +
             columns.text() + ", " + rows.to.text() + ");",
         {{to.object, true}, {buffer, true}});
  c.takes({{Work::Unit::Scalar, std::min<std::int64_t>(columns.most, 8192 / bytes_of(to.dtype))},
           {Work::Unit::MoveOut, rows.extent.most * row}});
  for (std::size_t i = 0; i < axes.size(); ++i) c.close();
}

View new_view(TileCall& call, const View& like) {
  const Home home = call.c.new_home(call.c.names.fresh("dense"), like.dtype, like.extents, true);
  return {home.object, like.dtype, {}, home.extents, dense_strides(home.extents)};
}

View dense(TileCall& call, const View& from, bool in_workspace) {
  if (from.is_dense() && (!in_workspace || call.c.program.objects[from.object].workspace >= 0)) return from;
  const View own = new_view(call, from);
  copy(call, own, from);
  return own;
}

}  // namespace trilith::codegen::ascendc
