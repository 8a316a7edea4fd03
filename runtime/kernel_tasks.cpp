#include "runtime/kernel_dispatch.hpp"

#include "runtime/external_kernel.hpp"
#include "runtime/kernel_work.hpp"
#include "runtime/native_run.hpp"
#include "runtime/plan_collectives.hpp"
#include "runtime/program.hpp"
#include "runtime/recorder.hpp"
#include "runtime/task_options.hpp"
#include "runtime/windows/window_memory.hpp"

namespace pl::detail {

namespace codegen = trilith::codegen;

int KernelDispatch::call_at_level(ThreadState& thread, const Argument* arguments, void* result) {
  switch (thread.level) {
    case Level::Host:
      throw LevelError(
          title() +
              " was called in a host orchestrator; a kernel runs on a device: dispatch the pl::jit "
              "wrapper that calls it (host → device → core), as in entry(args…, pld::device = r)",
          here());
    case Level::Core:  // a kernel that runs natively called this one: part of its own work
      if (state_.external != nullptr)
        throw LevelError(
            title() +
                " is written by hand and cannot be part of another kernel; call it from a pl::jit "
                "orchestration or from ordinary C++",
            here());
      object_.run_natively(given_, result);
      return result_is_stored;
    default: break;
  }
  if (thread.run != nullptr) thread.run->throw_if_stopped();
  if (thread.options != nullptr) ++thread.options->calls;
  if (thread.recorder != nullptr) return record(thread, arguments);
  return submit(thread, arguments, result);
}

int KernelDispatch::submit(ThreadState& thread, const Argument* arguments, void* result, bool here) {
  ContextState& context = current_context(thread);
  Measured measured[64];
  check(arguments, measured);
  const Specialisation* specialisation =
      is_native_task(context, arguments) ? nullptr : find(thread, context, arguments, measured);
  if (specialisation == nullptr && here) return must_run_here;
  check_overlap(specialisation, arguments, measured);
  if (specialisation == nullptr) context.count_eager_call();

  TaskOptions* options = thread.options;
  auto work = std::make_unique<KernelWork>(object_, specialisation, where_);
  TaskRequest request;
  const auto parameters = state_.parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].tensor) {
      work->scalars.push_back((specialisation != nullptr ? arguments : given_)[i].scalar);
      continue;
    }
    const ViewRef& view = arguments[i].view;
    work->views.emplace_back(view);
    // Natively it is not known whether it waits.
    request.own_thread |= parameters[i].window && (specialisation == nullptr || call_plan().may_wait);
    request.touches.push_back({work->views.back(), parameters[i].access != Access::In});
    if (!thread.manual && !view.read_only.untracked) request.waits_for.push_back(request.touches.back());
  }
  if (specialisation != nullptr)
    for (const CallPlan::Capture& capture : state_.plan.load(std::memory_order_relaxed)->captures)
      work->scalars.push_back(read_capture(closure_, capture));
  if (options != nullptr) {
    request.blocks = options->blocks;
    request.own_thread |= options->own_thread;
    for (const TaskId& task : options->after)
      if (task) request.after.push_back(number_of(*thread.tasks, task, options->where));
  }
  const int returned = result == nullptr           ? result_is_unknown
                       : specialisation != nullptr ? specialisation->returned_parameter
                                                   : returned_natively();
  const bool waits = returned == result_is_stored && result != nullptr && !thread.tasks->is_recording();
  if (waits) work->result = result;
  request.work = std::move(work);
  const TaskNumber number = thread.tasks->submit(std::move(request));
  if (options != nullptr) options->task = TaskIdAccess::make(thread.tasks->id(), number);
  if (waits) thread.tasks->wait(number);
  return returned == result_is_stored && !waits ? result_is_unknown : returned;
}

bool KernelDispatch::submit_body(const Argument* arguments) {
  ThreadState& thread = thread_state();
  if (thread.options != nullptr) ++thread.options->calls;
  if (thread.recorder == nullptr) return submit(thread, arguments, nullptr, true) != must_run_here;
  (void)record(thread, arguments);
  return true;
}

