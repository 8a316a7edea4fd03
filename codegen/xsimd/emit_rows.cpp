// Row nests: loops over the outer axes, and in them values of one element a row between passes over the row.
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
constexpr std::int64_t largest_row_buffer = 64 << 10;
/// Vectors read and write row buffers whole, also behind the last element.
constexpr std::int64_t row_padding = 64;
}  // namespace

void NestEmitter::emit() {
  buffered_.assign(plan_.values.size(), false);
  c_.out.open("{");
  collect_streams();
  const bool vectors =
      nest_.column || std::ranges::any_of(nest_.stages, [](const Stage& stage) { return stage.has_pass(); });
  if (vectors) c_.out.line("constexpr int W = device::lanes<" + type_name(narrowest_) + ">;");
  collapse_loops();
  for (std::size_t i = 0; i < loops_.size(); ++i) loops_[i].variable = "i" + std::to_string(i);
  if (nest_.column)
    column_nest();
  else
    row_nest();
  if (streams_) c_.out.line("device::streaming_fence();");
  c_.out.close();
}

std::string NestEmitter::name_of(ValueId id) {
  const auto found = names_.find(id);
  if (found != names_.end()) return found->second;
  std::string name = c_.variables[value(id).variable];
  // Two values of one carried variable meet in this nest.
  for (const auto& [other, taken] : names_)
    if (taken == name) name = c_.names.fresh(name);
  return names_.emplace(id, name).first->second;
}

void NestEmitter::open_loops() {
  for (const Loop& loop : loops_)
    c_.out.open("for (std::int64_t " + loop.variable + " = 0; " + loop.variable + " < " + loop.extent.text() +
                "; ++" + loop.variable + ") {");
}

void NestEmitter::row_buffers() {
  for (const Stage& stage : nest_.stages)
    for (const ValueId id : stage.row_buffered) {
      const Value& of = value(id);
      const std::string name = c_.names.fresh(name_of(id) + "_row");
      const std::int64_t bytes = (inner_.factor + row_padding) * static_cast<std::int64_t>(size_of(of.dtype));
      if (inner_.is_constant() && bytes <= largest_row_buffer) {
        c_.out.line("alignas(64) " + type_name(of.dtype) + " " + name + "[" +
                    std::to_string(inner_.factor + row_padding) + "];");
        row_buffers_[id] = name;
      } else {
        const Buffer buffer = c_.new_buffer(name, of.dtype, {nest_.inner}, row_padding);
        c_.reserve(buffer, of.statement->location, row_padding);
        row_buffers_[id] = buffer.pointer();
      }
    }
}

void NestEmitter::row_nest() {
  row_buffers();
  open_loops();
  for (Stream* stream : all_streams()) declare_row(*stream, false);
  for (const Stage& stage : nest_.stages) {
    row_values(stage);
    row_roots(stage);
    if (stage.has_pass()) pass(stage);
    for (const ValueId id : stage.row_buffered) buffered_[id] = true;
  }
  for (std::size_t i = 0; i < loops_.size(); ++i) c_.out.close();
}

std::string NestEmitter::row_operand(const Operand& operand) {
  return operand.value >= 0 ? name_of(operand.value) : c_.scalar(*operand.scalar);
}

void NestEmitter::row_values(const Stage& stage) {
  for (const ValueId id : stage.row_values) {
    const Value& of = value(id);
    std::string text;
    if (from_memory(id)) {
      text = "*" + reads_.at(id).row;
    } else if (of.kind == ValueKind::Full) {
      text = row_operand(of.operands[0]);
    } else {
      std::vector<std::string> operands;
      for (const Operand& operand : of.operands) operands.push_back(row_operand(operand));
      text = c_.call(*of.expr, operands);
    }
    c_.out.line("const " + type_name(of.dtype) + " " + name_of(id) + " = " + text + ";");
  }
}

void NestEmitter::row_roots(const Stage& stage) {
  for (const Root& root : stage.row_roots)
    if (adds(root))
      c_.out.line("device::atomic_add(" + writes_.at(&root).row + ", " + name_of(root.value) + ");");
    else
      c_.out.line("*" + writes_.at(&root).row + " = " + name_of(root.value) + ";");
}

}  // namespace trilith::codegen::xsimd
