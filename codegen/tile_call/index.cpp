// Typing rules of the operations that choose elements by position or find positions by value.
#include "codegen/tile_call.hpp"

#include "codegen/message.hpp"

#include <utility>

namespace trilith::codegen {

bool may_find_bad_index(Op op) {
  switch (op) {
    case Op::Gather:
    case Op::GatherRow:
    case Op::LoadRow:
    case Op::PagedGather:
    case Op::Scatter:
    case Op::ScatterAdd:
    case Op::Read:
    case Op::Write: return true;
    default: return false;
  }
}

bool changes_first_operand(Op op) { return op == Op::Write || op == Op::Scatter || op == Op::ScatterAdd; }

}  // namespace trilith::codegen

namespace trilith::codegen::rules {
namespace {

std::string name_text(DType dtype) { return std::string(name_of(dtype)); }

/// Operand i: a tile (or where `or_scalar`, a scalar) of integers, whichever they are.
void accept_indices(const CallRule& rule, std::size_t i, const std::string& what) {
  const DType dtype = rule.call().operands.at(i).type.dtype;
  if (is_integer(dtype)) return;
  rule.dtype_error("the " + what + " are " + name_text(dtype) +
                   " and must be integers; convert them with pl::cast<std::int32_t>(...)");
}

/// An integer scalar operand as int64 arithmetic.
const Expr& integer(const CallRule& rule, std::size_t i, const std::string& what) {
  const Expr& operand = rule.call().operands.at(i);
  if (!operand.type.is_scalar() || operand.type.dtype != DType::Int64)
    rule.dtype_error(what + " must be an integer; convert it with pl::cast<std::int64_t>(...)");
  return operand;
}

/// An extent of a tensor.
Expr as_expression(const Dim& dim) {
  if (dim.is_constant()) return CallRule::number(dim.extent);
  Expr use;
  use.op = Op::Variable;
  use.variable = dim.variable;
  use.type = Type::scalar(DType::Int64);
  return use;
}

/// Positions along an axis are int32.
void positions_fit(const CallRule& rule, const Expr& extent) {
  if (extent.is_constant() && extent.value.as_int64() > INT32_MAX)
    rule.shape_error("an axis of " + std::to_string(extent.value.as_int64()) +
                     " elements has positions that int32 cannot hold; work on smaller tiles");
}

/// idx has the extents of x, but for `axis`.
void same_but_axis(CallRule& rule, std::size_t x, std::size_t indices, std::size_t axis) {
  if (rule.rank(x) != rule.rank(indices))
    rule.shape_error("the tile " + rule.shape_text(x) + " has rank " + std::to_string(rule.rank(x)) +
                     " and the indices " + rule.shape_text(indices) + " have rank " +
                     std::to_string(rule.rank(indices)) + "; give indices of the tile's rank");
  for (std::size_t other = 0; other < rule.rank(x); ++other)
    if (other != axis)
      rule.equal(rule.extent(x, other), rule.extent(indices, other),
                 "extents of the tile and the indices along axis " + std::to_string(other));
}

/// Operand 0 is a tensor, operands 1 and 2 the region of it, attributes.axis the leading axes that a view
/// dropped. Gives the extents of the view.
std::vector<Expr> view(CallRule& rule, std::size_t needed_rank) {
  const Type& tensor = rule.call().operands.at(0).type;
  std::vector<Expr> extents = rule.list(2);
  if (extents.empty()) {
    for (const Dim& dim : tensor.shape) extents.push_back(as_expression(dim));
  } else {
    for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis)
      rule.inside(rule.list(1)[axis], extents[axis], as_expression(tensor.shape[axis]),
                  "the region of the tensor, axis " + std::to_string(axis));
    extents.erase(extents.begin(), extents.begin() + rule.attributes().axis);
  }
  if (extents.size() < needed_rank)
    rule.shape_error("the tensor has rank " + std::to_string(extents.size()) + " and needs " +
                     std::to_string(needed_rank) + " or more");
  return extents;
}

TileCallType rows(CallRule& rule, std::vector<Expr> extents, std::size_t indices) {
  accept_indices(rule, indices, "indices");
  std::vector<Expr> shape = rule.extents(indices);
  shape.insert(shape.end(), extents.begin() + 1, extents.end());
  return rule.result(rule.call().operands[0].type.dtype, std::move(shape));
}

}  // namespace

TileCallType argument(CallRule& rule) {
  rule.accept(0);
  const bool last = rule.call().op == Op::RowArgmax || rule.call().op == Op::RowArgmin;
  const std::size_t from_end = last ? 1 : 2, rank = rule.rank(0);
  if (rank < from_end)
    rule.shape_error("needs a tile of rank " + std::to_string(from_end) + " or more, not shape " +
                     rule.shape_text(0));
  std::vector<Expr> shape = rule.extents(0);
  positions_fit(rule, shape[rank - from_end]);
  shape[rank - from_end] = CallRule::number(1);
  return rule.result(DType::Int32, std::move(shape));
}

