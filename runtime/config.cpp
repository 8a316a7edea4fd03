// What a configuration may hold, and how two of them differ.
#include "pl/config.hpp"

#include "pl/error.hpp"
#include "runtime/config_fields.hpp"
#include "runtime/platform.hpp"

#include <algorithm>
#include <set>

namespace pl::detail {
namespace {

std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(int value) { return std::to_string(value); }
std::string text_of(std::uint64_t value) { return std::to_string(value); }
std::string text_of(const std::string& value) { return '"' + value + '"'; }
std::string text_of(LogLevel value) {
  constexpr const char* names[] = {"trace", "debug", "info", "warning", "error", "off"};
  return names[static_cast<int>(value)];
}
std::string text_of(const std::vector<int>& values) {
  std::string text = "{";
  for (std::size_t i = 0; i < values.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(values[i]);
  return text + "}";
}

template <class T>
void require_default(const char* name, const T& value, const T& initial) {
  if (value != initial)
    throw ConfigError("RunConfig." + std::string(name) + " = " + text_of(value) +
                      " is not built yet; leave it at " + text_of(initial));
}

[[noreturn]] void refuse(const std::string& name, const std::string& value, const std::string& expected) {
  throw ConfigError("RunConfig." + name + " = " + value + ": expected " + expected);
}

void validate_platform(const std::string& platform) {
  if (!find_platform(platform))
    refuse("platform", text_of(platform),
           "\"a2a3sim\" (simulated devices), \"a2a3model\" (simulated devices that run the emitted AscendC "
           "on a model of "
           "its interface) or \"a2a3\" (writes the package for the hardware)");
}

void validate_devices(const std::vector<int>& ids) {
  if (ids.empty()) refuse("distributed.device_ids", text_of(ids), "at least one device");
  std::set<int> seen;
  for (const int id : ids) {
    if (id < 0)
      refuse("distributed.device_ids", text_of(ids), "device numbers of 0 or more, not " + text_of(id));
    if (!seen.insert(id).second)
      refuse("distributed.device_ids", text_of(ids),
             "each device once; " + text_of(id) + " stands there twice");
  }
}

void validate_transport(const RunConfig& config) {
  const std::string& transport = config.distributed.transport;
  if (transport != "threads" && transport != "processes" && transport != "mpi")
    refuse("distributed.transport", text_of(transport), "\"threads\", \"processes\" or \"mpi\"");
  if (config.check && transport != "threads")
    throw ConfigError(
        "RunConfig.check = true with RunConfig.distributed.transport = " + text_of(transport) +
        ": the checker sees ranks of one process only; use the transport \"threads\", which runs the "
        "same program");
  if (config.schedule_seed != 0 && transport == "mpi")
    throw ConfigError(
        "RunConfig.schedule_seed = " + text_of(config.schedule_seed) +
        " with RunConfig.distributed.transport = \"mpi\": a seed orders ranks of one process; use the "
        "transport \"threads\", which runs the same program");
  if (config.distributed.num_sub_workers != 0 && transport == "mpi")
    throw ConfigError(
        "RunConfig.distributed.num_sub_workers = " + text_of(config.distributed.num_sub_workers) +
        " with RunConfig.distributed.transport = \"mpi\": a host callback runs on rank 0 while the other "
        "processes wait for it; use 0, which runs the same program");
  const std::string& results = config.distributed.results;
  if (results != "all" && results != "local")
    refuse("distributed.results", text_of(results), "\"all\" or \"local\"");
}

}  // namespace

void validate(const RunConfig& config) {
  validate_platform(config.platform);
  validate_devices(config.distributed.device_ids);
  const RunConfig initial;
  // More threads than any machine has cores for are a mistake in a number.
  if (config.distributed.num_sub_workers < 0 || config.distributed.num_sub_workers > 1024)
    refuse("distributed.num_sub_workers", text_of(config.distributed.num_sub_workers), "0 to 1024");
  validate_transport(config);
  // More than any device has, and still few enough to keep a list of.
  if (config.cores < 1 || config.cores > 1024) refuse("cores", text_of(config.cores), "1 to 1024");
  if (config.threads < 1 || config.threads > 1024) refuse("threads", text_of(config.threads), "1 to 1024");
  require_default("tune", config.tune, initial.tune);
  if (config.specialisation_budget < 0)
    refuse("specialisation_budget", text_of(config.specialisation_budget), "0 (no limit) or more");
  if (config.max_compile_threads < 0)
    refuse("max_compile_threads", text_of(config.max_compile_threads),
           "0 (as many as there are cores) or more");
  if (config.target_cpu.empty())
    refuse("target_cpu", text_of(config.target_cpu), "\"native\" or the name of a CPU");
}

std::string describe_difference(const RunConfig& compiled, const RunConfig& called) {
  std::string text;
  for_each_field(
      [&](const char* name, const char*, const auto& before, const auto& after) {
        if (before == after) return;
        if (!text.empty()) text += "; ";
        text += std::string(name) + ": compiled for " + text_of(before) + ", called with " + text_of(after);
      },
      compiled, called);
  return text;
}

}  // namespace pl::detail
