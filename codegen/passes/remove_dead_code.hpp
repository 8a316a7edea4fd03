// codegen/passes/remove_dead_code.hpp -- what no store, print, fault or jump depends on goes.
#pragma once

#include "codegen/ir.hpp"

namespace trilith::codegen::passes {

/// In a specialised kernel: drops assignments whose variable nothing needs, and branches and counted loops
/// left empty. An operation that may fault when run (a region or two run-time extents only the run can check)
/// stays, so that a wrong call is reported whatever uses the result. `checked`: and every load from a window, which
/// the run is told of.
void remove_dead_code(Kernel& kernel, bool checked = false);

/// True when only the run can tell whether the operation's region or shapes fit.
[[nodiscard]] bool may_fault(const Kernel& kernel, const Expr& expression);

}  // namespace trilith::codegen::passes
