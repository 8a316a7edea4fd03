// codegen/ascendc/print.hpp -- the text of a planned and synchronised program.
#pragma once

#include "codegen/ascendc/context.hpp"

namespace trilith::codegen::ascendc {

/// Fills text, lines and memory; the arguments are there already.
void print(Context& context, const std::string& symbol, std::int64_t tile_bytes, Emitted& emitted);

}  // namespace trilith::codegen::ascendc
