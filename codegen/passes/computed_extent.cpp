// computed_extent_in_doubt: where a kernel with run-time extents may not mean what it means with constants.
#include "codegen/specialise.hpp"
#include "codegen/tile_call.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace trilith::codegen {
namespace {

class Doubt {
 public:
  explicit Doubt(const Kernel& kernel) : kernel_(kernel), computed_(kernel.variables.size(), false) {
    do {
      changed_ = false;
      trace(kernel.body);
    } while (changed_);
  }

  SourceLocation find(const std::vector<Statement>& list) const {
    for (const Statement& s : list) {
      if ((s.kind == StatementKind::Assign || s.kind == StatementKind::Evaluate) && in_doubt(s.value))
        return s.value.location.line != 0 ? s.value.location : s.location;
      for (const std::vector<Statement>* inner : {&s.body, &s.else_body, &s.step_body})
        if (const SourceLocation found = find(*inner); found.line != 0) return found;
    }
    return {};
  }

 private:
  [[nodiscard]] const Variable& variable(VariableId id) const {
    return kernel_.variables[static_cast<std::size_t>(id)];
  }

  [[nodiscard]] bool uses_extent(const Expr& e) const {
    if (e.op == Op::Variable && e.type.is_scalar() &&
        (variable(e.variable).kind == VariableKind::Extent ||
         computed_[static_cast<std::size_t>(e.variable)]))
      return true;
    return std::ranges::any_of(e.operands, [this](const Expr& operand) { return uses_extent(operand); });
  }

  void note(VariableId id, std::initializer_list<const Expr*> values) {
    if (id == no_variable || computed_[static_cast<std::size_t>(id)]) return;
    if (std::ranges::none_of(values, [this](const Expr* value) { return uses_extent(*value); })) return;
    computed_[static_cast<std::size_t>(id)] = changed_ = true;
  }

  /// What a branch on an extent decides depends on it, too: all that is assigned inside.
  void trace(const std::vector<Statement>& list, bool inside = false) {
    for (const Statement& s : list) {
      bool depends = inside;
      if (s.kind == StatementKind::Assign && variable(s.variable).type.is_scalar()) {
        note(s.variable, {&s.value});
        if (inside && !computed_[static_cast<std::size_t>(s.variable)])
          computed_[static_cast<std::size_t>(s.variable)] = changed_ = true;
      }
      if (s.kind == StatementKind::For) note(s.variable, {&s.begin, &s.end, &s.step});
      if (s.kind == StatementKind::If || s.kind == StatementKind::While)
        depends = depends || uses_extent(s.value);
      trace(s.body, depends);
      trace(s.else_body, depends);
      trace(s.step_body, depends);
    }
  }

  [[nodiscard]] bool is_computed(const Dim& dim) const {
    return !dim.is_constant() && computed_[static_cast<std::size_t>(dim.variable)];
  }
  [[nodiscard]] bool is_computed(const Expr& extent) const {
    return !extent.is_constant() &&
           !(extent.op == Op::Variable && variable(extent.variable).kind == VariableKind::Extent) &&
           uses_extent(extent);
  }

  [[nodiscard]] bool in_doubt(const Expr& e) const {
    if (is_tile_call(e.op)) {
      const std::vector<RunTimeCheck> checks = tile_call_type(kernel_, e, {}).checks;
      return std::ranges::any_of(checks, [this](const RunTimeCheck& check) {
        return check.kind == RunTimeCheck::Equal && (is_computed(check.a) || is_computed(check.b));
      });
    }
    for (const Expr& a : e.operands)
      for (const Expr& b : e.operands) {
        if (!a.type.is_tile() || !b.type.is_tile()) continue;
        for (std::size_t back = 1; back <= std::min(a.type.shape.size(), b.type.shape.size()); ++back) {
          const Dim& x = a.type.shape[a.type.shape.size() - back];
          const Dim& y = b.type.shape[b.type.shape.size() - back];
          if (!(x == y) && !x.is(1) && !y.is(1) && (is_computed(x) || is_computed(y))) return true;
        }
      }
    return false;
  }

  const Kernel& kernel_;
  std::vector<bool> computed_;  ///< scalars whose value may follow from an extent
  bool changed_ = false;
};

}  // namespace

SourceLocation computed_extent_in_doubt(const Kernel& specialised) {
  return Doubt(specialised).find(specialised.body);
}

}  // namespace trilith::codegen
