// Statements but loops. Part of the walk of resolve.hpp.
#include "codegen/message.hpp"
#include "codegen/passes/describe.hpp"
#include "codegen/passes/fold.hpp"
#include "codegen/passes/literal.hpp"
#include "codegen/passes/resolver.hpp"

#include <utility>

namespace trilith::codegen::passes {
namespace {

/// Puts the copies of each exit in front of its Leave. Exits are known by `Statement::stages` of the Leave,
/// which means nothing otherwise.
void fill_exits(std::vector<Statement>& list, std::int32_t block,
                std::vector<std::vector<Statement>>& copies) {
  std::vector<Statement> result;
  for (Statement& s : list) {
    fill_exits(s.body, block, copies);
    fill_exits(s.else_body, block, copies);
    if (s.kind == StatementKind::Leave && s.block == block) {
      for (Statement& copy : copies[static_cast<std::size_t>(s.stages)]) result.push_back(std::move(copy));
      s.stages = 1;
    }
    result.push_back(std::move(s));
  }
  list = std::move(result);
}

}  // namespace

void Resolver::statements(const std::vector<Statement>& list) {
  for (const Statement& s : list) {
    if (!environment_.reachable) return;
    statement(s);
  }
}

void Resolver::statement(const Statement& s) {
  switch (s.kind) {
    case StatementKind::Assign: return assign(s);
    case StatementKind::Evaluate: return evaluate_statement(s);
    case StatementKind::If: return if_(s);
    case StatementKind::For: return for_(s);
    case StatementKind::While: return while_(s);
    case StatementKind::Block: return block(s);
    case StatementKind::Leave: return leave(s);
    case StatementKind::Break: return break_(s.location);
    case StatementKind::Continue: return continue_(s.location);
  }
}

void Resolver::assign(const Statement& s) {
  const Variable variable = captured_.variables[static_cast<std::size_t>(s.variable)];
  Binding binding;
  if (is_view(s.value)) {
    binding = view(s.value);
    check_annotation(variable.type, binding.type, s.location);
    binding.location = s.location;
    bound_to(s.variable) = std::move(binding);
    return;
  }
  Expr value = evaluate(s.value, variable.name);
  if (value.type.is_scalar() && variable.type.is_scalar())
    value = converted(std::move(value), variable.type.dtype);
  if (value.op != Op::Variable && !value.is_constant()) {
    const VariableId id = new_variable(variable.name, value.type, s.location);
    if (constant_extents_)
      if (const auto range = range_of(value)) counters_[id] = *range;
    emit(assignment(id, std::move(value), s.location));
    value = use(id, s.location);
  }
  value.literal = false;
  binding.type = value.type;
  binding.parts.push_back(std::move(value));
  binding.location = s.location;
  bound_to(s.variable) = std::move(binding);
}

/// A local tensor whose type names its shape or dtype takes only views that fit.
void Resolver::check_annotation(const Type& annotation, const Type& given,
                                const SourceLocation& location) const {
  if (!annotation.any_dtype && annotation.dtype != given.dtype)
    throw pl::DtypeError(message::annotated_dtype(type_text(out_, given), name_of(annotation.dtype)),
                         at(location));
  if (annotation.any_shape) return;
  bool fits = annotation.shape.size() == given.shape.size();
  for (std::size_t axis = 0; fits && axis < given.shape.size(); ++axis)
    fits = !annotation.shape[axis].is_constant() || !given.shape[axis].is_constant() ||
           annotation.shape[axis].extent == given.shape[axis].extent;
  if (!fits)
    throw pl::ShapeError(message::annotated_shape(type_text(out_, given), type_text(out_, annotation)),
                         at(location));
}

void Resolver::evaluate_statement(const Statement& s) {
  if (s.value.op == Op::Print) {
    Statement print;
    print.kind = StatementKind::Evaluate;
    print.location = s.location;
    print.value.op = Op::Print;
    print.value.location = s.value.location;
    print.value.operands.push_back(evaluate_atom(s.value.operands[0], "print"));
    emit(std::move(print));
  } else if (s.value.op == Op::Check) {
    check(s);
  } else if (operation(s.value.op).group == Group::Synchronise) {
    emit(s);
  } else if (is_remote(s.value.op)) {
    Statement remote = s;
    remote.value = this->remote(s.value, "remote");
    emit(std::move(remote));
  } else if (is_view(s.value)) {
    static_cast<void>(view(s.value));
  } else {
    static_cast<void>(evaluate_atom(s.value, "unused"));
  }
}

/// A position that is known now is checked now, unless this line may never be reached.
void Resolver::check(const Statement& s) {
  Expr position = integer(s.value.operands[0]), size = integer(s.value.operands[1]);
  if (position.is_constant() && size.is_constant()) {
    const std::int64_t at = position.value.as_int64(), count = size.value.as_int64();
    if (at >= 0 && at < count) return;
    if (certain()) throw pl::ShapeError(message::position(at, count), this->at(s.location));
  }
  Statement check;
  check.kind = StatementKind::Evaluate;
  check.location = s.location;
  check.value.op = Op::Check;
  check.value.location = s.value.location;
  check.value.operands = {std::move(position), std::move(size)};
  emit(std::move(check));
}

void Resolver::if_(const Statement& s) {
  Expr condition = this->condition(s.value);
  if (condition.is_constant()) return statements(condition.value.bits != 0 ? s.body : s.else_body);
  const Environment before = environment_;
  Environment after[2];
  std::vector<Statement> lists[2];
  Scope inner[2];
  ++conditional_;
  for (int side = 0; side < 2; ++side) {
    environment_ = before;
    open(lists[side]);
    statements(side == 0 ? s.body : s.else_body);
    inner[side] = close();
    after[side] = std::move(environment_);
  }
  --conditional_;
  Statement choice;
  choice.kind = StatementKind::If;
  choice.location = s.location;
  if (after[0].reachable != after[1].reachable) {
    // One branch jumps away: what the other does simply follows, and need not meet anything.
    may_have_left_ = true;
    const int stays = after[0].reachable ? 0 : 1;
    choice.value = stays == 1
                       ? std::move(condition)
                       : scalar_operation(Op::LogicalNot, DType::Bool, {std::move(condition)}, s.location);
    choice.body = std::move(lists[1 - stays]);
    emit(std::move(choice));
    environment_ = std::move(after[stays]);
    return splice(std::move(lists[stays]), std::move(inner[stays]));
  }
  environment_ = before;
  environment_.reachable = after[0].reachable;
  if (environment_.reachable) {
    VariableSet joined(captured_.variables.size(), false);
    add_assigned(s.else_body, joined);
    joined = assigned_and(s.body, liveness_.after.at(&s), std::move(joined));
    std::vector<Copies> copies(2);
    for (std::size_t v = 0; v < joined.size(); ++v)
      if (joined[v])
        environment_.bindings[v] =
            merge(static_cast<VariableId>(v), {&after[0].bindings, &after[1].bindings}, copies);
    for (int side = 0; side < 2; ++side)
      for (Statement& copy : in_sequence(std::move(copies[static_cast<std::size_t>(side)]), s.location))
        lists[side].push_back(std::move(copy));
  }
  choice.value = std::move(condition);
  choice.body = std::move(lists[0]);
  choice.else_body = std::move(lists[1]);
  emit(std::move(choice));
}

void Resolver::block(const Statement& s) {
  BlockFrame frame;
  frame.captured_number = s.block;
  frame.joined = assigned_and(s.body, liveness_.after.at(&s));
  walk_block(frame, s.location, [&] { statements(s.body); });
}

void Resolver::walk_block(BlockFrame& frame, const SourceLocation& location,
                          const std::function<void()>& body) {
  frame.number = ++block_count_;
  const Environment before = environment_;
  std::vector<Statement> list;
  open(list);
  blocks_.push_back(&frame);
  body();
  blocks_.pop_back();
  Scope inner = close();
  const bool ends_in_leave =
      !list.empty() && list.back().kind == StatementKind::Leave && list.back().block == frame.number;
  if (frame.exits.size() == 1 && ends_in_leave) {  // an inlined helper with one `return`, its last statement
    list.pop_back();
    frame.exits.clear();
    environment_.reachable = true;
  }
  if (frame.exits.empty()) return splice(std::move(list), std::move(inner));
  if (environment_.reachable) {
    open(list);
    leave_block(frame, location);
    close();
  }
  environment_ = before;
  std::vector<const Bindings*> exits;
  for (const Bindings& exit : frame.exits) exits.push_back(&exit);
  std::vector<Copies> copies(exits.size());
  for (std::size_t v = 0; v < frame.joined.size(); ++v)
    if (frame.joined[v]) environment_.bindings[v] = merge(static_cast<VariableId>(v), exits, copies);
  std::vector<std::vector<Statement>> assignments;
  for (Copies& copy : copies) assignments.push_back(in_sequence(std::move(copy), location));
  fill_exits(list, frame.number, assignments);
  Statement block;
  block.kind = StatementKind::Block;
  block.block = frame.number;
  block.location = location;
  block.body = std::move(list);
  emit(std::move(block));
}

void Resolver::leave(const Statement& s) {
  if (s.block != 0) {
    for (auto frame = blocks_.rbegin(); frame != blocks_.rend(); ++frame)
      if ((*frame)->captured_number == s.block) return leave_block(**frame, s.location);
    throw pl::InternalError("specialise: leave of block " + std::to_string(s.block) + " outside of it",
                            at(s.location));
  }
  Statement leave;
  leave.kind = StatementKind::Leave;
  leave.location = s.location;
  emit(std::move(leave));
  environment_.reachable = false;
}

void Resolver::leave_block(BlockFrame& frame, const SourceLocation& location) {
  Statement leave;
  leave.kind = StatementKind::Leave;
  leave.location = location;
  leave.block = frame.number;
  leave.stages = static_cast<std::int32_t>(frame.exits.size());
  emit(std::move(leave));
  frame.exits.push_back(environment_.bindings);
  environment_.reachable = false;
}

}  // namespace trilith::codegen::passes
