// Calls of the operations that move elements and change none.
#include "codegen/xsimd/tile_call.hpp"

#include <algorithm>

namespace trilith::codegen::xsimd {

void write_transpose(TileCall& call) {
  const std::vector<Dim>& shape = call.type(0).shape;
  std::size_t first = call.axis(call.attributes().axis), second = call.axis(call.attributes().axis2);
  if (first > second) std::swap(first, second);
  const std::size_t rank = shape.size();
  if (first == second)  // nothing is exchanged: one long row
    return call.write("transpose", call.dtype(),
                      {call.result(), call.tile(0), "1", "1", "1", "1", call.count(shape)});
  call.write("transpose", call.dtype(),
             {call.result(), call.tile(0), call.count(shape, 0, first), call.extent(shape[first]),
              call.count(shape, first + 1, second), call.extent(shape[second]),
              call.count(shape, second + 1, rank)});
}

}  // namespace trilith::codegen::xsimd
