// samples/common.hpp -- the two options every distributed sample has.
#pragma once

#include <pl/pl.hpp>

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace samples {

/// Reads `-p PLATFORM` and `-d DEVICE,DEVICE,…` (one rank a device) into a RunConfig. `--help` and mistakes
/// end the program, as CLI11 does it.
inline pl::RunConfig parse_options(const std::string& what, int argc, char** argv) {
  CLI::App app(what);
  std::string platform = "a2a3sim";
  std::vector<int> devices{0, 1};
  app.add_option("-p,--platform", platform, "where the kernels run")->capture_default_str();
  app.add_option("-d,--devices", devices, "device ids, one rank each")->delimiter(',')->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  pl::RunConfig config;
  config.platform = platform;
  config.distributed.device_ids = devices;
  return config;
}

}  // namespace samples
