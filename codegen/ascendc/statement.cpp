// Control flow and scalar statements. Runs of tile statements between them become loop nests.
#include "codegen/ascendc/call.hpp"
#include "codegen/ascendc/lowering.hpp"
#include "codegen/error.hpp"
#include "codegen/remote.hpp"

#include <algorithm>
#include <cmath>

namespace trilith::codegen::ascendc {
namespace {

bool leaves(std::span<const Statement> list, std::int32_t block) {
  return std::ranges::any_of(list, [&](const Statement& statement) {
    return (statement.kind == StatementKind::Leave && statement.block == block) ||
           leaves(statement.body, block) || leaves(statement.else_body, block) ||
           leaves(statement.step_body, block);
  });
}

bool has_continue(std::span<const Statement> list) {
  return std::ranges::any_of(list, [](const Statement& statement) {
    if (statement.kind == StatementKind::Continue) return true;
    if (statement.kind == StatementKind::For || statement.kind == StatementKind::While) return false;
    return has_continue(statement.body) || has_continue(statement.else_body);
  });
}

}  // namespace

/// Scalars live in front of everything: jumps may not pass a declaration with a value.
void Context::declare(VariableId variable) {
  if (declared[variable]) return;
  declared[variable] = true;
  const DType dtype = kernel.variables[variable].type.dtype;
  declarations.push_back(type_name(scalar_type(dtype)) + " " + variables[variable] +
                         (dtype == DType::Bool ? " = false;" : " = 0;"));
}

void Context::scalar_assign(const Statement& statement) {
  const VariableId variable = statement.variable;
  location = statement.location;
  if (kernel.variables[variable].type.dtype == DType::Float64)
    refuse(operation(statement.value.op).name, DType::Float64, "the device has no double; use float",
           location);
  const std::string value = scalar(statement.value);
  remember_range(variable, range_of(statement.value));
  if (!declared[variable] && depth == 0 && uses.writes[variable] == 1 &&
      kernel.variables[variable].kind == VariableKind::Local && !has_jumps) {
    declared[variable] = true;
    line(Pipe::None, "const " + type_name(scalar_type(kernel.variables[variable].type.dtype)) + " " +
                         variables[variable] + " = " + value + ";");
    return;
  }
  declare(variable);
  line(Pipe::None, variables[variable] + " = " + value + ";");
}

void Context::statements(std::span<const Statement> list) {
  for (std::size_t i = 0; i < list.size();) {
    if (is_operand_region(list, i) || is_result_region(list, i)) {
      const bool stored = !is_operand_region(list, i);
      const Statement& access = list[stored ? i + 1 : i];
      comment(access);
      check_region(access);
      regions[list[i].variable] = region_view(access);
      if (stored) statement(list[i]);
      i += stored ? 2 : 1;
      continue;
    }
    std::size_t length = fuse::run_length(kernel, list.subspan(i));
    for (std::size_t next = 1; next < length; ++next)
      if (is_operand_region(list, i + next)) length = next;
    length = std::min(length, std::max<std::size_t>(length_without_meeting(list.subspan(i, length)), 1));
    const auto run_statements = list.subspan(i, length);
    const bool tiles = std::ranges::any_of(run_statements, [&](const Statement& statement) {
      return fuse::is_tile_assign(kernel, statement) || fuse::is_store(statement);
    });
    if (tiles) {
      run(run_statements);
      i += length;
      continue;
    }
    statement(list[i]);
    ++i;
  }
}

void Context::run(std::span<const Statement> run) {
  int conflict = -1;
  const fuse::Plan plan = fuse::plan_run(kernel, uses, run, conflict);
  if (conflict == 0) throw pl::InternalError("AscendC emitter: a statement that overwrites its own operands");
  if (conflict > 0) {
    this->run(run.first(static_cast<std::size_t>(conflict)));
    statements(run.subspan(static_cast<std::size_t>(conflict)));
    return;
  }
  for (const Statement& statement : run)
    if (!fuse::is_tile_assign(kernel, statement) && !fuse::is_store(statement) &&
        !fuse::is_barrier(statement)) {
      comment(statement);
      scalar_assign(statement);
    }
  for (const Statement& statement : run)
    if (statement.value.op == Op::Load || statement.value.op == Op::Store)
      check_region(statement);
    else
      check_shapes(statement);
  std::map<fuse::ValueId, Home> temporaries;
  for (const fuse::Nest& nest : plan.nests)
    for (const fuse::Root& root : nest.roots) {
      if (root.kind == fuse::RootKind::Store || !root.temporary) continue;
      const fuse::Value& value = plan.values[root.value];
      location = value.statement->location;
      if (!temporaries.contains(root.value) && (root.kind == fuse::RootKind::Keep))
        temporaries.emplace(root.value, new_home(names.fresh(variables[value.variable] + "_kept"),
                                                 value.dtype, extents(value.shape, location)));
    }
  for (int number = 0; number < static_cast<int>(plan.nests.size()); ++number)
    Nest(*this, plan, number, temporaries).emit();
}

void Context::nested(std::span<const Statement> list) {
  ++depth;
  statements(list);
  --depth;
}

void Context::statement(const Statement& statement) {
  location = statement.location;
  switch (statement.kind) {
    case StatementKind::Assign:
      if (is_tile_call(statement.value.op)) return tile_call(statement);
      if (is_remote(statement.value.op)) return remote(statement);
      comment(statement);
      if (statement.value.op == Op::Read) return read(statement);
      return scalar_assign(statement);
    case StatementKind::Evaluate:
      if (fuse::is_barrier(statement)) {
        comment(statement);
        line(Pipe::None, statement.value.op == Op::BarrierAll ? "AscendC::PipeBarrier<PIPE_ALL>();"
                                                              : "AscendC::PipeBarrier<PIPE_V>();");
        return;
      }
      if (statement.value.op == Op::Check) {
        const std::string position = index(statement.value.operands[0]),
                          size = index(statement.value.operands[1]);
        return fault_if(position + " < 0 || " + position + " >= " + size, fault_index, statement.location,
                        "index", position, size);
      }
      if (is_remote(statement.value.op)) return remote(statement);
      if (statement.value.op == Op::Print) return print(statement);
      refuse(operation(statement.value.op).name,
             statement.value.operands.empty() ? DType::Int32 : statement.value.operands[0].type.dtype,
             refusal(statement.value.op, DType::Int32), statement.location);
    case StatementKind::If:
      note(place_text(statement.location));
      open("if (" + scalar(statement.value) + ") {", false);
      nested(statement.body);
      if (!statement.else_body.empty()) {
        otherwise();
        nested(statement.else_body);
      }
      return close();
    case StatementKind::For: return for_loop(statement);
    case StatementKind::While: return while_loop(statement);
    case StatementKind::Block:
      // A loop of one turn, so that what surrounds the block is not skipped; the label stands behind it.
      nested(statement.body);
      if (leaves(statement.body, statement.block))
        line(Pipe::None, label("end_block", statement.block) + ":;");
      return;
    case StatementKind::Leave:
      return jump(statement.block == 0 ? "return;" : "goto " + label("end_block", statement.block) + ";");
    case StatementKind::Break: return jump("break;");
    case StatementKind::Continue:
      return jump(continue_labels.empty() || continue_labels.back().empty()
                      ? "continue;"
                      : "goto " + continue_labels.back() + ";");
  }
}

void Context::jump(const std::string& text) {
  program.nodes.push_back({.kind = Node::Kind::Code, .text = text, .leaves = true, .location = location});
}

std::string Context::label(const std::string& hint, std::int32_t number) {
  const auto found = labels.find(number);
  if (found != labels.end()) return found->second;
  return labels.emplace(number, names.fresh(hint + "_" + std::to_string(number))).first->second;
}

void Context::for_loop(const Statement& statement) {
  const VariableId variable = statement.variable;
  const std::string name = variables[variable];
  note(place_text(statement.location));
  std::string limit = index(statement.end), step = index(statement.step);
  const auto constant = [&](const std::string& hint, const std::string& value) {
    const std::string fresh = names.fresh(name + hint);
    declarations.push_back("int64_t " + fresh + " = 0;");
    line(Pipe::None, fresh + " = " + value + ";");
    return fresh;
  };
  if (!statement.end.is_constant()) limit = constant("_end", limit);
  if (!statement.step.is_constant()) {
    step = constant("_step", step);
    fault_if(step + " == 0", fault_step, statement.location, "step", step, "1");
  }
  std::string condition = "(" + step + " > 0 ? " + name + " < " + limit + " : " + name + " > " + limit + ")";
  if (statement.step.is_constant())
    condition = name + (statement.step.value.as_int64() > 0 ? " < " : " > ") + limit;
  declare(variable);
  open("for (" + name + " = " + index(statement.begin) + "; " + condition + "; " + name + " += " + step +
       ") {");
  program.nodes.back().loop = &statement;
  if (statement.begin.is_constant() && statement.end.is_constant() && statement.step.is_constant()) {
    const double length = static_cast<double>(statement.end.value.as_int64()) -
                          static_cast<double>(statement.begin.value.as_int64());
    const double count =
        std::max(0.0, std::ceil(length / static_cast<double>(statement.step.value.as_int64())));
    turns(count);
    const std::int64_t first = statement.begin.value.as_int64();
    const std::int64_t last =
        first + (static_cast<std::int64_t>(count) - 1) * statement.step.value.as_int64();
    if (count >= 1 && count < 1e9)
      remember_range(variable, Range{std::min(first, last), std::max(first, last)});
  } else if (statement.step.is_constant() && statement.step.value.as_int64() > 0) {
    const std::int64_t last = range_of(statement.end).last;
    remember_range(variable, {range_of(statement.begin).first, last == Range::none ? last : last - 1});
  }
  continue_labels.emplace_back();
  nested(statement.body);
  continue_labels.pop_back();
  close();
}

void Context::while_loop(const Statement& statement) {
  note(place_text(statement.location));
  open("while (true) {");
  program.nodes.back().loop = &statement;
  const std::string condition = scalar(statement.value);
  open("if (!(" + condition + ")) {", false);
  jump("break;");
  close();
  const bool labelled = !statement.step_body.empty() && has_continue(statement.body);
  continue_labels.push_back(labelled ? names.fresh("next_turn") : std::string());
  nested(statement.body);
  if (labelled) line(Pipe::None, continue_labels.back() + ":;");
  continue_labels.pop_back();
  nested(statement.step_body);
  close();
}

/// One element of a tile that is kept in the unified buffer.
void Context::read(const Statement& statement) {
  const Expr& value = statement.value;
  const Type& type = value.operands[0].type;
  if (const std::string reason = refusal(Op::Read, type.dtype); !reason.empty())
    refuse("read", type.dtype, reason, statement.location);
  const VariableId from = value.operands[0].variable;
  const bool is_region = regions.contains(from);
  const Home home = is_region ? Home{} : home_of(from);
  const View view =
      is_region ? regions.at(from) : View{home.object, home.dtype, {}, home.extents, strides_of(home)};
  Address at = view.at;
  for (std::size_t axis = 0; axis < view.extents.size(); ++axis) {
    const Expr& offset = value.operands[1].operands[axis];
    const std::string position = index(offset), size = view.extents[axis].text();
    const Range range = range_of(offset);
    if (!view.extents[axis].is_constant() || range.first < 0 || range.last >= view.extents[axis].most)
      fault_if(position + " < 0 || " + position + " >= " + size, fault_index, statement.location, "read",
               position, size);
    at.add(view.strides[axis].times(offset.is_constant() ? offset.value.as_int64() : 1),
           offset.is_constant() ? "1" : position);
  }
  const VariableId variable = statement.variable;
  declare(variable);
  const DType dtype = kernel.variables[variable].type.dtype;
  if (home.in_workspace) {
    // The scalar pipe's cache may hold the line from before.
    const std::string of = type_name(stored_as(home.dtype));
    line(Pipe::Scalar,
         "AscendC::DataCacheCleanAndInvalid<" + of +
             ", AscendC::CacheLine::SINGLE_CACHE_LINE, AscendC::DcciDst::CACHELINE_OUT>(" +
             at.of(name(home.object)) + ");",
         {{home.object, false}});
  }
  const std::string element = name(view.object) + ".GetValue(" + at.text() + ")";
  std::string text = "static_cast<" + type_name(scalar_type(dtype)) + ">(" + element + ")";
  if (dtype == DType::Bool)
    text = is_region ? element + " != 0" : "static_cast<float>(" + element + ") != 0.0f";
  line(Pipe::Scalar, variables[variable] + " = " + text + ";", {{view.object, false}});
  takes({{Work::Unit::Scalar, 1}});
}

}  // namespace trilith::codegen::ascendc