TileCallType cumsum(CallRule& rule) {
  rule.accept(0);
  static_cast<void>(rule.axis(rule.attributes().axis, rule.rank(0)));
  return rule.result(rule.tile(0).dtype, rule.extents(0));
}

TileCallType gather(CallRule& rule) {
  rule.accept(0);
  accept_indices(rule, 1, "indices");
  same_but_axis(rule, 0, 1, rule.axis(rule.attributes().axis, rule.rank(0)));
  return rule.result(rule.tile(0).dtype, rule.extents(1));
}

TileCallType gather_row(CallRule& rule) {
  rule.accept(0);
  if (rule.rank(0) == 0) rule.shape_error("a tile of rank 0 has no rows");
  return rows(rule, rule.extents(0), 1);
}

TileCallType load_row(CallRule& rule) { return rows(rule, view(rule, 1), 3); }

TileCallType paged_gather(CallRule& rule) {
  const std::vector<Expr> pages = view(rule, 2);
  accept_indices(rule, 3, "entries of the block table");
  accept_indices(rule, 4, "lengths");
  if (rule.rank(3) == 0) rule.shape_error("the block table has rank 0 and must have an axis of entries");
  std::vector<Expr> shape = rule.extents(3);
  shape.pop_back();
  if (rule.call().operands[4].type.is_tile()) {
    if (rule.rank(4) != shape.size())
      rule.shape_error("the block table " + rule.shape_text(3) + " needs lengths of rank " +
                       std::to_string(shape.size()) + " or one scalar, not lengths of shape " +
                       rule.shape_text(4));
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      rule.equal(shape[axis], rule.extent(4, axis),
                 "extents of the block table and the lengths along axis " + std::to_string(axis));
  }
  const Expr& count = integer(rule, 5, "the count of rows");
  static_cast<void>(integer(rule, 6, "start"));
  rule.not_negative(count, "the count of rows");
  shape.push_back(count);
  shape.insert(shape.end(), pages.begin() + 2, pages.end());
  return rule.result(rule.call().operands[0].type.dtype, std::move(shape));
}

TileCallType scatter(CallRule& rule) {
  rule.accept(0);
  accept_indices(rule, 1, "indices");
  rule.same_dtype(0, 2);
  same_but_axis(rule, 0, 1, rule.axis(rule.attributes().axis, rule.rank(0)));
  if (rule.rank(1) != rule.rank(2))
    rule.shape_error("the indices " + rule.shape_text(1) + " and the source " + rule.shape_text(2) +
                     " must have one shape");
  for (std::size_t axis = 0; axis < rule.rank(1); ++axis)
    rule.equal(rule.extent(1, axis), rule.extent(2, axis),
               "extents of the indices and the source along axis " + std::to_string(axis));
  return rule.result(rule.tile(0).dtype, rule.extents(0));
}

TileCallType sort_indices(CallRule& rule) {
  rule.accept(0);
  const std::size_t axis = rule.axis(rule.attributes().axis, rule.rank(0));
  positions_fit(rule, rule.extent(0, axis));
  return rule.result(DType::Int32, rule.extents(0));
}

TileCallType topk_indices(CallRule& rule) {
  rule.accept(0);
  const std::size_t axis = rule.axis(rule.attributes().axis, rule.rank(0));
  positions_fit(rule, rule.extent(0, axis));
  const Expr& count = integer(rule, 1, "k");
  rule.at_most(count, rule.extent(0, axis), [&](const std::string& k, const std::string& extent) {
    return message::topk_count(k, axis, extent);
  });
  std::vector<Expr> shape = rule.extents(0);
  shape[axis] = count;
  return rule.result(DType::Int32, std::move(shape));
}

TileCallType write(CallRule& rule) {
  rule.accept(0);
  rule.same_dtype(0, 2);
  if (!rule.call().operands[2].type.is_scalar())
    rule.shape_error("the element must be a scalar, not a tile of shape " + rule.shape_text(2));
  const std::vector<Expr>& offsets = rule.list(1);
  if (offsets.size() != rule.rank(0))
    rule.shape_error(std::to_string(offsets.size()) + " offsets in a tile of rank " +
                     std::to_string(rule.rank(0)) + "; give one for each axis");
  for (std::size_t axis = 0; axis < offsets.size(); ++axis) {
    const Expr extent = rule.extent(0, axis);
    if (!offsets[axis].is_constant()) continue;
    const std::int64_t given = offsets[axis].value.as_int64();
    if (given < 0 || (extent.is_constant() && given >= extent.value.as_int64()))
      rule.shape_error(message::index_outside("axis " + std::to_string(axis), given,
                                              extent.is_constant() ? extent.value.as_int64() : 0));
  }
  return rule.result(rule.tile(0).dtype, rule.extents(0));
}

}  // namespace trilith::codegen::rules
