// Typing rules of the operations that move elements and change none.
#include "codegen/tile_call.hpp"

#include <utility>

namespace trilith::codegen::rules {
namespace {

std::string axis_text(std::size_t axis) { return "axis " + std::to_string(axis); }

}  // namespace

TileCallType transpose(CallRule& rule) {
  rule.accept(0);
  const std::size_t rank = rule.rank(0);
  const std::size_t first = rule.axis(rule.attributes().axis, rank);
  const std::size_t second = rule.axis(rule.attributes().axis2, rank);
  std::vector<Expr> shape = rule.extents(0);
  std::swap(shape[first], shape[second]);
  return rule.result(rule.tile(0).dtype, std::move(shape));
}

TileCallType tile_slice(CallRule& rule) {
  rule.accept(0);
  const std::size_t rank = rule.rank(0);
  const std::vector<Expr>& offsets = rule.list(1, rank, "offsets");
  const std::vector<Expr>& shape = rule.list(2, rank, "extents");
  for (std::size_t axis = 0; axis < rank; ++axis)
    rule.inside(offsets[axis], shape[axis], rule.extent(0, axis), axis_text(axis));
  return rule.result(rule.tile(0).dtype, shape);
}

TileCallType assemble(CallRule& rule) {
  rule.accept(0);
  rule.same_dtype(0, 1);
  const std::size_t rank = rule.rank(0);
  if (rule.rank(1) != rank)
    rule.shape_error("a block of shape " + rule.shape_text(1) + " in a tile of shape " + rule.shape_text(0) +
                     "; both must have one rank");
  const std::vector<Expr>& offsets = rule.list(2, rank, "offsets");
  for (std::size_t axis = 0; axis < rank; ++axis)
    rule.inside(offsets[axis], rule.extent(1, axis), rule.extent(0, axis), axis_text(axis));
  return rule.result(rule.tile(0).dtype, rule.extents(0));
}

TileCallType concat(CallRule& rule) {
  if (rule.count() == 0) rule.shape_error("there is no tile; give at least one");
  rule.accept(0);
  const std::size_t rank = rule.rank(0), along = rule.axis(rule.attributes().axis, rank);
  std::vector<Expr> shape = rule.extents(0);
  for (std::size_t i = 1; i < rule.count(); ++i) {
    rule.same_dtype(0, i);
    if (rule.rank(i) != rank)
      rule.shape_error("tiles of shapes " + rule.shape_text(0) + " and " + rule.shape_text(i) +
                       "; all must have one rank");
    for (std::size_t axis = 0; axis < rank; ++axis) {
      if (axis == along)
        shape[axis] = CallRule::sum(std::move(shape[axis]), rule.extent(i, axis));
      else
        rule.equal(rule.extent(0, axis), rule.extent(i, axis),
                   "the extents along axis " + std::to_string(axis));
    }
  }
  return rule.result(rule.tile(0).dtype, std::move(shape));
}

TileCallType reshape(CallRule& rule) {
  rule.accept(0);
  std::vector<Expr> shape = rule.shape(1);
  Expr before = CallRule::number(1), after = CallRule::number(1);
  for (Expr& extent : rule.extents(0)) before = CallRule::product(std::move(before), std::move(extent));
  for (const Expr& extent : shape) after = CallRule::product(std::move(after), extent);
  rule.equal(std::move(before), std::move(after), "the elements of the tile and of the new shape");
  return rule.result(rule.tile(0).dtype, std::move(shape));
}

TileCallType reinterpret(CallRule& rule) {
  rule.accept(0);
  const DType from = rule.tile(0).dtype, to = rule.wanted();
  if (size_of(from) != size_of(to))
    rule.dtype_error(std::string(name_of(from)) + " has " + std::to_string(size_of(from)) + " bytes and " +
                     std::string(name_of(to)) + " " + std::to_string(size_of(to)) +
                     "; only dtypes of one size share their bits, convert values with pl::cast<T>(...)");
  return rule.result(to, rule.extents(0));
}

TileCallType pad(CallRule& rule) {
  rule.accept(0);
  const std::size_t rank = rule.rank(0);
  const std::vector<Expr>& before = rule.list(1, rank, "counts before");
  const std::vector<Expr>& after = rule.list(2, rank, "counts behind");
  rule.scalar(3, rule.tile(0).dtype);
  std::vector<Expr> shape = rule.extents(0);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    rule.not_negative(before[axis], "elements before, " + axis_text(axis));
    rule.not_negative(after[axis], "elements behind, " + axis_text(axis));
    shape[axis] = CallRule::sum(CallRule::sum(std::move(shape[axis]), before[axis]), after[axis]);
  }
  return rule.result(rule.tile(0).dtype, std::move(shape));
}

TileCallType expand(CallRule& rule) {
  rule.accept(0);
  std::vector<Expr> shape = rule.shape(1);
  const std::size_t rank = rule.rank(0);
  if (rank > shape.size())
    rule.shape_error("a tile of shape " + rule.shape_text(0) + " to rank " + std::to_string(shape.size()) +
                     "; the new shape must have at least the rank of the tile");
  for (std::size_t axis = 0; axis < rank; ++axis) {
    Expr given = rule.extent(0, axis);
    const std::size_t to = shape.size() - rank + axis;
    if (given.is_constant() && given.value.as_int64() == 1) continue;
    rule.equal(std::move(given), shape[to], "the extents along axis " + std::to_string(to));
  }
  return rule.result(rule.tile(0).dtype, std::move(shape));
}

}  // namespace trilith::codegen::rules