int KernelDispatch::record(ThreadState& thread, const Argument* arguments) {
  ContextState& context = current_context(thread);
  Measured measured[64];
  check(arguments, measured);
  const Specialisation* specialisation = nullptr;
  if (!is_native_task(context, arguments)) specialisation = find(thread, context, arguments, measured);
  check_overlap(specialisation, arguments, measured);
  // A native run needs no captured form; what the kernel does to windows is told by it.
  const CallPlan* const plan =
      state_.rules.windows ? captured_plan() : state_.plan.load(std::memory_order_acquire);
  RecordedTask task;
  task.kernel = &object_;
  task.name = name();
  if (specialisation != nullptr) task.signature = specialisation->signature;
  if (context.constant_extents && specialisation != nullptr && state_.external == nullptr)
    task.code = code_of(call_plan(true), context, arguments, measured, specialisation->code.for_hardware);
  if (thread.options != nullptr) task.blocks = thread.options->blocks;
  const auto parameters = state_.parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    task.arguments.emplace_back(parameters[i], arguments[i]);
  if (plan != nullptr) add_integer_captures(*plan, task);
  if (state_.rules.windows) {
    task.has_unseen_code = plan == nullptr || state_.external != nullptr;
    if (!task.has_unseen_code) task.collectives = collectives_of(plan->kernel->ir, task.arguments);
  }
  thread.recorder->dispatches.back().tasks.push_back(std::move(task));
  return specialisation != nullptr ? specialisation->returned_parameter : result_is_unknown;
}

bool KernelDispatch::is_native_task(const ContextState& context, const Argument* arguments) {
  if (!state_.rules.windows) return natively(context);
  for (std::size_t i = 0; i < state_.parameters.size(); ++i)
    if (state_.parameters[i].window && arguments[i].view.window != nullptr)
      arguments[i].view.window->memory->require_alive("a kernel call", here());
  return natively(context) ||
         (context.config.check && state_.external == nullptr && captured_plan() == nullptr);
}

int KernelDispatch::returned_natively() {
  const CallPlan* plan = captured_plan();
  return plan != nullptr ? plan->kernel->ir.returned_parameter : result_is_stored;
}

std::shared_ptr<const TaskCode> KernelDispatch::code_of(
    const CallPlan& plan, const ContextState& context, const Argument* arguments, const Measured* measured,
    std::shared_ptr<const codegen::ascendc::Emitted> for_hardware) const {
  auto code = std::make_shared<TaskCode>(
      TaskCode{plan.kernel, signature_of(plan, context, arguments, measured), {}, std::move(for_hardware)});
  for (const CallPlan::Capture& capture : plan.captures)
    code->captures.push_back(read_capture(closure_, capture));
  return code;
}

void KernelDispatch::add_integer_captures(const CallPlan& plan, RecordedTask& task) const {
  const codegen::Kernel& ir = plan.kernel->ir;
  for (std::size_t i = 0; i < plan.captures.size(); ++i) {
    const codegen::DType dtype = ir.variables[static_cast<std::size_t>(ir.captures[i].variable)].type.dtype;
    if (!codegen::is_integer(dtype)) continue;
    ParameterInfo info;
    info.dtype = dtype;
    Argument argument;
    argument.scalar = 0;
    std::memcpy(&argument.scalar, static_cast<const char*>(closure_) + plan.captures[i].offset,
                plan.captures[i].size);
    std::int64_t value = 0;
    if (RecordedArgument(info, argument).integer(value)) task.integer_captures.push_back(value);
  }
}

void KernelDispatch::look_at_positions(const Argument* arguments, const codegen::Block& block) {
  if (const CallPlan* plan = captured_plan())
    require_positions(*plan, state_.parameters, arguments, closure_, block);
}

void KernelDispatch::explain(const UserError& error, const Argument* arguments) {
  const CallPlan* plan = captured_plan();
  if (plan == nullptr) return;
  Measured measured[64];
  for (std::size_t i = 0; i < state_.parameters.size(); ++i)
    if (state_.parameters[i].tensor) measured[i] = measure(arguments[i].view);
  rethrow_at_the_kernels_line(error, *plan, state_.parameters, arguments,
                              signature_of(*plan, current_context(thread_state()), arguments, measured),
                              closure_);
}

}  // namespace pl::detail
