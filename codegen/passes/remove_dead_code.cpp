#include "codegen/passes/remove_dead_code.hpp"

#include "codegen/passes/liveness.hpp"
#include "codegen/passes/shape_rule.hpp"
#include "codegen/remote.hpp"
#include "codegen/tile_call.hpp"

#include <algorithm>
#include <utility>

namespace trilith::codegen::passes {
namespace {

/// True when the load's region is inside its tensor for every call.
bool provably_inside(const Kernel& kernel, const Expr& load) {
  const Type& tensor = kernel.variables[static_cast<std::size_t>(load.operands[0].variable)].type;
  for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) {
    const Expr& offset = load.operands[1].operands[axis];
    const Expr& length = load.operands[2].operands[axis];
    const Dim& extent = tensor.shape[axis];
    if (!offset.is_constant()) return false;
    const bool whole_axis = offset.value.as_int64() == 0 && !extent.is_constant() &&
                            length.op == Op::Variable && length.variable == extent.variable;
    if (whole_axis) continue;
    if (!length.is_constant() || !extent.is_constant() || offset.value.as_int64() < 0 ||
        offset.value.as_int64() > extent.extent - length.value.as_int64())
      return false;
  }
  return true;
}

class Remover {
 public:
  Remover(Kernel& kernel, bool checked)
      : kernel_(kernel), checked_(checked), needed_(kernel.variables.size(), false) {}

  void run() {
    do {
      changed_ = false;
      mark(kernel_.body);
    } while (changed_);
    sweep(kernel_.body);
  }

 private:
  void need(const Expr& e) {
    if (e.op == Op::Variable) need(e.variable);
    for (const Dim& dim : e.type.shape)
      if (!dim.is_constant()) need(dim.variable);
    for (const Expr& operand : e.operands) need(operand);
  }

  void need(VariableId id) {
    const auto index = static_cast<std::size_t>(id);
    if (needed_[index]) return;
    needed_[index] = true;
    changed_ = true;
    for (const Dim& dim : kernel_.variables[index].type.shape)
      if (!dim.is_constant()) need(dim.variable);
  }

  /// True when the list has a statement that must stay. Backwards: one walk then settles straight-line code.
  bool mark(const std::vector<Statement>& list) {
    bool any = false;
    for (auto s = list.rbegin(); s != list.rend(); ++s) any = mark(*s) || any;
    return any;
  }

  bool mark(const Statement& s) {
    switch (s.kind) {
      case StatementKind::Assign:
        if (!needed_[static_cast<std::size_t>(s.variable)] && !may_fault(kernel_, s.value) &&
            !is_reported(s.value))
          return false;
        need(s.variable);
        need(s.value);
        return true;
      case StatementKind::Evaluate: need(s.value); return true;
      case StatementKind::If: {
        const bool then = mark(s.body);
        if (!mark(s.else_body) && !then) return false;
        need(s.value);
        return true;
      }
      case StatementKind::For:
        if (!mark(s.body)) return false;
        for (const Expr* bound : {&s.begin, &s.end, &s.step}) need(*bound);
        return true;
      case StatementKind::While:
        need(s.value);
        mark(s.body);
        return true;
      case StatementKind::Block: return mark(s.body);
      case StatementKind::Leave:
      case StatementKind::Break:
      case StatementKind::Continue: return true;
    }
    return true;
  }

  [[nodiscard]] bool is_reported(const Expr& value) const {
    return checked_ && value.op == Op::Load && is_window(kernel_, value.operands[0].variable);
  }

  void sweep(std::vector<Statement>& list) {
    std::erase_if(list, [&](const Statement& s) { return !mark(s); });
    for (Statement& s : list) {
      sweep(s.body);
      sweep(s.else_body);
    }
  }

  Kernel& kernel_;
  const bool checked_;
  std::vector<bool> needed_;
  bool changed_ = false;
};

}  // namespace

bool may_fault(const Kernel& kernel, const Expr& expression) {
  switch (operation(expression.op).group) {
    case Group::Structure: return false;
    case Group::Create:
      return std::any_of(expression.type.shape.begin(), expression.type.shape.end(),
                         [](const Dim& dim) { return !dim.is_constant(); });
    case Group::Move:
      return expression.op == Op::Read || (expression.op == Op::Load && !provably_inside(kernel, expression));
    case Group::Remote: return !is_rank_scalar(expression.op);
    case Group::Generate:
    case Group::Layout:
    case Group::Index:
    case Group::Linear:
      return may_find_bad_index(expression.op) || !tile_call_type(kernel, expression, {}).checks.empty();
    default: return expression.type.is_tile() && needs_shape_check(expression.operands);
  }
}

void remove_dead_code(Kernel& kernel, bool checked) { Remover(kernel, checked).run(); }

}  // namespace trilith::codegen::passes
