// Checked runs: the single elements of windows that a loop touches one after another are told in front of it, all rounds
// in one request. A request in each round would cost many times what the loop itself does, which then is no loop over
// vectors any more. Nothing in such a loop orders ranks, so it makes no difference to what is told when; and only
// elements inside of their tensors are told, up to the round that would leave them.
#include "codegen/remote.hpp"
#include "codegen/xsimd/request.hpp"

#include <algorithm>
#include <optional>

namespace trilith::codegen::xsimd {
namespace {

/// Neither control flow nor anything that others see.
bool is_plain(const Statement& statement) {
  if (statement.kind == StatementKind::Evaluate)
    return fuse::is_store(statement) || statement.value.op == Op::Check;
  return statement.kind == StatementKind::Assign && !is_remote(statement.value.op) &&
         !is_tile_call(statement.value.op);
}

/// Expressions of the loop's body as they are in front of it: of the loop's variable and what no round changes.
class InFront {
 public:
  InFront(const Kernel& kernel, const fuse::Uses& uses, const Statement& loop)
      : uses_(uses), loop_(loop), made_by_(kernel.variables.size()), changes_(kernel.variables.size()) {
    for (const Statement& statement : loop.body)
      if (statement.kind == StatementKind::Assign) {
        changes_[at(statement.variable)] = true;
        made_by_[at(statement.variable)] = &statement.value;
      }
  }

  /// The expression, with what scalars of the body stand for; nothing where that is not known in front of the loop.
  [[nodiscard]] std::optional<Expr> find(const Expr& expression) const {
    if (expression.op == Op::Variable) return find_variable(expression);
    switch (operation(expression.op).group) {
      case Group::Structure:
        if (expression.op != Op::Constant && expression.op != Op::Conditional) return std::nullopt;
        break;
      case Group::Identity:
      case Group::Elementwise:
      case Group::Compare:
      case Group::Logic:
      case Group::Bits:
      case Group::Cast: break;
      default: return std::nullopt;
    }
    Expr result = expression;
    for (Expr& operand : result.operands) {
      std::optional<Expr> found = find(operand);
      if (!found) return std::nullopt;
      operand = *std::move(found);
    }
    return result;
  }

  /// A sum of products with the loop's variable? Sums that wrap are: where their elements lie inside of a tensor they
  /// are what they would be without.
  [[nodiscard]] bool is_linear(const Expr& e) const {
    if (!moves(e) || e.op == Op::Variable) return true;
    switch (e.op) {
      case Op::Neg: return is_linear(e.operands[0]);
      case Op::Cast:
        return is_integer(e.type.dtype) && size_of(e.type.dtype) >= 4 &&
               is_integer(e.operands[0].type.dtype) && is_linear(e.operands[0]);
      case Op::Mul:
        if (moves(e.operands[0]) && moves(e.operands[1])) return false;
        [[fallthrough]];
      case Op::Add:
      case Op::Sub: return size_of(e.type.dtype) >= 4 && is_linear(e.operands[0]) && is_linear(e.operands[1]);
      default: return false;
    }
  }

 private:
  static std::size_t at(VariableId variable) { return static_cast<std::size_t>(variable); }
  [[nodiscard]] bool moves(const Expr& e) const {
    return (e.op == Op::Variable && e.variable == loop_.variable) ||
           std::ranges::any_of(e.operands, [&](const Expr& operand) { return moves(operand); });
  }
  [[nodiscard]] std::optional<Expr> find_variable(const Expr& expression) const {
    const std::size_t variable = at(expression.variable);
    if (!changes_[variable]) return expression;
    // Written once: the loop's own round has made it.
    if (expression.variable == loop_.variable || uses_.writes[variable] != 1) return std::nullopt;
    return find(*made_by_[variable]);
  }

  const fuse::Uses& uses_;
  const Statement& loop_;
  std::vector<const Expr*> made_by_;
  std::vector<bool> changes_;
};

std::string list(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

}  // namespace

void Context::report_ahead(const Statement& loop, const std::string& begin, const std::string& end,
                           const std::string& step) {
  if (!signature.checked || !std::ranges::all_of(loop.body, is_plain)) return;
  struct Access {
    const Statement* statement;
    VariableId tensor;
    std::vector<Expr> offsets;
    std::string line, extents;
  };
  const InFront in_front(kernel, uses, loop);
  std::vector<Access> accesses;
  for (const Statement& statement : loop.body) {
    if (statement.value.op != Op::Load && statement.value.op != Op::Store) continue;
    const fuse::Region region = fuse::region_of(kernel, statement);
    if (!is_window(kernel, region.tensor) || region.shape.empty() ||
        !std::ranges::all_of(region.shape, [](const Dim& extent) { return extent.is(1); }))
      continue;
    Access access{&statement, region.tensor, {}, names.fresh("line"), {}};
    for (const Expr& offset : region.offsets->operands)
      if (std::optional<Expr> found = in_front.find(offset); found && in_front.is_linear(*found))
        access.offsets.push_back(*std::move(found));
    if (access.offsets.size() == region.shape.size()) accesses.push_back(std::move(access));
  }
  if (accesses.empty()) return;

  headers.insert("accesses.hpp");
  const std::string rounds = names.fresh("rounds");
  out.open("{");
  out.line("std::int64_t " + rounds + " = device::rounds_of(" + begin + ", " + end + ", " + step + ");");
  for (Access& access : accesses) {
    const std::string rank = std::to_string(access.offsets.size());
    const std::string element = names.fresh("element");
    out.open("const auto " + access.line + " = device::line_of<" + rank + ">(" + begin + ", " + step +
             ", [&]([[maybe_unused]] const std::int64_t " + variables[loop.variable] + ", std::int64_t* " +
             element + ") {");
    for (std::size_t axis = 0; axis < access.offsets.size(); ++axis)
      out.line(element + "[" + std::to_string(axis) + "] = " + index(access.offsets[axis]) + ";");
    out.close("});");
    std::vector<std::string> extents;
    for (const Dim& extent : kernel.variables[access.tensor].type.shape) extents.push_back(dim(extent));
    out.line(rounds + " = " + access.line + ".rounds_inside({" + list(extents) + "}, " + rounds + ");");
    told_ahead.insert(access.statement);
  }
  out.open("if (" + rounds + " > 0) {");
  for (const Access& access : accesses) report_accesses(*access.statement, access.line, rounds);
  out.close();
  out.close();
}

}  // namespace trilith::codegen::xsimd
