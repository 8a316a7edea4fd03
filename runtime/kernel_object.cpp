#include "pl/detail/kernel_object.hpp"
#include "pl/detail/location.hpp"

#include "codegen/ascendc/emit.hpp"
#include "codegen/json.hpp"
#include "codegen/passes/constant_extents.hpp"
#include "codegen/printer.hpp"
#include "codegen/xsimd/emit.hpp"
#include "runtime/bound_call.hpp"
#include "runtime/call_plan.hpp"
#include "runtime/context_state.hpp"
#include "runtime/external_kernel.hpp"
#include "runtime/kernel_work.hpp"
#include "runtime/mixed_parameters.hpp"
#include "runtime/native_run.hpp"
#include "runtime/plan_collectives.hpp"
#include "runtime/program.hpp"
#include "runtime/rank_channel.hpp"
#include "runtime/recorder.hpp"
#include "runtime/services.hpp"
#include "runtime/specialisation_budget.hpp"
#include "runtime/specialisation_table.hpp"
#include "runtime/task_options.hpp"
#include "runtime/windows/window_memory.hpp"
#include "runtime/written_regions.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace pl::detail {
namespace {

namespace codegen = trilith::codegen;

}  // namespace

struct KernelObject::State {
  explicit State(const Definition& definition_)
      : definition(definition_),
        identity{definition.unit, definition.where, definition.closure_type, definition.argument_types},
        mixed(mixed_parameters(definition.parameters, identity)),
        parameters(mixed.parameters.empty() ? definition.parameters : mixed.parameters),
        rules(parameters),
        external(definition.external) {}
  // In this order: each is made from those before.
  const Definition definition;
  const KernelIdentity identity;
  const MixedParameters mixed;
  const std::span<const ParameterInfo> parameters;
  const ArgumentRules rules;
  const ExternalSource* const external;  ///< never runs natively: there is no lambda
  std::atomic<const CallPlan*> plan{nullptr};
  /// The same with every extent in the key, for platforms whose code needs them; made behind `plan`.
  std::atomic<const CallPlan*> constant_plan{nullptr};
  std::atomic<bool> not_captured{false};  ///< no record in an eager run: not looked for again
  Mutex mutex;
  std::unique_ptr<const CallPlan> plan_owner TRILITH_GUARDED_BY(mutex);
  std::unique_ptr<const CallPlan> constant_plan_owner TRILITH_GUARDED_BY(mutex);
  SpecialisationTable table;
  std::atomic<bool> beyond_budget{false};  ///< in some context: groups of shapes are looked for, too
  std::atomic<bool> told_run_time{false}, told_constant{false};
};

/// The steps of a call; a friend of KernelObject so that they need no place in its header.
class KernelDispatch {
 public:
  /// `given`: the arguments before they were converted; a native run takes those.
  KernelDispatch(KernelObject& object, const std::source_location& where, const Argument* given)
      : KernelDispatch(object, where, given, object.state_->definition.closure) {}
  /// With captures that are read elsewhere: a pl::at body has others at each call.
  KernelDispatch(KernelObject& object, const std::source_location& where, const Argument* given,
                 const void* closure)
      : object_(object), state_(*object.state_), where_(where), given_(given), closure_(closure) {}

  int call(const Argument* arguments, void* result, const KernelObject::Handle* handle) {
    ThreadState& thread = thread_state();
    if (thread.level != Level::None) [[unlikely]]
      return call_at_level(thread, arguments, result);
    return execute(thread, arguments, result, handle);
  }

  KernelObject::Handle compile(const Argument* arguments) {
    ThreadState& thread = thread_state();
    if (thread.level == Level::Core)
      throw LevelError(title() + " is compiled inside an in-core kernel; compile it before", here());
    ContextState& context = current_context(thread);
    Measured measured[64];
    check(arguments, measured);
    return {context.shared_from_this(),
            natively(context) ? nullptr : find(thread, context, arguments, measured)};
  }

