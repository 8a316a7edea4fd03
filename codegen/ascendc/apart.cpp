// Stores that cannot meet: who moves out of the unified buffer need not wait for the store before, where the two surely
// have no element in common. Stores of one run of statements never meet (fuse::run_length); this is about the others, and
// about one store in two turns of a loop.
#include "codegen/ascendc/context.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace trilith::codegen::ascendc {
namespace {

constexpr std::int64_t most = std::int64_t{1} << 30;  ///< of factors: products are far from overflow

bool assigns(std::span<const Statement> list, VariableId variable) {
  return std::ranges::any_of(list, [&](const Statement& statement) {
    const bool own = statement.kind == StatementKind::Assign || statement.kind == StatementKind::For;
    return (own && statement.variable == variable) || assigns(statement.body, variable) ||
           assigns(statement.else_body, variable) || assigns(statement.step_body, variable);
  });
}

/// How much an offset grows with a loop's variable, all else being the same in every turn.
class Slope {
 public:
  Slope(const Context& context, const Statement& loop) : c_(context), loop_(loop) {}

  /// Nothing: it may be any number in another turn.
  [[nodiscard]] std::optional<std::int64_t> of(const Expr& expression) const {
    if (expression.is_constant()) return 0;
    if (expression.op == Op::Variable) return of_variable(expression.variable);
    if (expression.op == Op::Cast && is_integer(expression.operands[0].type.dtype))
      return of(expression.operands[0]);
    if (expression.op != Op::Add && expression.op != Op::Sub && expression.op != Op::Mul) return {};
    const Expr &first = expression.operands[0], &second = expression.operands[1];
    const std::optional<std::int64_t> a = of(first), b = of(second);
    if (!a || !b || std::abs(*a) > most || std::abs(*b) > most) return {};
    if (expression.op == Op::Add) return *a + *b;
    if (expression.op == Op::Sub) return *a - *b;
    if (*a == 0 && *b == 0) return 0;
    if (first.is_constant() && std::abs(first.value.as_int64()) <= most) return first.value.as_int64() * *b;
    if (second.is_constant() && std::abs(second.value.as_int64()) <= most)
      return second.value.as_int64() * *a;
    return {};
  }

 private:
  [[nodiscard]] std::optional<std::int64_t> of_variable(VariableId variable) const {
    if (variable == loop_.variable) return 1;
    if (!assigns(loop_.body, variable)) return 0;
    const auto made = c_.definitions.find(variable);
    if (made == c_.definitions.end()) return {};
    return of(*made->second);
  }

  const Context& c_;
  const Statement& loop_;
};

}  // namespace

bool Context::apart_in_turns(const Statement& store, const Statement& loop) const {
  if (!fuse::is_store(store) || loop.kind != StatementKind::For || !loop.step.is_constant() ||
      uses.writes[loop.variable] != 1)
    return false;
  const fuse::Region region = fuse::region_of(kernel, store);
  const std::int64_t step = std::abs(loop.step.value.as_int64());
  for (std::size_t axis = 0; axis < region.shape.size(); ++axis) {
    const std::optional<std::int64_t> slope = Slope(*this, loop).of(region.offsets->operands[axis]);
    if (!slope || step == 0 || step > most) continue;
    if (std::abs(*slope) * step >= extent(region.shape[axis], store.location).most) return true;
  }
  return false;
}

bool Context::apart(const Statement& store, const Statement& other) const {
  if (!fuse::is_store(store) || !fuse::is_store(other)) return false;
  // What atomic stores add is added in any order.
  const auto adds = [](const Statement& of) { return of.value.attributes.atomic == Atomic::Add; };
  if (adds(store) && adds(other)) return true;
  const fuse::Region a = fuse::region_of(kernel, store), b = fuse::region_of(kernel, other);
  if (a.tensor != b.tensor) return false;
  // Of constants as fuse::disjoint has it; and what a loop leaves lies behind what all its turns have stored.
  const auto ends_before = [&](const fuse::Region& first, const fuse::Region& second, std::size_t axis) {
    const Range begin = range_of(second.offsets->operands[axis]),
                end = range_of(first.offsets->operands[axis]);
    return end.last != Range::none && begin.first != -Range::none &&
           end.last + extent(first.shape[axis], store.location).most <= begin.first;
  };
  for (std::size_t axis = 0; axis < a.shape.size(); ++axis)
    if (ends_before(a, b, axis) || ends_before(b, a, axis)) return true;
  return false;
}

}  // namespace trilith::codegen::ascendc
