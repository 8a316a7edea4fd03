// runtime/pl/config.hpp -- pl::RunConfig: what may be set, from C++ or from the environment.
//
//   pl::RunConfig config{.platform = "a2a3sim", .distributed = {.device_ids = {0, 1}}};
//
// Each field has a default and an environment variable, named beside it. A variable gives the value of a
// field that the program left at its default; a value that cannot be read is a pl::ConfigError naming
// variable, value and what was expected. Fields marked "not built yet" are refused by name when they are set
// to anything but their default. A plain value: not synchronised.
#pragma once

#include "pl/log.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace pl {

struct DistributedConfig {
  std::vector<int> device_ids = {0};  ///< TRILITH_DEVICE_IDS=4,5; rank r is device device_ids[r]
  int num_sub_workers = 0;  ///< TRILITH_NUM_SUB_WORKERS; threads for host callbacks; 0: the caller's (mpi: 0)
  std::string transport = "threads";  ///< TRILITH_TRANSPORT; "processes": forked; "mpi": under mpirun
  std::string results = "all";        ///< TRILITH_RESULTS; "local": on mpi, only what the own rank wrote
  bool operator==(const DistributedConfig&) const = default;
};

struct RunConfig {
  /// TRILITH_PLATFORM; "a2a3sim": simulated devices; "a2a3model": the same, their kernels the emitted AscendC on a model
  /// of its interface; "a2a3": writes the package for the hardware (pl::CompiledProgram::save)
  std::string platform = "a2a3sim";
  DistributedConfig distributed = {};
  int cores = 4;                      ///< TRILITH_CORES; of one device: how many tasks run at once
  int threads = 1;                    ///< TRILITH_THREADS; of one kernel: how many run rounds of pl::parallel
  std::string target_cpu = "native";  ///< TRILITH_TARGET_CPU; "native", "x86-64-v3", ...
  std::string cache_dir = {};  ///< TRILITH_CACHE_DIR; empty: $XDG_CACHE_HOME/trilith or ~/.cache/trilith
  std::uint64_t cache_limit = std::uint64_t{1} << 30;  ///< TRILITH_CACHE_LIMIT; bytes on disk
  bool shared_cache = false;        ///< TRILITH_SHARED_CACHE; entries that other users may read
  std::string dump_dir = {};        ///< TRILITH_DUMP_DIR; keeps the emitted sources
  bool fast_math = false;           ///< TRILITH_FAST_MATH; lets operations contract
  bool check = false;               ///< TRILITH_CHECK; finds races and lost signals between ranks, slowly
  std::uint64_t schedule_seed = 0;  ///< TRILITH_SCHEDULE_SEED; not 0: another order of tasks and ranks
  std::string trace = {};       ///< TRILITH_TRACE; a file for a Perfetto (Chrome) trace of entries and tasks
  bool tune = false;            ///< TRILITH_TUNE; not built yet
  bool compile = true;          ///< TRILITH_COMPILE; 0: a kernel that no cache holds is an error
  int max_compile_threads = 0;  ///< TRILITH_MAX_COMPILE_THREADS; 0: as many as the machine has cores
  /// TRILITH_SPECIALISATION_BUDGET; of one kernel: the shapes beyond it share code with run-time extents; 0: no limit
  int specialisation_budget = 64;
  LogLevel log_level = LogLevel::Warning;  ///< TRILITH_LOG_LEVEL; trace, debug, info, warning, error, off
  bool eager = false;                      ///< TRILITH_EAGER; run the lambdas natively, compile nothing
  bool operator==(const RunConfig&) const = default;
};

namespace detail {

/// `config` with every field that is at its default replaced by its environment variable where that is set.
[[nodiscard]] RunConfig with_environment(RunConfig config);
/// Throws ConfigError for a value that is wrong or not built yet.
void validate(const RunConfig& config);
/// The fields that differ, one a line: "platform: compiled for \"a2a3sim\", called with \"a2a3\"".
[[nodiscard]] std::string describe_difference(const RunConfig& compiled, const RunConfig& called);

}  // namespace detail
}  // namespace pl
