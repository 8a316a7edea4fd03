// Typing rules of the operations that make tiles from numbers.
#include "codegen/tile_call.hpp"

namespace trilith::codegen::rules {

TileCallType arange(CallRule& rule) {
  const DType dtype = rule.wanted();
  rule.scalar(1, dtype);
  rule.scalar(2, dtype);
  return rule.result(dtype, rule.shape(0));
}

TileCallType tri(CallRule& rule) {
  const DType dtype = rule.wanted();
  rule.scalar(1, DType::Int64);
  std::vector<Expr> shape = rule.shape(0);
  if (shape.size() != 2) rule.shape_error("a triangle has 2 axes, not " + std::to_string(shape.size()));
  return rule.result(dtype, std::move(shape));
}

TileCallType random(CallRule& rule) {
  const DType dtype = rule.wanted();
  rule.scalar(1, DType::Int64);
  rule.scalar(2, DType::Int64);
  return rule.result(dtype, rule.shape(0));
}

}  // namespace trilith::codegen::rules
