#include "codegen/ascendc/call.hpp"
#include "codegen/error.hpp"

namespace trilith::codegen::ascendc {
void lower_generate(TileCall&) { throw pl::InternalError("AscendC emitter: generate"); }
void lower_index(TileCall&) { throw pl::InternalError("AscendC emitter: index"); }
}  // namespace trilith::codegen::ascendc
