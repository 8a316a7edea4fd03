// jit/compiler/recovery.hpp -- runs a piece of the compiler so that its death is not the host's.
//
// LLVM ends the process on a fatal error and may crash on input it does not expect. Both become a returned
// message here. The work runs on a thread of its own: with a stack that a deeply nested kernel fits in,
// whatever thread the user calls from, and with the host's asynchronous signals blocked. What the failed
// compile held is leaked: its destructors cannot be trusted after a crash.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace trilith::jit::compiler {

/// Returns the reason when `work` died, nothing when it returned.
[[nodiscard]] std::optional<std::string> run_guarded(const std::function<void()>& work);

}  // namespace trilith::jit::compiler
