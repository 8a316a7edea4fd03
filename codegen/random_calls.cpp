#include "codegen/random_calls.hpp"

#include <span>
#include <utility>

namespace trilith::codegen {
namespace {

using build::call;
using build::literal;
using build::tile_call;

constexpr DType all_dtypes[] = {DType::Float32, DType::Float64, DType::Int32, DType::Int64, DType::Bool};

CallTile transpose(CallMaker& maker) {
  CallTile x = maker.any_tile(maker.random().pick(all_dtypes));
  const auto rank = std::ssize(x.shape);
  if (rank == 0) x = maker.tile(x.dtype, {3, 5});
  const std::int64_t first = maker.random().below(std::ssize(x.shape));
  const std::int64_t second = maker.random().below(std::ssize(x.shape));
  Attributes attributes;
  attributes.axis = static_cast<std::int32_t>(first);
  attributes.axis2 = static_cast<std::int32_t>(second - std::ssize(x.shape));
  x.expr = tile_call(Op::Transpose, {x.expr}, attributes);
  std::swap(x.shape[static_cast<std::size_t>(first)], x.shape[static_cast<std::size_t>(second)]);
  return x;
}

/// An operand of a product: small numbers, so that a sum is no harder to compare than its terms.
Expr factor(CallMaker& maker, DType dtype, const Shape& shape) {
  return call(Op::Clamp, {maker.tile(dtype, shape).expr, literal(-1.0), literal(1.0)});
}

CallTile product(CallMaker& maker) {
  constexpr std::int64_t sizes[] = {0, 1, 2, 3, 5, 8, 15, 16, 17, 31, 33};
  constexpr Op ops[] = {Op::Matmul,      Op::Matmul, Op::MatmulAcc, Op::MatmulBias,
                        Op::BatchMatmul, Op::Gemv,   Op::Dot};
  Random& random = maker.random();
  const DType dtype = random.chance(70) ? DType::Float32 : DType::Float64;
  const Op op = random.pick(ops);
  const std::int64_t m = random.pick(sizes), n = random.pick(sizes), k = random.pick(sizes);
  Attributes attributes;
  Shape a = {m, k}, b = {k, n}, result = {m, n};
  std::vector<Expr> operands;
  if (op == Op::Dot) {
    a = b = {k};
    result = {1};
  } else if (op == Op::Gemv) {
    const bool left = random.chance(50);
    (left ? a : b) = {k};
    result = {left ? n : m};
  } else {
    attributes.trans_a = random.chance(40);
    attributes.trans_b = random.chance(40);
    if (attributes.trans_a) a = {k, m};
    if (attributes.trans_b) b = {n, k};
  }
  if (op == Op::BatchMatmul) {
    const std::int64_t batches = random.below(4);
    if (random.chance(60)) a.insert(a.begin(), batches);
    if (a.size() == 2 || random.chance(60)) b.insert(b.begin(), random.chance(50) ? 1 : batches);
    result.insert(result.begin(), a.size() == 3 ? a[0] : b[0]);
  }
  if (op == Op::MatmulAcc) operands.push_back(factor(maker, dtype, {m, n}));
  operands.push_back(factor(maker, dtype, a));
  operands.push_back(factor(maker, dtype, b));
  if (op == Op::MatmulBias) operands.push_back(factor(maker, dtype, {n}));
  CallTile tile{tile_call(op, std::move(operands), attributes), dtype, {}, Tolerance::Sum};
  for (const std::int64_t extent : result) tile.shape.push_back({extent, Dim{extent}, build::Item(extent)});
  return tile;
}

using build::integer;
using build::Items;
using build::list;

CallTile shaped(Expr expr, DType dtype, const Shape& shape) {
  CallTile result{std::move(expr), dtype, {}};
  for (const std::int64_t size : shape) result.shape.push_back({size, Dim{size}, build::Item(size)});
  return result;
}
Items items(const Shape& shape) { return {shape.begin(), shape.end()}; }
Items names(const CallTile& tile) {
  Items result;
  for (const CallExtent& extent : tile.shape) result.push_back(extent.name);
  return result;
}

Shape any_shape(Random& random, std::int64_t least_rank) {
  Shape shape(static_cast<std::size_t>(least_rank + random.below(4 - least_rank)));
  for (std::int64_t& extent : shape) extent = random.chance(70) ? 1 + random.below(9) : random.below(40);
  return shape;
}

CallTile tile_slice(CallMaker& maker) {
  Random& random = maker.random();
  const Shape whole = any_shape(random, 0);
  const CallTile x = maker.tile(random.pick(all_dtypes), whole);
  Shape offsets, shape;
  for (const std::int64_t extent : whole) {
    offsets.push_back(random.below(extent + 1));
    shape.push_back(random.below(extent - offsets.back() + 1));
  }
  return shaped(tile_call(Op::TileSlice, {x.expr, list(items(offsets)), list(items(shape))}), x.dtype, shape);
}

CallTile assemble(CallMaker& maker) {
  Random& random = maker.random();
  const Shape whole = any_shape(random, 1);
  Shape offsets, shape;
  for (const std::int64_t extent : whole) {
    offsets.push_back(random.below(extent + 1));
    shape.push_back(random.below(extent - offsets.back() + 1));
  }
  const CallTile x = maker.tile(random.pick(all_dtypes), whole), block = maker.tile(x.dtype, shape);
  return shaped(tile_call(Op::Assemble, {x.expr, block.expr, list(items(offsets))}), x.dtype, whole);
}

CallTile concat(CallMaker& maker) {
  Random& random = maker.random();
  const DType dtype = random.pick(all_dtypes);
  Shape shape = any_shape(random, 1), sum = shape;
  const auto axis = static_cast<std::size_t>(random.below(std::ssize(shape)));
  std::vector<Expr> tiles;
  sum[axis] = 0;
  const std::int64_t count = 1 + random.below(4);
  for (std::int64_t i = 0; i < count; ++i) {
    shape[axis] = random.below(12);
    sum[axis] += shape[axis];
    tiles.push_back(maker.tile(dtype, shape).expr);
  }
  Attributes attributes;
  attributes.axis = static_cast<std::int32_t>(axis);
  return shaped(tile_call(Op::Concat, std::move(tiles), attributes), dtype, sum);
}

CallTile reshape(CallMaker& maker) {
  CallTile x = maker.any_tile(maker.random().pick(all_dtypes));
  if (maker.random().chance(50)) x.shape.insert(x.shape.begin(), {1, Dim{1}, build::Item(1)});
  if (x.shape.size() > 1 && maker.random().chance(50)) std::swap(x.shape.front(), x.shape.back());
  x.expr = tile_call(Op::Reshape, {x.expr, list(names(x))});
  return x;
}

CallTile reinterpret(CallMaker& maker) {
  // Floats into integers: the bits of a NaN are not the same on every path.
  const bool wide = maker.random().chance(50);
  CallTile x = maker.any_tile(wide ? DType::Int64 : DType::Int32);
  x.dtype = wide ? DType::Float64 : DType::Float32;
  x.expr = tile_call(Op::Reinterpret, {x.expr}, {}, x.dtype);
  return x;
}

CallTile pad(CallMaker& maker) {
  Random& random = maker.random();
  Shape shape = any_shape(random, 0), before, after;
  const CallTile x = maker.tile(random.pick(all_dtypes), shape);
  for (std::int64_t& extent : shape) {
    before.push_back(random.below(4));
    after.push_back(random.below(4));
    extent += before.back() + after.back();
  }
  const Expr value =
      x.dtype != DType::Bool && random.chance(50) ? maker.literal_of(x.dtype) : maker.scalar_of(x.dtype);
  return shaped(tile_call(Op::Pad, {x.expr, list(items(before)), list(items(after)), value}), x.dtype, shape);
}

CallTile expand(CallMaker& maker) {
  Random& random = maker.random();
  const Shape to = any_shape(random, 0);
  Shape from = to;
  for (std::int64_t& extent : from)
    if (random.chance(40)) extent = 1;
  if (!from.empty() && random.chance(30)) from.erase(from.begin());
  const CallTile x = maker.tile(random.pick(all_dtypes), from);
  return shaped(tile_call(Op::Expand, {x.expr, list(items(to))}), x.dtype, to);
}

constexpr DType numeric_dtypes[] = {DType::Float32, DType::Float64, DType::Int32, DType::Int64};

CallTile arange(CallMaker& maker) {
  const DType dtype = maker.random().pick(numeric_dtypes);
  const Shape shape = any_shape(maker.random(), 0);
  const Expr start = maker.scalar_of(dtype), step = maker.literal_of(dtype);
  return shaped(tile_call(Op::Arange, {list(items(shape)), start, step}, {}, dtype), dtype, shape);
}

CallTile tri(CallMaker& maker) {
  Random& random = maker.random();
  const DType dtype = random.pick(all_dtypes);
  const Shape shape{random.below(20), random.below(40)};
  Attributes attributes;
  attributes.upper = random.chance(50);
  const Expr diagonal = random.chance(50) ? integer(random.below(30) - 15) : maker.scalar_of(DType::Int64);
  return shaped(tile_call(Op::Tri, {list(items(shape)), diagonal}, attributes, dtype), dtype, shape);
}

CallTile random(CallMaker& maker) {
  const DType dtype = maker.random().pick(numeric_dtypes);
  const Shape shape = any_shape(maker.random(), 0);
  const Expr seed = maker.scalar_of(DType::Int64), counter = maker.scalar_of(DType::Int64);
  return shaped(tile_call(Op::Random, {list(items(shape)), seed, counter}, {}, dtype), dtype, shape);
}

/// Sums of floats depend on the order: those operands are kept small and the tolerance is that of sums.
template <Op op>
CallTile reduce(CallMaker& maker) {
  Random& random = maker.random();
  const bool inexact = op == Op::Mean;
  const DType dtype = inexact
                          ? DType::Float32
                          : random.pick(op == Op::Sum || op == Op::Prod ? std::span(numeric_dtypes).subspan(2)
                                                                        : std::span(numeric_dtypes));
  CallTile x = maker.any_tile(dtype);
  if (x.shape.empty()) x = maker.tile(dtype, {2, 3, 4});
  if (inexact) x.expr = build::call(Op::Clamp, {x.expr, literal(-8.0), literal(8.0)});
  Attributes attributes;
  attributes.axis = static_cast<std::int32_t>(random.below(std::ssize(x.shape)));
  x.expr = build::call(op, {x.expr});
  x.expr.attributes = attributes;
  x.shape[static_cast<std::size_t>(attributes.axis)] = {1, Dim{1}, build::Item(1)};
  if (inexact) x.tolerance = Tolerance::Sum;
  return x;
}

constexpr MakeCall makers[] = {transpose,
                               product,
                               tile_slice,
                               assemble,
                               concat,
                               reshape,
                               reinterpret,
                               pad,
                               expand,
                               arange,
                               tri,
                               random,
                               reduce<Op::Sum>,
                               reduce<Op::Prod>,
                               reduce<Op::Max>,
                               reduce<Op::Min>,
                               reduce<Op::Mean>,
                               random_calls::argument,
                               random_calls::cumsum,
                               random_calls::gather,
                               random_calls::gather_row,
                               random_calls::load_row,
                               random_calls::paged_gather,
                               random_calls::scatter,
                               random_calls::sort_indices,
                               random_calls::topk_indices,
                               random_calls::write,
                               random_calls::partly_valid,
                               random_calls::partly_valid};

}  // namespace

std::span<const MakeCall> call_makers() { return makers; }

}  // namespace trilith::codegen
