// Checked runs: the single elements of windows that a loop touches one after another are told in front of it, all rounds
// in one request. A request in each round would cost many times what the loop itself does, which then is no loop over
// vectors any more. Nothing in such a loop orders ranks, so it makes no difference to what is told when; and only
// elements inside of their tensors are told, up to the round in which any access of the loop would leave its own: there
// the kernel ends.
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

  [[nodiscard]] bool moves(const Expr& e) const {
    return (e.op == Op::Variable && e.variable == loop_.variable) ||
           std::ranges::any_of(e.operands, [&](const Expr& operand) { return moves(operand); });
  }
  [[nodiscard]] bool is_fixed(const Dim& extent) const {
    return extent.is_constant() || !(extent.variable == loop_.variable || changes_[at(extent.variable)]);
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
    bool is_told;
    std::vector<Expr> offsets;
    std::string line, extents;
  };
  const InFront in_front(kernel, uses, loop);
  std::vector<Access> accesses;
  for (const Statement& statement : loop.body) {
    Access access{&statement, false, {}, {}, {}};
    std::vector<std::string> extents;
    const auto add = [&](const Expr& offset, const std::string& extent) {
      if (std::optional<Expr> found = in_front.find(offset); found && in_front.is_linear(*found)) {
        access.offsets.push_back(*std::move(found));
        extents.push_back(extent);
      }
    };
    std::size_t rank = 0;
    bool may_be_told = false;
    if (statement.value.op == Op::Load || statement.value.op == Op::Store) {
      const fuse::Region region = fuse::region_of(kernel, statement);
      rank = region.shape.size();
      may_be_told = is_window(kernel, region.tensor);
      for (std::size_t axis = 0; axis < rank; ++axis) {
        const Dim &shape = region.shape[axis], &extent = kernel.variables[region.tensor].type.shape[axis];
        if (!in_front.is_fixed(shape)) return;
        if (!shape.is(1)) may_be_told = false;
        add(region.offsets->operands[axis], dim(extent) + (shape.is(1) ? "" : " - " + dim(shape) + " + 1"));
      }
    } else if (statement.value.op == Op::Check) {
      rank = 1;
      const std::optional<Expr> size = in_front.find(statement.value.operands[1]);
      if (!size || !in_front.is_linear(*size) || in_front.moves(*size)) return;
      add(statement.value.operands[0], index(*size));
    }
    if (rank == 0) continue;
    // It may end the loop in any round.
    if (access.offsets.size() != rank) return;
    access.is_told = may_be_told;
    access.line = names.fresh("line");
    access.extents = list(extents);
    accesses.push_back(std::move(access));
  }
  if (std::ranges::none_of(accesses, &Access::is_told)) return;

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
    out.line(rounds + " = " + access.line + ".rounds_inside({" + access.extents + "}, " + rounds + ");");
    if (access.is_told) told_ahead.insert(access.statement);
  }
  out.open("if (" + rounds + " > 0) {");
  for (const Access& access : accesses)
    if (access.is_told) report_accesses(*access.statement, access.line, rounds);
  out.close();
  out.close();
}

}  // namespace trilith::codegen::xsimd
