// Random tiles of which only a part is valid: cut to their tensor or by numbers that the run knows, then worked on,
// filled and stored.
#include "codegen/random_calls.hpp"

#include <utility>

namespace trilith::codegen::random_calls {
namespace {

using build::call;
using build::integer;
using build::Item;
using build::Items;
using build::list;
using build::tile_call;

constexpr DType dtypes[] = {DType::Float32, DType::Float32, DType::Float64,
                            DType::Int32,   DType::Int64,   DType::Bool};
constexpr Fill fills[] = {Fill::Zero, Fill::Max, Fill::Min};

/// Constants, some of them below 0 or beyond the shape, or numbers of the run.
Items extents(CallMaker& maker, const Shape& shape) {
  Items items;
  for (const std::int64_t extent : shape) {
    if (maker.random().chance(40))
      items.emplace_back(call(Op::Minimum, {maker.scalar_of(DType::Int64), integer(extent + 2)}));
    else
      items.emplace_back(maker.random().below(extent + 3) - 1);
  }
  return items;
}

/// A tile of this shape, valid in a part.
Expr part(CallMaker& maker, DType dtype, const Shape& shape) {
  Random& random = maker.random();
  const Items whole(shape.begin(), shape.end());
  const std::int64_t kind = random.below(3);
  if (kind < 2) {
    const Expr tile = maker.tile(dtype, shape).expr;
    const Items valid = extents(maker, shape);
    if (kind == 0) return build::set_valid(tile, valid);
    return build::load(tile.operands[0], Items(shape.size(), Item(0)), whole, false, valid);
  }
  Shape source;
  Items offsets;
  for (const std::int64_t extent : shape) {
    source.push_back(random.below(extent + 4));
    const std::int64_t offset = random.below(source.back() + 2);
    offsets.emplace_back(offset);
    if (random.chance(30))
      offsets.back() = Item(call(Op::Clamp, {maker.scalar_of(DType::Int64), integer(0), integer(offset)}));
  }
  const Expr tensor = maker.tile(dtype, source).expr.operands[0];
  const Items valid = random.chance(30) ? extents(maker, shape) : Items{};
  return build::load(tensor, offsets, whole, true, valid);
}

Expr both(Random& random, DType dtype, Expr a, Expr b) {
  constexpr Op numeric[] = {Op::Add, Op::Sub, Op::Mul, Op::Maximum, Op::Minimum};
  const Op op = dtype == DType::Bool ? Op::LogicalOr : random.pick(numeric);
  if (random.chance(50)) std::swap(a, b);
  return call(op, {std::move(a), std::move(b)});
}

}  // namespace

CallTile partly_valid(CallMaker& maker) {
  Random& random = maker.random();
  const DType dtype = random.pick(dtypes);
  Shape shape(static_cast<std::size_t>(1 + random.below(3)));
  for (std::int64_t& extent : shape) extent = random.chance(80) ? 1 + random.below(9) : random.below(40);
  Expr x = part(maker, dtype, shape);
  const std::int64_t count = random.below(4);
  for (std::int64_t i = 0; i < count; ++i) {
    if (random.chance(50)) x = maker.named(std::move(x));
    const auto axis = static_cast<std::size_t>(random.below(std::ssize(shape)));
    Attributes attributes;
    attributes.axis = static_cast<std::int32_t>(axis);
    switch (random.below(9)) {
      case 0: x = both(random, dtype, std::move(x), part(maker, dtype, shape)); break;
      case 1: x = both(random, dtype, std::move(x), maker.tile(dtype, shape).expr); break;
      case 2: {
        Shape repeated = shape;
        repeated[axis] = 1;
        Expr other = random.chance(50) ? maker.tile(dtype, repeated).expr : part(maker, dtype, repeated);
        x = both(random, dtype, std::move(x), std::move(other));
        break;
      }
      case 3: {
        if (dtype == DType::Bool) break;
        // Sums of floats depend on the order.
        constexpr Op reductions[] = {Op::Max, Op::Min, Op::Sum};
        x = call(reductions[random.below(is_floating(dtype) ? 2 : 3)], {std::move(x)});
        x.attributes = attributes;
        shape[axis] = 1;
        break;
      }
      case 4:
        attributes.axis2 = -1;
        x = tile_call(Op::Transpose, {std::move(x)}, attributes);
        std::swap(shape[axis], shape.back());
        break;
      case 5:
        if (is_integer(dtype)) x = tile_call(Op::Cumsum, {std::move(x)}, attributes);
        break;
      case 6: x = build::set_valid(std::move(x), extents(maker, shape)); break;
      case 7:
        if (dtype == DType::Bool) break;
        x = maker.named(std::move(x));
        x = call(Op::Add, {x, build::cast(dtype, build::valid(x, attributes.axis))});
        break;
      default: x = build::fillpad(std::move(x), random.pick(fills));
    }
  }
  if (random.chance(50)) x = build::fillpad(std::move(x), random.pick(fills));
  CallTile result{std::move(x), dtype, {}};
  for (const std::int64_t extent : shape) result.shape.push_back({extent, Dim{extent}, Item(extent)});
  return result;
}

}  // namespace trilith::codegen::random_calls
