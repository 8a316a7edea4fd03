// runtime/pl/detail/program.hpp -- host and device level without C++ types: recording, running, dispatch.
//
// Private: included by pl/orchestrator.hpp.
#pragma once

#include "pl/config.hpp"
#include "pl/detail/parameter.hpp"
#include "pl/statistics.hpp"

#include <functional>
#include <memory>
#include <source_location>
#include <span>
#include <string>

namespace pl::detail {

class ContextState;
class Program;
struct KeptForRuns;

/// What a device entry was called with, and how to run it.
struct Dispatch {
  const void* entry;  ///< tells entries apart
  std::source_location definition;
  std::span<const ParameterInfo> parameters;
  const Argument* arguments;
  std::source_location where;  ///< of `pld::device = r` or of the call; line 0 if unknown
  bool has_device;
  int device;
};

/// Runs `body` on the calling thread at device level when this is ordinary C++ or a program is recorded, and
/// returns true; enqueues `later()` on the rank's device when a program runs, and returns false. LevelError
/// elsewhere.
bool dispatch(const Dispatch& dispatch, const std::function<void()>& body,
              const std::function<std::function<void()>()>& later);

/// A host orchestrator compiled for some arguments.
struct ProgramArguments {
  std::span<const ParameterInfo> parameters;
  const Argument* arguments;
};
/// Runs `host` once in recording; every kernel it reaches is compiled and the plan is checked. `config`: null
/// for the calling thread's context.
[[nodiscard]] std::shared_ptr<Program> compile_program(const std::function<void()>& host,
                                                       const ProgramArguments& with, const RunConfig* config,
                                                       const std::source_location& definition,
                                                       const std::source_location& where);
/// Runs it. `config`, where not null, must be what it was compiled for: ConfigError with both otherwise. `kept`: of the
/// worker that runs it.
void run_program(const std::shared_ptr<Program>& program, const std::function<void()>& host,
                 const ProgramArguments& with, const RunConfig* config, const std::source_location& where,
                 KeptForRuns* kept = nullptr);
/// Are these the arguments' dtypes and extents, and the configuration, that it was compiled for?
[[nodiscard]] bool compiled_for(const Program& program, const ProgramArguments& with,
                                const RunConfig* config);
[[nodiscard]] std::string plan_of(const Program& program);
void save_plan(const Program& program, const std::string& path, const std::source_location& where);
/// The package for the hardware, and in it the arguments as they are now: as inputs, or as what is expected.
void save_package(const Program& program, const std::string& folder, const std::source_location& where);
enum class SavedData { Inputs, Expected };
void save_data(const Program& program, const std::string& folder, const ProgramArguments& with,
               SavedData data, const std::source_location& where);
/// Its configuration, on simulated devices.
[[nodiscard]] RunConfig simulator_config(const Program& program);
[[nodiscard]] Statistics statistics_of(const Program& program);

}  // namespace pl::detail
