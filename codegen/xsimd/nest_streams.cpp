// Memory of a nest: which pointer each value walks with which strides, and which loops are one.
#include "codegen/error.hpp"
#include "codegen/xsimd/nest.hpp"

#include <algorithm>

namespace trilith::codegen::xsimd {

using fuse::Root;
using fuse::Stage;
using fuse::ValueId;
using fuse::ValueKind;

void NestEmitter::follow(Stream& stream, const std::vector<Dim>& shape, const std::vector<Product>& strides) {
  const auto along = [&](int axis) {
    const int index = fuse::axis_of(shape, nest_, axis);
    return index < 0 || shape[index].is(1) ? Product{0, {}} : strides[index];
  };
  for (int axis = 0; axis < std::ssize(nest_.outer); ++axis)
    if (!nest_.outer[axis].is(1)) stream.strides.push_back(along(axis));
  stream.inner = along(-1);
  stream.rows = nest_.column ? along(-2) : Product{0, {}};
}

Stream NestEmitter::region_stream(const Statement& statement, const std::vector<Dim>& shape) {
  const fuse::Region region = fuse::region_of(c_.kernel, statement);
  TensorInfo& tensor = c_.tensors.at(region.tensor);
  std::string offset;
  for (std::size_t axis = 0; axis < tensor.strides.size(); ++axis) {
    const Expr& at = region.offsets->operands[axis];
    const Product& stride = tensor.strides[axis];
    if (!tensor.run_time_strides[axis].empty()) tensor.uses_stride[axis] = true;
    if (at.is_constant() && at.value.as_int64() == 0) continue;
    std::string term;
    if (at.is_constant()) {
      term = (Product{at.value.as_int64(), {}} * stride).text();
    } else {
      term = c_.index(at);
      if (!stride.is(1)) term += " * " + stride.text();
    }
    offset += (offset.empty() ? "" : " + ") + term;
  }
  Stream stream;
  stream.dtype = c_.kernel.variables[region.tensor].type.dtype;
  stream.base = tensor.name;
  if (!offset.empty()) {
    stream.base = c_.names.fresh(tensor.name + "_at");
    const bool reads = statement.value.op != Op::Store;
    c_.out.line(std::string(reads ? "const " : "") + type_name(stream.dtype) + "* const " + stream.base +
                " = " + tensor.name + " + (" + offset + ");");
  }
  const std::size_t dropped = tensor.strides.size() - shape.size();
  follow(stream, shape,
         {tensor.strides.begin() + static_cast<std::ptrdiff_t>(dropped), tensor.strides.end()});
  return stream;
}

Stream NestEmitter::buffer_stream(const Buffer& buffer) {
  Stream stream;
  stream.dtype = buffer.dtype;
  stream.base = buffer.pointer();
  std::vector<Product> strides(buffer.shape.size());
  Product dense;
  for (std::size_t axis = buffer.shape.size(); axis-- > 0;) {
    strides[axis] = dense;
    dense = dense * c_.product(buffer.shape[axis]);
  }
  follow(stream, buffer.shape, strides);
  return stream;
}

Stream NestEmitter::memory_of(ValueId id) {
  const fuse::Value& of = value(id);
  if (fuse::is_kept_before(plan_, id, number_)) {
    const VariableId as = plan_.kept_as[id];
    return buffer_stream(as == no_variable ? temporaries_.at(id) : c_.buffer_of(as));
  }
  if (of.kind == ValueKind::Buffer) return buffer_stream(c_.buffer_of(of.variable));
  return region_stream(*of.statement, of.shape);
}

Stream NestEmitter::memory_of(const Root& root) {
  Stream stream;
  if (root.kind == fuse::RootKind::Store)
    stream = region_stream(*root.statement, value(root.value).shape);
  else
    stream =
        buffer_stream(root.temporary ? temporaries_.at(root.value) : c_.buffer_of(root.statement->variable));
  stream.writes = true;
  return stream;
}

bool NestEmitter::from_memory(ValueId id) const {
  const ValueKind kind = value(id).kind;
  return kind == ValueKind::Load || kind == ValueKind::Buffer || fuse::is_kept_before(plan_, id, number_);
}

void NestEmitter::collect_streams() {
  bool first = true;
  const auto consider = [&](DType dtype) {
    if (dtype == DType::Bool) return;
    if (first || lane_size(dtype) < lane_size(narrowest_)) narrowest_ = dtype;
    first = false;
  };
  for (const Stage& stage : nest_.stages) {
    for (const auto* values : {&stage.row_values, &stage.values})
      for (const ValueId id : *values) {
        if (varies(id)) consider(value(id).dtype);
        if (from_memory(id) && !reads_.contains(id)) reads_.emplace(id, memory_of(id));
      }
    for (const ValueId id : stage.reductions) consider(value(id).dtype);
    for (const auto* roots : {&stage.row_roots, &stage.roots})
      for (const Root& root : *roots) writes_.emplace(&root, memory_of(root));
  }
  for (const Dim& dim : nest_.outer)
    if (!dim.is(1)) loops_.push_back({c_.product(dim), {}});
  inner_ = c_.product(nest_.inner);
}

std::vector<Stream*> NestEmitter::all_streams() {
  std::vector<Stream*> streams;
  for (auto& [id, stream] : reads_) streams.push_back(&stream);
  // In the order of the stages, not of addresses: the text must not depend on them.
  for (const Stage& stage : nest_.stages)
    for (const auto* roots : {&stage.row_roots, &stage.roots})
      for (const Root& root : *roots) streams.push_back(&writes_.at(&root));
  return streams;
}

void NestEmitter::collapse_loops() {
  const std::vector<Stream*> streams = all_streams();
  // One pass over everything: the last axis is a loop like the others.
  const bool one_pass = !nest_.column && nest_.stages.size() == 1 && nest_.stages[0].row_values.empty() &&
                        nest_.stages[0].row_roots.empty() && nest_.stages[0].reductions.empty();
  if (one_pass && !loops_.empty()) {
    const bool flat = std::ranges::all_of(
        streams, [&](const Stream* stream) { return stream->strides.back() == stream->inner * inner_; });
    if (flat) {
      inner_ = inner_ * loops_.back().extent;
      loops_.pop_back();
      for (Stream* stream : streams) stream->strides.pop_back();
      if (!loops_.empty()) return collapse_loops();
    }
  }
  for (std::size_t i = loops_.size(); i-- > 1;) {
    const bool one = std::ranges::all_of(streams, [&](const Stream* stream) {
      return stream->strides[i - 1] == stream->strides[i] * loops_[i].extent;
    });
    if (!one) continue;
    loops_[i - 1].extent = loops_[i - 1].extent * loops_[i].extent;
    loops_.erase(loops_.begin() + static_cast<std::ptrdiff_t>(i));
    for (Stream* stream : streams)
      stream->strides.erase(stream->strides.begin() + static_cast<std::ptrdiff_t>(i) - 1);
  }
}

void NestEmitter::declare_row(Stream& stream, bool along_rows) {
  std::string offset;
  const auto add = [&](const std::string& variable, const Product& stride) {
    if (stride.is(0)) return;
    offset += (offset.empty() ? "" : " + ") + variable + (stride.is(1) ? "" : " * " + stride.text());
  };
  for (std::size_t i = 0; i < loops_.size(); ++i) add(loops_[i].variable, stream.strides[i]);
  if (along_rows) add("r", stream.rows);
  if (!block_.empty()) add(block_, stream.inner);
  if (offset.empty()) {
    stream.row = stream.base;
    return;
  }
  std::string hint = stream.base;
  if (const auto dot = hint.find('.'); dot != std::string::npos) hint.resize(dot);
  if (stream.row.empty() || stream.row == stream.base) stream.row = c_.names.fresh(hint + "_row");
  c_.out.line(std::string(stream.writes ? "" : "const ") + type_name(stream.dtype) + "* const " + stream.row +
              " = " + stream.base + " + (" + offset + ");");
}

std::string NestEmitter::pointer(const Stream& stream, const std::string& at) const {
  std::string row = stream.row;
  if (!row_count_.empty() && !stream.rows.is(0))
    row += " + u" + (stream.rows.is(1) ? std::string() : " * " + stream.rows.text());
  if (stream.inner.is(0)) return row;
  if (stream.inner.is(1)) return row + " + " + at;
  const bool simple = at.find(' ') == std::string::npos;
  return row + " + " + (simple ? at : "(" + at + ")") + " * " + stream.inner.text();
}

}  // namespace trilith::codegen::xsimd
