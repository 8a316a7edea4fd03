// Random calls of the operations that choose elements by position or find positions by value.
#include "codegen/random_calls.hpp"

#include <utility>

namespace trilith::codegen::random_calls {
namespace {

using namespace build;

constexpr DType numbers[] = {DType::Float32, DType::Float64, DType::Int32, DType::Int64};
constexpr std::int64_t extents[] = {1, 2, 3, 5, 8, 17, 33};

Shape any_shape(CallMaker& maker, std::int64_t least_rank) {
  Shape shape;
  const std::int64_t rank = least_rank + maker.random().below(3);
  for (std::int64_t i = 0; i < rank; ++i) shape.push_back(maker.random().pick(extents));
  return shape;
}

Attributes along(CallMaker& maker, const Shape& shape, std::size_t& axis) {
  axis = static_cast<std::size_t>(maker.random().below(std::ssize(shape)));
  Attributes attributes;
  attributes.axis = static_cast<std::int32_t>(axis);
  if (maker.random().chance(50)) attributes.axis -= static_cast<std::int32_t>(shape.size());
  return attributes;
}

/// Indices inside [0, bound): the remainder with the divisor's sign.
Expr indices(CallMaker& maker, const Shape& shape, std::int64_t bound) {
  const DType dtype = maker.random().chance(50) ? DType::Int32 : DType::Int64;
  const Expr any = maker.tile(dtype, shape).expr;
  return call(Op::Rem, {any, literal(static_cast<int>(bound))});
}

std::vector<CallExtent> constant_extents(const Shape& shape) {
  std::vector<CallExtent> result;
  for (const std::int64_t size : shape) result.push_back({size, Dim{size}, Item(size)});
  return result;
}

}  // namespace

CallTile argument(CallMaker& maker) {
  constexpr Op ops[] = {Op::RowArgmax, Op::RowArgmin, Op::ColArgmax, Op::ColArgmin};
  const Op op = maker.random().pick(ops);
  CallTile x = maker.any_tile(maker.random().pick(numbers));
  if (x.shape.size() < 2) x = maker.tile(x.dtype, {3, 19});
  const std::size_t from_end = op == Op::RowArgmax || op == Op::RowArgmin ? 1 : 2;
  x.expr = tile_call(op, {x.expr}, {}, DType::Int32);
  x.dtype = DType::Int32;
  x.shape[x.shape.size() - from_end] = constant_extents({1})[0];
  return x;
}

CallTile cumsum(CallMaker& maker) {
  CallTile x = maker.any_tile(maker.random().pick(numbers));
  if (x.shape.empty()) x = maker.tile(x.dtype, {7});
  std::size_t axis = 0;
  const Attributes attributes = along(maker, Shape(x.shape.size()), axis);
  x.expr = tile_call(Op::Cumsum, {x.expr}, attributes);
  return x;
}

CallTile gather(CallMaker& maker) {
  const Shape shape = any_shape(maker, 1);
  std::size_t axis = 0;
  const Attributes attributes = along(maker, shape, axis);
  Shape chosen = shape;
  chosen[axis] = maker.random().pick(extents);
  CallTile x = maker.tile(maker.random().chance(20) ? DType::Bool : maker.random().pick(numbers), shape);
  x.expr = tile_call(Op::Gather, {x.expr, indices(maker, chosen, shape[axis])}, attributes);
  x.shape = constant_extents(chosen);
  return x;
}

CallTile gather_row(CallMaker& maker) {
  const Shape shape = any_shape(maker, 1);
  Shape chosen = {maker.random().pick(extents)};
  CallTile x = maker.tile(maker.random().pick(numbers), shape);
  x.expr = tile_call(Op::GatherRow, {x.expr, indices(maker, chosen, shape[0])});
  chosen.insert(chosen.end(), shape.begin() + 1, shape.end());
  x.shape = constant_extents(chosen);
  return x;
}

CallTile load_row(CallMaker& maker) {
  const Shape shape = any_shape(maker, 2);
  CallTile x = maker.tile(maker.random().pick(numbers), shape);
  const bool sliced = maker.random().chance(50);
  Expr tensor = x.expr.operands[0];
  Shape rows = shape;
  if (sliced) {
    tensor = index(tensor, Item(shape[0] - 1));
    rows.erase(rows.begin());
  }
  Shape chosen = {maker.random().pick(extents), 2};
  x.expr = tile_call(Op::LoadRow, {tensor, list({}), list({}), indices(maker, chosen, rows[0])}, {}, x.dtype);
  chosen.insert(chosen.end(), rows.begin() + 1, rows.end());
  x.shape = constant_extents(chosen);
  return x;
}

CallTile paged_gather(CallMaker& maker) {
  const Shape pages = any_shape(maker, 2);
  CallTile x = maker.tile(maker.random().pick(numbers), pages);
  const std::int64_t sequences = maker.random().pick(extents), entries = maker.random().pick(extents);
  const std::int64_t count = maker.random().pick(extents), start = maker.random().below(4);
  const Expr table = indices(maker, {sequences, entries}, pages[0]);
  // Lengths that the table covers; ragged, or one for all.
  const Expr lengths = maker.random().chance(70) ? indices(maker, {sequences}, pages[1] * entries + 1)
                                                 : integer(maker.random().below(pages[1] * entries + 1));
  x.expr = tile_call(Op::PagedGather,
                     {x.expr.operands[0], list({}), list({}), table, lengths, integer(count), integer(start)},
                     {}, x.dtype);
  Shape shape = {sequences, count};
  shape.insert(shape.end(), pages.begin() + 2, pages.end());
  x.shape = constant_extents(shape);
  return x;
}

CallTile scatter(CallMaker& maker) {
  const Shape shape = any_shape(maker, 1);
  std::size_t axis = 0;
  const Attributes attributes = along(maker, shape, axis);
  Shape chosen = shape;
  chosen[axis] = maker.random().pick(extents);
  CallTile x = maker.tile(maker.random().pick(numbers), shape);
  const Expr source = maker.tile(x.dtype, chosen).expr;
  const Op op = maker.random().chance(50) ? Op::Scatter : Op::ScatterAdd;
  x.expr = tile_call(op, {x.expr, indices(maker, chosen, shape[axis]), source}, attributes);
  return x;
}

CallTile sort_indices(CallMaker& maker) {
  CallTile x = maker.any_tile(maker.random().pick(numbers));
  if (x.shape.empty()) x = maker.tile(x.dtype, {40});
  std::size_t axis = 0;
  Attributes attributes = along(maker, Shape(x.shape.size()), axis);
  attributes.flag = maker.random().chance(50);
  x.expr = tile_call(Op::SortIndices, {x.expr}, attributes, DType::Int32);
  x.dtype = DType::Int32;
  return x;
}

CallTile topk_indices(CallMaker& maker) {
  const Shape shape = any_shape(maker, 1);
  std::size_t axis = 0;
  Attributes attributes = along(maker, shape, axis);
  attributes.flag = maker.random().chance(50);
  CallTile x = maker.tile(maker.random().pick(numbers), shape);
  const std::int64_t count = maker.random().below(shape[axis] + 1);
  x.expr = tile_call(Op::TopkIndices, {x.expr, integer(count)}, attributes, DType::Int32);
  x.dtype = DType::Int32;
  x.shape[axis] = constant_extents({count})[0];
  return x;
}

/// An element is read, changed and written back elsewhere.
CallTile write(CallMaker& maker) {
  const Shape shape = any_shape(maker, 1);
  CallTile x = maker.tile(maker.random().pick(numbers), shape);
  const auto position = [&] {
    Items items;
    for (const std::int64_t extent : shape) items.push_back(Item(maker.random().below(extent)));
    return items;
  };
  const Items from = position();
  const Items to = position();
  const Expr element = maker.named(read(x.expr, from));
  const Expr other = maker.scalar_of(x.dtype);
  x.expr = tile_call(Op::Write, {x.expr, list(to), call(Op::Maximum, {element, other})});
  return x;
}

}  // namespace trilith::codegen::random_calls
