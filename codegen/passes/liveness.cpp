#include "codegen/passes/liveness.hpp"

#include <utility>

namespace trilith::codegen::passes {
namespace {

bool merge(VariableSet& into, const VariableSet& from) {
  bool changed = false;
  for (std::size_t i = 0; i < into.size(); ++i)
    if (from[i] && !into[i]) {
      into[i] = true;
      changed = true;
    }
  return changed;
}

/// Walks statements backwards. Jumps take their live set from the construct they jump to.
class Walker {
 public:
  explicit Walker(const Kernel& kernel) : none_(kernel.variables.size(), false) {}

  Liveness run(const Kernel& kernel) {
    list(kernel.body, none_);
    return std::move(result_);
  }

 private:
  struct Loop {
    VariableSet at_break;
    VariableSet at_continue;
  };
  struct Block {
    std::int32_t number;
    VariableSet at_leave;
  };

  VariableSet list(const std::vector<Statement>& statements, VariableSet live) {
    for (auto statement = statements.rbegin(); statement != statements.rend(); ++statement) {
      result_.after[&*statement] = live;
      live = before(*statement, std::move(live));
    }
    return live;
  }

  VariableSet before(const Statement& s, VariableSet live) {
    switch (s.kind) {
      case StatementKind::Assign:
        live[static_cast<std::size_t>(s.variable)] = false;
        add_used(s.value, live);
        return live;
      case StatementKind::Evaluate: add_used(s.value, live); return live;
      case StatementKind::If: {
        VariableSet then = list(s.body, live);
        merge(then, list(s.else_body, std::move(live)));
        add_used(s.value, then);
        return then;
      }
      case StatementKind::For: {
        VariableSet head = loop(s, std::move(live), false);
        for (const Expr* bound : {&s.begin, &s.end, &s.step}) add_used(*bound, head);
        return head;
      }
      case StatementKind::While: return loop(s, std::move(live), true);
      case StatementKind::Block: {
        blocks_.push_back({s.block, live});
        VariableSet inner = list(s.body, std::move(live));
        blocks_.pop_back();
        return inner;
      }
      case StatementKind::Leave:
        for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block)
          if (block->number == s.block) return block->at_leave;
        return none_;
      case StatementKind::Break: return loops_.empty() ? none_ : loops_.back().at_break;
      case StatementKind::Continue: return loops_.empty() ? none_ : loops_.back().at_continue;
    }
    return live;
  }

  /// Live at the loop's head: rounds until nothing new is live there.
  VariableSet loop(const Statement& s, VariableSet after, bool is_while) {
    VariableSet head = after;
    if (is_while) add_used(s.value, head);
    VariableSet step;
    for (bool changed = true; changed;) {
      loops_.push_back({after, head});
      step = list(s.step_body, head);
      loops_.back().at_continue = step;
      VariableSet body = list(s.body, step);
      loops_.pop_back();
      if (!is_while) body[static_cast<std::size_t>(s.variable)] = false;
      changed = merge(head, body);
    }
    result_.at_head[&s] = head;
    result_.at_step[&s] = step;
    return head;
  }

  VariableSet none_;
  std::vector<Loop> loops_;
  std::vector<Block> blocks_;
  Liveness result_;
};

}  // namespace

Liveness liveness_of(const Kernel& kernel) { return Walker(kernel).run(kernel); }

void add_assigned(const std::vector<Statement>& statements, VariableSet& set) {
  for (const Statement& s : statements) {
    if (s.variable != no_variable) set[static_cast<std::size_t>(s.variable)] = true;
    add_assigned(s.body, set);
    add_assigned(s.else_body, set);
    add_assigned(s.step_body, set);
  }
}

VariableSet assigned_and(const std::vector<Statement>& statements, const VariableSet& wanted,
                         VariableSet assigned) {
  assigned.resize(wanted.size(), false);
  add_assigned(statements, assigned);
  for (std::size_t i = 0; i < wanted.size(); ++i) assigned[i] = assigned[i] && wanted[i];
  return assigned;
}

void add_used(const Expr& expression, VariableSet& set) {
  if (expression.op == Op::Variable) set[static_cast<std::size_t>(expression.variable)] = true;
  for (const Dim& dim : expression.type.shape)
    if (!dim.is_constant()) set[static_cast<std::size_t>(dim.variable)] = true;
  for (const Expr& operand : expression.operands) add_used(operand, set);
}

}  // namespace trilith::codegen::passes
