// samples/common.hpp -- what the distributed samples share: their options, and main.
#pragma once

#include "check.hpp"

#include <pl/pl.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace samples {

/// Reads `-p PLATFORM`, `-d DEVICE,DEVICE,…` (one rank a device) and `--transport NAME` into a RunConfig. `--help` and mistakes
/// end the program, as CLI11 does it.
inline pl::RunConfig parse_options(const std::string& what, int argc, char** argv) {
  CLI::App app(what);
  std::string platform = "a2a3sim";
  std::vector<int> devices{0, 1};
  std::string transport = "threads";
  app.add_option("-p,--platform", platform, "where the kernels run")->capture_default_str();
  app.add_option("-d,--devices", devices, "device ids, one rank each")->delimiter(',')->capture_default_str();
  app.add_option("--transport", transport, "what ranks are: threads, processes or mpi (under mpirun)")
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  pl::RunConfig config;
  config.platform = platform;
  config.distributed.device_ids = devices;
  config.distributed.transport = transport;
  return config;
}

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
