// Which roots share a loop nest. Greedy, in program order: a root joins the nest before it when it walks the
// same axes and needs nothing that only exists once that nest has ended; else it opens a new one.
#include "codegen/passes/fuse.hpp"

#include "codegen/error.hpp"

#include <algorithm>
#include <optional>

namespace trilith::codegen::fuse {

int axis_of(const std::vector<Dim>& shape, const Nest& nest, int axis) {
  const int last = static_cast<int>(shape.size()) - nest.trailing - 1;
  int index = last;
  if (axis == -2) index = last - 1;
  if (axis >= 0) index = last - (nest.column ? 1 : 0) - (static_cast<int>(nest.outer.size()) - axis);
  return index >= 0 ? index : -1;
}

bool varies_in_row(const std::vector<Dim>& shape, const Nest& nest) {
  if (nest.column && nest.inner.is(1)) return true;  // one column: still a vector of accumulators
  const int axis = axis_of(shape, nest, -1);
  return axis >= 0 && !shape[axis].is(1);
}

namespace {

bool is_one(const std::vector<Dim>& shape, int axis) { return axis < 0 || shape[axis].is(1); }

/// The same loops, whatever the number of leading axes of extent 1.
bool same_axes(std::vector<Dim> a, std::vector<Dim> b) {
  const auto trim = [](std::vector<Dim>& axes) {
    axes.erase(axes.begin(), std::ranges::find_if(axes, [](const Dim& dim) { return !dim.is(1); }));
  };
  trim(a);
  trim(b);
  return a == b;
}

/// The value has an element of its own at every turn of the nest's loops (but for the last axis).
bool covers(const std::vector<Dim>& shape, const Nest& nest) {
  for (int axis = 0; axis < static_cast<int>(nest.outer.size()); ++axis)
    if (!nest.outer[axis].is(1) && is_one(shape, axis_of(shape, nest, axis))) return false;
  return true;
}

class Placer {
 public:
  explicit Placer(Plan& plan) : plan_(plan) {}

  void place(const Root& root) {
    for (int turn = 0;; ++turn) {
      if (turn > 1000) throw pl::InternalError("emitter: the fusion of a run does not end");
      if (try_join(root)) return;
      Walk walk = start(root, static_cast<int>(plan_.nests.size()));
      visit_root(root, walk);
      if (walk.forced.empty()) {
        walk.nest.computed.assign(plan_.values.size(), false);
        plan_.nests.push_back(walk.nest);
        commit(root, walk);
        return;
      }
      // One, then the walk anew: what it needs itself may be another of the list and must not come twice.
      place_forced(walk.forced.front());
    }
  }

 private:
  struct Walk {
    Nest nest;
    int number = 0;
    bool epilogue = false;         ///< joins the end of a column nest
    bool reaches_columns = false;  ///< epilogue: uses one of that nest's reductions
    std::vector<ValueId> visited;
    std::vector<ValueId> keep;    ///< computed by an earlier nest and too dear to compute again
    std::vector<ValueId> forced;  ///< must be computed by a nest in front of this one
  };

  void place_forced(ValueId value) {
    const Value& of = plan_.values[value];
    const RootKind kind = of.kind == ValueKind::ColReduce ? RootKind::Reduce : RootKind::Keep;
    place({kind, value, of.statement, of.order, true});
  }

  Walk start(const Root& root, int number) {
    Walk walk;
    walk.number = number;
    walk.nest = nest_for(root, number);
    return walk;
  }

  /// The operand of a row reduction in the root's cone that runs along the root's own rows.
  std::optional<ValueId> find_rows(ValueId id, const std::vector<Dim>& root_shape, int number) const {
    if (is_kept_before(plan_, id, number)) return {};
    const Value& value = plan_.values[id];
    if (value.kind == ValueKind::RowReduce && fits_rows(value.shape, root_shape))
      return value.operands[0].value;
    if (value.kind != ValueKind::Compute && value.kind != ValueKind::RowReduce) return {};
    for (const Operand& operand : value.operands)
      if (operand.value >= 0)
        if (const auto found = find_rows(operand.value, root_shape, number)) return found;
    return {};
  }

  static bool fits_rows(const std::vector<Dim>& reduced, const std::vector<Dim>& root) {
    const std::size_t rank = std::max(reduced.size(), root.size());
    const auto at = [rank](const std::vector<Dim>& shape, std::size_t axis) {
      const std::size_t missing = rank - shape.size();
      return axis < missing ? Dim{1, no_variable} : shape[axis - missing];
    };
    for (std::size_t axis = 0; axis + 1 < rank; ++axis)
      if (!(at(reduced, axis) == at(root, axis))) return false;
    return true;
  }

  Nest nest_for(const Root& root, int number) const {
    const Value& value = plan_.values[root.value];
    Nest nest;
    if (root.kind == RootKind::Reduce) {
      const std::vector<Dim>& shape = plan_.values[value.operands[0].value].shape;
      if (shape.size() < 2) throw pl::InternalError("emitter: a column reduction of a tile of rank below 2");
      nest.column = true;
      nest.outer.assign(shape.begin(), shape.end() - 2);
      nest.rows = shape[shape.size() - 2];
      nest.inner = shape.back();
      return nest;
    }
    std::vector<Dim> shape = value.shape;
    if (const auto rows = find_rows(root.value, shape, number)) {
      const Dim last = shape.back();
      const std::vector<Dim>& reduced = plan_.values[*rows].shape;
      if (last.is(1) || last == reduced.back()) {
        nest.inner = reduced.back();
        shape.pop_back();
        nest.outer = std::move(shape);
        return nest;
      }
    }
    while (!shape.empty() && shape.back().is(1)) {
      shape.pop_back();
      ++nest.trailing;
    }
    if (!shape.empty()) {
      nest.inner = shape.back();
      shape.pop_back();
      nest.outer = std::move(shape);
    }
    return nest;
  }

