// codegen/passes/independent_rounds.hpp -- may the rounds of a pl::parallel loop run at the same time?
#pragma once

#include "codegen/ir.hpp"

#include <string>

namespace trilith::codegen::passes {

/// For a loop of a specialised kernel. Empty: they may. Else why they run in order, for people: "`sum` is carried from
/// round to round". The loop's author says that rounds are independent; what is seen here to contradict that, or could
/// come out in another order, goes before it.
[[nodiscard]] std::string why_in_order(const Kernel& kernel, const Statement& loop);

}  // namespace trilith::codegen::passes
