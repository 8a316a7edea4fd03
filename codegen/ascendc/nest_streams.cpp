// Memory of a nest: where each value lies, which loops are one, and how large a block is.
#include "codegen/ascendc/nest.hpp"

#include "codegen/ascendc/lowering.hpp"
#include "codegen/error.hpp"

#include <algorithm>

namespace trilith::codegen::ascendc {

using fuse::Root;
using fuse::RootKind;
using fuse::ValueId;
using fuse::ValueKind;

namespace {

bool has_atomic_add(DType dtype) {
  switch (dtype) {
    case DType::Float32:
    case DType::Float16:
    case DType::BFloat16:
    case DType::Int32:
    case DType::Int16:
    case DType::Int8: return true;
    default: return false;
  }
}

}  // namespace

void Nest::follow(Stream& stream, const std::vector<Dim>& shape, const std::vector<Amount>& strides) {
  const auto along = [&](int axis) {
    const int index = fuse::axis_of(shape, nest_, axis);
    return index < 0 || shape[index].is(1) ? Amount{0} : strides[index];
  };
  for (int axis = 0; axis < static_cast<int>(nest_.outer.size()); ++axis)
    if (!nest_.outer[axis].is(1)) stream.strides.push_back(along(axis));
  stream.inner = along(-1);
  stream.rows = nest_.column ? along(-2) : Amount{0};
}

Stream Nest::region_stream(const Statement& statement, const std::vector<Dim>& shape) {
  const fuse::Region region = fuse::region_of(c.kernel, statement);
  TensorInfo& tensor = c.tensors.at(region.tensor);
  if (const std::string reason = refusal(statement.value.op, tensor.dtype); !reason.empty())
    c.refuse(operation(statement.value.op).name, tensor.dtype, reason, statement.location);
  Stream stream;
  stream.object = tensor.object;
  c.used_tensors.insert(tensor.object);
  stream.dtype = tensor.dtype;
  stream.name = c.variables[region.tensor];
  stream.is_input = tensor.access == codegen::Access::In;
  stream.adds = statement.value.op == Op::Store && statement.value.attributes.atomic == Atomic::Add;
  if (stream.adds && !has_atomic_add(tensor.dtype))
    c.refuse("store with Atomic::Add", tensor.dtype,
             "device memory adds float, half, bfloat16, int32, int16 and int8 alone", statement.location);
  for (std::size_t axis = 0; axis < tensor.strides.size(); ++axis) {
    const Expr& at = region.offsets->operands[axis];
    const Amount& stride = tensor.strides[axis];
    if (!stride.is_constant()) tensor.passes_stride[axis] = true;
    if (at.is_constant())
      stream.base.add(stride.times(at.value.as_int64()), "1");
    else
      stream.base.add(stride, c.index(at));
  }
  const std::size_t dropped = tensor.strides.size() - shape.size();
  follow(stream, shape,
         {tensor.strides.begin() + static_cast<std::ptrdiff_t>(dropped), tensor.strides.end()});
  return stream;
}

Stream Nest::home_stream(const Home& home, const std::vector<Dim>& shape) {
  Stream stream;
  stream.global = home.in_workspace;
  stream.object = home.object;
  stream.dtype = home.dtype;
  stream.name = c.program.objects[home.object].name;
  follow(stream, shape, strides_of(home));
  return stream;
}

Stream Nest::stream_of(ValueId id) {
  const fuse::Value& of = plan_.values[id];
  if (fuse::is_kept_before(plan_, id, number_)) {
    const VariableId as = plan_.kept_as[id];
    return home_stream(as == no_variable ? temporaries_.at(id) : c.home_of(as), of.shape);
  }
  if (of.kind == ValueKind::Buffer) return home_stream(c.home_of(of.variable), of.shape);
  return region_stream(*of.statement, of.shape);
}

Stream Nest::stream_of(const Root& root) {
  const std::vector<Dim>& shape = plan_.values[root.value].shape;
  Stream stream =
      root.kind == RootKind::Store
          ? region_stream(*root.statement, shape)
          : home_stream(root.temporary ? temporaries_.at(root.value) : c.home_of(root.statement->variable),
                        shape);
  stream.store = root.statement;
  return stream;
}

bool Nest::from_memory(ValueId id) const {
  const ValueKind kind = plan_.values[id].kind;
  return kind == ValueKind::Load || kind == ValueKind::Buffer || fuse::is_kept_before(plan_, id, number_);
}

void Nest::collect(ValueId id, std::vector<bool>& seen) {
  if (seen[id]) return;
  seen[id] = true;
  if (from_memory(id)) {
    reads_.emplace(id, stream_of(id));
    return;
  }
  for (const fuse::Operand& operand : plan_.values[id].operands)
    if (operand.value >= 0) collect(operand.value, seen);
}

void Nest::collect() {
  std::vector<bool> seen(plan_.values.size());
  for (const Root& root : nest_.roots) {
    collect(root.value, seen);
    writes_.push_back(root.kind == RootKind::Reduce && !root.temporary && plan_.kept_in[root.value] < 0
                          ? Stream{}
                      : root.kind == RootKind::Reduce ? Stream{}
                                                      : stream_of(root));
  }
  for (const Extent& extent : c.extents(nest_.outer, c.location))
    if (!extent.is(1)) loops_.push_back({extent, {}});
  inner_extent_ = c.extent(nest_.inner, c.location);
  if (nest_.column) row_extent_ = c.extent(nest_.rows, c.location);
}

std::vector<Stream*> Nest::streams() {
  std::vector<Stream*> all;
  for (auto& [id, stream] : reads_) all.push_back(&stream);
  for (Stream& stream : writes_)
    if (stream.object >= 0) all.push_back(&stream);
  return all;
}

bool Nest::is_elementwise() const {
  const auto plain = [&](const fuse::Stage& stage) {
    return stage.row_values.empty() && stage.row_roots.empty() && stage.reductions.empty();
  };
  return !nest_.column && nest_.stages.size() == 1 && plain(nest_.stages[0]);
}

/// Loops that walk memory as one become one, the last axis among them where nothing happens by rows.
void Nest::collapse() {
  const std::vector<Stream*> all = streams();
  const auto one = [](const Amount& outer, const Amount& inner, const Extent& extent) {
    return extent.is_constant() && outer == inner.times(extent.most);
  };
  if (is_elementwise())
    while (!loops_.empty() && std::ranges::all_of(all, [&](const Stream* stream) {
      return one(stream->strides.back(), stream->inner, inner_extent_);
    })) {
      inner_extent_ = loops_.back().extent.times(inner_extent_);
      loops_.pop_back();
      for (Stream* stream : all) stream->strides.pop_back();
    }
  for (std::size_t i = loops_.size(); i-- > 1;) {
    if (!std::ranges::all_of(all, [&](const Stream* stream) {
          return one(stream->strides[i - 1], stream->strides[i], loops_[i].extent);
        }))
      continue;
    loops_[i - 1].extent = loops_[i - 1].extent.times(loops_[i].extent);
    loops_.erase(loops_.begin() + static_cast<std::ptrdiff_t>(i));
    for (Stream* stream : all)
      stream->strides.erase(stream->strides.begin() + static_cast<std::ptrdiff_t>(i) - 1);
  }
  if (nest_.column) {
    if (inner_extent_.is(1)) {
      reduces_columns_ = true;
      std::swap(inner_extent_, row_extent_);
      for (Stream* stream : all) std::swap(stream->inner, stream->rows);
    }
  } else if (!loops_.empty()) {
    row_extent_ = loops_.back().extent;
    loops_.pop_back();
    for (Stream* stream : all) {
      stream->rows = stream->strides.back();
      stream->strides.pop_back();
    }
  }
}

namespace {

/// Of operations with a mask and a repeat a row: strides of one byte in blocks of 32 bytes, 255 repeats, whole groups of
/// eight rows for Brcb.
constexpr std::int64_t widest_row = 2040;
constexpr std::int64_t most_rows = 248;
/// Blocks of 32 bytes that one DataCopyPad moves are fewer than 4096, and two such buffers take half of the room.
constexpr std::int64_t most_apart = 1024;

}  // namespace

/// Elements at a time that the puts and gets of the nest ask for, by .chunk; the buffers that these alternate between.
std::int64_t Nest::asked_block() {
  std::int64_t most = c.tiling.block_elements;
  for (const auto& [id, stream] : reads_) {
    if (plan_.values[id].kind != ValueKind::Load) continue;
    const Attributes& asked = plan_.values[id].expr->attributes;
    if (asked.chunk > 0) most = std::min<std::int64_t>(most, asked.chunk);
    // More than two where each queue has a position's eight for itself.
    if (asked.pipeline != 2) buffers_ = std::min(asked.pipeline, c.tiling.queue_limit == 8 ? 8 : 2);
  }
  return most;
}

void Nest::choose_block() {
  std::int64_t most = c.tiling.block_elements;
  const std::int64_t all_rows = row_extent_.most, all_columns = inner_extent_.most;
  const std::int64_t pitch = all_columns <= 1 ? 1 : c.pitch(all_columns);
  block_ = {};
  // Elements of a row that lie apart in device memory come and go one block of 32 bytes each, one row at a time.
  const bool apart = std::ranges::any_of(streams(), [&](const Stream* stream) {
    return stream->global && all_columns > 1 && !stream->inner.is(1) && !stream->inner.is(0);
  });
  if (apart) most = std::min(most, most_apart);
  most = std::min(most, asked_block());
  if (all_rows > 1 && !apart && pitch <= widest_row && pitch <= most) {
    std::int64_t rows = std::min({all_rows, most / pitch, most_rows});
    if (c.tiling.cores > 1) rows = std::min(rows, (all_rows + c.tiling.cores - 1) / c.tiling.cores);
    if (rows < all_rows) {
      // Rounds of equal length, in whole groups of eight rows.
      const std::int64_t rounds = (all_rows + rows - 1) / rows;
      const std::int64_t even = round_up((all_rows + rounds - 1) / rounds, 8);
      rows = even <= rows ? even : std::max<std::int64_t>(rows / 8 * 8, 1);
    }
    block_.max_rows = rows;
    block_.max_columns = all_columns;
    block_.pitch = pitch;
    block_.columns = {all_columns};
    block_.rows = {rows};
  } else {
    std::int64_t columns = all_columns;
    if (c.tiling.cores > 1 && is_elementwise() && row_extent_.is(1))
      most = std::min(most, round_up((columns + c.tiling.cores - 1) / c.tiling.cores, 256));
    if (columns > most) {
      const std::int64_t rounds = (columns + most - 1) / most;
      columns = std::min(round_up((columns + rounds - 1) / rounds, 256), most);
    }
    block_.max_columns = columns;
    block_.pitch = c.pitch(columns);
    block_.columns = {columns};
  }
  repeats_ = c.depth > 0 || !loops_.empty() || block_.max_rows < row_extent_.most ||
             block_.max_columns < inner_extent_.most;
}

}  // namespace trilith::codegen::ascendc
