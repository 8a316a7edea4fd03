// Calls of the operations that make tiles from numbers.
#include "codegen/xsimd/tile_call.hpp"

namespace trilith::codegen::xsimd {

void write_arange(TileCall& call) {
  const std::vector<Dim>& shape = call.type().shape;
  const std::size_t last = shape.empty() ? 0 : shape.size() - 1;
  call.write("arange", call.dtype(),
             {call.result(), call.count(shape, 0, last), call.count(shape, last, shape.size()),
              call.scalar(1), call.scalar(2)});
}

void write_tri(TileCall& call) {
  const std::vector<Dim>& shape = call.type().shape;
  call.write("tri", call.dtype() + (call.attributes().upper ? ", true" : ", false"),
             {call.result(), call.extent(shape[0]), call.extent(shape[1]), call.scalar(1)});
}

void write_random(TileCall& call) {
  call.write("random", call.dtype(),
             {call.result(), call.count(call.type().shape), call.scalar(1), call.scalar(2)});
}

}  // namespace trilith::codegen::xsimd
