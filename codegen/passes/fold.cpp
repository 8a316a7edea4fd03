#include "codegen/passes/fold.hpp"

#include "codegen/reference.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace trilith::codegen::passes {
namespace {

bool is_integer_value(const Expr& expression, std::int64_t value) {
  return expression.is_constant() && is_integer(expression.value.dtype) &&
         expression.value.as_int64() == value;
}

bool can_compute(const Expr& expression) {
  const Operation& row = operation(expression.op);
  if (row.group == Group::Structure || row.group == Group::Create || row.group == Group::Move ||
      row.group == Group::Debug || row.exactness != Exactness::Exact)
    return false;
  return !expression.operands.empty() &&
         std::all_of(expression.operands.begin(), expression.operands.end(),
                     [](const Expr& operand) { return operand.is_constant(); });
}

Expr computed(const Expr& expression) {
  std::vector<Value> operands;
  for (const Expr& operand : expression.operands) operands.push_back(value_of(operand.value));
  const Value value =
      reference::apply(expression.op, operands, expression.attributes, expression.type.dtype, {});
  return constant_expression(constant_of(value), expression.location);
}

Expr with_integer_identities(Expr e) {
  Expr& a = e.operands[0];
  Expr& b = e.operands[1];
  const bool commutes = e.op == Op::Add || e.op == Op::Mul;
  if (commutes && a.is_constant() && !b.is_constant()) std::swap(a, b);
  switch (e.op) {
    case Op::Add:
      if (is_integer_value(b, 0)) return std::move(a);
      if (b.is_constant() && a.op == Op::Add && a.operands[1].is_constant()) {
        Expr sum = scalar_operation(Op::Add, e.type.dtype, {a.operands[1], std::move(b)}, e.location);
        return scalar_operation(Op::Add, e.type.dtype, {std::move(a.operands[0]), std::move(sum)},
                                e.location);
      }
      break;
    case Op::Sub:
      if (is_integer_value(b, 0)) return std::move(a);
      if (same_value(a, b)) return converted(int64_constant(0, e.location), e.type.dtype);
      break;
    case Op::Mul:
      if (is_integer_value(b, 1)) return std::move(a);
      if (is_integer_value(b, 0)) return std::move(b);
      break;
    case Op::Div:
      if (is_integer_value(b, 1)) return std::move(a);
      break;
    case Op::Maximum:
    case Op::Minimum:
      if (same_value(a, b)) return std::move(a);
      break;
    default: break;
  }
  return e;
}

/// `!(a < b)` on integers is `a >= b`; on floats only == and != may be turned, for NaN's sake.
Expr negated(Expr e) {
  Expr& inner = e.operands[0];
  if (inner.op == Op::LogicalNot) return std::move(inner.operands[0]);
  const bool floating = inner.operands.size() == 2 && is_floating(inner.operands[0].type.dtype);
  constexpr std::pair<Op, Op> turned[] = {{Op::Eq, Op::Ne}, {Op::Ne, Op::Eq}, {Op::Lt, Op::Ge},
                                          {Op::Ge, Op::Lt}, {Op::Gt, Op::Le}, {Op::Le, Op::Gt}};
  for (const auto& [from, to] : turned)
    if (inner.op == from && (!floating || from == Op::Eq || from == Op::Ne)) {
      inner.op = to;
      return std::move(inner);
    }
  return e;
}

Expr with_logic_identities(Expr e) {
  Expr& a = e.operands[0];
  Expr& b = e.operands[1];
  const bool keeps = e.op == Op::LogicalAnd;  // the constant that changes nothing
  if (a.is_constant()) return (a.value.bits != 0) == keeps ? std::move(b) : std::move(a);
  if (b.is_constant()) return (b.value.bits != 0) == keeps ? std::move(a) : std::move(b);
  return e;
}

}  // namespace

bool same_value(const Expr& a, const Expr& b) {
  if (a.op != b.op || a.variable != b.variable || !(a.value == b.value) || !(a.attributes == b.attributes) ||
      a.type.dtype != b.type.dtype || a.operands.size() != b.operands.size())
    return false;
  for (std::size_t i = 0; i < a.operands.size(); ++i)
    if (!same_value(a.operands[i], b.operands[i])) return false;
  return true;
}

Value value_of(const Constant& constant) {
  Value value(constant.dtype, {});
  value.is_scalar = true;
  std::memcpy(value.bytes.data(), &constant.bits, value.bytes.size());
  return value;
}

Constant constant_of(const Value& value) {
  Constant constant{value.dtype, 0};
  std::memcpy(&constant.bits, value.bytes.data(), value.bytes.size());
  if (is_signed_integer(value.dtype) && value.bytes.size() < 8) {
    const auto unused = static_cast<int>(64 - 8 * value.bytes.size());
    constant.bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(constant.bits << unused) >> unused);
  }
  return constant;
}

Expr constant_expression(Constant value, SourceLocation location) {
  Expr expression;
  expression.op = Op::Constant;
  expression.type = Type::scalar(value.dtype);
  expression.value = value;
  expression.location = location;
  return expression;
}

Expr int64_constant(std::int64_t value, SourceLocation location) {
  return constant_expression(Constant::of(value), location);
}

Expr list_expression(std::vector<Expr> items, SourceLocation location) {
  Expr list;
  list.op = Op::List;
  list.type.kind = TypeKind::List;
  list.type.dtype = DType::Int64;
  list.operands = std::move(items);
  list.location = location;
  return list;
}

Expr scalar_operation(Op op, DType dtype, std::vector<Expr> operands, SourceLocation location) {
  Expr expression;
  expression.op = op;
  expression.type = Type::scalar(dtype);
  expression.operands = std::move(operands);
  expression.location = location;
  return fold(std::move(expression));
}

Expr converted(Expr scalar, DType dtype) {
  if (scalar.type.dtype == dtype) return scalar;
  Expr expression;
  expression.op = Op::Cast;
  expression.type = Type::scalar(dtype);
  expression.attributes.mode = CastMode::Trunc;
  expression.location = scalar.location;
  expression.operands.push_back(std::move(scalar));
  return fold(std::move(expression));
}

Expr fold(Expr expression) {
  if (!expression.type.is_scalar()) return expression;
  if (can_compute(expression)) return computed(expression);
  const DType dtype = expression.type.dtype;
  switch (expression.op) {
    case Op::Conditional:
      if (expression.operands[0].is_constant())
        return std::move(expression.operands[expression.operands[0].value.bits != 0 ? 1 : 2]);
      return expression;
    case Op::LogicalNot: return negated(std::move(expression));
    case Op::LogicalAnd:
    case Op::LogicalOr: return with_logic_identities(std::move(expression));
    case Op::Cast:
      // A cast of an integer to its own dtype is the integer; of a float, a rounding mode might act.
      if (expression.operands[0].type.dtype == dtype && !is_floating(dtype))
        return std::move(expression.operands[0]);
      return expression;
    default: break;
  }
  if (is_integer(dtype) && expression.operands.size() == 2 &&
      operation(expression.op).group == Group::Elementwise)
    return with_integer_identities(std::move(expression));
  return expression;
}

}  // namespace trilith::codegen::passes
