// Typing rules of the operations that move elements and change none.
#include "codegen/tile_call.hpp"

#include <utility>

namespace trilith::codegen::rules {

TileCallType transpose(CallRule& rule) {
  rule.accept(0);
  const std::size_t rank = rule.rank(0);
  const std::size_t first = rule.axis(rule.attributes().axis, rank);
  const std::size_t second = rule.axis(rule.attributes().axis2, rank);
  std::vector<Expr> shape = rule.extents(0);
  std::swap(shape[first], shape[second]);
  return rule.result(rule.tile(0).dtype, std::move(shape));
}

}  // namespace trilith::codegen::rules
