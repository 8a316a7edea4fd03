// Partly valid tiles: what they are made by, and operations on them as operations on their valid boxes. Part of the
// walk of resolve.hpp.
#include "codegen/message.hpp"
#include "codegen/passes/describe.hpp"
#include "codegen/passes/fold.hpp"
#include "codegen/passes/resolver.hpp"
#include "codegen/passes/shape_rule.hpp"
#include "codegen/tile_call.hpp"
#include "codegen/valid.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace trilith::codegen::passes {

bool Resolver::partly_valid(const std::vector<Expr>& operands) {
  return std::any_of(operands.begin(), operands.end(),
                     [](const Expr& operand) { return !operand.type.physical.empty(); });
}

std::string Resolver::dim_text(const Dim& dim) const {
  return dim.is_constant() ? std::to_string(dim.extent) : name_of_variable(dim.variable);
}

Dim Resolver::least(Expr a, const Dim& b, const SourceLocation& location) {
  return dimension_of(
      decided(scalar_operation(Op::Minimum, DType::Int64, {std::move(a), extent_of(b, location)}, location)));
}

/// A tile made with `whole` of which `valid` is valid.
Type Resolver::tile_type(DType dtype, std::vector<Dim> whole, std::vector<Dim> valid) {
  Type type = Type::tile(dtype, std::move(valid));
  if (type.shape != whole) type.physical = std::move(whole);
  return type;
}

/// What the kernel asks to be valid of each axis: a part of what is.
std::vector<Dim> Resolver::asked_valid(const Expr& list, const std::vector<Dim>& shape,
                                       std::string_view operation, const SourceLocation& location) {
  std::vector<Expr> asked = integers(list);
  if (asked.size() != shape.size())
    throw pl::ShapeError(message::valid_rank(operation, shape.size(), asked.size()), at(location));
  std::vector<Dim> valid;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    Expr extent = scalar_operation(Op::Maximum, DType::Int64,
                                   {std::move(asked[axis]), int64_constant(0, location)}, location);
    valid.push_back(least(std::move(extent), shape[axis], location));
  }
  return valid;
}

/// {.clamp = true}: as much of `valid` as the tensor has behind each offset. An offset behind the end becomes the end.
void Resolver::cut_to_tensor(const Binding& source, std::vector<Expr>& offsets, std::vector<Dim>& valid,
                             const SourceLocation& location) {
  for (std::size_t axis = 0; axis < std::min(offsets.size(), source.type.shape.size()); ++axis) {
    const Dim& extent = source.type.shape[axis];
    const auto last = range_of(offsets[axis]);
    if (last && extent.is_constant() && last->second <= extent.extent) {
      if (valid[axis].is_constant() && valid[axis].extent <= extent.extent - last->second) continue;
    } else if (!(offsets[axis].is_constant() && offsets[axis].value.as_int64() <= 0)) {
      offsets[axis] = decided(scalar_operation(
          Op::Minimum, DType::Int64, {std::move(offsets[axis]), extent_of(extent, location)}, location));
    }
    Expr left =
        scalar_operation(Op::Sub, DType::Int64, {extent_of(extent, location), offsets[axis]}, location);
    valid[axis] = least(std::move(left), valid[axis], location);
  }
}

/// The least and greatest value of an int64 scalar, where it is made of constants and counters of loops with constant
/// bounds.
std::optional<std::pair<std::int64_t, std::int64_t>> Resolver::range_of(const Expr& e) const {
  if (e.is_constant() && is_integer(e.value.dtype)) return std::pair(e.value.as_int64(), e.value.as_int64());
  if (e.op == Op::Variable) {
    const auto found = counters_.find(e.variable);
    if (found == counters_.end()) return std::nullopt;
    return found->second;
  }
  if (e.op == Op::Cast && is_integer(e.type.dtype) && e.type.dtype != DType::UInt64) {
    const auto inner = range_of(e.operands[0]);
    const bool kept = inner && (e.type.dtype == DType::Int64 ||
                                (inner->second <= Constant::highest(e.type.dtype).as_int64() &&
                                 inner->first >= Constant::lowest(e.type.dtype).as_int64()));
    return kept ? inner : std::nullopt;
  }
  const bool difference_too = constant_extents_ && e.op == Op::Sub;
  if ((e.op != Op::Add && e.op != Op::Mul && !difference_too) || e.type.dtype != DType::Int64)
    return std::nullopt;
  const auto a = range_of(e.operands[0]), b = range_of(e.operands[1]);
  if (e.op == Op::Sub) {
    std::pair<std::int64_t, std::int64_t> difference;
    if (!a || !b || __builtin_sub_overflow(a->first, b->second, &difference.first) ||
        __builtin_sub_overflow(a->second, b->first, &difference.second))
      return std::nullopt;
    return difference;
  }
  if (!a || !b || a->first < 0 || b->first < 0) return std::nullopt;
  std::pair<std::int64_t, std::int64_t> result;
  const bool add = e.op == Op::Add;
  if (add ? __builtin_add_overflow(a->second, b->second, &result.second)
          : __builtin_mul_overflow(a->second, b->second, &result.second))
    return std::nullopt;
  result.first = add ? a->first + b->first : a->first * b->first;
  return result;
}

