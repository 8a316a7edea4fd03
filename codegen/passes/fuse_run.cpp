// How far a run of tile statements reaches: up to control flow, prints, a scalar that changes under a tile's
// feet, or memory that is overwritten while it is still read.
#include "codegen/passes/fuse.hpp"

#include "codegen/error.hpp"
#include "codegen/remote.hpp"

#include <algorithm>

namespace trilith::codegen::fuse {
namespace {

void count(const Expr& expression, Uses& uses) {
  if (expression.op == Op::Variable) ++uses.reads[expression.variable];
  for (const Expr& operand : expression.operands) count(operand, uses);
}

void count(const std::vector<Statement>& statements, Uses& uses) {
  for (const Statement& statement : statements) {
    if (statement.kind == StatementKind::Assign || statement.kind == StatementKind::For)
      ++uses.writes[statement.variable];
    for (const Expr* expression : {&statement.value, &statement.begin, &statement.end, &statement.step})
      count(*expression, uses);
    for (const auto* body : {&statement.body, &statement.else_body, &statement.step_body}) count(*body, uses);
  }
}

void scalars_read(const Expr& expression, std::vector<bool>& read) {
  if (expression.op == Op::Variable) read[expression.variable] = true;
  for (const Dim& dim : expression.type.shape)
    if (!dim.is_constant()) read[dim.variable] = true;
  for (const Expr& operand : expression.operands) scalars_read(operand, read);
}

bool same_scalar(const Expr& a, const Expr& b) {
  return a.op == b.op && a.variable == b.variable && a.value == b.value && a.type.dtype == b.type.dtype &&
         a.attributes == b.attributes && std::ranges::equal(a.operands, b.operands, same_scalar);
}

}  // namespace

Uses count_uses(const Kernel& kernel) {
  Uses uses{std::vector<int>(kernel.variables.size()), std::vector<int>(kernel.variables.size())};
  count(kernel.body, uses);
  return uses;
}

bool is_tile_assign(const Kernel& kernel, const Statement& statement) {
  return statement.kind == StatementKind::Assign && kernel.variables[statement.variable].type.is_tile() &&
         !is_tile_call(statement.value.op) && statement.value.op != Op::RemoteLoad;
}

bool is_store(const Statement& statement) {
  return statement.kind == StatementKind::Evaluate && statement.value.op == Op::Store;
}

bool is_barrier(const Statement& statement) {
  return statement.kind == StatementKind::Evaluate &&
         operation(statement.value.op).group == Group::Synchronise;
}

Region region_of(const Kernel& kernel, const Statement& statement) {
  const Expr& value = statement.value;
  const bool store = value.op == Op::Store;
  const Expr& tensor = value.operands[store ? 2 : 0];
  const std::vector<Dim>& tile = store ? value.operands[0].type.shape : value.type.shape;
  Region region{tensor.variable, &value.operands[1], {}};
  const std::size_t rank = kernel.variables[tensor.variable].type.shape.size();
  if (tile.size() > rank) throw pl::InternalError("emitter: a tile of higher rank than its tensor");
  region.shape.assign(rank - tile.size(), Dim{1, no_variable});
  region.shape.insert(region.shape.end(), tile.begin(), tile.end());
  return region;
}

bool same_region(const Region& a, const Region& b) {
  return a.shape == b.shape && std::ranges::equal(a.offsets->operands, b.offsets->operands, same_scalar);
}

bool disjoint(const Region& a, const Region& b) {
  if (a.tensor != b.tensor) return true;
  for (std::size_t axis = 0; axis < a.shape.size(); ++axis) {
    const Expr &first = a.offsets->operands[axis], &second = b.offsets->operands[axis];
    if (!first.is_constant() || !second.is_constant() || !a.shape[axis].is_constant() ||
        !b.shape[axis].is_constant())
      continue;
    const std::int64_t begin_a = first.value.as_int64(), begin_b = second.value.as_int64();
    if (begin_a + a.shape[axis].extent <= begin_b || begin_b + b.shape[axis].extent <= begin_a) return true;
  }
  return false;
}

std::size_t run_length(const Kernel& kernel, std::span<const Statement> statements) {
  std::vector<bool> read(kernel.variables.size());
  std::vector<Region> loads, stores;
  std::size_t length = 0;
  for (const Statement& statement : statements) {
    if (is_barrier(statement)) {
      ++length;
      continue;
    }
    if (is_tile_assign(kernel, statement)) {
      if (statement.value.op == Op::Load) {
        const Region region = region_of(kernel, statement);
        if (!std::ranges::all_of(stores, [&](const Region& store) { return disjoint(region, store); })) break;
        loads.push_back(region);
      }
    } else if (is_store(statement)) {
      const Region region = region_of(kernel, statement);
      const bool loads_allow = std::ranges::all_of(
          loads, [&](const Region& load) { return disjoint(region, load) || same_region(region, load); });
      if (!loads_allow ||
          !std::ranges::all_of(stores, [&](const Region& store) { return disjoint(region, store); }))
        break;
      stores.push_back(region);
    } else if (statement.kind == StatementKind::Assign && !is_tile_call(statement.value.op) &&
               statement.value.op != Op::Read && !is_remote(statement.value.op)) {
      if (read[statement.variable]) break;
      ++length;
      continue;
    } else {
      break;
    }
    scalars_read(statement.value, read);
    ++length;
  }
  return length;
}

}  // namespace trilith::codegen::fuse
