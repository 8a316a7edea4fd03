// One pass over the last axis: vectors of N elements, several accumulators where it reduces, and a partial
// vector for the rest of the row.
#include "codegen/error.hpp"
#include "codegen/xsimd/nest.hpp"

#include <algorithm>

namespace trilith::codegen::xsimd {

using fuse::Operand;
using fuse::Root;
using fuse::Stage;
using fuse::Value;
using fuse::ValueId;
using fuse::ValueKind;

namespace {

/// Bodies above this keep the core busy without help; below, loads want several vectors in flight.
constexpr int cheap_body = 12;

}  // namespace

Reduction reduction_of(const Expr& expression) {
  const DType dtype = expression.type.dtype, sum = is_narrow_float(dtype) ? DType::Float32 : dtype;
  const auto number = [&](std::int64_t value) { return Constant::of(sum, value); };
  switch (expression.op) {
    case Op::RowSum:
    case Op::ColSum: return {"add", "reduce_add", sum, number(0), false};
    case Op::RowMean:
    case Op::ColMean: return {"add", "reduce_add", sum, number(0), true};
    case Op::RowProd:
    case Op::ColProd: return {"mul", "reduce_mul", sum, number(1), false};
    case Op::RowMax:
    case Op::ColMax: return {"maximum", "reduce_max", dtype, Constant::lowest(dtype), false};
    case Op::RowMin:
    case Op::ColMin: return {"minimum", "reduce_min", dtype, Constant::highest(dtype), false};
    default: throw pl::InternalError("emitter: no lowering of " + std::string(operation(expression.op).name));
  }
}

std::string converted(std::string text, DType from, DType to) {
  return from == to ? text : "device::cast<" + type_name(to) + ">(" + text + ")";
}

std::string NestEmitter::splat(DType dtype, const std::string& scalar) const {
  if (dtype == DType::Bool) return "device::splat_mask<W>(" + scalar + ")";
  return "device::splat<" + type_name(dtype) + ", W>(" + scalar + ")";
}

std::string NestEmitter::vector_operand(const Operand& operand) {
  if (operand.value < 0) return splat(operand.scalar->type.dtype, c_.scalar(*operand.scalar));
  if (varies(operand.value)) return name_of(operand.value);
  return splat(value(operand.value).dtype, name_of(operand.value));
}

bool NestEmitter::is_cheap(const Stage& stage) const {
  int cost = 0;
  for (const ValueId id : stage.values) {
    int own = value(id).cost;
    for (const Operand& operand : value(id).operands)
      if (operand.value >= 0) own -= std::min(own, value(operand.value).cost);
    cost += buffered_[id] || from_memory(id) ? 1 : std::max(own, 1);
  }
  return cost <= cheap_body;
}

bool NestEmitter::is_strided(const Stage& stage) const {
  const auto apart = [](const Stream& stream) { return !stream.inner.is(0) && !stream.inner.is(1); };
  for (const ValueId id : stage.values)
    if (!buffered_[id] && from_memory(id) && apart(reads_.at(id))) return true;
  for (const Root& root : stage.roots)
    if (apart(writes_.at(&root))) return true;
  return false;
}

void NestEmitter::vector_value(ValueId id, const Place& place) {
  const Value& of = value(id);
  const bool mask = of.dtype == DType::Bool;
  const std::string type = type_name(of.dtype);
  std::string text;
  if (buffered_[id]) {
    const std::string from = "(" + row_buffers_.at(id) + " + " + place.at + ")";
    text = mask ? "device::load_mask<W>" + from : "device::load<" + type + ", W>" + from;
  } else if (from_memory(id)) {
    const Stream& stream = reads_.at(id);
    const std::string from = pointer(stream, place.at);
    const std::string kind = std::string(mask ? "load_mask" : "load");
    const std::string template_arguments = mask ? "<W>(" : "<" + type + ", W>(";
    if (stream.inner.is(0))
      text = splat(of.dtype, "*(" + from + ")");
    else if (!stream.inner.is(1))
      text = "device::" + kind + "_strided" + template_arguments + from + ", " + stream.inner.text() +
             (place.count.empty() ? ")" : ", " + place.count + ")");
    else if (!place.count.empty())
      text = "device::" + kind + "_partial" + template_arguments + from + ", " + place.count + ")";
    else
      text = "device::" + kind + template_arguments + from + ")";
  } else if (of.kind == ValueKind::Full) {
    text = splat(of.dtype, c_.scalar(*of.operands[0].scalar));
  } else if (of.kind == ValueKind::ColReduce) {
    const Reduction reduction = reduction_of(*of.expr);
    const std::string kept = type_name(reduction.accumulator);
    text = "device::load<" + kept + ", W>(" + accumulators_.at(id) + " + " + place.at + ")";
    if (reduction.mean)
      text = "device::div(" + text + ", " +
             splat(reduction.accumulator, "static_cast<" + kept + ">(" + c_.dim(nest_.rows) + ")") + ")";
    text = converted(std::move(text), reduction.accumulator, of.dtype);
  } else {
    std::vector<std::string> operands;
    for (const Operand& operand : of.operands) operands.push_back(vector_operand(operand));
    text = c_.call(*of.expr, operands);
  }
  c_.out.line("const auto " + name_of(id) + " = " + text + ";");
}

bool NestEmitter::adds(const Root& root) {
  if (root.kind != fuse::RootKind::Store || root.statement->value.attributes.atomic != Atomic::Add)
    return false;
  c_.headers.insert("atomic.hpp");
  return true;
}

void NestEmitter::vector_root(const Root& root, const Place& place) {
  const Stream& stream = writes_.at(&root);
  if (adds(root)) {
    const std::string count = stream.inner.is(0) ? "1" : place.count.empty() ? "W" : place.count;
    return c_.out.line("device::atomic_add(" + pointer(stream, place.at) + ", " + stream.inner.text() + ", " +
                       name_of(root.value) + ", " + count + ");");
  }
  const bool mask = stream.dtype == DType::Bool;
  const std::string kind = mask ? "device::store_mask" : "device::store";
  const std::string to = pointer(stream, place.at), name = name_of(root.value);
  if (stream.inner.is(1) || stream.inner.is(0)) {
    if (place.count.empty() && stream.inner.is(1))
      c_.out.line(kind + (&root == streamed_ ? "_streaming(" : "(") + to + ", " + name + ");");
    else
      c_.out.line(kind + "_partial(" + to + ", " + name + ", " + (stream.inner.is(0) ? "1" : place.count) +
                  ");");
  } else {
    c_.out.line(kind + "_strided(" + to + ", " + stream.inner.text() + ", " + name +
                (place.count.empty() ? ");" : ", " + place.count + ");"));
  }
}

void NestEmitter::accumulate(ValueId id, const Place& place) {
  const Reduction reduction = reduction_of(*value(id).expr);
  const Operand& operand = value(id).operands[0];
  const std::string accumulator = accumulators_.at(id) + place.accumulator;
  std::string text = converted(vector_operand(operand), value(id).dtype, reduction.accumulator);
  if (!place.count.empty())
    text =
        "device::where(device::first_lanes<W>(" + place.count + "), " + text + ", " + neutrals_.at(id) + ")";
  c_.out.line(accumulator + " = device::" + reduction.combine + "(" + accumulator + ", " + text + ");");
}

void NestEmitter::body(const Stage& stage, const Place& place) {
  for (const ValueId id : stage.values) vector_value(id, place);
  for (const ValueId id : stage.row_buffered)
    c_.out.line(std::string(value(id).dtype == DType::Bool ? "device::store_mask(" : "device::store(") +
                row_buffers_.at(id) + " + " + place.at + ", " + name_of(id) + ");");
  for (const ValueId id : stage.reductions) accumulate(id, place);
  for (const Root& root : stage.roots) vector_root(root, place);
}

void NestEmitter::accumulators(const Stage& stage, int count) {
  for (const ValueId id : stage.reductions) {
    const std::string name = accumulators_[id] = c_.names.fresh(name_of(id) + "_lanes");
    const std::string neutral = neutrals_[id] = c_.names.fresh(name_of(id) + "_start");
    const Reduction reduction = reduction_of(*value(id).expr);
    c_.out.line("const auto " + neutral + " = " + splat(reduction.accumulator, literal(reduction.neutral)) +
                ";");
    if (count == 1) {
      c_.out.line("auto " + name + " = " + neutral + ";");
      continue;
    }
    std::string all = neutral;
    for (int i = 1; i < count; ++i) all += ", " + neutral;
    c_.out.line("device::Vec<" + type_name(reduction.accumulator) + ", W> " + name + "[] = {" + all + "};");
  }
}

void NestEmitter::finish_reductions(const Stage& stage, int count) {
  for (const ValueId id : stage.reductions) {
    const Reduction reduction = reduction_of(*value(id).expr);
    const std::string kept = type_name(reduction.accumulator),
                      combine = std::string("device::") + reduction.combine;
    std::string total = accumulators_.at(id);
    if (count == 2) total = combine + "(" + total + "[0], " + total + "[1])";
    if (count == 4)
      total = combine + "(" + combine + "(" + total + "[0], " + total + "[1]), " + combine + "(" + total +
              "[2], " + total + "[3]))";
    std::string text = std::string("device::") + reduction.across + "(" + total + ")";
    if (reduction.mean) text = "device::div(" + text + ", static_cast<" + kept + ">(" + inner_.text() + "))";
    text = converted(std::move(text), reduction.accumulator, value(id).dtype);
    c_.out.line("const " + type_name(value(id).dtype) + " " + name_of(id) + " = " + text + ";");
  }
}

void NestEmitter::pass(const Stage& stage) {
  if (const Root* root = streamed_root(stage)) {
    streamed_ = root;
    streaming_pass(stage);
    streamed_ = nullptr;
    return;
  }
  const bool reduces = !stage.reductions.empty();
  const bool cheap = is_cheap(stage);
  const std::int64_t fewest = fewest_lanes(narrowest_), most = most_lanes(narrowest_);
  int count = reduces && cheap ? 4 : 1;
  if (inner_.is_constant())
    while (count > 1 && count * most > inner_.factor) count /= 2;
  accumulators(stage, count);

  const std::string extent = inner_.text(), step = count == 1 ? "W" : std::to_string(count) + " * W";
  const bool whole = !inner_.is_constant() || inner_.factor >= count * fewest;
  const bool rest = !inner_.is_constant() || inner_.factor % (count * most) != 0;
  if (rest) {
    c_.out.open("{");
    c_.out.line("std::int64_t j = 0;");
  }
  if (whole) {
    // Short constant loops unroll fully by themselves. Others are left as they are written where that is wide
    // enough: copies of a large body only cost compile time. So do copies of strided accesses, which are an
    // instruction or more for each element.
    const bool is_short = inner_.is_constant() && inner_.factor <= 4 * count * most;
    if (!is_short)
      c_.out.line(!reduces && cheap && !is_strided(stage) ? "#pragma clang loop unroll_count(4)"
                                                          : "#pragma clang loop unroll(disable)");
    c_.out.open(rest ? "for (; j + " + step + " <= " + extent + "; j += " + step + ") {"
                     : "for (std::int64_t j = 0; j < " + extent + "; j += " + step + ") {");
    if (count == 1) {
      body(stage, {"j", "", ""});
    } else {
      c_.out.open("for (int u = 0; u < " + std::to_string(count) + "; ++u) {");
      body(stage, {"j + u * W", "", "[u]"});
      c_.out.close();
    }
    c_.out.close();
  }
  if (rest) {
    c_.out.open(count == 1 ? "if (j < " + extent + ") {" : "for (; j < " + extent + "; j += W) {");
    c_.out.line("const int rest = static_cast<int>(" + extent + " - j);");
    body(stage, {"j", "rest", count == 1 ? "" : "[0]"});
    c_.out.close();
    c_.out.close();
  }
  finish_reductions(stage, count);
}

}  // namespace trilith::codegen::xsimd
