// One run of tile statements: its scalars, its checks, the memory it needs, then its loop nests.
#include "codegen/error.hpp"
#include "codegen/printer.hpp"
#include "codegen/xsimd/nest.hpp"

namespace trilith::codegen::xsimd {

using fuse::Root;
using fuse::RootKind;
using fuse::ValueId;

void Context::comment(const Statement& statement) {
  std::string text;
  if (statement.kind == StatementKind::Assign) text = kernel.variables[statement.variable].name + " = ";
  text += to_text(kernel, statement.value);
  for (char& character : text)
    if (character == '\n') character = ' ';
  // A backslash at the end would make the next line part of the comment.
  while (!text.empty() && (text.back() == '\\' || text.back() == ' ')) text.pop_back();
  out.line("// " + place(statement.location) + ": " + text);
}

namespace {

/// Accesses of the top level, in the order of time, for Emitted::in_place.
void record(Context& context, const fuse::Plan& plan) {
  for (std::size_t number = 0; number < plan.nests.size(); ++number)
    for (const fuse::Stage& stage : plan.nests[number].stages) {
      ++context.time;
      for (const auto* values : {&stage.row_values, &stage.values})
        for (const ValueId id : *values)
          if (plan.values[id].kind == fuse::ValueKind::Load &&
              !fuse::is_kept_before(plan, id, static_cast<int>(number)))
            context.reads.push_back({plan.values[id].statement, context.time});
      for (const auto* roots : {&stage.row_roots, &stage.roots})
        for (const Root& root : *roots)
          if (root.kind == RootKind::Store) context.writes.push_back({root.statement, context.time});
    }
}

}  // namespace

void Context::run(std::span<const Statement> run) {
  int conflict = -1;
  const fuse::Plan plan = fuse::plan_run(kernel, uses, run, conflict);
  if (conflict == 0) throw pl::InternalError("emitter: a statement that overwrites its own operands");
  if (conflict > 0) {
    this->run(run.first(static_cast<std::size_t>(conflict)));
    statements(run.subspan(static_cast<std::size_t>(conflict)));
    return;
  }
  for (const Statement& statement : run) comment(statement);
  for (const Statement& statement : run)
    if (!fuse::is_tile_assign(kernel, statement) && !fuse::is_store(statement) &&
        !fuse::is_barrier(statement))
      scalar_assign(statement);
  for (const Statement& statement : run)
    if (fuse::is_tile_assign(kernel, statement) || fuse::is_store(statement)) {
      check(statement);
      set_view(statement);
    }

  std::map<ValueId, Buffer> temporaries;
  for (const fuse::Nest& nest : plan.nests)
    for (const Root& root : nest.roots) {
      if (root.kind != RootKind::Keep) continue;
      const fuse::Value& value = plan.values[root.value];
      if (root.temporary) {
        const auto [place, added] = temporaries.try_emplace(root.value);
        if (added) place->second = new_buffer(variables[value.variable] + "_kept", value.dtype, value.shape);
        reserve(place->second, value.statement->location);
      } else {
        reserve(buffer_of(root.statement->variable), root.statement->location);
      }
    }
  for (std::size_t number = 0; number < plan.nests.size(); ++number)
    NestEmitter(*this, plan, static_cast<int>(number), temporaries).emit();
  if (depth == 0) record(*this, plan);
}

}  // namespace trilith::codegen::xsimd
