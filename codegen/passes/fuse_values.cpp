// The values of one run, each tile variable followed from assignment to use, and the roots they are for.
#include "codegen/passes/fuse.hpp"

#include "codegen/error.hpp"

#include <algorithm>
#include <map>

namespace trilith::codegen::fuse {
namespace {

/// In units of one cheap vector instruction.
int own_cost(const Expr& expression) {
  const bool floating = is_floating(expression.type.dtype);
  switch (expression.op) {
    case Op::Full: return 0;
    case Op::Pow: return 40;
    case Op::Fmod:
    case Op::Rem: return 30;
    case Op::Div: return floating ? 4 : 20;
    case Op::Sqrt:
    case Op::Recip: return 4;
    case Op::Rsqrt: return 8;
    case Op::Cast: return 2;
    default: return operation(expression.op).exactness == Exactness::Ulp4 ? 15 : 1;
  }
}

bool one_a_row(const std::vector<Dim>& shape) { return shape.empty() || shape.back().is(1); }

class Builder {
 public:
  Builder(const Kernel& kernel, const Uses& uses, Plan& plan, std::vector<Root>& roots)
      : kernel_(kernel),
        uses_(uses),
        plan_(plan),
        roots_(roots),
        current_(kernel.variables.size(), -1),
        last_(kernel.variables.size(), -1),
        reads_(kernel.variables.size()) {}

  void add(const Statement& statement, int order) {
    if (is_store(statement)) {
      const ValueId value = read(statement.value.operands[0], order);
      roots_.push_back({RootKind::Store, value, &statement, order, false});
    } else if (is_tile_assign(kernel_, statement)) {
      const ValueId value = assign(statement, order);
      current_[statement.variable] = value;
      last_[statement.variable] = static_cast<int>(roots_.size());
      roots_.push_back({RootKind::Keep, value, &statement, order, false});
    }
  }

  /// Drops the Keep roots that nothing behind the run needs.
  void finish() {
    std::vector<Root> needed;
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      const Root& root = roots_[i];
      if (root.kind == RootKind::Keep) {
        const VariableId variable = root.statement->variable;
        if (last_[variable] != static_cast<int>(i)) continue;
        const bool carried = uses_.writes[variable] > 1 && uses_.reads[variable] > 0;
        if (!carried && uses_.reads[variable] == reads_[variable]) continue;
      }
      needed.push_back(root);
    }
    roots_ = std::move(needed);
  }

 private:
  ValueId push(Value value) {
    plan_.values.push_back(std::move(value));
    return static_cast<ValueId>(plan_.values.size()) - 1;
  }

  ValueId read(const Expr& operand, int order) {
    const VariableId variable = operand.variable;
    if (operand.op != Op::Variable) throw pl::InternalError("emitter: a tile operand that is no variable");
    ++reads_[variable];
    if (current_[variable] >= 0) return current_[variable];
    const Type& type = kernel_.variables[variable].type;
    Value value;
    value.kind = ValueKind::Buffer;
    value.variable = variable;
    value.dtype = type.dtype;
    value.shape = type.shape;
    value.order = order;
    value.cost = 1;
    return current_[variable] = push(std::move(value));
  }

  ValueId assign(const Statement& statement, int order) {
    const Expr& expression = statement.value;
    // A copy shares the value and has its own name in memory; all memories are one here.
    if (expression.op == Op::Variable) return read(expression, order);
    if (expression.op == Op::MoveTo) return read(expression.operands[0], order);
    Value value;
    value.expr = &expression;
    value.variable = statement.variable;
    value.statement = &statement;
    value.dtype = expression.type.dtype;
    value.shape = expression.type.shape;
    value.order = order;
    switch (operation(expression.op).group) {
      case Group::Move: value.kind = ValueKind::Load; break;
      case Group::Create: value.kind = ValueKind::Full; break;
      case Group::RowReduce: value.kind = ValueKind::RowReduce; break;
      case Group::ColReduce: value.kind = ValueKind::ColReduce; break;
      case Group::Elementwise:
      case Group::Compare:
      case Group::Logic:
      case Group::Bits:
      case Group::Cast: value.kind = ValueKind::Compute; break;
      default:
        throw pl::InternalError("emitter: no lowering of " + std::string(operation(expression.op).name));
    }
    value.cost = own_cost(expression);
    if (value.kind == ValueKind::Full) {
      value.operands.push_back({-1, &expression.operands[1]});
    } else if (value.kind != ValueKind::Load) {
      for (const Expr& operand : expression.operands) {
        if (!operand.type.is_tile()) {
          value.operands.push_back({-1, &operand});
          continue;
        }
        const ValueId id = read(operand, order);
        value.operands.push_back({id, nullptr});
        const Value& of = plan_.values[id];
        const bool cheap_here = of.kind == ValueKind::RowReduce || of.kind == ValueKind::ColReduce ||
                                (one_a_row(of.shape) && !one_a_row(value.shape));
        value.cost += cheap_here ? 1 : of.cost;
      }
    }
    return push(std::move(value));
  }

  const Kernel& kernel_;
  const Uses& uses_;
  Plan& plan_;
  std::vector<Root>& roots_;
  std::vector<ValueId> current_;
  std::vector<int> last_;
  std::vector<int> reads_;
};

}  // namespace

void build_values(const Kernel& kernel, const Uses& uses, std::span<const Statement> run, Plan& plan,
                  std::vector<Root>& roots) {
  Builder builder(kernel, uses, plan, roots);
  int order = 0;
  for (const Statement& statement : run) builder.add(statement, order++);
  builder.finish();
  plan.kept_in.assign(plan.values.size(), -1);
  plan.kept_as.assign(plan.values.size(), no_variable);
}

Plan plan_run(const Kernel& kernel, const Uses& uses, std::span<const Statement> run, int& conflict) {
  Plan plan;
  std::vector<Root> roots;
  build_values(kernel, uses, run, plan, roots);
  place_roots(plan, roots);
  for (std::size_t i = 0; i < plan.nests.size(); ++i) assign_stages(plan, plan.nests[i], static_cast<int>(i));
  conflict = find_conflict(kernel, plan);
  return plan;
}

}  // namespace trilith::codegen::fuse
