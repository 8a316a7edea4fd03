#include "codegen/passes/merge_copies.hpp"

#include "codegen/passes/remove_dead_code.hpp"
#include "codegen/tile_call.hpp"

#include <algorithm>
#include <utility>

namespace trilith::codegen::passes {
namespace {

class Merger {
 public:
  explicit Merger(Kernel& kernel)
      : kernel_(kernel), reads_(kernel.variables.size(), 0), places_(kernel.variables.size()) {}

  void run() {
    for (const Variable& variable : kernel_.variables)
      for (const Dim& dim : variable.type.shape)
        if (!dim.is_constant()) ++reads_[static_cast<std::size_t>(dim.variable)];
    count(kernel_.body);
    merge(kernel_.body);
  }

 private:
  void count(const Expr& e) {
    if (e.op == Op::Variable) ++reads_[static_cast<std::size_t>(e.variable)];
    for (const Expr& operand : e.operands) count(operand);
  }

  void count(const std::vector<Statement>& list) {
    for (const Statement& s : list) {
      for (const Expr* e : {&s.value, &s.begin, &s.end, &s.step}) count(*e);
      for (const auto* inner : {&s.body, &s.else_body, &s.step_body}) count(*inner);
    }
  }

  static bool is_copy(const Statement& s) {
    return s.kind == StatementKind::Assign && s.value.op == Op::Variable;
  }

  static bool assigns(const Statement& s, const Expr& read_by) {
    if (s.variable != no_variable && reads(read_by, s.variable)) return true;
    const auto inside = [&](const Statement& inner) { return assigns(inner, read_by); };
    return std::any_of(s.body.begin(), s.body.end(), inside) ||
           std::any_of(s.else_body.begin(), s.else_body.end(), inside);
  }

  static bool reads(const Expr& e, VariableId variable) {
    return (e.op == Op::Variable && e.variable == variable) ||
           std::any_of(e.type.shape.begin(), e.type.shape.end(),
                       [&](const Dim& dim) { return dim.variable == variable; }) ||
           std::any_of(e.operands.begin(), e.operands.end(),
                       [&](const Expr& operand) { return reads(operand, variable); });
  }

  /// Whether statement `from` of the list may run just behind statement `to` instead.
  [[nodiscard]] bool may_sink(const std::vector<Statement>& list, std::size_t from, std::size_t to) const {
    const Expr& value = list[from].value;
    const bool ordered = value.op == Op::Load || may_fault(kernel_, value);
    for (std::size_t i = from + 1; i < to; ++i) {
      const Statement& s = list[i];
      const bool seen = s.kind != StatementKind::Assign || may_fault(kernel_, s.value);
      if ((ordered && seen) || assigns(s, value)) return false;
    }
    return true;
  }

  /// Forgets where the variables assigned inside a nested statement were defined: it was not in this list.
  void forget(const Statement& s) {
    if (s.variable != no_variable) places_[static_cast<std::size_t>(s.variable)] = {};
    for (const auto* list : {&s.body, &s.else_body})
      for (const Statement& inner : *list) forget(inner);
  }

  void merge(std::vector<Statement>& list) {
    const int number = ++lists_;
    std::vector<bool> gone(list.size(), false);
    for (std::size_t i = 0; i < list.size(); ++i) {
      Statement& s = list[i];
      merge(s.body);
      merge(s.else_body);
      if (is_copy(s)) {
        const auto source = static_cast<std::size_t>(s.value.variable);
        const Place from = places_[source];
        const bool in_place = from.list == number && is_tile_call(list[from.index].value.op) &&
                              overwrites_operand(list[from.index].value, s.variable);
        if (from.list == number && reads_[source] == 1 && !in_place && may_sink(list, from.index, i)) {
          s.value = std::exchange(list[from.index].value, Expr());
          s.location = list[from.index].location;
          gone[from.index] = true;
        }
      }
      if (s.kind == StatementKind::Assign)
        places_[static_cast<std::size_t>(s.variable)] = {number, i};
      else
        forget(s);
    }
    std::vector<Statement> kept;
    for (std::size_t i = 0; i < list.size(); ++i)
      if (!gone[i]) kept.push_back(std::move(list[i]));
    list = std::move(kept);
  }

  /// Where a variable was last assigned: the statement of a list.
  struct Place {
    int list = 0;
    std::size_t index = 0;
  };

  Kernel& kernel_;
  std::vector<int> reads_;
  std::vector<Place> places_;
  int lists_ = 0;
};

}  // namespace

void merge_copies(Kernel& kernel) { Merger(kernel).run(); }

}  // namespace trilith::codegen::passes
