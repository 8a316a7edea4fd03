// runtime/recorder.hpp -- the plan of a program: what its orchestrators dispatched in the run that records.
#pragma once

#include "codegen/ascendc/emit.hpp"
#include "codegen/specialise.hpp"
#include "pl/detail/kernel_object.hpp"
#include "pl/detail/program.hpp"
#include "runtime/captured_kernel.hpp"
#include "runtime/recorded_view.hpp"
#include "runtime/shared_memory.hpp"
#include "runtime/windows/window_memory.hpp"

#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

namespace pl::detail {

struct RecordedArgument {
  ParameterInfo info;
  std::uint64_t scalar = 0;
  std::vector<RecordedView> view;  ///< one for a tensor, none for a scalar
  RecordedArgument(const ParameterInfo& parameter, const Argument& argument);
  [[nodiscard]] bool same_as(const RecordedArgument& other) const;
  /// An integer argument's value.
  [[nodiscard]] bool integer(std::int64_t& value) const;
};

/// A collective of the host's, or of a kernel's code.
struct RecordedCollective {
  std::string operation;  ///< "allreduce"
  std::string algorithm = "auto";
  const WindowMemory* window = nullptr;
  std::int64_t bytes = 0;  ///< of the part of a rank
  Location where;
  bool signal = false;
  std::optional<std::int64_t> times = 1;  ///< nothing: only its run knows
  bool conditional = false;
};

/// What the code of a task was made from; kept where it will be emitted for the hardware.
struct TaskCode {
  std::shared_ptr<const CapturedKernel> kernel;
  trilith::codegen::Signature signature;
  std::vector<std::uint64_t> captures;  ///< their slots
  std::shared_ptr<const trilith::codegen::ascendc::Emitted> emitted = {};
};

/// One call of an in-core kernel.
struct RecordedTask {
  const void* kernel = nullptr;
  std::string name;
  std::string signature;
  std::vector<RecordedArgument> arguments;
  std::vector<std::int64_t> integer_captures;
  std::vector<RecordedCollective> collectives;
  bool has_unseen_code = false;  ///< it has windows, and what it does to them is not known
  std::shared_ptr<const TaskCode> code = nullptr;
  std::int64_t blocks = 1;  ///< of pl::spmd
};

/// One dispatch to a device.
struct RecordedDispatch {
  const void* entry;
  int rank;
  std::source_location where;
  std::vector<RecordedArgument> arguments;
  std::vector<RecordedTask> tasks;
  std::source_location ended_at;  ///< of the read that ended its plan; line 0: complete
};

/// One pl::host_callback; without a name where the function itself was given.
struct RecordedCallback {
  std::string name;
  std::source_location where;
};

/// Ends the recording of one dispatch: it reads an element or a result, which is not there yet. Not a
/// std::exception, as Stopped.
struct PlanEnds {
  std::source_location where;
};

class Recorder {
 public:
  explicit Recorder(int ranks) : world_size(ranks) {}
  const int world_size;
  std::vector<RecordedDispatch> dispatches;
  std::vector<RecordedCallback> callbacks;
  std::vector<RecordedCollective> collectives;  ///< of the host
  Windows windows{world_size, {}, nullptr};
  /// Stands for a device's memory: never read or written, and at no other tensor's place.
  [[nodiscard]] void* allocate(std::size_t bytes);
  /// Takes over the memory of a pl::Array that ends while it is recorded.
  void keep(void* elements) noexcept { arrays_.keep(elements); }

  /// Throws PlanError: ranks left out, two ranks that write one region. Logs the plan's warnings.
  void check(const std::source_location& host) const;
  /// The plan as text: one line a dispatch, one a task.
  [[nodiscard]] std::string text() const;

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::vector<std::unique_ptr<void, Free>> memory_;
  KeptElements arrays_;
};

}  // namespace pl::detail