  bool try_join(const Root& root) {
    if (plan_.nests.empty()) return false;
    const int number = static_cast<int>(plan_.nests.size()) - 1;
    const Nest& last = plan_.nests.back();
    Walk walk = start(root, number);
    if (last.column && !walk.nest.column) {
      if (!is_column_end(plan_.values[root.value].shape, last)) return false;
      walk.epilogue = true;
    } else if (last.column != walk.nest.column || last.trailing != walk.nest.trailing ||
               !(last.inner == walk.nest.inner) || !(last.rows == walk.nest.rows) ||
               !same_axes(last.outer, walk.nest.outer)) {
      return false;
    }
    walk.nest = last;
    visit_root(root, walk);
    if (!walk.forced.empty() || (walk.epilogue && !walk.reaches_columns)) return false;
    commit(root, walk);
    return true;
  }

  static bool is_column_end(const std::vector<Dim>& shape, const Nest& nest) {
    if (shape.empty() || !(shape.back() == nest.inner)) return false;
    if (shape.size() >= 2 && !shape[shape.size() - 2].is(1)) return false;
    const std::vector<Dim> outer(shape.begin(), shape.end() - std::min<std::ptrdiff_t>(2, std::ssize(shape)));
    return same_axes(outer, nest.outer);
  }

  void visit_root(const Root& root, Walk& walk) {
    std::vector<bool> seen(plan_.values.size());
    if (root.kind == RootKind::Reduce) {
      walk.visited.push_back(root.value);
      visit(plan_.values[root.value].operands[0].value, walk, seen);
    } else {
      visit(root.value, walk, seen);
    }
  }

  void visit(ValueId id, Walk& walk, std::vector<bool>& seen) {
    if (seen[id]) return;
    seen[id] = true;
    const Value& value = plan_.values[id];
    if (is_kept_before(plan_, id, walk.number)) return;
    if (is_leaf(value)) {
      walk.visited.push_back(id);
      return;
    }
    if (is_expensive(value)) {
      if (const int earlier = first_nest_of(id, walk.number); earlier >= 0) {
        walk.keep.push_back(id);
        return;
      }
    }
    if (value.kind == ValueKind::ColReduce) {
      if (walk.epilogue && walk.nest.computed[id]) {
        walk.reaches_columns = true;
        walk.visited.push_back(id);
      } else {
        walk.forced.push_back(id);
      }
      return;
    }
    if (value.kind == ValueKind::RowReduce) {
      const bool in_rows = !walk.nest.column && walk.nest.trailing == 0 && covers_exactly(value, walk.nest) &&
                           plan_.values[value.operands[0].value].shape.back() == walk.nest.inner;
      if (!in_rows) {
        walk.forced.push_back(id);
        return;
      }
    } else if (is_expensive(value) && varies_in_row(value.shape, walk.nest) && !walk.epilogue &&
               !(covers(value.shape, walk.nest) &&
                 (!walk.nest.column || walk.nest.rows.is(1) ||
                  !is_one(value.shape, axis_of(value.shape, walk.nest, -2))))) {
      walk.forced.push_back(id);
      return;
    }
    for (const Operand& operand : value.operands)
      if (operand.value >= 0) visit(operand.value, walk, seen);
    walk.visited.push_back(id);
  }

  static bool covers_exactly(const Value& value, const Nest& nest) {
    return covers(value.shape, nest) && same_axes({value.shape.begin(), value.shape.end() - 1}, nest.outer);
  }

  /// The first nest before `number` that computes the value and can leave it in memory.
  int first_nest_of(ValueId id, int number) const {
    const Value& value = plan_.values[id];
    for (int i = 0; i < number; ++i) {
      const Nest& nest = plan_.nests[i];
      if (!nest.computed[id]) continue;
      if (value.kind == ValueKind::RowReduce || value.kind == ValueKind::ColReduce) return i;
      if (!covers(value.shape, nest)) continue;
      if (nest.column &&
          (is_one(value.shape, axis_of(value.shape, nest, -2)) || !varies_in_row(value.shape, nest)))
        continue;
      return i;
    }
    return -1;
  }

  void commit(const Root& root, const Walk& walk) {
    for (const ValueId id : walk.keep) {
      const Value& value = plan_.values[id];
      const int nest = first_nest_of(id, walk.number);
      plan_.nests[nest].roots.push_back({RootKind::Keep, id, value.statement, value.order, true});
      plan_.kept_in[id] = nest;
      plan_.kept_as[id] = no_variable;
    }
    Nest& nest = plan_.nests[walk.number];
    for (const ValueId id : walk.visited) nest.computed[id] = true;
    nest.roots.push_back(root);
    if (root.kind == RootKind::Keep && plan_.kept_in[root.value] < 0) {
      plan_.kept_in[root.value] = walk.number;
      plan_.kept_as[root.value] = root.temporary ? no_variable : root.statement->variable;
    }
  }

  Plan& plan_;
};

}  // namespace

void place_roots(Plan& plan, const std::vector<Root>& roots) {
  Placer placer(plan);
  for (const Root& root : roots) placer.place(root);
}

}  // namespace trilith::codegen::fuse
