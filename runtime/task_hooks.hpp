// runtime/task_hooks.hpp -- who follows the tasks of an entry and their order: the checker of windows.
#pragma once

#include "runtime/region_index.hpp"

#include <cstdint>
#include <memory>
#include <span>

namespace pl::detail {

class TaskWatch;

class TaskHooks {
 public:
  /// On the submitting thread, before the task can run. `after`: the tasks that it waits for, done or not.
  virtual void submitted(TaskNumber task, std::span<const TaskNumber> after) = 0;
  /// On the thread that runs a block, around it; several at once. `end`: where it has not failed.
  [[nodiscard]] virtual std::shared_ptr<TaskWatch> begin(TaskNumber task, std::int64_t block) = 0;
  virtual void end(TaskNumber task, TaskWatch& watch) = 0;
  /// The submitting thread knows that a task, or all of them, are done.
  virtual void waited(TaskNumber task) = 0;
  virtual void waited_for_all() = 0;

 protected:
  ~TaskHooks() = default;
};

}  // namespace pl::detail
