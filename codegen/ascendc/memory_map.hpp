// codegen/ascendc/memory_map.hpp -- where a kernel's buffers lie in the memories of a core, as text and as a picture.
#pragma once

#include "codegen/ascendc/emit.hpp"

#include <string>

namespace trilith::codegen::ascendc {

/// One line a buffer, by memory and offset: bytes, place, the lines of the text that use it, and how full each is.
[[nodiscard]] std::string memory_map_text(const Emitted& emitted);
/// The same as SVG: a box a buffer, addresses to the right, lines of the text downwards.
[[nodiscard]] std::string memory_map_svg(const Emitted& emitted);

/// Bytes that a kernel may use of a memory ("UB", "L1", "L0A", …); 0: no memory of a core.
[[nodiscard]] std::int64_t capacity_of(const std::string& space);

}  // namespace trilith::codegen::ascendc
