// runtime/kernel_dispatch.hpp -- the steps of a kernel's call, from its arguments to the code that runs or the task that will.
//
//   kernel_call.cpp        a repeated call: checks, look-up, run
//   kernel_checks.cpp      what it says of arguments that do not fit
//   kernel_specialise.cpp  the first call of a signature: compiles it, within the budget
//   kernel_tasks.cpp       calls at device level: tasks, recorded or submitted
//   kernel_object.cpp      KernelObject, which makes a dispatch for each call
#pragma once

#include "codegen/interpreter.hpp"
#include "codegen/specialise.hpp"
#include "pl/detail/kernel_object.hpp"
#include "pl/detail/location.hpp"
#include "runtime/call_plan.hpp"
#include "runtime/context_state.hpp"
#include "runtime/exact_call.hpp"
#include "runtime/mixed_parameters.hpp"
#include "runtime/specialisation_budget.hpp"
#include "runtime/specialisation_table.hpp"
#include "runtime/thread_state.hpp"

#include <atomic>
#include <chrono>
#include <memory>

namespace pl::detail {

struct RecordedTask;
struct TaskCode;

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
  std::atomic<const ExactCall*> exact{nullptr};  ///< of the first specialisation; once set, it stays
  std::unique_ptr<const ExactCall> exact_owner TRILITH_GUARDED_BY(mutex);
  std::atomic<bool> beyond_budget{false};  ///< in some context: groups of shapes are looked for, too
  std::atomic<bool> told_run_time{false}, told_constant{false};
};

/// One call; a friend of KernelObject so that its steps need no place in its header.
class KernelDispatch {
 public:
  /// `given`: the arguments before they were converted; a native run takes those.
  KernelDispatch(KernelObject& object, const std::source_location& where, const Argument* given)
      : KernelDispatch(object, where, given, object.state_->definition.closure) {}
  /// With captures that are read elsewhere: a pl::at body has others at each call.
  KernelDispatch(KernelObject& object, const std::source_location& where, const Argument* given,
                 const void* closure)
      : object_(object), state_(*object.state_), where_(where), given_(given), closure_(closure) {}

  int call(const Argument* arguments, void* result, const KernelObject::Handle* handle);
  KernelObject::Handle compile(const Argument* arguments);
  std::shared_ptr<const BoundCall> bind(const KernelObject::Handle& handle, const Argument* arguments);
  std::string emit(std::string_view target, const Argument* arguments);
  std::string name();

  bool submit_body(const Argument* arguments);
  /// Before a native run: throws where the kernel would index outside of an array.
  void look_at_positions(const Argument* arguments, const trilith::codegen::Block& block);
  /// Throws what compiled code would say of the mistake that ended a native task, where it would say something.
  void explain(const UserError& error, const Argument* arguments);

 private:
  /// Runs the lambda; a kernel that has none is compiled in eager runs too.
  [[nodiscard]] bool natively(const ContextState& context) const {
    return context.eager() && state_.external == nullptr;
  }

  /// The call's place; the kernel's own where a generic call could not tell.
  [[nodiscard]] Location here() const {
    return location_of(where_.line() != 0 ? where_ : state_.definition.where);
  }

  // kernel_call.cpp
  /// A repeated call is one function: what it does takes less time than the calls of its parts would.
  [[gnu::flatten]] int execute(ThreadState& thread, const Argument* arguments, void* result,
                               const KernelObject::Handle* handle);
  void run(const Specialisation& specialisation, const Argument* arguments);
  /// The scalar slots of the ABI: scalar parameters, then captures as they are now. Gives their number.
  int fill_scalars(const Argument* arguments, std::uint64_t* scalars);
  [[gnu::noinline]] int run_natively(ContextState& context, const Argument* arguments, void* result,
                                     const Measured* measured);
  /// Everything that does not depend on the code: memory, strides, named extents.
  void check(const Argument* arguments, Measured* measured);
  /// Outputs may share memory with another argument only where the code allows exact in-place use.
  void check_overlap(const Specialisation* specialisation, const Argument* arguments,
                     const Measured* measured);
  const Specialisation* find(ThreadState& thread, ContextState& context, const Argument* arguments,
                             const Measured* measured);
  void require_match(ContextState& context, const Specialisation& specialisation, const Argument* arguments,
                     const Measured* measured);

