// Loops. Part of the walk of resolve.hpp.
#include "codegen/message.hpp"
#include "codegen/passes/describe.hpp"
#include "codegen/passes/fold.hpp"
#include "codegen/passes/resolver.hpp"

#include <algorithm>
#include <utility>

namespace trilith::codegen::passes {
namespace {

/// More rounds than this make code that no compiler likes; the user meant another loop.
constexpr std::int64_t most_unrolled_rounds = 4096;

/// Rounds of a counted loop with constant bounds, without overflow.
std::uint64_t trip_count(std::int64_t begin, std::int64_t end, std::int64_t step) {
  if (step > 0 ? begin >= end : begin <= end) return 0;
  const auto from = static_cast<std::uint64_t>(begin);
  const auto to = static_cast<std::uint64_t>(end);
  const std::uint64_t distance = step > 0 ? to - from : from - to;
  const std::uint64_t stride =
      step > 0 ? static_cast<std::uint64_t>(step) : std::uint64_t{0} - static_cast<std::uint64_t>(step);
  return (distance - 1) / stride + 1;
}

}  // namespace

void Resolver::for_(const Statement& s) {
  Expr begin = integer(s.begin);
  Expr end = integer(s.end);
  Expr step = integer(s.step);
  if (step.is_constant() && step.value.as_int64() == 0)
    throw pl::UserError(message::zero_step, at(s.location));
  const bool constant = begin.is_constant() && end.is_constant() && step.is_constant();
  if (constant && trip_count(begin.value.as_int64(), end.value.as_int64(), step.value.as_int64()) == 0)
    return;
  if (s.loop == LoopKind::Unroll) {
    if (!constant) {
      const Expr& unknown = !begin.is_constant() ? s.begin : !end.is_constant() ? s.end : s.step;
      throw pl::ShapeError(
          "pl::unroll needs constant bounds, and this one is known only when the kernel runs; use pl::range, "
          "or make the value a pl::Const parameter",
          at(unknown.location.line != 0 ? unknown.location : s.location));
    }
    return unroll(s, begin.value.as_int64(), end.value.as_int64(), step.value.as_int64());
  }
  if (constant_extents_ && constant) {
    const std::int64_t first = begin.value.as_int64(), last = end.value.as_int64(),
                       by = step.value.as_int64();
    // Bounds of tensors are far from overflow; where they are not, the loop stays one.
    std::int64_t distance = 0;
    if (by > 1 && !__builtin_sub_overflow(last, first, &distance) && distance % by != 0)
      return split(s, first, last, by);
  }
  counted(s, begin, end, step);
}

/// `break_block`: what a `break` leaves, where it is more than this loop.
void Resolver::counted(const Statement& s, const Expr& begin, const Expr& end, const Expr& step,
                       BlockFrame* break_block) {
  const bool constant = begin.is_constant() && end.is_constant() && step.is_constant();
  loop(s, [&](LoopFrame& frame) {
    frame.break_block = break_block;
    Statement result;
    result.kind = StatementKind::For;
    result.location = s.location;
    result.begin = begin;
    result.end = end;
    result.step = step;
    result.loop = s.loop;
    result.stages = s.stages;
    open(result.body);
    const Variable& counter = captured_.variables[static_cast<std::size_t>(s.variable)];
    result.variable = new_variable(counter.name, Type::scalar(DType::Int64), counter.location);
    if (constant) {
      const std::int64_t first = begin.value.as_int64(), by = step.value.as_int64();
      const auto rounds = trip_count(first, end.value.as_int64(), by);
      // Rounds times step stay between the bounds, so the last value does not overflow.
      const auto last = static_cast<std::int64_t>(static_cast<std::uint64_t>(first) +
                                                  (rounds - 1) * static_cast<std::uint64_t>(by));
      counters_[result.variable] = {std::min(first, last), std::max(first, last)};
    }
    Binding binding;
    binding.type = Type::scalar(counter.type.dtype);
    binding.parts.push_back(converted(use(result.variable, s.location), counter.type.dtype));
    binding.location = s.location;
    bound_to(s.variable) = std::move(binding);
    conditional_ += constant ? 0 : 1;
    statements(s.body);
    conditional_ -= constant ? 0 : 1;
    if (environment_.reachable)
      for (Statement& copy : back_edge(frame, s.location)) emit(std::move(copy));
    close();
    environment_.reachable = true;  // behind the loop: its head always lets go
    return result;
  });
}

void Resolver::while_(const Statement& s) {
  loop(s, [&](LoopFrame& frame) {
    Statement result;
    result.kind = StatementKind::While;
    result.location = s.location;
    open(result.body);
    Expr condition = this->condition(s.value);
    const bool endless = condition.is_constant() && condition.value.bits != 0;
    if (condition.is_constant() && !endless) {  // never entered
      close();
      result.body.clear();
      result.value = std::move(condition);
      return result;
    }
    if (!result.body.empty() && !endless) {
      // The condition needs statements of its own: they run in every round, so they stand in the body.
      Statement exit;
      exit.kind = StatementKind::If;
      exit.location = s.location;
      exit.value = scalar_operation(Op::LogicalNot, DType::Bool, {std::move(condition)}, s.location);
      exit.body.emplace_back();
      exit.body.back().kind = StatementKind::Break;
      exit.body.back().location = s.location;
      emit(std::move(exit));
      condition = constant_expression(Constant::of(true), s.location);
    }
    result.value = std::move(condition);
    conditional_ += endless ? 0 : 1;
    while_body(s, frame);
    conditional_ -= endless ? 0 : 1;
    if (environment_.reachable)
      for (Statement& copy : back_edge(frame, s.location)) emit(std::move(copy));
    close();
    environment_.reachable = !endless || frame.has_break;
    return result;
  });
}

/// Body and step; `continue` runs the step, so it leaves a block around the body.
void Resolver::while_body(const Statement& s, LoopFrame& frame) {
  if (s.step_body.empty()) return statements(s.body);
  BlockFrame around;
  around.joined = assigned_and(s.body, liveness_.at_step.at(&s));
  frame.continue_block = &around;
  walk_block(around, s.location, [&] { statements(s.body); });
  frame.continue_block = nullptr;
  statements(s.step_body);
}

/// Walks a loop: storage for what it carries, the body, and again if a view turned out to vary.
void Resolver::loop(const Statement& s, const std::function<Statement(LoopFrame&)>& body) {
  const Environment before = environment_;
  VariableSet carried(captured_.variables.size(), false);
  add_assigned(s.step_body, carried);
  carried = assigned_and(s.body, liveness_.at_head.at(&s), std::move(carried));
  Varying varying;
  std::vector<std::size_t> known_exits;
  for (const BlockFrame* block : blocks_) known_exits.push_back(block->exits.size());
  for (;;) {
    LoopFrame frame;
    frame.carried = carried;
    frame.depth = depth();
    frame.varying = varying;
    make_heads(frame, s.location);
    loops_.push_back(&frame);
    Statement result = body(frame);
    loops_.pop_back();
    if (frame.again) {
      varying = frame.varying;
      environment_ = before;
      for (std::size_t i = 0; i < blocks_.size(); ++i) blocks_[i]->exits.resize(known_exits[i]);
      continue;
    }
    for (Statement& first_value : frame.prelude) emit(std::move(first_value));
    if (!result.value.is_constant() || result.value.value.bits != 0 || result.kind == StatementKind::For)
      emit(std::move(result));
    const bool reachable = environment_.reachable;
    environment_ = before;
    environment_.reachable = reachable;
    for (std::size_t v = 0; v < carried.size(); ++v)
      if (carried[v]) {
        environment_.bindings[v] = std::move(frame.heads[v]);
        if (environment_.bindings[v].has_value())
          for (const Expr& part : environment_.bindings[v]->parts)
            if (part.op == Op::Variable && storage_[static_cast<std::size_t>(part.variable)])
              depths_[static_cast<std::size_t>(part.variable)] =
                  std::min(depths_[static_cast<std::size_t>(part.variable)], depth());
      }
    return;
  }
}

/// Gives carried variables their storage and first value. Views are taken to stay the same until a round
/// proves otherwise.
void Resolver::make_heads(LoopFrame& frame, const SourceLocation& location) {
  frame.heads.resize(frame.carried.size());
  for (std::size_t v = 0; v < frame.carried.size(); ++v) {
    if (!frame.carried[v]) continue;
    std::optional<Binding>& binding = environment_.bindings[v];
    const Variable& variable = captured_.variables[v];
    if (!binding.has_value() && variable.type.is_scalar()) {
      binding.emplace();
      binding->type = variable.type;
      binding->location = variable.location;
      binding->parts.push_back(default_value(variable.type, variable.location));
    }
    if (!binding.has_value()) continue;
    for (std::size_t i = 0; i < binding->parts.size(); ++i) {
      if (binding->is_view() && frame.varying.count({v, i}) == 0) continue;
      Expr& part = binding->parts[i];
      const VariableId id = new_variable(variable.name, part.type, binding->location);
      storage_[static_cast<std::size_t>(id)] = true;
      emit(assignment(id, std::move(part), location));
      // What is computed from the storage holds for one round only.
      ++depths_[static_cast<std::size_t>(id)];
      part = use(id, location);
    }
    frame.heads[v] = binding;
  }
}

/// The storage of a tile that has no value when the loop is entered; found when the first round gives one.
std::optional<Binding> Resolver::late_head(LoopFrame& frame, VariableId variable, const Binding& current) {
  if (current.is_view()) return std::nullopt;
  const std::string name = name_of_variable(variable);
  if (!visible(current.type, frame.depth))
    throw pl::ShapeError("the tile `" + name + "` has shape " + shape_text(out_, current.type.shape) +
                             ", which is computed inside the loop, and is carried out of it; give it a value "
                             "before the loop",
                         at(current.location));
  Binding head = current;
  const VariableId id = new_variable(name, current.type, current.location);
  storage_[static_cast<std::size_t>(id)] = true;
  depths_[static_cast<std::size_t>(id)] = frame.depth + 1;
  frame.prelude.push_back(assignment(id, default_value(current.type, current.location), current.location));
  head.parts = {use(id, current.location)};
  return head;
}

/// What a jump to the loop's head, or out of the loop, must assign.
std::vector<Statement> Resolver::back_edge(LoopFrame& frame, const SourceLocation& location) {
  Copies copies;
  for (std::size_t v = 0; v < frame.carried.size(); ++v) {
    const std::optional<Binding>& current = environment_.bindings[v];
    std::optional<Binding>& head = frame.heads[v];
    if (!frame.carried[v] || !current.has_value()) continue;
    if (!head.has_value()) head = late_head(frame, static_cast<VariableId>(v), *current);
    if (!head.has_value()) continue;
    check_compatible(static_cast<VariableId>(v), *head, *current);
    for (std::size_t part = 0; part < head->parts.size(); ++part) {
      if (same_value(head->parts[part], current->parts[part])) continue;
      if (head->is_view() && frame.varying.insert({v, part}).second) {
        frame.again = true;
        continue;
      }
      copies.push_back({head->parts[part].variable, current->parts[part]});
    }
  }
  return in_sequence(std::move(copies), location);
}

void Resolver::break_(const SourceLocation& location) {
  LoopFrame& frame = *loops_.back();
  if (frame.break_block != nullptr) return leave_block(*frame.break_block, location);
  frame.has_break = true;
  for (Statement& copy : back_edge(frame, location)) emit(std::move(copy));
  Statement jump;
  jump.kind = StatementKind::Break;
  jump.location = location;
  emit(std::move(jump));
  environment_.reachable = false;
}

void Resolver::continue_(const SourceLocation& location) {
  LoopFrame& frame = *loops_.back();
  if (frame.continue_block != nullptr) return leave_block(*frame.continue_block, location);
  for (Statement& copy : back_edge(frame, location)) emit(std::move(copy));
  Statement jump;
  jump.kind = StatementKind::Continue;
  jump.location = location;
  emit(std::move(jump));
  environment_.reachable = false;
}

/// Writes the rounds out. `break` leaves a block around all of them, `continue` one around its round.
void Resolver::unroll(const Statement& s, std::int64_t begin, std::int64_t end, std::int64_t step) {
  const std::uint64_t rounds = trip_count(begin, end, step);
  if (rounds > static_cast<std::uint64_t>(most_unrolled_rounds))
    throw pl::ShapeError("pl::unroll would write out " + std::to_string(rounds) + " rounds, more than " +
                             std::to_string(most_unrolled_rounds) + "; use pl::range",
                         at(s.location));
  LoopFrame frame;
  BlockFrame around;
  around.joined = assigned_and(s.body, liveness_.after.at(&s));
  frame.break_block = &around;
  loops_.push_back(&frame);
  walk_block(around, s.location, [&] {
    std::int64_t value = begin;
    for (std::uint64_t number = 0; number < rounds && environment_.reachable; ++number) {
      round(s, frame, value);
      if (number + 1 < rounds) value += step;
    }
  });
  loops_.pop_back();
}

/// One round of a loop, written out.
void Resolver::round(const Statement& s, LoopFrame& frame, std::int64_t value) {
  const DType dtype = captured_.variables[static_cast<std::size_t>(s.variable)].type.dtype;
  Binding counter;
  counter.type = Type::scalar(dtype);
  counter.parts.push_back(converted(int64_constant(value, s.location), dtype));
  counter.location = s.location;
  bound_to(s.variable) = std::move(counter);
  BlockFrame one;
  one.joined = assigned_and(s.body, liveness_.at_head.at(&s));
  frame.continue_block = &one;
  walk_block(one, s.location, [&] { statements(s.body); });
}

/// The last round of a loop is shorter than its step: a loop of the others, and that one written out.
void Resolver::split(const Statement& s, std::int64_t begin, std::int64_t end, std::int64_t step) {
  const std::int64_t last = end - (end - begin) % step;
  BlockFrame around;
  around.joined = assigned_and(s.body, liveness_.after.at(&s));
  walk_block(around, s.location, [&] {
    if (last > begin)
      counted(s, int64_constant(begin, s.location), int64_constant(last, s.location),
              int64_constant(step, s.location), &around);
    if (!environment_.reachable) return;
    LoopFrame frame;
    frame.break_block = &around;
    loops_.push_back(&frame);
    round(s, frame, last);
    loops_.pop_back();
  });
}

}  // namespace trilith::codegen::passes
