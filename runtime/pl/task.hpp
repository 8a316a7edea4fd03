// runtime/pl/task.hpp -- the tasks of a device orchestration: submit, spmd, wait, manual_scope, no_dep,
// create_tensor.
//
//   auto device = pl::jit([](pl::Tensor<float> x, pl::Out<pl::Tensor<float>> y) {
//     auto half = pl::create_tensor<float>({x.dim(0)});
//     scale(x, half, 0.5f);                                  // a task
//     auto t = pl::submit(scale, half, y, 2.0f);             // one with a handle
//     pl::spmd(4, add, x, half, y, pl::deps = {t});          // one of four blocks, on up to four cores
//   });
//
// Each kernel call in a `pl::jit` body is a task. It runs as soon as the tasks it depends on are done, on any
// core of the device (RunConfig.cores). It depends on every earlier task that writes what it reads or writes,
// or reads what it writes: exactly, for boxes of one base and stride, by byte range otherwise. Results never
// depend on the order in which the cores take the tasks. The first error of a task stops the rest of its entry
// and is thrown where the program was called. All of this belongs in a `pl::jit` body: elsewhere LevelError.
#pragma once

#include "pl/kernel.hpp"
#include "pl/task_id.hpp"
#include "pl/tensor.hpp"

#include <functional>
#include <initializer_list>
#include <vector>

namespace pl {

namespace detail {

struct TaskOptions;

/// A list of tasks and the place where it was written.
struct TaskList {
  TaskList(std::initializer_list<TaskId> list,  // NOLINT(google-explicit-constructor): pl::deps = {t1, t2}
           std::source_location location = std::source_location::current())
      : tasks(list), where(location) {}
  TaskList(std::vector<TaskId> list,  // NOLINT(google-explicit-constructor)
           std::source_location location = std::source_location::current())
      : tasks(std::move(list)), where(location) {}
  TaskList(const TaskId& task,  // NOLINT(google-explicit-constructor)
           std::source_location location = std::source_location::current())
      : tasks{task}, where(location) {}
  std::vector<TaskId> tasks;
  std::source_location where;
};

}  // namespace detail

/// What stands behind the arguments of `pl::submit` and `pl::spmd`: `pl::deps = {…}`, `pl::own_thread`.
struct TaskOption {
  std::vector<TaskId> after;
  bool own_thread = false;
  std::source_location where{};
};

struct DepsKeyword {
  TaskOption operator=(const detail::TaskList& list) const {  // NOLINT: a keyword argument
    return {list.tasks, false, list.where};
  }
};
/// `pl::submit(kernel, args…, pl::deps = {t1, t2})`: also after these tasks. Also a std::vector<TaskId>.
inline constexpr DepsKeyword deps{};

/// `pl::submit(kernel, args…, pl::own_thread)`: the task may wait for another one, so it takes no core: each of
/// its blocks has an OS thread of its own, at most 256.
inline const TaskOption own_thread{{}, true, {}};

namespace detail {

/// While it lives, the next kernel call of this thread becomes the task.
class TaskCall {
 public:
  TaskCall(const char* what, std::int64_t blocks, const std::source_location& where);
  ~TaskCall();
  TaskCall(const TaskCall&) = delete;
  TaskCall& operator=(const TaskCall&) = delete;
  void add(const TaskOption& option);
  /// The task of the one call that was made; UserError where there was none or several.
  [[nodiscard]] TaskId task() const;

