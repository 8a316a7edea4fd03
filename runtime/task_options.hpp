// runtime/task_options.hpp -- what pl::submit and pl::spmd want of the call they are about to make.
#pragma once

#include "pl/task.hpp"

namespace pl::detail {

class TaskGraph;

struct TaskOptions {
  std::vector<TaskId> after;
  std::int64_t blocks = 1;
  bool own_thread = false;
  std::source_location where;
  int calls = 0;  ///< how many kernel calls it has met; the first one is the task
  TaskId task;
};

/// The number of a task of this graph; UserError for one of another. Not for a default TaskId.
[[nodiscard]] std::uint64_t number_of(const TaskGraph& graph, const TaskId& task,
                                      const std::source_location& where);

}  // namespace pl::detail
