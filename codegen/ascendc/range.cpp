// What an index lies between, where loops with constant bounds say so: regions inside their tensor need no check.
#include "codegen/ascendc/context.hpp"

#include <algorithm>

namespace trilith::codegen::ascendc {

std::optional<Range> Context::range_of(const Expr& expression) const {
  if (!is_integer(expression.type.dtype)) return {};
  if (expression.is_constant()) return Range{expression.value.as_int64(), expression.value.as_int64()};
  if (expression.op == Op::Variable) {
    const auto found = ranges.find(expression.variable);
    return found == ranges.end() ? std::nullopt : std::optional(found->second);
  }
  if (expression.type.dtype != DType::Int64) return {};
  if (expression.op == Op::Cast) return range_of(expression.operands[0]);
  if (expression.op != Op::Add && expression.op != Op::Sub && expression.op != Op::Mul) return {};
  const auto a = range_of(expression.operands[0]), b = range_of(expression.operands[1]);
  if (!a || !b) return {};
  // The ends of the result are among these; numbers of elements are far from overflow.
  constexpr std::int64_t most = std::int64_t{1} << 31;
  for (const std::int64_t end : {a->first, a->last, b->first, b->last})
    if (end < -most || end > most) return {};
  if (expression.op == Op::Add) return Range{a->first + b->first, a->last + b->last};
  if (expression.op == Op::Sub) return Range{a->first - b->last, a->last - b->first};
  const auto [least, greatest] =
      std::minmax({a->first * b->first, a->first * b->last, a->last * b->first, a->last * b->last});
  return Range{least, greatest};
}

void Context::remember_range(VariableId variable, std::optional<Range> range) {
  if (range && uses.writes[variable] == 1) ranges[variable] = *range;
}

}  // namespace trilith::codegen::ascendc
