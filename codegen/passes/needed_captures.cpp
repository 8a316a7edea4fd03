// captures_to_specialise: which captures a shape or an unroll bound needs as constants.
#include "codegen/specialise.hpp"
#include "codegen/tile_call.hpp"

#include <utility>

namespace trilith::codegen {
namespace {

using Set = std::vector<bool>;  // of variables

class Needs {
 public:
  explicit Needs(const Kernel& kernel) : kernel_(kernel), sources_(kernel.variables.size()) {
    for (std::size_t i = 0; i < kernel.variables.size(); ++i) {
      sources_[i].resize(kernel.variables.size(), false);
      sources_[i][i] = true;
    }
  }

  std::vector<bool> run() {
    const Set nothing(kernel_.variables.size(), false);
    do {
      changed_ = false;
      trace(kernel_.body, nothing);
    } while (changed_);
    Set needed = nothing;
    collect(kernel_.body, needed);
    std::vector<bool> result;
    for (const ClosureField& capture : kernel_.captures)
      result.push_back(needed[static_cast<std::size_t>(capture.variable)]);
    return result;
  }

 private:
  bool add(Set& into, const Set& from) {
    bool changed = false;
    for (std::size_t i = 0; i < from.size(); ++i)
      if (from[i] && !into[i]) {
        into[i] = true;
        changed = true;
      }
    return changed;
  }

  /// Every variable whose value the expression's may depend on.
  void add_sources(const Expr& e, Set& into) {
    if (e.op == Op::Variable) add(into, sources_[static_cast<std::size_t>(e.variable)]);
    for (const Expr& operand : e.operands) add_sources(operand, into);
  }

  void assigned(VariableId variable, std::initializer_list<const Expr*> values, const Set& control) {
    Set from = control;
    for (const Expr* value : values) add_sources(*value, from);
    if (add(sources_[static_cast<std::size_t>(variable)], from)) changed_ = true;
  }

  /// `control`: what decides whether these statements run; it decides what they assign, too.
  void trace(const std::vector<Statement>& list, const Set& control) {
    for (const Statement& s : list) {
      Set inside = control;
      if (s.kind == StatementKind::Assign) assigned(s.variable, {&s.value}, control);
      if (s.kind == StatementKind::For) assigned(s.variable, {&s.begin, &s.end, &s.step}, control);
      if (s.kind == StatementKind::If || s.kind == StatementKind::While) add_sources(s.value, inside);
      trace(s.body, inside);
      trace(s.else_body, inside);
      trace(s.step_body, inside);
    }
  }

  void collect(const Expr& e, Set& needed) {
    if (e.op == Op::Load || e.op == Op::Slice) add_sources(e.operands[2], needed);
    if (e.op == Op::RemoteLoad) add_sources(e.operands[3], needed);
    if (e.op == Op::Full) add_sources(e.operands[0], needed);
    if (const int shape = shape_operand(e.op); shape >= 0)
      add_sources(e.operands[static_cast<std::size_t>(shape)], needed);
    if (e.op == Op::TopkIndices) add_sources(e.operands[1], needed);
    if (e.op == Op::PagedGather) add_sources(e.operands[5], needed);
    if (e.op == Op::Dim) add_sources(e.operands[1], needed);
    for (const Expr& operand : e.operands) collect(operand, needed);
  }

  void collect(const std::vector<Statement>& list, Set& needed) {
    for (const Statement& s : list) {
      collect(s.value, needed);
      if (s.kind == StatementKind::For)
        for (const Expr* bound : {&s.begin, &s.end, &s.step}) {
          collect(*bound, needed);
          if (s.loop == LoopKind::Unroll) add_sources(*bound, needed);
        }
      collect(s.body, needed);
      collect(s.else_body, needed);
      collect(s.step_body, needed);
    }
  }

  const Kernel& kernel_;
  std::vector<Set> sources_;
  bool changed_ = false;
};

}  // namespace

std::vector<bool> captures_to_specialise(const Kernel& captured) { return Needs(captured).run(); }

}  // namespace trilith::codegen
