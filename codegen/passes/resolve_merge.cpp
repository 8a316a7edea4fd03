// Where paths meet: one storage variable for what they left in different variables. Part of the walk of
// resolve.hpp.
#include "codegen/passes/describe.hpp"
#include "codegen/passes/fold.hpp"
#include "codegen/passes/resolver.hpp"

#include <algorithm>
#include <utility>

namespace trilith::codegen::passes {
namespace {

bool mentions(const Expr& expression, VariableId variable) {
  if (expression.op == Op::Variable && expression.variable == variable) return true;
  return std::any_of(expression.operands.begin(), expression.operands.end(),
                     [&](const Expr& operand) { return mentions(operand, variable); });
}

}  // namespace

/// The binding behind a point that `exits` lead to; adds to `copies[i]` what exit i must assign.
std::optional<Binding> Resolver::merge(VariableId variable, const std::vector<const Bindings*>& exits,
                                       std::vector<Copies>& copies) {
  const auto index = static_cast<std::size_t>(variable);
  const Binding* first = nullptr;
  bool on_every_path = true;
  for (const Bindings* exit : exits) {
    const std::optional<Binding>& binding = (*exit)[index];
    if (!binding.has_value())
      on_every_path = false;
    else if (first == nullptr)
      first = &*binding;
    else
      check_compatible(variable, *first, *binding);
  }
  if (first == nullptr || (!on_every_path && first->is_view()) || !visible(first->type, depth()))
    return std::nullopt;
  Binding result = *first;
  for (std::size_t part = 0; part < result.parts.size(); ++part) {
    const bool same = on_every_path && visible(first->parts[part], depth()) &&
                      std::all_of(exits.begin(), exits.end(), [&](const Bindings* exit) {
                        return same_value((*exit)[index]->parts[part], first->parts[part]);
                      });
    if (same) continue;
    const VariableId id = new_variable(name_of_variable(variable), first->parts[part].type, first->location);
    storage_[static_cast<std::size_t>(id)] = true;
    for (std::size_t exit = 0; exit < exits.size(); ++exit) {
      const std::optional<Binding>& binding = (*exits[exit])[index];
      copies[exit].push_back(
          {id, binding.has_value() ? binding->parts[part] : default_value(first->type, first->location)});
    }
    result.parts[part] = use(id, first->location);
  }
  return result;
}

void Resolver::check_compatible(VariableId variable, const Binding& a, const Binding& b) const {
  const std::string name = "`" + name_of_variable(variable) + "`";
  if (a.is_view() || b.is_view()) {
    if (a.tensor != b.tensor || a.dropped != b.dropped || a.extents != b.extents)
      throw pl::ShapeError(
          "the tensor " + name + " means " + name_of_variable(b.tensor) + ": " + type_text(out_, b.type) +
              " here and " + name_of_variable(a.tensor) + ": " + type_text(out_, a.type) +
              " on another path (" + at(a.location).str() +
              "); carried through a branch or a loop it must stay a view of one tensor with one shape",
          at(b.location));
    return;
  }
  if (a.type.kind != b.type.kind || a.type.dtype != b.type.dtype)
    throw pl::DtypeError(name + " is " + type_text(out_, b.type) + " here and " + type_text(out_, a.type) +
                             " on another path (" + at(a.location).str() + "); convert one with pl::cast",
                         at(b.location));
  if (a.type.whole_shape() == b.type.whole_shape() && a.type.shape != b.type.shape)
    throw pl::ShapeError(
        "the tile " + name + " is valid in " + shape_text(out_, b.type.shape) + " here and in " +
            shape_text(out_, a.type.shape) + " on another path (" + at(a.location).str() +
            "); a tile carried through a branch or a loop keeps its valid shape, fill the rest with " +
            "pl::fillpad(tile, pl::Pad::zero)",
        at(b.location));
  if (a.type.whole_shape() != b.type.whole_shape())
    throw pl::ShapeError(
        "the tile " + name + " has shape " + shape_text(out_, b.type.whole_shape()) + " here and " +
            shape_text(out_, a.type.whole_shape()) + " on another path (" + at(a.location).str() +
            "); a tile carried through a branch or a loop keeps its shape, use a new variable",
        at(b.location));
}

bool Resolver::visible(const Expr& expression, std::size_t depth) const {
  return depth_of(expression) <= depth;
}

bool Resolver::visible(const Type& type, std::size_t depth) const {
  return std::all_of(type.shape.begin(), type.shape.end(), [&](const Dim& dim) {
    return dim.is_constant() || depths_[static_cast<std::size_t>(dim.variable)] <= depth;
  });
}

/// Copies that happen at once, as assignments one behind the other: none overwrites what a later one reads.
std::vector<Statement> Resolver::in_sequence(Copies copies, const SourceLocation& location) {
  std::vector<Statement> result;
  std::erase_if(copies, [](const Copy& copy) {
    return copy.source.op == Op::Variable && copy.source.variable == copy.destination;
  });
  while (!copies.empty()) {
    auto free = std::find_if(copies.begin(), copies.end(), [&](const Copy& copy) {
      return std::none_of(copies.begin(), copies.end(), [&](const Copy& other) {
        return &other != &copy && mentions(other.source, copy.destination);
      });
    });
    if (free == copies.end()) {  // a cycle, as in a swap: read one of its sources before it is overwritten
      Copy& copy = copies.front();
      const VariableId id =
          new_variable(name_of_variable(copy.destination), copy.source.type, copy.source.location);
      result.push_back(assignment(id, std::move(copy.source), location));
      copy.source = use(id, location);
      continue;
    }
    result.push_back(assignment(free->destination, std::move(free->source), location));
    copies.erase(free);
  }
  return result;
}

/// Appends a list that was written as an inner scope to the scope around it.
void Resolver::splice(std::vector<Statement> list, Scope inner) {
  const std::size_t inner_depth = depth() + 1;
  for (std::size_t id = inner.first_variable; id < depths_.size(); ++id)
    if (depths_[id] == inner_depth) depths_[id] = depth();
  scopes_.back().extents.merge(inner.extents);
  for (Statement& statement : list) emit(std::move(statement));
}

}  // namespace trilith::codegen::passes