  // kernel_checks.cpp
  [[noreturn, gnu::noinline, gnu::cold]] void throw_no_memory(std::size_t number, const ViewRef& view);
  [[noreturn, gnu::noinline, gnu::cold]] void throw_unequal(const EqualExtents& pair, const ViewRef& first,
                                                            const ViewRef& second);
  [[gnu::noinline]] void check_output(std::size_t number, const ViewRef& view);
  [[gnu::noinline]] void refuse_overlap(const Specialisation* specialisation, std::size_t output,
                                        std::size_t other, const Argument* arguments,
                                        const Measured* measured);
  [[gnu::noinline]] void require_group(ContextState& context, const CallPlan& plan,
                                       const Specialisation& specialisation, const Argument* arguments,
                                       const Measured* measured, const Key& key);
  std::string title();
  std::string argument(std::size_t number, const ViewRef& view);

  // kernel_specialise.cpp
  const CallPlan& call_plan() {
    if (const CallPlan* plan = state_.plan.load(std::memory_order_acquire)) return *plan;
    return make_call_plan();
  }
  // What no repeated call does stands in functions of its own: the rest is then small enough to become one.
  [[gnu::noinline, gnu::cold]] const CallPlan& make_call_plan();
  const CallPlan& call_plan(bool constant_extents) {
    const CallPlan& plan = call_plan();
    return constant_extents ? constant_plan(plan) : plan;
  }
  [[gnu::noinline]] const CallPlan& constant_plan(const CallPlan& plan);
  /// The captured form, where the build made one: a native run does without.
  const CallPlan* captured_plan();
  trilith::codegen::Signature signature_of(const CallPlan& plan, const ContextState& context,
                                           const Argument* arguments, const Measured* measured) const;
  /// The code of the group that the call's shapes belong to, where there is one. Out of line: keeps the frames of a hit
  /// small.
  [[gnu::noinline]] const Specialisation* find_beyond_budget(ThreadState& thread, ContextState& context,
                                                             const CallPlan& plan, const Argument* arguments,
                                                             const Measured* measured, const Key& key,
                                                             std::uint64_t hash);
  /// Code with constants may allow more in-place calls.
  bool runs_in_place(const Specialisation& specialisation, const Argument* arguments,
                     const Measured* measured);
  const Specialisation* specialise(ContextState& context, const CallPlan& plan, const Argument* arguments,
                                   const Measured* measured, const Key& key, std::uint64_t hash);
  /// Keeps the call, where it is the first, so that the next one like it is recognised at once.
  void remember(const Specialisation& specialisation, std::uint64_t context, const CallPlan& plan,
                const Argument* arguments, const Measured* measured);
  /// The process of a rank compiles nothing, and its host could not do it either: there is no cache for the code.
  const Specialisation* do_without_code(const CallPlan& plan, const trilith::codegen::Signature& signature);
  /// Once a kernel each.
  void tell_beyond_budget(const ContextState& context, const CallPlan& plan, const RunTimeExtents& run_time,
                          const trilith::codegen::Signature& signature);
  const Specialisation* compile(ContextState& context, const CallPlan& plan,
                                const trilith::codegen::Signature& signature, const Key& key,
                                std::uint64_t hash, std::chrono::steady_clock::time_point start,
                                Extents extents, const std::vector<std::uint16_t>& constant);

  // kernel_tasks.cpp
  [[gnu::noinline]] int call_at_level(ThreadState& thread, const Argument* arguments, void* result);
  static constexpr int must_run_here = -3;
  /// Makes a task of the call. `here`: what cannot be compiled is no task, gives must_run_here.
  int submit(ThreadState& thread, const Argument* arguments, void* result, bool here = false);
  /// Which parameter the lambda returns, where the build captured it; otherwise the lambda must run first.
  int returned_natively();
  /// Does its task run natively? In a checked run also where the build has not captured what uses windows: there its
  /// accesses are seen, too. Throws CommError for a window that is gone.
  bool is_native_task(const ContextState& context, const Argument* arguments);
  int record(ThreadState& thread, const Argument* arguments);
  std::shared_ptr<const TaskCode> code_of(
      const CallPlan& plan, const ContextState& context, const Argument* arguments, const Measured* measured,
      std::shared_ptr<const trilith::codegen::ascendc::Emitted> for_hardware) const;
  void add_integer_captures(const CallPlan& plan, RecordedTask& task) const;

  KernelObject& object_;
  KernelObject::State& state_;
  const std::source_location& where_;
  const Argument* given_;
  const void* const closure_;
};

/// Calls use(arguments as the parameters' dtypes).
template <class Use>
decltype(auto) with_parameters(const MixedParameters& mixed, const Argument* arguments, const Use& use) {
  if (!mixed.converts) [[likely]]
    return use(arguments);
  Argument converted[64];
  mixed.convert(arguments, converted);
  return use(static_cast<const Argument*>(converted));
}

}  // namespace pl::detail
