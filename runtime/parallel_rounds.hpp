// runtime/parallel_rounds.hpp -- the rounds of one loop on several threads.
#pragma once

#include <cstdint>
#include <functional>

namespace pl::detail {

/// Calls `part(first, last)` for parts that make up [0, count), the lower ones first, on at most `threads` threads, the
/// calling one and workers of the core pool; returns when all are done. After a part that gives false no other begins.
/// `part` throws nothing.
void run_rounds(std::int64_t count, int threads, const std::function<bool(std::int64_t, std::int64_t)>& part);

}  // namespace pl::detail
