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
  std::vector<Amount> strides;
  for (const std::int64_t stride : home.strides) strides.push_back({stride});
  follow(stream, shape, strides);
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
  if (root.kind == RootKind::Store) return region_stream(*root.statement, shape);
  return home_stream(root.temporary ? temporaries_.at(root.value) : c.home_of(root.statement->variable),
                     shape);
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
  for (const std::int64_t extent : c.extents(nest_.outer, c.location))
    if (extent != 1) loops_.push_back({extent, {}});
  inner_extent_ = c.extents({nest_.inner}, c.location)[0];
  if (nest_.column) row_extent_ = c.extents({nest_.rows}, c.location)[0];
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
  const auto one = [](const Amount& outer, const Amount& inner, std::int64_t extent) {
    return outer == inner.times(extent);
  };
  if (is_elementwise())
    while (!loops_.empty() && std::ranges::all_of(all, [&](const Stream* stream) {
      return one(stream->strides.back(), stream->inner, inner_extent_);
    })) {
      inner_extent_ *= loops_.back().extent;
      loops_.pop_back();
      for (Stream* stream : all) stream->strides.pop_back();
    }
  for (std::size_t i = loops_.size(); i-- > 1;) {
    if (!std::ranges::all_of(all, [&](const Stream* stream) {
          return one(stream->strides[i - 1], stream->strides[i], loops_[i].extent);
        }))
      continue;
    loops_[i - 1].extent *= loops_[i].extent;
    loops_.erase(loops_.begin() + static_cast<std::ptrdiff_t>(i));
    for (Stream* stream : all)
      stream->strides.erase(stream->strides.begin() + static_cast<std::ptrdiff_t>(i) - 1);
  }
  if (nest_.column) {
    if (inner_extent_ == 1) {
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

}  // namespace

void Nest::choose_block() {
  std::int64_t most = c.tiling.block_elements;
  const std::int64_t pitch = inner_extent_ <= 1 ? 1 : c.pitch(inner_extent_);
  block_ = {};
  if (row_extent_ > 1 && pitch <= widest_row && pitch <= most) {
    std::int64_t rows = std::min({row_extent_, most / pitch, most_rows});
    if (c.tiling.cores > 1) rows = std::min(rows, (row_extent_ + c.tiling.cores - 1) / c.tiling.cores);
    if (rows < row_extent_) {
      // Rounds of equal length, in whole groups of eight rows.
      const std::int64_t rounds = (row_extent_ + rows - 1) / rows;
      const std::int64_t even = round_up((row_extent_ + rounds - 1) / rounds, 8);
      rows = even <= rows ? even : std::max<std::int64_t>(rows / 8 * 8, 1);
    }
    block_.max_rows = rows;
    block_.max_columns = inner_extent_;
    block_.pitch = pitch;
    block_.columns = {inner_extent_};
    block_.rows = {rows};
  } else {
    std::int64_t columns = inner_extent_;
    if (c.tiling.cores > 1 && is_elementwise() && row_extent_ == 1)
      most = std::min(most, round_up((columns + c.tiling.cores - 1) / c.tiling.cores, 256));
    if (columns > most) {
      const std::int64_t rounds = (columns + most - 1) / most;
      columns = std::min(round_up((columns + rounds - 1) / rounds, 256), most);
    }
    block_.max_columns = columns;
    block_.pitch = c.pitch(columns);
    block_.columns = {columns};
  }
  repeats_ =
      c.depth > 0 || !loops_.empty() || block_.max_rows < row_extent_ || block_.max_columns < inner_extent_;
}

}  // namespace trilith::codegen::ascendc
