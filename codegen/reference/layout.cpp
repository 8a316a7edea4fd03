// Operations that move elements and change none.
#include "codegen/reference/tile_calls.hpp"

namespace trilith::codegen::reference {

void transpose(const CallInputs& in, Value& result) {
  const Value& x = in.tile(0);
  const std::size_t first = in.axis(in.attributes.axis), second = in.axis(in.attributes.axis2);
  for_each_index(result.shape, [&](std::int64_t i, Shape index) {
    std::swap(index[first], index[second]);
    copy_element(result, i, x, position_of(index, x.shape));
  });
}

}  // namespace trilith::codegen::reference
