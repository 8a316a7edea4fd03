// codegen/shrink.hpp -- makes a failing kernel small: takes statements away and puts operands in the place of
// operations for as long as it still fails.
//
// `fails` says whether a candidate shows the fault; it must be false for a kernel that is refused. Parameters and
// captures stay, so the same arguments fit. Deterministic.
#pragma once

#include "codegen/ir.hpp"

#include <functional>

namespace trilith::codegen {

/// Tries at most `attempts` candidates.
[[nodiscard]] Kernel shrink(Kernel kernel, const std::function<bool(const Kernel&)>& fails,
                            int attempts = 2000);

}  // namespace trilith::codegen
