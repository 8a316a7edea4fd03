#include "codegen/passes/independent_rounds.hpp"

#include "codegen/passes/fuse.hpp"
#include "codegen/passes/liveness.hpp"
#include "codegen/remote.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace trilith::codegen::passes {
namespace {

using Statements = std::vector<Statement>;

void for_each(const Statements& list, const std::function<void(const Statement&)>& visit) {
  for (const Statement& statement : list) {
    visit(statement);
    for (const Statements* body : {&statement.body, &statement.else_body, &statement.step_body})
      for_each(*body, visit);
  }
}

bool any_operation(const Expr& expression, const std::function<bool(const Expr&)>& holds) {
  return holds(expression) || std::ranges::any_of(expression.operands, [&](const Expr& operand) {
           return any_operation(operand, holds);
         });
}

/// A jump out of the loop: a break of its own, or a Leave of a block around it.
bool jumps_out(const Statements& list, std::vector<std::int32_t>& inner_blocks, bool in_inner_loop) {
  return std::ranges::any_of(list, [&](const Statement& statement) {
    if (statement.kind == StatementKind::Break) return !in_inner_loop;
    if (statement.kind == StatementKind::Leave)
      return std::ranges::find(inner_blocks, statement.block) == inner_blocks.end();
    const bool loop = statement.kind == StatementKind::For || statement.kind == StatementKind::While;
    if (statement.kind == StatementKind::Block) inner_blocks.push_back(statement.block);
    const bool found = jumps_out(statement.body, inner_blocks, in_inner_loop || loop) ||
                       jumps_out(statement.else_body, inner_blocks, in_inner_loop || loop) ||
                       jumps_out(statement.step_body, inner_blocks, in_inner_loop || loop);
    if (statement.kind == StatementKind::Block) inner_blocks.pop_back();
    return found;
  });
}

/// Which variables may have another value in another round.
class Varying {
 public:
  Varying(const Kernel& kernel, const Statement& loop) : varies_(kernel.variables.size(), false) {
    varies_[static_cast<std::size_t>(loop.variable)] = true;
    do {
      changed_ = false;
      trace(loop.body, false);
    } while (changed_);
  }
  [[nodiscard]] bool operator()(const Expr& expression) const {
    return any_operation(expression, [&](const Expr& e) {
      return (e.op == Op::Variable && varies_[static_cast<std::size_t>(e.variable)]) ||
             std::ranges::any_of(e.type.shape, [&](const Dim& dim) {
               return !dim.is_constant() && varies_[static_cast<std::size_t>(dim.variable)];
             });
    });
  }

 private:
  /// `inside`: of a branch or loop that not every round takes alike.
  void trace(const Statements& list, bool inside) {
    for (const Statement& s : list) {
      const bool differs =
          inside || (*this)(s.value) || (*this)(s.begin) || (*this)(s.end) || (*this)(s.step);
      if ((s.kind == StatementKind::Assign || s.kind == StatementKind::For) && differs) mark(s.variable);
      for (const Statements* body : {&s.body, &s.else_body, &s.step_body}) trace(*body, differs);
    }
  }
  void mark(VariableId id) {
    changed_ = changed_ || !varies_[static_cast<std::size_t>(id)];
    varies_[static_cast<std::size_t>(id)] = true;
  }

  std::vector<bool> varies_;
  bool changed_ = false;
};

/// A variable that the body assigns and something outside of it assigns or reads, too.
std::string carried(const Kernel& kernel, const Statement& loop) {
  const auto count = [&](const Statements& list) {
    Kernel part;
    part.variables = kernel.variables;
    part.body = list;
    return fuse::count_uses(part);
  };
  const fuse::Uses everywhere = fuse::count_uses(kernel), inside = count(loop.body);
  for (std::size_t v = 0; v < kernel.variables.size(); ++v) {
    if (inside.writes[v] == 0) continue;
    if (everywhere.writes[v] != inside.writes[v] || everywhere.reads[v] != inside.reads[v])
      return kernel.variables[v].name;
  }
  return {};
}

/// What the loop's loads and stores say of its tensors.
std::string memory_in_order(const Kernel& kernel, const Statement& loop) {
  const Varying varies(kernel, loop);
  std::vector<fuse::Region> stores;
  std::string why;
  const auto name = [&](VariableId tensor) {
    return "`" + kernel.variables[static_cast<std::size_t>(tensor)].name + "`";
  };
  for_each(loop.body, [&](const Statement& s) {
    if (!fuse::is_store(s) || !why.empty()) return;
    stores.push_back(fuse::region_of(kernel, s));
    const fuse::Region& region = stores.back();
    if (s.value.attributes.atomic != Atomic::None) {
      // Additions of integers give the same sum in any order, and the device adds each in one step.
      if (is_floating(s.value.operands[0].type.dtype)) why = "floats are added to " + name(region.tensor);
      return;
    }
    if (!varies(*region.offsets)) why = "every round stores to the same region of " + name(region.tensor);
  });
  for_each(loop.body, [&](const Statement& s) {
    if (!why.empty() || (s.kind != StatementKind::Assign && s.kind != StatementKind::Evaluate)) return;
    const Op op = s.value.op;
    if (op == Op::Store) return;
    const auto stored = [&](const Expr& e) {
      return e.op == Op::Variable && std::ranges::any_of(stores, [&](const fuse::Region& store) {
               return store.tensor == e.variable;
             });
    };
    for (const Expr& operand : s.value.operands) {
      if (!stored(operand)) continue;
      const bool same =
          op == Op::Load && std::ranges::all_of(stores, [&](const fuse::Region& store) {
            return store.tensor != operand.variable || fuse::same_region(store, fuse::region_of(kernel, s));
          });
      if (!same) why = "a round may read what another one writes to " + name(operand.variable);
    }
  });
  return why;
}

}  // namespace

std::string why_in_order(const Kernel& kernel, const Statement& loop) {
  std::vector<std::int32_t> blocks;
  if (jumps_out(loop.body, blocks, false)) return "a round may end the loop";
  if (const std::string variable = carried(kernel, loop); !variable.empty())
    return "`" + variable + "` is carried from round to round";
  std::string why;
  for_each(loop.body, [&](const Statement& s) {
    if (s.kind != StatementKind::Assign && s.kind != StatementKind::Evaluate) return;
    if (s.value.op == Op::Print) why = "rounds print";
    if (is_remote(s.value.op)) why = "rounds reach other ranks";
  });
  return why.empty() ? memory_in_order(kernel, loop) : why;
}

}  // namespace trilith::codegen::passes
