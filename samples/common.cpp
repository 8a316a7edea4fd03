#include "common.hpp"

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <vector>

namespace samples {

pl::RunConfig parse_options(const std::string& what, int argc, char** argv) {
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

}  // namespace samples
