// runtime/services.hpp -- calls a compiled kernel: faults, scratch memory, printing, the floating-point
// environment.
#pragma once

#include "pl/abi.hpp"
#include "pl/bound.hpp"
#include "runtime/recorded_view.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace pl::detail {

/// Runs `entry` on the calling thread. `views`: of its tensor arguments, where windows may be among them. Throws what the
/// kernel reported, at the user's line. The
/// floating-point environment is the default inside and the caller's afterwards.
void run_entry(abi::Entry entry, const abi::Args& args, std::span<const RecordedView> views = {});

/// For calls of `entry` that nothing surrounds, one at a time.
[[nodiscard]] std::unique_ptr<BareState> make_bare_state(abi::Entry entry, const abi::Args& args);

}  // namespace pl::detail
