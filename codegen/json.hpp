// codegen/json.hpp -- kernel IR as JSON text and back; equal to the byte after a round trip.
#pragma once

#include "codegen/ir.hpp"

#include <string>
#include <string_view>

namespace trilith::codegen {

/// Compact JSON with a fixed member order; no floating-point numbers (constants are stored as bits in hex).
[[nodiscard]] std::string to_json(const Kernel& kernel);
/// Throws pl::CaptureError for text that is no kernel IR or has a newer format version (both versions named).
[[nodiscard]] Kernel kernel_from_json(std::string_view text);

}  // namespace trilith::codegen
