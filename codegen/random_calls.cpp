#include "codegen/random_calls.hpp"

#include <utility>

namespace trilith::codegen {
namespace {

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

constexpr MakeCall makers[] = {transpose};

}  // namespace

std::span<const MakeCall> call_makers() { return makers; }

}  // namespace trilith::codegen
