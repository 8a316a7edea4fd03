#include "codegen/passes/literal.hpp"

#include "codegen/error.hpp"
#include "codegen/passes/describe.hpp"
#include "codegen/passes/fold.hpp"
#include "codegen/reference.hpp"

#include <algorithm>
#include <utility>

namespace trilith::codegen::passes {
namespace {

bool is_literal(const Expr& operand) { return operand.literal && operand.is_constant(); }

/// Literals alone have C++'s common type: the floating one, else the wider.
DType common_dtype(const std::vector<Expr>& literals, std::size_t first) {
  DType common = literals[first].type.dtype;
  for (std::size_t i = first; i < literals.size(); ++i) {
    const DType dtype = literals[i].type.dtype;
    const bool wider = size_of(dtype) > size_of(common);
    if (is_floating(dtype) ? !is_floating(common) || wider : !is_floating(common) && wider) common = dtype;
  }
  return common;
}

}  // namespace

Expr literal_as(const Kernel& kernel, Expr literal, DType dtype, std::string_view operation) {
  if (literal.type.dtype == dtype) return literal;
  const Value value =
      reference::literal_as(value_of(literal.value), dtype, operation, place(kernel, literal.location));
  return constant_expression(constant_of(value), literal.location);
}

void unify_literals(const Kernel& kernel, Op op, std::vector<Expr>& operands) {
  const std::size_t first = op == Op::Where ? 1 : 0;
  const auto deciding = std::find_if(operands.begin() + static_cast<std::ptrdiff_t>(first), operands.end(),
                                     [](const Expr& operand) { return !is_literal(operand); });
  const DType dtype = deciding != operands.end() ? deciding->type.dtype : common_dtype(operands, first);
  for (std::size_t i = first; i < operands.size(); ++i)
    if (is_literal(operands[i]))
      operands[i] = literal_as(kernel, std::move(operands[i]), dtype, operation(op).name);
}

}  // namespace trilith::codegen::passes