 private:
  const char* what_;
  std::unique_ptr<TaskOptions> options_;
  TaskOptions* previous_;
};

template <class A>
inline constexpr bool is_task_option = std::is_same_v<std::remove_cvref_t<A>, TaskOption>;

/// Calls the kernel so that what does not fit is refused at the user's line.
template <class F, class R, class... P, class Arguments, std::size_t... I>
void call_at(const TypedKernel<F, R, P...>& kernel, const std::source_location& where,
             const Arguments& arguments, std::index_sequence<I...>) {
  static_assert(sizeof...(I) == sizeof...(P), "the kernel takes another number of arguments");
  (void)kernel(Given<P>(std::get<I>(arguments), where)..., where);
}
template <class... P, class Arguments, std::size_t... I>
void call_at(const Kernel<void(P...)>& kernel, const std::source_location& where, const Arguments& arguments,
             std::index_sequence<I...>) {
  static_assert(sizeof...(I) == sizeof...(P), "the kernel takes another number of arguments");
  kernel(Given<P>(std::get<I>(arguments), where)..., where);
}
template <class F, class Arguments, std::size_t... I>
void call_at(const GenericKernel<F>& kernel, const std::source_location&, const Arguments& arguments,
             std::index_sequence<I...>) {
  (void)kernel(std::get<I>(arguments)...);
}

template <class K, class... A>
TaskId call_as_task(const char* what, std::int64_t blocks, const std::source_location& where, const K& kernel,
                    A&... arguments) {
  constexpr std::size_t options = (std::size_t{0} + ... + std::size_t{is_task_option<A>});
  constexpr std::size_t count = sizeof...(A) - options;
  TaskCall call(what, blocks, where);
  const auto add = [&](const auto& argument) {
    if constexpr (is_task_option<decltype(argument)>) call.add(argument);
  };
  (add(arguments), ...);
  const auto all = std::tie(arguments...);
  [&]<std::size_t... I>(std::index_sequence<I...> numbers) {
    static_assert((!is_task_option<std::tuple_element_t<I, std::tuple<A...>>> && ...),
                  "pl::deps = {…} and pl::own_thread stand behind the arguments");
    call_at(kernel, where, all, numbers);
  }(std::make_index_sequence<count>{});
  return call.task();
}

}  // namespace detail

/// Calls a kernel as a task and is its TaskId: `auto t = pl::submit(kernel, args…[, pl::deps = {t1, t2}])`.
/// A class, since a function cannot have a pack of arguments and know where it is called.
template <class K, class... A>
class submit : public TaskId {
 public:
  submit(const K& kernel, A&&... arguments, std::source_location where = std::source_location::current())
      : TaskId(detail::call_as_task("pl::submit", 1, where, kernel, arguments...)) {}
};
template <class K, class... A>
submit(const K&, A&&...) -> submit<K, A...>;

/// One task of `blocks` blocks, which may run on several cores at once; `pl::block_idx()` in the kernel tells
/// them apart: `pl::spmd(4, kernel, args…)`. 0 blocks: nothing runs. A block must not write what another one
/// reads or writes.
template <class K, class... A>
class spmd : public TaskId {
 public:
  spmd(std::int64_t blocks, const K& kernel, A&&... arguments,
       std::source_location where = std::source_location::current())
      : TaskId(detail::call_as_task("pl::spmd", blocks, where, kernel, arguments...)) {}
};
template <class N, class K, class... A>
spmd(N, const K&, A&&...) -> spmd<K, A...>;

/// Waits until the task is done; the device runs tasks meanwhile. A default TaskId: returns at once.
void wait(const TaskId& task, std::source_location where = std::source_location::current());

namespace detail {
/// Between two looks at a condition: lets other threads run; ends this task when the run has failed elsewhere.
void pause_wait();
}  // namespace detail

/// Waits until `condition()` holds, in code that runs natively: in a kernel of an eager run (its task needs
/// `pl::own_thread`) or in ordinary C++. When another task or rank fails meanwhile, the waiting task ends and the program
/// throws that first error, where a loop of one's own would hang. `condition` is called from this thread, often.
template <class Condition>
  requires std::is_invocable_r_v<bool, Condition&>
void wait_until(Condition condition) {
  while (!condition()) detail::pause_wait();
}

/// In `body` only explicit edges count: a kernel call there waits for what `pl::deps` names and for nothing
/// else, not even for tasks from before the scope. Tasks behind the scope see what it read and wrote.
void manual_scope(const std::function<void()>& body,
                  std::source_location where = std::source_location::current());

/// The same view, but no task waits because of it: `kernel(x, pl::no_dep(sum))`. Tasks that get it later in
/// the ordinary way do wait for this one.
template <class X>
  requires detail::is_tensor<X>
[[nodiscard]] X no_dep(const X& x) {
  detail::ViewRef view = x.view();
  view.read_only.untracked = true;
  return X(view, std::source_location{});
}
template <detail::OwnsView A>
[[nodiscard]] auto no_dep(A& array) {
  return no_dep(array.view());
}

namespace detail {
[[nodiscard]] void* create_tensor(std::int64_t elements, std::size_t element_size,
                                  const std::source_location& where);
/// A read of elements on the device level: waits for the tasks that write them. Ends the plan in recording.
void wait_to_read(const ViewRef& view, const std::source_location& where);
}  // namespace detail

/// Device memory of a shape; it lives until the entry's tasks are done. Its elements are unspecified until a
/// task has written them.
template <class T>
[[nodiscard]] InOut<Tensor<T>> create_tensor(const Index& dims,
                                             std::source_location where = std::source_location::current()) {
  const auto strides = detail::dense_strides(dims.values(), where);
  std::int64_t count = 1;
  for (const std::int64_t dim : dims.values()) count *= dim;
  T* data = static_cast<T*>(detail::create_tensor(count, sizeof(T), where));
  return InOut<Tensor<T>>(detail::make_tensor(data, dims.values(), strides, where).view(), where);
}
/// `pl::create_tensor<float>(8, x.dim(1))`
template <class T, class... Dims>
  requires(std::is_convertible_v<const Dims&, Extent> && ...)
[[nodiscard]] InOut<Tensor<T>> create_tensor(const Dims&... dims) {
  return create_tensor<T>(Index{Extent(dims)...}, std::source_location{});
}

/// Waits until every task is done that writes this memory: what `pl::jit` bodies need before they look at it.
template <class X>
  requires detail::is_tensor<X>
void wait(const X& x, std::source_location where = std::source_location::current()) {
  detail::wait_to_read(x.view(), where);
}

}  // namespace pl
