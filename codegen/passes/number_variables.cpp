#include "codegen/passes/number_variables.hpp"

#include "codegen/passes/describe.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace trilith::codegen::passes {
namespace {

class Numbering {
 public:
  explicit Numbering(Kernel& kernel) : kernel_(kernel), new_ids_(kernel.variables.size(), no_variable) {}

  void run() {
    for (const Parameter& parameter : kernel_.parameters) keep(parameter.variable);
    for (const ClosureField& capture : kernel_.captures) keep(capture.variable);
    for (std::size_t i = 0; i < kernel_.variables.size(); ++i)
      if (kernel_.variables[i].kind == VariableKind::Extent) keep(static_cast<VariableId>(i));
    meet(kernel_.body);
    for (Variable& variable : kept_) renumber(variable.type);
    for (Parameter& parameter : kernel_.parameters) parameter.variable = renumbered(parameter.variable);
    for (ClosureField& capture : kernel_.captures) capture.variable = renumbered(capture.variable);
    renumber(kernel_.body);
    kernel_.variables = std::move(kept_);
  }

 private:
  void keep(VariableId id) {
    VariableId& to = new_ids_[static_cast<std::size_t>(id)];
    if (to != no_variable) return;
    to = static_cast<VariableId>(kept_.size());
    kept_.push_back(kernel_.variables[static_cast<std::size_t>(id)]);
    if (!is_name(kept_.back().name)) kept_.back().name = "extent";  // "rows - 8": for messages until now
    kept_.back().name = unique(kept_.back().name);
  }

  std::string unique(const std::string& name) {
    std::string candidate = name.empty() ? std::string("value") : name;
    for (int& number = last_number_[candidate]; !names_.insert(candidate).second;)
      candidate = name + "_" + std::to_string(++number);
    return candidate;
  }

  /// A tile's run-time extents are defined before it, so they are met first.
  void meet(const std::vector<Statement>& list) {
    for (const Statement& s : list) {
      if (s.variable != no_variable) keep(s.variable);
      meet(s.body);
      meet(s.else_body);
    }
  }

  [[nodiscard]] VariableId renumbered(VariableId id) const { return new_ids_[static_cast<std::size_t>(id)]; }

  void renumber(Type& type) const {
    for (Dim& dim : type.shape)
      if (!dim.is_constant()) dim.variable = renumbered(dim.variable);
  }

  void renumber(Expr& e) const {
    renumber(e.type);
    if (e.variable != no_variable) e.variable = renumbered(e.variable);
    for (Expr& operand : e.operands) renumber(operand);
  }

  void renumber(std::vector<Statement>& list) const {
    for (Statement& s : list) {
      if (s.variable != no_variable) s.variable = renumbered(s.variable);
      for (Expr* e : {&s.value, &s.begin, &s.end, &s.step}) renumber(*e);
      renumber(s.body);
      renumber(s.else_body);
    }
  }

  Kernel& kernel_;
  std::vector<VariableId> new_ids_;
  std::vector<Variable> kept_;
  std::set<std::string> names_;
  std::map<std::string, int> last_number_;
};

}  // namespace

void number_variables(Kernel& kernel) { Numbering(kernel).run(); }

}  // namespace trilith::codegen::passes
