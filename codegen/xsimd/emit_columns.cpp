// Column nests: rows are walked in order, each adding to one accumulator a column; blocks of columns keep the
// accumulators in the first-level cache. What follows from the sums alone is done at the end of a block.
#include "codegen/xsimd/nest.hpp"

#include <algorithm>

namespace trilith::codegen::xsimd {

using fuse::Root;
using fuse::Stage;
using fuse::ValueId;

namespace {
constexpr std::int64_t block_columns = 1024;
/// Rows that are added while an accumulator is in a register.
constexpr std::int64_t block_rows = 4;
}  // namespace

void NestEmitter::column_nest() {
  const Stage empty;
  const Stage& rows = nest_.stages.empty() ? empty : nest_.stages[0];
  const bool blocked = !inner_.is_constant() || inner_.factor > block_columns;
  const std::int64_t most = most_lanes(narrowest_);
  const std::int64_t room = blocked ? block_columns : (inner_.factor + most - 1) / most * most;
  for (const ValueId id : rows.reductions) {
    accumulators_[id] = c_.names.fresh(name_of(id) + "_columns");
    c_.out.line("alignas(64) " + type_name(reduction_of(*value(id).expr).accumulator) + " " +
                accumulators_[id] + "[" + std::to_string(std::max<std::int64_t>(room, 1)) + "];");
  }
  open_loops();
  std::string columns = inner_.text();
  if (blocked) {
    block_ = "c";
    const std::string block = std::to_string(block_columns);
    c_.out.open("for (std::int64_t c = 0; c < " + inner_.text() + "; c += " + block + ") {");
    columns = c_.names.fresh("columns");
    c_.out.line("const std::int64_t " + columns + " = " + inner_.text() + " - c < " + block + " ? " +
                inner_.text() + " - c : " + block + ";");
  }
  column_body(columns);
  if (nest_.stages.size() > 1) column_end(columns);
  if (blocked) c_.out.close();
  for (std::size_t i = 0; i < loops_.size(); ++i) c_.out.close();
}

void NestEmitter::column_body(const std::string& columns) {
  const Stage& stage = nest_.stages[0];
  c_.out.open("for (std::int64_t j = 0; j < " + columns + "; j += W) {");
  for (const ValueId id : stage.reductions) {
    const Reduction reduction = reduction_of(*value(id).expr);
    c_.out.line("device::store(" + accumulators_.at(id) + " + j, " +
                splat(reduction.accumulator, literal(reduction.neutral)) + ");");
  }
  c_.out.close();
  const Product rows = c_.product(nest_.rows);
  const bool several = stage.row_values.empty() && !rows.is(1);
  const std::string block = std::to_string(block_rows), extent = rows.text();
  c_.out.open("for (std::int64_t r = 0; r < " + extent + "; " + (several ? "r += " + block : "++r") + ") {");
  if (several) {
    row_count_ = block;
    if (!rows.is_constant() || rows.factor % block_rows != 0) {
      row_count_ = c_.names.fresh("rows");
      c_.out.line("const std::int64_t " + row_count_ + " = " + extent + " - r < " + block + " ? " + extent +
                  " - r : " + block + ";");
    }
  }
  for (const ValueId id : stage.row_values)
    if (from_memory(id)) declare_row(reads_.at(id), true);
  for (const ValueId id : stage.values)
    if (from_memory(id)) declare_row(reads_.at(id), true);
  for (const Root& root : stage.roots) declare_row(writes_.at(&root), true);
  row_values(stage);
  column_loop(columns, stage, false);
  row_count_.clear();
  c_.out.close();
}

void NestEmitter::column_end(const std::string& columns) {
  const Stage& stage = nest_.stages[1];
  c_.out.open("{");
  for (const ValueId id : stage.row_values)
    if (from_memory(id)) declare_row(reads_.at(id), false);
  for (const ValueId id : stage.values)
    if (from_memory(id)) declare_row(reads_.at(id), false);
  for (const auto* roots : {&stage.row_roots, &stage.roots})
    for (const Root& root : *roots) declare_row(writes_.at(&root), false);
  row_values(stage);
  row_roots(stage);
  if (!stage.roots.empty()) column_loop(columns, stage, true);
  c_.out.close();
}

void NestEmitter::column_loop(const std::string& columns, const Stage& stage, bool end) {
  const std::int64_t fewest = fewest_lanes(narrowest_), most = most_lanes(narrowest_);
  const bool fixed = block_.empty() && inner_.is_constant();
  const bool whole = !fixed || inner_.factor >= fewest;
  const bool rest = inner_.is_constant() ? inner_.factor % most != 0 : true;
  const auto total = [&](ValueId id) {
    std::string& name = totals_[id];
    if (name.empty()) name = c_.names.fresh(name_of(id) + "_total");
    return name;
  };
  const auto statements = [&](const Place& place) {
    // The columns' results come first: other values of the end build on them.
    if (end)
      for (const ValueId id : nest_.stages[0].reductions) vector_value(id, place);
    for (const ValueId id : stage.reductions)
      c_.out.line("auto " + total(id) + " = device::load<" +
                  type_name(reduction_of(*value(id).expr).accumulator) + ", W>(" + accumulators_.at(id) +
                  " + j);");
    if (!row_count_.empty()) {
      if (!is_cheap(stage)) c_.out.line("#pragma clang loop unroll(disable)");
      c_.out.open("for (std::int64_t u = 0; u < " + row_count_ + "; ++u) {");
    }
    for (const ValueId id : stage.values) vector_value(id, place);
    for (const ValueId id : stage.reductions) {
      const Reduction reduction = reduction_of(*value(id).expr);
      c_.out.line(total(id) + " = device::" + reduction.combine + "(" + total(id) + ", " +
                  converted(vector_operand(value(id).operands[0]), value(id).dtype, reduction.accumulator) +
                  ");");
    }
    for (const Root& root : stage.roots) vector_root(root, place);
    if (!row_count_.empty()) c_.out.close();
    for (const ValueId id : stage.reductions)
      c_.out.line("device::store(" + accumulators_.at(id) + " + j, " + total(id) + ");");
  };
  if (rest) {
    c_.out.open("{");
    c_.out.line("std::int64_t j = 0;");
  }
  if (whole) {
    if (!end && !row_count_.empty() && !(fixed && inner_.factor <= 4 * most))
      c_.out.line("#pragma clang loop unroll(disable)");
    c_.out.open(rest ? "for (; j + W <= " + columns + "; j += W) {"
                     : "for (std::int64_t j = 0; j < " + columns + "; j += W) {");
    statements({"j", "", ""});
    c_.out.close();
  }
  if (rest) {
    c_.out.open("if (j < " + columns + ") {");
    c_.out.line("const int rest = static_cast<int>(" + columns + " - j);");
    statements({"j", "rest", ""});
    c_.out.close();
    c_.out.close();
  }
}

}  // namespace trilith::codegen::xsimd
