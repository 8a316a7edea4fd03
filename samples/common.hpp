// samples/common.hpp -- what the distributed samples share: their options, and main.
#pragma once

#include "check.hpp"

#include <pl/pl.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace samples {

/// Reads `-p PLATFORM`, `-d DEVICE,DEVICE,…` (one rank a device) and `--transport NAME` into a RunConfig. `--help` and mistakes
/// end the program, as CLI11 does it.
pl::RunConfig parse_options(const std::string& what, int argc, char** argv);

/// What `main` of a distributed lesson does: reads the options and runs `lesson(config, number of ranks)`; prints
/// an error of the program and ends with exit code 1.
inline int run(const std::string& what, int argc, char** argv,
               const std::function<void(const pl::RunConfig& config, std::int64_t ranks)>& lesson) {
  const pl::RunConfig config = parse_options(what, argc, argv);
  return run([&] { lesson(config, static_cast<std::int64_t>(config.distributed.device_ids.size())); });
}

/// Every rank's y[r] against one golden, the same for all.
template <class Golden>
void check_all(const std::string& what, const pl::Array<float>& y, const Golden& golden, double tolerance) {
  check(what, y, [&](std::int64_t, std::int64_t i) { return golden(i); }, tolerance);
}

}  // namespace samples
