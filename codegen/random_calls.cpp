#include "codegen/random_calls.hpp"

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

constexpr MakeCall makers[] = {transpose, product};

}  // namespace

std::span<const MakeCall> call_makers() { return makers; }

}  // namespace trilith::codegen
