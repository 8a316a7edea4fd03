// runtime/recorder.hpp -- the plan of a program: what its orchestrators dispatched in the run that records.
#pragma once

#include "pl/detail/kernel_object.hpp"
#include "pl/detail/program.hpp"

#include <array>
#include <source_location>
#include <string>
#include <vector>

namespace pl::detail {

/// A view with its own extents: what it was made from may be gone when the plan is checked.
struct RecordedView {
  DType dtype;
  int rank;
  void* data;
  std::array<std::int64_t, max_rank> extents, strides;
  explicit RecordedView(const ViewRef& view);
  [[nodiscard]] ViewRef view() const { return {dtype, false, rank, data, extents.data(), strides.data()}; }
};

struct RecordedArgument {
  ParameterInfo info;
  std::uint64_t scalar = 0;
  std::vector<RecordedView> view;  ///< one for a tensor, none for a scalar
  RecordedArgument(const ParameterInfo& parameter, const Argument& argument);
  [[nodiscard]] bool same_as(const RecordedArgument& other) const;
  /// An integer argument's value.
  [[nodiscard]] bool integer(std::int64_t& value) const;
};

/// One call of an in-core kernel.
struct RecordedTask {
  const void* kernel;
  std::string name;
  std::string signature;
  std::vector<RecordedArgument> arguments;
  std::vector<std::int64_t> integer_captures;
};

/// One dispatch to a device.
struct RecordedDispatch {
  const void* entry;
  int rank;
  std::source_location where;
  std::vector<RecordedArgument> arguments;
  std::vector<RecordedTask> tasks;
};

class Recorder {
 public:
  explicit Recorder(int ranks) : world_size(ranks) {}
  const int world_size;
  std::vector<RecordedDispatch> dispatches;

  /// Throws PlanError: ranks left out, two ranks that write one region. Logs the plan's warnings.
  void check(const std::source_location& host) const;
  /// The plan as text: one line a dispatch, one a task.
  [[nodiscard]] std::string text() const;
};

}  // namespace pl::detail
