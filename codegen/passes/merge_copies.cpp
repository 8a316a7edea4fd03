#include "codegen/passes/merge_copies.hpp"

#include "codegen/passes/liveness.hpp"
#include "codegen/passes/remove_dead_code.hpp"

#include <algorithm>
#include <utility>

namespace trilith::codegen::passes {
namespace {

class Merger {
 public:
  explicit Merger(Kernel& kernel) : kernel_(kernel), reads_(kernel.variables.size(), 0) {}

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

  /// Whether statement `from` of the list may run just behind statement `to` instead.
  [[nodiscard]] bool may_sink(const std::vector<Statement>& list, std::size_t from, std::size_t to) const {
    VariableSet read(kernel_.variables.size(), false);
    add_used(list[from].value, read);
    const bool ordered = list[from].value.op == Op::Load || may_fault(kernel_, list[from].value);
    for (std::size_t i = from + 1; i < to; ++i) {
      const Statement& s = list[i];
      if (s.kind != StatementKind::Assign) {
        if (ordered) return false;
        VariableSet assigned(kernel_.variables.size(), false);
        add_assigned({s}, assigned);
        for (std::size_t v = 0; v < read.size(); ++v)
          if (read[v] && assigned[v]) return false;
      } else if (read[static_cast<std::size_t>(s.variable)] || (ordered && may_fault(kernel_, s.value))) {
        return false;
      }
    }
    return true;
  }

  void merge(std::vector<Statement>& list) {
    // Index in this list of each variable's last assignment; what nested lists assign has no index here.
    std::vector<std::ptrdiff_t> defined_at(kernel_.variables.size(), -1);
    std::vector<bool> gone(list.size(), false);
    for (std::size_t i = 0; i < list.size(); ++i) {
      Statement& s = list[i];
      for (auto* inner : {&s.body, &s.else_body, &s.step_body}) merge(*inner);
      if (is_copy(s)) {
        const auto source = static_cast<std::size_t>(s.value.variable);
        const std::ptrdiff_t from = defined_at[source];
        if (from >= 0 && reads_[source] == 1 && may_sink(list, static_cast<std::size_t>(from), i)) {
          s.value = std::exchange(list[static_cast<std::size_t>(from)].value, Expr());
          s.location = list[static_cast<std::size_t>(from)].location;
          gone[static_cast<std::size_t>(from)] = true;
        }
      }
      if (s.kind == StatementKind::Assign) {
        defined_at[static_cast<std::size_t>(s.variable)] = static_cast<std::ptrdiff_t>(i);
      } else {
        VariableSet assigned(kernel_.variables.size(), false);
        add_assigned({s}, assigned);
        for (std::size_t v = 0; v < assigned.size(); ++v)
          if (assigned[v]) defined_at[v] = -1;
      }
    }
    std::vector<Statement> kept;
    for (std::size_t i = 0; i < list.size(); ++i)
      if (!gone[i]) kept.push_back(std::move(list[i]));
    list = std::move(kept);
  }

  Kernel& kernel_;
  std::vector<int> reads_;
};

}  // namespace

void merge_copies(Kernel& kernel) { Merger(kernel).run(); }

}  // namespace trilith::codegen::passes
