// Control flow and scalar statements. Runs of tile statements between them become loop nests (emit_run.cpp).
#include "codegen/error.hpp"
#include "codegen/passes/independent_rounds.hpp"
#include "codegen/remote.hpp"
#include "codegen/xsimd/context.hpp"

#include <algorithm>
#include <utility>

namespace trilith::codegen::xsimd {
namespace {

int reads_in(const Expr& expression, VariableId variable) {
  int count = expression.op == Op::Variable && expression.variable == variable ? 1 : 0;
  for (const Expr& operand : expression.operands) count += reads_in(operand, variable);
  return count;
}

int reads_in(std::span<const Statement> list, VariableId variable) {
  int count = 0;
  for (const Statement& statement : list) {
    for (const Expr* expression : {&statement.value, &statement.begin, &statement.end, &statement.step})
      count += reads_in(*expression, variable);
    for (const auto* body : {&statement.body, &statement.else_body, &statement.step_body})
      count += reads_in(*body, variable);
  }
  return count;
}

/// A `continue` of this loop, not of an inner one.
bool has_continue(std::span<const Statement> list) {
  return std::ranges::any_of(list, [](const Statement& statement) {
    if (statement.kind == StatementKind::Continue) return true;
    if (statement.kind == StatementKind::For || statement.kind == StatementKind::While) return false;
    return has_continue(statement.body) || has_continue(statement.else_body);
  });
}

bool leaves(std::span<const Statement> list, std::int32_t block) {
  return std::ranges::any_of(list, [&](const Statement& statement) {
    return (statement.kind == StatementKind::Leave && statement.block == block) ||
           leaves(statement.body, block) || leaves(statement.else_body, block) ||
           leaves(statement.step_body, block);
  });
}

}  // namespace

void Context::declare(VariableId variable) {
  if (declared[variable]) return;
  declared[variable] = true;
  const DType dtype = kernel.variables[variable].type.dtype;
  declarations.push_back(type_name(dtype) + " " + variables[variable] +
                         (is_narrow_float(dtype) ? "{};"
                          : dtype == DType::Bool ? " = false;"
                                                 : " = 0;"));
}

void Context::scalar_assign(const Statement& statement) {
  const VariableId variable = statement.variable;
  const bool here = !declared[variable] && uses.writes[variable] == 1 &&
                    kernel.variables[variable].kind == VariableKind::Local && !in_shapes[variable] &&
                    reads_in(scope, variable) == uses.reads[variable];
  if (here) {
    declared[variable] = true;
    out.line("const " + type_name(kernel.variables[variable].type.dtype) + " " + variables[variable] + " = " +
             scalar(statement.value) + ";");
    return;
  }
  declare(variable);
  out.line(variables[variable] + " = " + scalar(statement.value) + ";");
}

void Context::statements(std::span<const Statement> list) {
  const std::span<const Statement> outer = scope;
  scope = list;
  for (std::size_t i = 0; i < list.size();) {
    const std::size_t length = fuse::run_length(kernel, list.subspan(i));
    const auto run_statements = list.subspan(i, length);
    const bool tiles = std::ranges::any_of(run_statements, [&](const Statement& statement) {
      return fuse::is_tile_assign(kernel, statement) || fuse::is_store(statement);
    });
    if (tiles) {
      run(run_statements);
      i += length;
      continue;
    }
    std::size_t written = product_and_store(list.subspan(i));
    if (written == 0) written = remote_load_and_store(list.subspan(i));
    if (written > 0) {
      i += written;
      continue;
    }
    statement(list[i]);
    ++i;
  }
  scope = outer;
}

void Context::nested(std::span<const Statement> list) {
  ++depth;
  statements(list);
  --depth;
}

void Context::statement(const Statement& statement) {
  switch (statement.kind) {
    case StatementKind::Assign:
      if (is_tile_call(statement.value.op)) return tile_call(statement);
      if (statement.value.op == Op::Read) return read(statement);
      if (is_remote(statement.value.op)) return remote(statement);
      comment(statement);
      return scalar_assign(statement);
    case StatementKind::Evaluate:
      if (fuse::is_barrier(statement)) return comment(statement);
      if (is_remote(statement.value.op)) return remote(statement);
      if (statement.value.op == Op::Check) {
        out.line("// " + place(statement.location));
        const std::string position = index(statement.value.operands[0]),
                          size = index(statement.value.operands[1]);
        return fault_if(
            "static_cast<std::uint64_t>(" + position + ") >= static_cast<std::uint64_t>(" + size + ")",
            "pl::abi::fault_index", statement.location, "index", position, size);
      }
      if (statement.value.op != Op::Print)
        throw pl::InternalError("emitter: a statement that does nothing: " +
                                std::string(operation(statement.value.op).name));
      comment(statement);
      return print(statement);
    case StatementKind::If:
      out.line("// " + place(statement.location));
      out.open("if (" + scalar(statement.value) + ") {");
      nested(statement.body);
      if (!statement.else_body.empty()) {
        out.indent(-1);
        out.open("} else {");
        nested(statement.else_body);
      }
      return out.close();
    case StatementKind::For: return for_loop(statement);
    case StatementKind::While: return while_loop(statement);
    case StatementKind::Block:
      out.open("{");
      nested(statement.body);
      out.close();
      if (leaves(statement.body, statement.block)) out.line(label("end_block", statement.block) + ":;");
      return;
    case StatementKind::Leave:
      out.line(statement.block == 0 ? "return pl::abi::fault_none;"
                                    : "goto " + label("end_block", statement.block) + ";");
      return;
    case StatementKind::Break: return out.line("break;");
    case StatementKind::Continue:
      return out.line(continue_labels.empty() || continue_labels.back().empty()
                          ? "continue;"
                          : "goto " + continue_labels.back() + ";");
  }
}

std::string Context::label(const std::string& hint, std::int32_t number) {
  const auto found = labels.find(number);
  if (found != labels.end()) return found->second;
  return labels.emplace(number, names.fresh(hint + "_" + std::to_string(number))).first->second;
}

Context::Bounds Context::bounds(const Statement& statement) {
  const std::string& name = variables[statement.variable];
  Bounds result{index(statement.begin), index(statement.end), index(statement.step)};
  if (!statement.end.is_constant()) {
    const std::string value = std::exchange(result.end, names.fresh(name + "_end"));
    out.line("const std::int64_t " + result.end + " = " + value + ";");
  }
  if (!statement.step.is_constant()) {
    const std::string value = std::exchange(result.step, names.fresh(name + "_step"));
    out.line("const std::int64_t " + result.step + " = " + value + ";");
    fault_if(result.step + " == 0", "pl::abi::fault_step", statement.location, "step", result.step, "1");
  }
  return result;
}

void Context::for_loop(const Statement& statement) {
  std::string why;
  if (statement.loop == LoopKind::Parallel && !in_parallel_loop) {
    // Threads of the pool are no part of the run that is told of accesses.
    why = signature.checked ? "the run is checked" : passes::why_in_order(kernel, statement);
    if (why.empty()) return parallel_loop(statement);
    why = ": in order, since " + why;
  }
  const VariableId variable = statement.variable;
  const std::string name = variables[variable];
  out.line("// " + place(statement.location) + why);
  const auto [begin, limit, step] = bounds(statement);
  report_ahead(statement, begin, limit, step);
  std::string condition = "(" + step + " > 0 ? " + name + " < " + limit + " : " + name + " > " + limit + ")";
  if (statement.step.is_constant())
    condition = name + (statement.step.value.as_int64() > 0 ? " < " : " > ") + limit;
  const bool local = !declared[variable] && uses.writes[variable] == 1 &&
                     kernel.variables[variable].kind == VariableKind::Local && !in_shapes[variable] &&
                     reads_in(statement.body, variable) == uses.reads[variable];
  if (local)
    declared[variable] = true;
  else
    declare(variable);
  out.open(std::string("for (") + (local ? "std::int64_t " : "") + name + " = " + begin + "; " + condition +
           "; " + name + " += " + step + ") {");
  continue_labels.emplace_back();
  nested(statement.body);
  continue_labels.pop_back();
  out.close();
}

void Context::while_loop(const Statement& statement) {
  out.line("// " + place(statement.location));
  out.open("while (" + scalar(statement.value) + ") {");
  const bool labelled = !statement.step_body.empty() && has_continue(statement.body);
  continue_labels.push_back(labelled ? names.fresh("next_turn") : std::string());
  if (labelled) out.open("{");
  nested(statement.body);
  if (labelled) {
    out.close();
    out.line(continue_labels.back() + ":;");
  }
  continue_labels.pop_back();
  nested(statement.step_body);
  out.close();
}

void Context::print(const Statement& statement) {
  const Expr& operand = statement.value.operands[0];
  const std::string name = operand.op == Op::Variable ? kernel.variables[operand.variable].name : "";
  const std::string dtype = std::to_string(static_cast<int>(operand.type.dtype));
  out.open("{");
  if (operand.type.is_tile()) {
    std::string extents;
    for (const Dim& extent : operand.type.shape) extents += (extents.empty() ? "" : ", ") + dim(extent);
    if (extents.empty()) extents = "0";
    out.line("const std::int64_t extents[] = {" + extents + "};");
    out.line("services->print(services->context, " + quoted(name) + ", " + dtype + ", " +
             std::to_string(operand.type.shape.size()) + ", extents, " +
             buffer_of(operand.variable).pointer() + ");");
  } else {
    out.line("const " + type_name(operand.type.dtype) + " printed = " + scalar(operand) + ";");
    out.line("services->print(services->context, " + quoted(name) + ", " + dtype +
             ", 0, nullptr, &printed);");
  }
  out.close();
}

void Context::find_shapes() {
  in_shapes.assign(kernel.variables.size(), false);
  for (const Variable& variable : kernel.variables)
    for (const Dim& dim : variable.type.shape)
      if (!dim.is_constant()) in_shapes[dim.variable] = true;
}

}  // namespace trilith::codegen::xsimd