  std::shared_ptr<const BoundCall> bind(const KernelObject::Handle& handle, const Argument* arguments) {
    Measured measured[64];
    check(arguments, measured);
    if (handle.specialisation != nullptr)
      require_match(*handle.context, *handle.specialisation, arguments, measured);
    check_overlap(handle.specialisation, arguments, measured);
    std::uint64_t scalars[Key::capacity];
    const int count = handle.specialisation != nullptr ? fill_scalars(arguments, scalars) : 0;
    return std::make_shared<const BoundCall>(object_, handle, state_.parameters, arguments,
                                             std::vector<std::uint64_t>(scalars, scalars + count));
  }

  std::string emit(std::string_view target, const Argument* arguments) {
    Measured measured[64];
    check(arguments, measured);
    ContextState& context = current_context(thread_state());
    const CallPlan& plan = call_plan(target == "ascendc" || context.constant_extents);
    const codegen::Signature signature =
        make_signature(plan, state_.parameters, arguments, measured, closure_, context.config);
    if (plan.kernel->external != nullptr) {
      if (target == "xsimd") return external_source(*plan.kernel->external, ranks_of(signature)).text;
      throw UserError(
          "emit: " + title() + " is written by hand and has no IR; expected \"xsimd\", its source", here());
    }
    const codegen::Kernel specialised = codegen::specialise(plan.kernel->ir, signature);
    if (target == "ir") return codegen::to_text(specialised);
    if (target == "json") return codegen::to_json(specialised);
    if (target == "xsimd") return codegen::xsimd::emit(specialised, signature).text;
    if (target == "ascendc") return codegen::ascendc::emit(specialised, signature).text;
    throw UserError("emit: unknown target \"" + std::string(target) +
                        "\"; expected \"xsimd\", \"ascendc\", \"ir\" or \"json\"",
                    here());
  }

  std::string name() {
    if (const CallPlan* plan = state_.plan.load(std::memory_order_acquire);
        plan && !plan->kernel->ir.name.empty())
      return plan->kernel->ir.name;
    return "kernel at " + std::string(state_.definition.where.file_name()) + ":" +
           std::to_string(state_.definition.where.line());
  }

  const CallPlan& call_plan() {
    if (const CallPlan* plan = state_.plan.load(std::memory_order_acquire)) return *plan;
    return make_call_plan();
  }

  // What no repeated call does stands in functions of its own: the rest is then small enough to become one.
  [[gnu::noinline, gnu::cold]] const CallPlan& make_call_plan() {
    auto fresh = std::make_unique<const CallPlan>(state_.external != nullptr
                                                      ? external_kernel(*state_.external, state_.parameters)
                                                      : captured_kernel(state_.identity),
                                                  state_.parameters, state_.definition.closure_size);
    const Lock lock(state_.mutex);
    if (!state_.plan_owner) {
      state_.plan_owner = std::move(fresh);
      state_.plan.store(state_.plan_owner.get(), std::memory_order_release);
    }
    return *state_.plan_owner;
  }

  const CallPlan& call_plan(bool constant_extents) {
    const CallPlan& plan = call_plan();
    return constant_extents ? constant_plan(plan) : plan;
  }

  [[gnu::noinline]] const CallPlan& constant_plan(const CallPlan& plan) {
    if (const CallPlan* made = state_.constant_plan.load(std::memory_order_acquire)) return *made;
    auto kernel = std::make_shared<CapturedKernel>(*plan.kernel);
    kernel->ir = codegen::with_constant_extents(std::move(kernel->ir));
    auto fresh = std::make_unique<const CallPlan>(std::move(kernel), state_.parameters,
                                                  state_.definition.closure_size);
    const Lock lock(state_.mutex);
    if (!state_.constant_plan_owner) {
      state_.constant_plan_owner = std::move(fresh);
      state_.constant_plan.store(state_.constant_plan_owner.get(), std::memory_order_release);
    }
    return *state_.constant_plan_owner;
  }

  bool submit_body(const Argument* arguments) {
    ThreadState& thread = thread_state();
    if (thread.options != nullptr) ++thread.options->calls;
    if (thread.recorder == nullptr) return submit(thread, arguments, nullptr, true) != must_run_here;
    (void)record(thread, arguments);
    return true;
  }

  /// Before a native run: throws where the kernel would index outside of an array.
  void look_at_positions(const Argument* arguments, const codegen::Block& block) {
    if (const CallPlan* plan = captured_plan())
      require_positions(*plan, state_.parameters, arguments, closure_, block);
  }

