// What an index lies between, where loops and bounds say so: regions inside their tensor need no check, and tiles whose
// extents only the run knows have room planned for the most that they can be.
#include "codegen/ascendc/context.hpp"

#include <algorithm>

namespace trilith::codegen::ascendc {
namespace {

/// Numbers of elements are far from overflow; an end beyond is as good as none.
Range bounded(std::int64_t first, std::int64_t last) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  return {first < -most ? -Range::none : first, last > most ? Range::none : last};
}

Range sum(const Range& a, const Range& b) {
  const auto end = [](std::int64_t x, std::int64_t y, std::int64_t unknown) {
    return x == unknown || y == unknown ? unknown : x + y;
  };
  return bounded(end(a.first, b.first, -Range::none), end(a.last, b.last, Range::none));
}

Range negative(const Range& a) { return {-a.last, -a.first}; }

Range product(const Range& a, const Range& b) {
  constexpr std::int64_t most = std::int64_t{1} << 31;
  const bool positive = a.first >= 0 && b.first >= 0;
  for (const std::int64_t end : {a.first, a.last, b.first, b.last})
    if (end < -most || end > most) return positive ? Range{0, Range::none} : Range{};
  const auto [least, greatest] =
      std::minmax({a.first * b.first, a.first * b.last, a.last * b.first, a.last * b.last});
  return {least, greatest};
}

}  // namespace

/// `of_tiles`: the expression counts elements of tiles, which are inside the tensors that they are loaded from.
Range Context::range_of(const Expr& expression, bool of_tiles) const {
  if (!is_integer(expression.type.dtype)) return {};
  if (expression.is_constant()) return {expression.value.as_int64(), expression.value.as_int64()};
  if (expression.op == Op::Variable) {
    const auto found = ranges.find(expression.variable);
    Range range = found == ranges.end() ? Range{} : found->second;
    if (!of_tiles) return range;
    if (const auto loaded = loaded_extents.find(expression.variable); loaded != loaded_extents.end())
      range.last = std::min(range.last, loaded->second);
    const auto made = definitions.find(expression.variable);
    if (range.last == Range::none && made != definitions.end())
      range.last = range_of(*made->second, true).last;
    return range;
  }
  if (expression.type.dtype != DType::Int64) return {};
  if (expression.op == Op::Cast) return range_of(expression.operands[0], of_tiles);
  const auto operand = [&](std::size_t i) { return range_of(expression.operands[i], of_tiles); };
  switch (expression.op) {
    case Op::Add: return sum(operand(0), operand(1));
    case Op::Sub: return sum(operand(0), negative(operand(1)));
    case Op::Mul: return product(operand(0), operand(1));
    case Op::Minimum: {
      const Range a = operand(0), b = operand(1);
      return {std::min(a.first, b.first), std::min(a.last, b.last)};
    }
    case Op::Maximum: {
      const Range a = operand(0), b = operand(1);
      return {std::max(a.first, b.first), std::max(a.last, b.last)};
    }
    case Op::Clamp: {
      const Range least = operand(1), greatest = operand(2);
      return {std::min(least.first, greatest.first), greatest.last};
    }
    case Op::Where: {
      const Range a = operand(1), b = operand(2);
      return {std::min(a.first, b.first), std::max(a.last, b.last)};
    }
    default: return {};
  }
}

void Context::remember_range(VariableId variable, Range range) {
  if (uses.writes[variable] == 1) ranges[variable] = range;
}

/// A tile is loaded from inside its tensor, so none of its extents is larger; the check of the load says so. Several loads
/// of one extent need not all run: the room is that of the largest.
void Context::remember_extents(std::span<const Statement> list) {
  const auto part = [&](const std::vector<Dim>& shape, const std::vector<Dim>& of) {
    for (std::size_t back = 1; back <= std::min(shape.size(), of.size()); ++back) {
      const Dim &dim = shape[shape.size() - back], &extent = of[of.size() - back];
      if (dim.is_constant() || !extent.is_constant()) continue;
      const auto [known, is_new] = loaded_extents.emplace(dim.variable, extent.extent);
      if (!is_new) known->second = std::max(known->second, extent.extent);
    }
  };
  for (const Statement& statement : list) {
    if (statement.kind == StatementKind::Assign && uses.writes[statement.variable] == 1)
      definitions[statement.variable] = &statement.value;
    if (statement.value.op == Op::Load || fuse::is_store(statement)) {
      const fuse::Region region = fuse::region_of(kernel, statement);
      part(region.shape, kernel.variables[region.tensor].type.shape);
    }
    if (statement.value.op == Op::TileSlice)
      part(statement.value.type.shape, statement.value.operands[0].type.shape);
    for (const auto* body : {&statement.body, &statement.else_body, &statement.step_body})
      remember_extents(*body);
  }
}

namespace {

/// The value is at most `extent - offset`: a minimum of that and others.
bool is_rest(const Expr& value, const Expr& offset, std::int64_t extent) {
  if (value.op == Op::Minimum)
    return is_rest(value.operands[0], offset, extent) || is_rest(value.operands[1], offset, extent);
  return value.op == Op::Sub && value.operands[0].is_constant() &&
         value.operands[0].value.as_int64() == extent && value.operands[1].op == Op::Variable &&
         value.operands[1].variable == offset.variable;
}

}  // namespace

bool Context::ends_inside(const Expr& offset, const Dim& dim, std::int64_t extent) const {
  const Range at = range_of(offset);
  Range size{dim.extent, dim.extent};
  if (!dim.is_constant()) {
    const auto known = ranges.find(dim.variable);
    size = known == ranges.end() ? Range{} : known->second;
  }
  if (at.last != Range::none && size.last != Range::none && at.last + size.last <= extent) return true;
  if (dim.is_constant() || offset.op != Op::Variable) return false;
  const auto made = definitions.find(dim.variable);
  return made != definitions.end() && uses.writes[offset.variable] == 1 &&
         is_rest(*made->second, offset, extent);
}

}  // namespace trilith::codegen::ascendc
