// runtime/services.hpp -- calls a compiled kernel: faults, scratch memory, printing, the floating-point
// environment.
#pragma once

#include "pl/abi.hpp"

#include <cstdint>

namespace pl::detail {

/// Runs `entry` on the calling thread. Throws what the kernel reported, at the user's line. The
/// floating-point environment is the default inside and the caller's afterwards.
void run_entry(abi::Entry entry, const abi::Args& args);

}  // namespace pl::detail
