// The functions of pl/task.hpp: what they do at each level.
#include "pl/task.hpp"

#include "pl/detail/location.hpp"
#include "pl/error.hpp"
#include "runtime/recorder.hpp"
#include "runtime/task_graph.hpp"
#include "runtime/task_options.hpp"

#include <chrono>
#include <cstdlib>
#include <thread>

namespace pl {
namespace detail {
namespace {

ThreadState& require_device(const char* what, const std::source_location& where) {
  ThreadState& thread = thread_state();
  if (thread.level == Level::Device) return thread;
  const char* place = thread.level == Level::None   ? "outside of a pl::jit entry"
                      : thread.level == Level::Host ? "in a host orchestrator"
                                                    : "in an in-core kernel";
  throw LevelError(std::string(what) + " was called " + place +
                       "; it orders the tasks of a device: call it in the body of a pl::jit entry",
                   location_of(where));
}

void refuse_in_graph(const ThreadState& thread, const char* what, const std::source_location& where) {
  if (thread.tasks != nullptr && thread.tasks->is_recording())
    throw PlanError(std::string(what) +
                        " in an orchestration that a pl::Graph records: its tasks run later, so nothing can "
                        "be waited for or read here; call the pl::jit entry itself",
                    location_of(where));
}

}  // namespace

std::uint64_t number_of(const TaskGraph& graph, const TaskId& task, const std::source_location& where) {
  if (TaskIdAccess::graph(task) == graph.id()) return TaskIdAccess::number(task);
  throw UserError(
      "a pl::TaskId of another orchestration was given; a task lives as long as the pl::jit entry that made "
      "it, and entries are ordered by the host",
      location_of(where));
}

TaskCall::TaskCall(const char* what, std::int64_t blocks, const std::source_location& where)
    : what_(what), options_(std::make_unique<TaskOptions>()), previous_(thread_state().options) {
  ThreadState& thread = require_device(what, where);
  if (blocks < 0)
    throw UserError(std::string(what) + ": " + std::to_string(blocks) + " blocks; expected 0 or more",
                    location_of(where));
  options_->blocks = blocks;
  options_->where = where;
  thread.options = options_.get();
}

TaskCall::~TaskCall() { thread_state().options = previous_; }

void TaskCall::add(const TaskOption& option) {
  if (options_->where.line() == 0) options_->where = option.where;
  options_->after.insert(options_->after.end(), option.after.begin(), option.after.end());
  options_->own_thread |= option.own_thread;
  // A thread each, all at once: more is a mistake, and would take the machine down.
  constexpr std::int64_t most = 256;
  if (options_->own_thread && options_->blocks > most)
    throw UserError(std::string(what_) + ": " + std::to_string(options_->blocks) +
                        " blocks that may wait for each other need a thread each; expected at most " +
                        std::to_string(most),
                    location_of(options_->where));
}

TaskId TaskCall::task() const {
  if (options_->calls != 1)
    throw UserError(std::string(what_) + " made " + std::to_string(options_->calls) +
                        " kernel calls; give it one in-core kernel",
                    location_of(options_->where));
  return options_->task;
}

void* create_tensor(std::int64_t elements, std::size_t element_size, const std::source_location& where) {
  ThreadState& thread = require_device("pl::create_tensor", where);
  const auto bytes = static_cast<std::size_t>(elements) * element_size;
  try {
    return thread.recorder != nullptr ? thread.recorder->allocate(bytes) : thread.tasks->allocate(bytes);
  } catch (const std::bad_alloc&) {
    throw Error("pl::create_tensor: no memory for " + std::to_string(bytes) + " bytes", location_of(where));
  }
}

void pause_wait() {
  throw_if_task_must_stop();
  std::this_thread::sleep_for(std::chrono::microseconds(20));
}

void wait_to_read(const ViewRef& view, const std::source_location& where) {
  ThreadState& thread = require_device("pl::wait", where);
  if (thread.recorder != nullptr) throw PlanEnds{where};
  refuse_in_graph(thread, "a read of a tensor", where);
  thread.tasks->wait_for({RecordedView(view), false});
}

}  // namespace detail

void wait(const TaskId& task, std::source_location where) {
  detail::ThreadState& thread = detail::require_device("pl::wait", where);
  if (thread.recorder != nullptr || !task) return;
  detail::refuse_in_graph(thread, "pl::wait", where);
  thread.tasks->wait(detail::number_of(*thread.tasks, task, where));
}

void manual_scope(const std::function<void()>& body, std::source_location where) {
  detail::ThreadState& thread = detail::require_device("pl::manual_scope", where);
  struct Restore {
    bool before;
    ~Restore() { detail::thread_state().manual = before; }
  } const restore{thread.manual};
  thread.manual = true;
  body();
}

}  // namespace pl