  /// Throws what compiled code would say of the mistake that ended a native task, where it would say something.
  void explain(const UserError& error, const Argument* arguments) {
    const CallPlan* plan = captured_plan();
    if (plan == nullptr) return;
    Measured measured[64];
    for (std::size_t i = 0; i < state_.parameters.size(); ++i)
      if (state_.parameters[i].tensor) measured[i] = measure(arguments[i].view);
    rethrow_at_the_kernels_line(error, *plan, state_.parameters, arguments,
                                signature_of(*plan, current_context(thread_state()), arguments, measured),
                                closure_);
  }

 private:
  /// Runs the lambda; a kernel that has none is compiled in eager runs too.
  [[nodiscard]] bool natively(const ContextState& context) const {
    return context.eager() && state_.external == nullptr;
  }

  /// The call's place; the kernel's own where a generic call could not tell.
  [[nodiscard]] Location here() const {
    return location_of(where_.line() != 0 ? where_ : state_.definition.where);
  }

  [[gnu::noinline]] int call_at_level(ThreadState& thread, const Argument* arguments, void* result) {
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

  static constexpr int must_run_here = -3;

  /// Makes a task of the call. `here`: what cannot be compiled is no task, gives must_run_here.
  int submit(ThreadState& thread, const Argument* arguments, void* result, bool here = false) {
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

  /// Which parameter the lambda returns, where the build captured it; otherwise the lambda must run first.
  int returned_natively() {
    const CallPlan* plan = captured_plan();
    return plan != nullptr ? plan->kernel->ir.returned_parameter : result_is_stored;
  }

  /// A repeated call is one function: what it does takes less time than the calls of its parts would.
  [[gnu::flatten]] int execute(ThreadState& thread, const Argument* arguments, void* result,
                               const KernelObject::Handle* handle) {
    ContextState& context = handle != nullptr ? *handle->context : current_context(thread);
    Measured measured[64];
    check(arguments, measured);
    if (natively(context)) [[unlikely]]
      return run_natively(context, arguments, result, measured);
    const Specialisation* specialisation = nullptr;
    if (handle == nullptr) {
      specialisation = find(thread, context, arguments, measured);
    } else {
      specialisation = handle->specialisation;
      require_match(context, *specialisation, arguments, measured);
      context.count_hit(thread);
    }
    // The JIT turned out not to work here.
    if (specialisation == nullptr) [[unlikely]]
      return run_natively(context, arguments, result, measured);
    check_overlap(specialisation, arguments, measured);
    run(*specialisation, arguments);
    return specialisation->returned_parameter;
  }

  void run(const Specialisation& specialisation, const Argument* arguments) {
    abi::Tensor tensors[64];
    std::uint64_t scalars[Key::capacity];
    int tensor_count = 0;
    for (const std::size_t i : state_.rules.tensors) {
      const ViewRef& view = arguments[i].view;
      tensors[tensor_count++] = {view.data, view.extents, view.strides};
    }
    fill_scalars(arguments, scalars);
    run_entry(specialisation.code.entry, {tensors, scalars, 0, 1});
  }

  /// The scalar slots of the ABI: scalar parameters, then captures as they are now. Gives their number.
  int fill_scalars(const Argument* arguments, std::uint64_t* scalars) {
    int scalar_count = 0;
    for (const std::size_t i : state_.rules.scalars) scalars[scalar_count++] = arguments[i].scalar;
    const CallPlan& plan = *state_.plan.load(std::memory_order_relaxed);
    for (const CallPlan::Capture& capture : plan.captures) {
      scalars[scalar_count] = 0;
      std::memcpy(&scalars[scalar_count++], static_cast<const char*>(closure_) + capture.offset,
                  capture.size);
    }
    return scalar_count;
  }

  [[gnu::noinline]] int run_natively(ContextState& context, const Argument* arguments, void* result,
                                     const Measured* measured) {
    check_overlap(nullptr, arguments, measured);
    context.count_eager_call();
    look_at_positions(arguments, {});
    try {
      const LevelScope scope(Level::Core);
      object_.run_natively(given_, result);
    } catch (const UserError& error) {
      if (const CallPlan* plan = captured_plan())
        rethrow_at_the_kernels_line(error, *plan, state_.parameters, arguments,
                                    signature_of(*plan, context, arguments, measured), closure_);
      throw;
    }
    return result_is_stored;
  }

  /// The captured form, where the build made one: a native run does without.
  const CallPlan* captured_plan() {
    if (state_.not_captured.load(std::memory_order_relaxed)) return nullptr;
    try {
      return &call_plan();
    } catch (const CaptureError&) {
      state_.not_captured.store(true, std::memory_order_relaxed);
      return nullptr;
    }
  }

  codegen::Signature signature_of(const CallPlan& plan, const ContextState& context,
                                  const Argument* arguments, const Measured* measured) const {
    return make_signature(plan, state_.parameters, arguments, measured, closure_, context.config);
  }

  /// Does its task run natively? In a checked run also where the build has not captured what uses windows: there its
  /// accesses are seen, too. Throws CommError for a window that is gone.
  bool is_native_task(const ContextState& context, const Argument* arguments) {
    if (!state_.rules.windows) return natively(context);
    for (std::size_t i = 0; i < state_.parameters.size(); ++i)
      if (state_.parameters[i].window && arguments[i].view.window != nullptr)
        arguments[i].view.window->memory->require_alive("a kernel call", here());
    return natively(context) ||
           (context.config.check && state_.external == nullptr && captured_plan() == nullptr);
  }

  int record(ThreadState& thread, const Argument* arguments) {
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

  std::shared_ptr<const TaskCode> code_of(
      const CallPlan& plan, const ContextState& context, const Argument* arguments, const Measured* measured,
      std::shared_ptr<const codegen::ascendc::Emitted> for_hardware) const {
    auto code = std::make_shared<TaskCode>(
        TaskCode{plan.kernel, signature_of(plan, context, arguments, measured), {}, std::move(for_hardware)});
    for (const CallPlan::Capture& capture : plan.captures)
      code->captures.push_back(read_capture(closure_, capture));
    return code;
  }

  void add_integer_captures(const CallPlan& plan, RecordedTask& task) const {
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

  /// Everything that does not depend on the code: memory, strides, named extents.
  void check(const Argument* arguments, Measured* measured) {
    const auto parameters = state_.parameters;
    for (const std::size_t i : state_.rules.tensors) {
      const ViewRef& view = arguments[i].view;
      measured[i] = measure(view);
      if (view.data == nullptr && measured[i].begin != measured[i].end) [[unlikely]]
        throw_no_memory(i, view);
      if (parameters[i].access != Access::In &&
          (measured[i].layout != codegen::Layout::Dense || view.read_only)) [[unlikely]]
        check_output(i, view);
    }
    for (const EqualExtents& pair : state_.rules.equal_extents) {
      const ViewRef& first = arguments[pair.parameter].view;
      const ViewRef& second = arguments[pair.other_parameter].view;
      if (first.extents[pair.axis] != second.extents[pair.other_axis]) [[unlikely]]
        throw_unequal(pair, first, second);
    }
  }

  [[noreturn, gnu::noinline, gnu::cold]] void throw_no_memory(std::size_t number, const ViewRef& view) {
    throw ShapeError(argument(number, view) + " has no memory; give a pointer to its elements", here());
  }

  [[noreturn, gnu::noinline, gnu::cold]] void throw_unequal(const EqualExtents& pair, const ViewRef& first,
                                                            const ViewRef& second) {
    throw ShapeError(
        "the extent \"" + std::string(pair.name) + "\" is " + std::to_string(first.extents[pair.axis]) +
            " in " + argument(static_cast<std::size_t>(pair.parameter), first) + " (axis " +
            std::to_string(pair.axis) + ") and " + std::to_string(second.extents[pair.other_axis]) + " in " +
            argument(static_cast<std::size_t>(pair.other_parameter), second) + " (axis " +
            std::to_string(pair.other_axis) + "); all uses of one name must agree",
        here());
  }

  [[gnu::noinline]] void check_output(std::size_t number, const ViewRef& view) {
    if (view.read_only) throw_read_only(view, where_);
    for (int axis = 0; axis < view.rank; ++axis)
      if (view.extents[axis] > 1 && view.strides[axis] <= 0)
        throw ShapeError("the output " + argument(number, view) + " has stride " +
                             std::to_string(view.strides[axis]) + " on axis " + std::to_string(axis) +
                             "; zero and negative strides are for inputs only",
                         here());
    if (overlaps_itself(view))
      throw ShapeError("elements of the output " + argument(number, view) +
                           " lie on each other; give strides that keep "
                           "them apart",
                       here());
  }

  /// Outputs may share memory with another argument only where the code allows exact in-place use.
  void check_overlap(const Specialisation* specialisation, const Argument* arguments,
                     const Measured* measured) {
    for (const std::size_t i : state_.rules.outputs)
      for (const std::size_t j : state_.rules.tensors) {
        // Two outputs meet once in each order; the ranges of an empty view are empty.
        if (measured[i].end <= measured[j].begin || measured[j].end <= measured[i].begin || i == j) [[likely]]
          continue;
        // Several views of one window are usual: signals order what is done through them.
        if (state_.parameters[i].window && state_.parameters[j].window) continue;
        refuse_overlap(specialisation, i, j, arguments, measured);
      }
  }

  [[gnu::noinline]] void refuse_overlap(const Specialisation* specialisation, std::size_t output,
                                        std::size_t other, const Argument* arguments,
                                        const Measured* measured) {
    const ViewRef &out = arguments[output].view, &view = arguments[other].view;
    if (!overlap(out, view)) return;
    const bool exact = same_view(out, view);
    const bool input = state_.parameters[other].access == Access::In;
    if (exact && input) {
      const auto allowed = [&](const std::vector<std::pair<int, int>>& pairs) {
        for (const auto& [in, written] : pairs)
          if (in == static_cast<int>(other) && written == static_cast<int>(output)) return true;
        return false;
      };
      if (specialisation != nullptr) {
        if (allowed(specialisation->code.in_place)) return;
      } else {
        // Natively: what compiled code allows, so that a program does not come to depend on more.
        const CallPlan* plan = captured_plan();
        if (plan == nullptr) return;
        const ContextState& context = current_context(thread_state());
        if (allowed(in_place_pairs(plan->kernel->ir, signature_of(*plan, context, arguments, measured))))
          return;
      }
    }
    throw ShapeError(
        "the output " + argument(output, out) + " of " + title() + " overlaps " + argument(other, view) +
            (exact && input
                 ? "; this kernel is not elementwise in it, so it cannot run in place: give it other memory"
             : exact
                 ? "; two outputs need memory of their own"
                 : " in part; give it other memory, or the very same view where the kernel is elementwise"),
        here());
  }

  const Specialisation* find(ThreadState& thread, ContextState& context, const Argument* arguments,
                             const Measured* measured) {
    const CallPlan& plan = call_plan(context.constant_extents);
    Key key;
    make_key(plan, context.id, state_.parameters, arguments, measured, closure_, key);
    if (const Specialisation* first = state_.table.first(); first != nullptr && first->matches(key))
        [[likely]] {
      context.count_hit(thread);
      return first;
    }
    const std::uint64_t hash = key.hash();
    if (const Specialisation* found = state_.table.find(key, hash)) [[likely]] {
      context.count_hit(thread);
      return found;
    }
    return find_beyond_budget(thread, context, plan, arguments, measured, key, hash);
  }

  /// The code of the group that the call's shapes belong to, where there is one. Out of line: keeps the frames of a hit
  /// small.
  [[gnu::noinline]] const Specialisation* find_beyond_budget(ThreadState& thread, ContextState& context,
                                                             const CallPlan& plan, const Argument* arguments,
                                                             const Measured* measured, const Key& key,
                                                             std::uint64_t hash) {
    if (state_.beyond_budget.load(std::memory_order_relaxed)) {
      Key group;
      make_group_key(plan, state_.parameters, arguments, key, {}, group);
      const Specialisation* found = state_.table.find(group, group.hash());
      if (found != nullptr && found->code.entry == nullptr) {
        make_group_key(plan, state_.parameters, arguments, key, found->constant, group);
        found = state_.table.find(group, group.hash());
      }
      if (found != nullptr && runs_in_place(*found, arguments, measured)) {
        context.count_hit(thread);
        return found;
      }
    }
    return specialise(context, plan, arguments, measured, key, hash);
  }

  /// Code with constants may allow more in-place calls.
  bool runs_in_place(const Specialisation& specialisation, const Argument* arguments,
                     const Measured* measured) {
    const auto parameters = state_.parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (!parameters[i].tensor || parameters[i].access == Access::In) continue;
      for (std::size_t j = 0; j < parameters.size(); ++j) {
        if (!parameters[j].tensor || parameters[j].access != Access::In ||
            measured[i].end <= measured[j].begin || measured[j].end <= measured[i].begin ||
            !same_view(arguments[i].view, arguments[j].view))
          continue;
        const std::pair<int, int> wanted(static_cast<int>(j), static_cast<int>(i));
        const auto& pairs = specialisation.code.in_place;
        if (std::find(pairs.begin(), pairs.end(), wanted) == pairs.end()) return false;
      }
    }
    return true;
  }

  const Specialisation* specialise(ContextState& context, const CallPlan& plan, const Argument* arguments,
                                   const Measured* measured, const Key& key, std::uint64_t hash) {
    const auto start = std::chrono::steady_clock::now();
    const codegen::Signature signature =
        make_signature(plan, state_.parameters, arguments, measured, closure_, context.config);
    const int budget = context.config.specialisation_budget;
    if (budget == 0 || plan.kernel->external || context.constant_extents ||
        state_.table.count(context.id) < static_cast<std::size_t>(budget))
      return compile(context, plan, signature, key, hash, start, Extents::Constant, {});
    state_.beyond_budget.store(true, std::memory_order_relaxed);
    const RunTimeExtents run_time = find_run_time_extents(plan, state_.parameters, arguments, key, signature);
    tell_beyond_budget(context, plan, run_time, signature);
    Key group;
    if (!run_time.constant.empty()) {
      // A mark for further shapes of the group: which extents must stay.
      make_group_key(plan, state_.parameters, arguments, key, {}, group);
      auto mark = std::make_unique<Specialisation>();
      mark->words.assign(group.words, group.words + group.size);
      mark->hash = group.hash();
      mark->context = context.weak_from_this();
      mark->constant = run_time.constant;
      mark->is_group = true;
      state_.table.insert(std::move(mark), group);
    }
    if (run_time.any) {
      make_group_key(plan, state_.parameters, arguments, key, run_time.constant, group);
      const Specialisation* made = compile(context, plan, run_time.signature, group, group.hash(), start,
                                           Extents::RunTime, run_time.constant);
      if (made == nullptr || runs_in_place(*made, arguments, measured)) return made;
    }
    return compile(context, plan, signature, key, hash, start, Extents::ConstantBeyondBudget, {});
  }

  /// The process of a rank compiles nothing, and its host could not do it either: there is no cache for the code.
  const Specialisation* do_without_code(const CallPlan& plan, const codegen::Signature& signature) {
    const std::string shape = describe(plan.kernel->ir, signature);
    constexpr const char* way_out =
        "; let it compile into a cache (TRILITH_CACHE_DIR), call it where no pl::read or pl::wait comes "
        "before it, or "
        "use the transport \"threads\"";
    if (state_.external != nullptr)
      throw Error(title() + " is written by hand and was not compiled for (" + shape +
                      ") when the processes of the ranks were started, and cannot be there" + way_out,
                  here());
    if (!state_.told_constant.exchange(true))
      log(LogLevel::Warning, title() + " was not compiled for (" + shape +
                                 ") when the processes of the ranks were started, so it runs natively there, "
                                 "slowly" +
                                 way_out);
    return nullptr;
  }

  /// Once a kernel each.
  void tell_beyond_budget(const ContextState& context, const CallPlan& plan, const RunTimeExtents& run_time,
                          const codegen::Signature& signature) {
    if (context.config.log_level > LogLevel::Warning) return;
    std::string reason = run_time.reason;
    const std::string constants = constants_of(plan, signature);
    if (!constants.empty())
      reason +=
          (reason.empty() ? "" : ", and ") + ("the values of " + constants + " are constants of the code");
    if (reason.empty() && !run_time.any)
      reason = "each has another rank, dtype, layout or pattern of extents of 1";
    if ((run_time.any ? state_.told_run_time : state_.told_constant).exchange(true)) return;
    log(LogLevel::Warning,
        title() + " (" + plan.kernel->location().str() + ") has " +
            std::to_string(context.config.specialisation_budget) +
            " specialisations, its budget (RunConfig.specialisation_budget); " +
            (run_time.any
                 ? "further shapes run code with run-time extents, (" +
                       describe(plan.kernel->ir, run_time.signature) + ") first" +
                       (reason.empty() ? "" : "; it keeps specialising on the others, since " + reason)
                 : "it keeps specialising, since " + reason));
  }

  const Specialisation* compile(ContextState& context, const CallPlan& plan,
                                const codegen::Signature& signature, const Key& key, std::uint64_t hash,
                                std::chrono::steady_clock::time_point start, Extents extents,
                                const std::vector<std::uint16_t>& constant) {
    auto fresh = std::make_unique<Specialisation>();
    fresh->is_group = extents == Extents::RunTime;
    fresh->constant = constant;
    try {
      fresh->code = context.backend().get(*plan.kernel, signature, context);
    } catch (const Unavailable& unavailable) {
      if (rank_channel() != nullptr) return do_without_code(plan, signature);
      if (state_.external != nullptr)
        throw Error(title() + " is written by hand, so there is no lambda to run instead of compiled code: " +
                        unavailable.reason,
                    here());
      context.degrade(unavailable.reason);
      return nullptr;
    }
    fresh->words.assign(key.words, key.words + key.size);
    fresh->hash = hash;
    fresh->returned_parameter = plan.kernel->ir.returned_parameter;
    fresh->signature = describe(plan.kernel->ir, signature);
    fresh->context = context.weak_from_this();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    SpecialisationStatistics statistics{name(),           plan.kernel->location().str(),
                                        fresh->signature, fresh->code.origin,
                                        seconds.count(),  extents};
    const Specialisation* candidate = fresh.get();
    const Specialisation* kept = state_.table.insert(std::move(fresh), key);
    // Of the threads that raced here one reports; the numbers of a rank's process go with it.
    if (kept == candidate && rank_channel() == nullptr) context.add_specialisation(std::move(statistics));
    return kept;
  }

  void require_match(ContextState& context, const Specialisation& specialisation, const Argument* arguments,
                     const Measured* measured) {
    const CallPlan& plan = call_plan(context.constant_extents);
    Key key;
    make_key(plan, context.id, state_.parameters, arguments, measured, closure_, key);
    if (specialisation.matches(key)) [[likely]]
      return;
    require_group(context, plan, specialisation, arguments, measured, key);
  }

  [[gnu::noinline]] void require_group(ContextState& context, const CallPlan& plan,
                                       const Specialisation& specialisation, const Argument* arguments,
                                       const Measured* measured, const Key& key) {
    if (specialisation.is_group) {
      Key group;
      make_group_key(plan, state_.parameters, arguments, key, specialisation.constant, group);
      if (specialisation.matches(group)) return;
    }
    const codegen::Signature given =
        make_signature(plan, state_.parameters, arguments, measured, closure_, context.config);
    throw ShapeError("a handle of " + title() + " was compiled for (" + specialisation.signature +
                         ") and called with (" + describe(plan.kernel->ir, given) +
                         "); compile one for these arguments or call the kernel itself",
                     here());
  }

  std::string title() {
    return "the in-core " + (name().starts_with("kernel at") ? name() : "kernel \"" + name() + "\"");
  }

  std::string argument(std::size_t number, const ViewRef& view) {
    if (const CallPlan* plan = captured_plan()) {
      const codegen::Kernel& ir = plan->kernel->ir;
      return ir.variables[static_cast<std::size_t>(ir.parameters[number].variable)].name + " (" +
             describe(view) + ")";
    }
    return "argument " + std::to_string(number + 1) + " (" + describe(view) + ")";
  }

  KernelObject& object_;
  KernelObject::State& state_;
  const std::source_location& where_;
  const Argument* given_;
  const void* const closure_;
};

namespace {

/// Calls use(arguments as the parameters' dtypes).
template <class Use>
decltype(auto) with_parameters(const MixedParameters& mixed, const Argument* arguments, const Use& use) {
  if (!mixed.converts) [[likely]]
    return use(arguments);
  Argument converted[64];
  mixed.convert(arguments, converted);
  return use(static_cast<const Argument*>(converted));
}

}  // namespace

KernelObject::KernelObject(Definition definition) : state_(std::make_unique<State>(std::move(definition))) {
  check_capacity(state_->parameters.size(), 0);
}
KernelObject::~KernelObject() = default;

int KernelObject::call(const Argument* arguments, void* result, const std::source_location& where) {
  return with_parameters(state_->mixed, arguments, [&](const Argument* list) {
    return KernelDispatch(*this, where, arguments).call(list, result, nullptr);
  });
}

int KernelObject::call(const Handle& handle, const Argument* arguments, void* result,
                       const std::source_location& where) {
  return with_parameters(state_->mixed, arguments, [&](const Argument* list) {
    return KernelDispatch(*this, where, arguments)
        .call(list, result, handle.specialisation != nullptr ? &handle : nullptr);
  });
}

KernelObject::Handle KernelObject::compile(const Argument* arguments, const std::source_location& where) {
  return with_parameters(state_->mixed, arguments, [&](const Argument* list) {
    return KernelDispatch(*this, where, arguments).compile(list);
  });
}

std::shared_ptr<const BoundCall> KernelObject::bind(const Handle& handle, const Argument* arguments,
                                                    const std::source_location& where) {
  return with_parameters(state_->mixed, arguments, [&](const Argument* list) {
    return KernelDispatch(*this, where, arguments).bind(handle, list);
  });
}

bool KernelObject::submit_body(const Argument* arguments, const void* captures,
                               const std::source_location& where) {
  return KernelDispatch(*this, where, arguments, captures).submit_body(arguments);
}

void KernelObject::run(const KernelWork& work, std::int64_t block, std::int64_t blocks) const {
  const auto parameters = state_->parameters;
  std::size_t next_view = 0, next_scalar = 0;
  if (work.specialisation != nullptr) {
    abi::Tensor tensors[64];
    for (const RecordedView& view : work.views)
      tensors[next_view++] = {view.data, view.extents.data(), view.strides.data()};
    run_entry(work.specialisation->code.entry, {tensors, work.scalars.data(), block, blocks}, work.views);
    return;
  }
  Argument arguments[64];
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].tensor)
      arguments[i].view = work.views[next_view++].view();
    else
      arguments[i].scalar = work.scalars[next_scalar++];
  }
  with_parameters(state_->mixed, arguments, [&](const Argument* list) {
    KernelDispatch(work.object, work.where, arguments)
        .look_at_positions(list, {static_cast<std::int32_t>(block), static_cast<std::int32_t>(blocks)});
  });
  try {
    run_natively(arguments, work.result);
  } catch (const CommError&) {
    throw;  // it has its place, and what ranks do is not to be done again
  } catch (const UserError& error) {
    // A dispatch of its own: the object that runs it is not changed.
    with_parameters(state_->mixed, arguments, [&](const Argument* list) {
      KernelDispatch(work.object, work.where, arguments).explain(error, list);
    });
    throw;
  }
}

void KernelObject::note_regions(const KernelWork& work, WrittenRegions& regions) const {
  std::size_t next = 0;
  for (const ParameterInfo& parameter : state_->parameters)
    if (parameter.tensor) regions.add(work.views[next++].view(), parameter.access != Access::In);
}

std::string KernelObject::lower(const Argument* arguments) { return emit("ir", arguments); }

std::string KernelObject::emit(std::string_view target, const Argument* arguments) {
  const std::source_location nowhere;
  return with_parameters(state_->mixed, arguments, [&](const Argument* list) {
    return KernelDispatch(*this, nowhere, arguments).emit(target, list);
  });
}

std::string KernelObject::name() {
  const std::source_location nowhere;
  return KernelDispatch(*this, nowhere, nullptr).name();
}

}  // namespace pl::detail