/// For targets with constant extents: what is the same in all rounds of the loops around, as that.
Expr Resolver::decided(Expr e) const {
  if (!constant_extents_ || e.operands.size() != 2 || !is_integer(e.operands[0].type.dtype)) return e;
  const bool extremum = e.op == Op::Minimum || e.op == Op::Maximum;
  if (!extremum && operation(e.op).group != Group::Compare) return e;
  const auto a = range_of(e.operands[0]), b = range_of(e.operands[1]);
  if (!a || !b) return e;
  const bool less = a->second < b->first, less_or_same = a->second <= b->first;
  const bool more = a->first > b->second, more_or_same = a->first >= b->second;
  const auto chosen = [&](bool first) { return std::move(e.operands[first ? 0 : 1]); };
  const auto known = [&](bool value) { return constant_expression(Constant::of(value), e.location); };
  switch (e.op) {
    case Op::Minimum: return less_or_same || more_or_same ? chosen(less_or_same) : std::move(e);
    case Op::Maximum: return less_or_same || more_or_same ? chosen(more_or_same) : std::move(e);
    case Op::Lt: return less || more_or_same ? known(less) : std::move(e);
    case Op::Le: return less_or_same || more ? known(less_or_same) : std::move(e);
    case Op::Gt: return more || less_or_same ? known(more) : std::move(e);
    case Op::Ge: return more_or_same || less ? known(more_or_same) : std::move(e);
    case Op::Eq: return less || more ? known(false) : std::move(e);
    case Op::Ne: return less || more ? known(true) : std::move(e);
    default: return e;
  }
}

/// The box of `to` at the origin of a tile.
Expr Resolver::cut(Expr tile, const std::vector<Dim>& to, const std::string& name) {
  tile.type.physical.clear();
  if (tile.type.shape == to) return tile;
  const SourceLocation location = tile.location;
  Expr result;
  result.op = Op::TileSlice;
  result.location = location;
  result.type = Type::tile(tile.type.dtype, to);
  std::vector<Expr> extents;
  for (const Dim& dim : to) extents.push_back(extent_of(dim, location));
  result.operands = {std::move(tile),
                     list_expression(std::vector<Expr>(to.size(), int64_constant(0, location)), location),
                     list_expression(std::move(extents), location)};
  return atom(std::move(result), name);
}

/// A tile with `value` behind its valid box, up to `to`.
Expr Resolver::filled(Expr tile, const std::vector<Dim>& to, Constant value, const std::string& name) {
  tile.type.physical.clear();
  if (tile.type.shape == to) return tile;
  const SourceLocation location = tile.location;
  Expr result;
  result.op = Op::Pad;
  result.location = location;
  result.type = Type::tile(tile.type.dtype, to);
  std::vector<Expr> behind;
  for (std::size_t axis = 0; axis < to.size(); ++axis)
    behind.push_back(scalar_operation(
        Op::Sub, DType::Int64, {extent_of(to[axis], location), extent_of(tile.type.shape[axis], location)},
        location));
  result.operands = {std::move(tile),
                     list_expression(std::vector<Expr>(to.size(), int64_constant(0, location)), location),
                     list_expression(std::move(behind), location), constant_expression(value, location)};
  return atom(std::move(result), name);
}

/// The type of an operation on resolved operands. What only a run can tell of the shapes that tiles were made with no
/// code would check, so it is refused.
Type Resolver::ruled_type(const Expr& call, DType cast_to, bool of_made_shapes) {
  const auto refuse = [&] {
    throw pl::ShapeError(
        std::string(operation(call.op).name) +
            ": a tile that is valid only in part meets one whose extents are known only when the "
            "kernel runs; give both constant shapes, or fill one with pl::fillpad",
        at(call.location));
  };
  if (!is_tile_call(call.op)) {
    Type type = result_type(out_, call.op, call.operands, cast_to, at(call.location));
    if (of_made_shapes && needs_shape_check(call.operands)) refuse();
    return type;
  }
  const TileCallType type = tile_call_type(out_, call, at(call.location));
  if (of_made_shapes && std::any_of(type.checks.begin(), type.checks.end(), [](const RunTimeCheck& check) {
        return check.kind == RunTimeCheck::Equal;
      }))
    refuse();
  std::vector<Dim> shape;
  for (const Expr& extent : type.shape) shape.push_back(dimension_of(extent));
  return Type::tile(type.dtype, std::move(shape));
}

