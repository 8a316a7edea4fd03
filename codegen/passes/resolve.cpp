#include "codegen/passes/resolve.hpp"

#include "codegen/passes/describe.hpp"
#include "codegen/passes/fold.hpp"
#include "codegen/passes/resolver.hpp"

#include <algorithm>
#include <utility>

namespace trilith::codegen::passes {
namespace {

/// A text that is equal for equal values: operands of commutative integer operations in one order.
std::string key_of(const Expr& e) {
  std::vector<std::string> operands;
  for (const Expr& operand : e.operands) operands.push_back(key_of(operand));
  if (is_integer(e.type.dtype) &&
      (e.op == Op::Add || e.op == Op::Mul || e.op == Op::Minimum || e.op == Op::Maximum))
    std::sort(operands.begin(), operands.end());
  std::string key = std::to_string(static_cast<int>(e.op)) + ":" + std::string(name_of(e.type.dtype)) + ":" +
                    std::to_string(e.variable) + ":" + std::to_string(e.value.bits) + ":" +
                    std::to_string(static_cast<int>(e.attributes.mode)) + "(";
  for (const std::string& operand : operands) key += operand + ",";
  return key + ")";
}

}  // namespace

Kernel resolve(const Bound& bound) { return Resolver(bound).run(); }

Resolver::Resolver(const Bound& bound)
    : captured_(bound.kernel),
      constant_extents_(bound.constant_extents),
      liveness_(liveness_of(bound.kernel)),
      out_(bound.kernel) {
  out_.body.clear();
  out_.specialised = true;
  depths_.assign(out_.variables.size(), 0);
  storage_.assign(out_.variables.size(), false);
  environment_.bindings.resize(out_.variables.size());
  for (std::size_t i = 0; i < out_.variables.size(); ++i) {
    const Variable& variable = out_.variables[i];
    if (variable.kind == VariableKind::Local) continue;
    Binding binding;
    binding.type = variable.type;
    binding.location = variable.location;
    const auto id = static_cast<VariableId>(i);
    if (variable.type.is_tensor()) {
      binding.tensor = id;
      binding.extents = variable.type.shape;
      for (std::size_t axis = 0; axis < binding.extents.size(); ++axis)
        binding.parts.push_back(int64_constant(0, variable.location));
    } else if (bound.constants[i].has_value()) {
      binding.parts.push_back(constant_expression(*bound.constants[i], variable.location));
    } else {
      binding.parts.push_back(use(id, variable.location));
    }
    environment_.bindings[i] = std::move(binding);
  }
}

Kernel Resolver::run() {
  std::vector<Statement> body;
  open(body);
  statements(captured_.body);
  close();
  out_.body = std::move(body);
  forget_made_shapes();
  return std::move(out_);
}

VariableId Resolver::new_variable(const std::string& name, Type type, const SourceLocation& location) {
  out_.variables.push_back({name, std::move(type), VariableKind::Local, location});
  depths_.push_back(depth());
  storage_.push_back(false);
  return static_cast<VariableId>(out_.variables.size() - 1);
}

Expr Resolver::use(VariableId id, const SourceLocation& location) const {
  Expr expression;
  expression.op = Op::Variable;
  expression.variable = id;
  expression.type = out_.variables[static_cast<std::size_t>(id)].type;
  expression.location = location;
  return expression;
}

Statement Resolver::assignment(VariableId id, Expr value, const SourceLocation& location) const {
  Statement statement;
  statement.kind = StatementKind::Assign;
  statement.variable = id;
  statement.value = std::move(value);
  statement.location = location;
  return statement;
}

/// Equal expressions give one variable, so that extents computed twice are provably equal. It is defined in
/// the outermost scope that has all of its inputs: two branches then share it. Nothing traps, so computing it
/// early is safe.
VariableId Resolver::numbered_extent(const Expr& expression) {
  const std::string key = key_of(expression);
  for (const Scope& scope : scopes_) {
    const auto found = scope.extents.find(key);
    if (found != scope.extents.end()) return found->second;
  }
  const std::size_t home = depth_of(expression);
  // Messages say it as it is computed; number_variables names it anew.
  const VariableId id =
      new_variable(expression_text(out_, expression), Type::scalar(DType::Int64), expression.location);
  depths_[static_cast<std::size_t>(id)] = home;
  scopes_[home].statements->push_back(assignment(id, expression, expression.location));
  scopes_[home].extents.emplace(key, id);
  return id;
}

std::size_t Resolver::depth_of(const Expr& expression) const {
  std::size_t result =
      expression.op == Op::Variable ? depths_[static_cast<std::size_t>(expression.variable)] : 0;
  for (const Expr& operand : expression.operands) result = std::max(result, depth_of(operand));
  return result;
}

void Resolver::open(std::vector<Statement>& list) { scopes_.push_back({&list, {}, out_.variables.size()}); }

Resolver::Scope Resolver::close() {
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  return scope;
}

std::string Resolver::name_of_variable(VariableId id) const {
  return out_.variables[static_cast<std::size_t>(id)].name;
}

pl::Location Resolver::at(const SourceLocation& location) const { return place(captured_, location); }

}  // namespace trilith::codegen::passes
