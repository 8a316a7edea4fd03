// runtime/core_pool.hpp -- the process's pool of threads for work that cannot wait, opened at first need.
#pragma once

#include <functional>

namespace pl::detail {

/// Runs `work`, which throws nothing, on a worker of the pool, soon; returns at once. False: there is no pool,
/// because its library cannot be opened (reported once) or because this is a child of fork() and the workers
/// stayed in the parent.
[[nodiscard]] bool run_on_core_pool(std::function<void()> work);

/// For tests: has anything needed the pool yet?
[[nodiscard]] bool core_pool_is_open() noexcept;

}  // namespace pl::detail