/// An operation with partly valid operands: the same on boxes that fit each other.
Expr Resolver::on_valid_boxes(Expr call, DType cast_to, const std::string& name) {
  Expr made = call;
  if (made.op == Op::Assemble) made.operands[1].type.physical.clear();
  for (Expr& operand : made.operands) {
    operand.type.shape = operand.type.whole_shape();
    operand.type.physical.clear();
  }
  std::vector<Dim> whole = ruled_type(made, cast_to, true).shape;
  const ValidAxes axes = valid_axes(made);
  std::map<int, Dim> extents;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const Type& type = call.operands[i].type;
    for (std::size_t axis = 0; axis < axes.operands[i].size(); ++axis) {
      const int label = axes.operands[i][axis];
      const Dim &valid = type.shape[axis], &extent = type.whole_shape()[axis];
      if (label == ValidAxes::whole && valid != extent)
        throw pl::ShapeError(
            message::partly_valid(operation(call.op).name, axis, dim_text(valid), dim_text(extent)),
            at(call.location));
      if (label < 0) continue;
      const auto [known, is_new] = extents.emplace(label, valid);
      // Nothing is valid beyond the extent, so a fully valid operand is never the least.
      if (is_new || valid == extent) continue;
      known->second = known->second == extent
                          ? valid
                          : least(extent_of(known->second, call.location), valid, call.location);
    }
  }
  for (std::size_t i = 0; i < call.operands.size(); ++i)
    for (std::size_t axis = 0; axis < axes.operands[i].size(); ++axis) {
      const Dim& valid = call.operands[i].type.shape[axis];
      if (axes.operands[i][axis] >= ValidAxes::whole || valid.is(1)) continue;
      const int label = -2 - axes.operands[i][axis];
      Expr left = scalar_operation(
          Op::Mul, DType::Int64,
          {extent_of(extents.at(label), call.location), extent_of(valid, call.location)}, call.location);
      extents[label] = dimension_of(std::move(left));
    }
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    if (axes.operands[i].empty()) continue;
    std::vector<Dim> box = call.operands[i].type.shape, grown = box;
    for (std::size_t axis = 0; axis < box.size(); ++axis) {
      const int label = axes.operands[i][axis];
      if (label >= 0) box[axis] = grown[axis] = extents.at(label);
      if (label < ValidAxes::whole) grown[axis] = Dim{1};
    }
    const Constant zero{call.operands[i].type.dtype, 0};
    call.operands[i] = filled(cut(std::move(call.operands[i]), box, name), grown, zero, name);
  }
  if (!axes.followed.empty()) {
    Expr& list = call.operands[static_cast<std::size_t>(shape_operand(call.op))];
    for (const auto& [item, axis] : axes.followed)
      list.operands[item] = extent_of(call.operands[0].type.shape[axis], call.location);
  }
  const Type type = ruled_type(call, cast_to, false);
  call.type = tile_type(type.dtype, std::move(whole), type.shape);
  return call;
}

Expr Resolver::evaluate_set_valid(const Expr& e, const std::string& name) {
  Expr value = evaluate(e.operands[0], name);
  if (!value.type.is_tile()) throw pl::ShapeError("set_valid: a scalar has no shape", at(e.location));
  std::vector<Dim> whole = value.type.whole_shape();
  const std::vector<Dim> valid = asked_valid(e.operands[1], value.type.shape, "set_valid", e.location);
  const DType dtype = value.type.dtype;
  if (value.op == Op::Full) {
    const Expr element = value.operands[1];
    value = default_value(Type::tile(dtype, valid), e.location);
    value.operands[1] = element;
  } else if (valid != value.type.shape) {
    value = cut(atom(std::move(value), name), valid, name);
  }
  value.type = tile_type(dtype, std::move(whole), valid);
  return value;
}

Expr Resolver::evaluate_fillpad(const Expr& e, const std::string& name) {
  Expr tile = evaluate_atom(e.operands[0], name);
  if (!tile.type.is_tile()) throw pl::ShapeError("fillpad: a scalar has no shape", at(e.location));
  const std::vector<Dim> whole = tile.type.whole_shape();
  const Constant value = fill_value(e.attributes.fill, tile.type.dtype);
  tile.location = e.location;
  return filled(std::move(tile), whole, value, name);
}

namespace {

void forget(Expr& e) {
  e.type.physical.clear();
  for (Expr& operand : e.operands) forget(operand);
}

void forget(std::vector<Statement>& list) {
  for (Statement& s : list) {
    for (Expr* e : {&s.value, &s.begin, &s.end, &s.step}) forget(*e);
    for (auto body : {&Statement::body, &Statement::else_body, &Statement::step_body}) forget(s.*body);
  }
}

}  // namespace

/// The specialised form has boxes alone.
void Resolver::forget_made_shapes() {
  for (Variable& variable : out_.variables) variable.type.physical.clear();
  forget(out_.body);
}

}  // namespace trilith::codegen::passes
