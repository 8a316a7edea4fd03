// The stages of one nest: which pass over the last axis computes what, and what waits in a row buffer.
#include "codegen/passes/fuse.hpp"

#include "codegen/error.hpp"

#include <algorithm>
#include <bit>

namespace trilith::codegen::fuse {
namespace {

class Stager {
 public:
  Stager(const Plan& plan, Nest& nest, int number)
      : plan_(plan),
        nest_(nest),
        number_(number),
        stage_(plan.values.size(), -1),
        passes_(plan.values.size()),
        rows_(plan.values.size()) {}

  void run() {
    for (const Root& root : nest_.roots) need(root);
    std::vector<std::uint64_t> computing(plan_.values.size());
    for (ValueId id = static_cast<ValueId>(plan_.values.size()) - 1; id >= 0; --id)
      computing[id] = spread(id);

    for (ValueId id = 0; id < static_cast<ValueId>(plan_.values.size()); ++id) {
      for (std::size_t stage = 0; stage < 64; ++stage) {
        const std::uint64_t bit = std::uint64_t{1} << stage;
        if (rows_[id] & bit) at(stage).row_values.push_back(id);
        if (passes_[id] & bit) at(stage).values.push_back(id);
        if (!nest_.column && (rows_[id] & bit)) break;  // a row value is computed once, when first needed
      }
      if (passes_[id] != computing[id]) at(std::countr_zero(computing[id])).row_buffered.push_back(id);
    }
    // Row reductions are no row values of their own: the pass before leaves them.
    for (Stage& stage : nest_.stages)
      std::erase_if(stage.row_values, [&](ValueId id) { return is_reduction_here(id); });
    for (Stage& stage : nest_.stages)
      std::erase_if(stage.values, [&](ValueId id) { return is_reduction_here(id); });
  }

 private:
  Stage& at(std::size_t stage) {
    if (nest_.stages.size() <= stage) nest_.stages.resize(stage + 1);
    return nest_.stages[stage];
  }

  bool kept(ValueId id) const { return is_kept_before(plan_, id, number_); }
  bool is_reduction_here(ValueId id) const {
    const ValueKind kind = plan_.values[id].kind;
    return (kind == ValueKind::RowReduce || kind == ValueKind::ColReduce) && !kept(id);
  }

  int stage_of(ValueId id) {
    if (stage_[id] >= 0) return stage_[id];
    const Value& value = plan_.values[id];
    int stage = 0;
    if (!kept(id) && !is_leaf(value)) {
      if (value.kind == ValueKind::ColReduce) {
        stage = 1;
      } else {
        for (const Operand& operand : value.operands)
          if (operand.value >= 0) stage = std::max(stage, stage_of(operand.value));
        if (value.kind == ValueKind::RowReduce) ++stage;
      }
    }
    if (stage >= 63)
      throw pl::InternalError("emitter: more than 62 reductions that wait for each other in one run");
    return stage_[id] = stage;
  }

  void need(const Root& root) {
    if (root.kind == RootKind::Reduce) {
      reduce(root.value);
      return;
    }
    const int stage = stage_of(root.value);
    if (varies_in_row(plan_.values[root.value].shape, nest_)) {
      at(stage).roots.push_back(root);
      passes_[root.value] |= std::uint64_t{1} << stage;
    } else {
      at(stage).row_roots.push_back(root);
      rows_[root.value] |= std::uint64_t{1} << stage;
    }
  }

  void reduce(ValueId id) {
    const ValueId operand = plan_.values[id].operands[0].value;
    const int stage = nest_.column ? 0 : stage_of(operand);
    std::vector<ValueId>& reductions = at(stage).reductions;
    if (std::ranges::find(reductions, id) != reductions.end()) return;
    reductions.push_back(id);
    use(operand, stage);
  }

  void use(ValueId id, int stage) {
    (varies_in_row(plan_.values[id].shape, nest_) ? passes_ : rows_)[id] |= std::uint64_t{1} << stage;
  }

  /// Hands the value's stages on to its operands; gives the passes that compute it (the others read it back).
  std::uint64_t spread(ValueId id) {
    const Value& value = plan_.values[id];
    if (kept(id) || is_leaf(value) || (passes_[id] | rows_[id]) == 0) return passes_[id];
    if (value.kind == ValueKind::RowReduce || value.kind == ValueKind::ColReduce) {
      reduce(id);
      return passes_[id];
    }
    std::uint64_t computing = passes_[id];
    if (!nest_.column && is_expensive(value)) computing &= ~computing + 1;
    std::uint64_t rows = rows_[id];
    if (!nest_.column) rows &= ~rows + 1;
    for (int stage = 0; stage < 63; ++stage) {
      if (!((computing | rows) >> stage & 1)) continue;
      for (const Operand& operand : value.operands)
        if (operand.value >= 0) use(operand.value, stage);
    }
    return computing;
  }

  const Plan& plan_;
  Nest& nest_;
  int number_;
  std::vector<int> stage_;
  std::vector<std::uint64_t> passes_, rows_;  ///< bit s: needed in the pass of stage s, before it
};

struct Position {
  int nest, stage;
  auto operator<=>(const Position&) const = default;
};

bool overwrites(const Kernel& kernel, const Root& root, const Value& read) {
  if (root.kind == RootKind::Store)
    return read.kind == ValueKind::Load &&
           read.expr->operands[0].variable == root.statement->value.operands[2].variable &&
           !disjoint(region_of(kernel, *root.statement), region_of(kernel, *read.statement));
  return root.kind == RootKind::Keep && !root.temporary && read.kind == ValueKind::Buffer &&
         read.variable == root.statement->variable;
}

}  // namespace

void assign_stages(const Plan& plan, Nest& nest, int number) { Stager(plan, nest, number).run(); }

int find_conflict(const Kernel& kernel, const Plan& plan) {
  std::vector<Position> last_read(plan.values.size(), Position{-1, -1});
  for (int nest = 0; nest < std::ssize(plan.nests); ++nest)
    for (int stage = 0; stage < std::ssize(plan.nests[nest].stages); ++stage)
      for (const auto* values :
           {&plan.nests[nest].stages[stage].row_values, &plan.nests[nest].stages[stage].values})
        for (const ValueId id : *values)
          if (!is_kept_before(plan, id, nest)) last_read[id] = Position{nest, stage};

  int conflict = -1;
  const auto check = [&](const Root& root, Position position) {
    for (std::size_t id = 0; id < plan.values.size(); ++id)
      if (last_read[id] > position && overwrites(kernel, root, plan.values[id]))
        conflict = conflict < 0 ? root.order : std::min(conflict, root.order);
  };
  for (int nest = 0; nest < std::ssize(plan.nests); ++nest)
    for (int stage = 0; stage < std::ssize(plan.nests[nest].stages); ++stage) {
      for (const Root& root : plan.nests[nest].stages[stage].row_roots) check(root, {nest, stage});
      for (const Root& root : plan.nests[nest].stages[stage].roots) check(root, {nest, stage});
    }
  return conflict;
}

}  // namespace trilith::codegen::fuse
