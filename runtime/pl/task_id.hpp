// runtime/pl/task_id.hpp -- pl::TaskId: a handle of one task of a device orchestration.
#pragma once

#include <cstdint>

namespace pl {

namespace detail {
struct TaskIdAccess;
}

/// What `pl::submit`, `pl::spmd` and `pl::at` return. Names a task of the running orchestration; a default one
/// names none, and as a dependency means nothing to wait for. A value: not synchronised.
class TaskId {
 public:
  constexpr TaskId() = default;
  [[nodiscard]] explicit constexpr operator bool() const { return graph_ != 0; }
  bool operator==(const TaskId&) const = default;

 private:
  friend struct detail::TaskIdAccess;
  std::uint64_t graph_ = 0;  ///< which orchestration; 0: none
  std::uint64_t number_ = 0;
};

namespace detail {
struct TaskIdAccess {
  [[nodiscard]] static TaskId make(std::uint64_t graph, std::uint64_t number) {
    TaskId task;
    task.graph_ = graph;
    task.number_ = number;
    return task;
  }
  [[nodiscard]] static std::uint64_t graph(const TaskId& task) { return task.graph_; }
  [[nodiscard]] static std::uint64_t number(const TaskId& task) { return task.number_; }
};
}  // namespace detail

}  // namespace pl
