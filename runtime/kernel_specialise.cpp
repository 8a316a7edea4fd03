#include "runtime/kernel_dispatch.hpp"

#include "codegen/passes/constant_extents.hpp"
#include "pl/log.hpp"
#include "runtime/external_kernel.hpp"
#include "runtime/rank_channel.hpp"

namespace pl::detail {

namespace codegen = trilith::codegen;

const CallPlan& KernelDispatch::make_call_plan() {
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

const CallPlan& KernelDispatch::constant_plan(const CallPlan& plan) {
  if (const CallPlan* made = state_.constant_plan.load(std::memory_order_acquire)) return *made;
  auto kernel = std::make_shared<CapturedKernel>(*plan.kernel);
  kernel->ir = codegen::with_constant_extents(std::move(kernel->ir));
  auto fresh =
      std::make_unique<const CallPlan>(std::move(kernel), state_.parameters, state_.definition.closure_size);
  const Lock lock(state_.mutex);
  if (!state_.constant_plan_owner) {
    state_.constant_plan_owner = std::move(fresh);
    state_.constant_plan.store(state_.constant_plan_owner.get(), std::memory_order_release);
  }
  return *state_.constant_plan_owner;
}

const CallPlan* KernelDispatch::captured_plan() {
  if (state_.not_captured.load(std::memory_order_relaxed)) return nullptr;
  try {
    return &call_plan();
  } catch (const CaptureError&) {
    state_.not_captured.store(true, std::memory_order_relaxed);
    return nullptr;
  }
}

codegen::Signature KernelDispatch::signature_of(const CallPlan& plan, const ContextState& context,
                                                const Argument* arguments, const Measured* measured) const {
  return make_signature(plan, state_.parameters, arguments, measured, closure_, context.config);
}

const Specialisation* KernelDispatch::find_beyond_budget(ThreadState& thread, ContextState& context,
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

bool KernelDispatch::runs_in_place(const Specialisation& specialisation, const Argument* arguments,
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

const Specialisation* KernelDispatch::specialise(ContextState& context, const CallPlan& plan,
                                                 const Argument* arguments, const Measured* measured,
                                                 const Key& key, std::uint64_t hash) {
  const auto start = std::chrono::steady_clock::now();
  const codegen::Signature signature =
      make_signature(plan, state_.parameters, arguments, measured, closure_, context.config);
  const int budget = context.config.specialisation_budget;
  if (budget == 0 || plan.kernel->external || context.constant_extents ||
      state_.table.count(context.id) < static_cast<std::size_t>(budget)) {
    const Specialisation* made = compile(context, plan, signature, key, hash, start, Extents::Constant, {});
    if (made != nullptr) remember(*made, context.id, plan, arguments, measured);
    return made;
  }
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

const Specialisation* KernelDispatch::compile(ContextState& context, const CallPlan& plan,
                                              const codegen::Signature& signature, const Key& key,
                                              std::uint64_t hash, std::chrono::steady_clock::time_point start,
                                              Extents extents, const std::vector<std::uint16_t>& constant) {
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
  SpecialisationStatistics statistics{
      name(), plan.kernel->location().str(), fresh->signature, fresh->code.origin, seconds.count(), extents};
  const Specialisation* candidate = fresh.get();
  const Specialisation* kept = state_.table.insert(std::move(fresh), key);
  // Of the threads that raced here one reports; the numbers of a rank's process go with it.
  if (kept == candidate && rank_channel() == nullptr) context.add_specialisation(std::move(statistics));
  return kept;
}

void KernelDispatch::remember(const Specialisation& specialisation, std::uint64_t context,
                              const CallPlan& plan, const Argument* arguments, const Measured* measured) {
  const Lock lock(state_.mutex);
  if (state_.exact_owner) return;
  state_.exact_owner = ExactCall::of(specialisation, context, plan, state_.rules, state_.parameters,
                                     arguments, measured, closure_);
  state_.exact.store(state_.exact_owner.get(), std::memory_order_release);
}

const Specialisation* KernelDispatch::do_without_code(const CallPlan& plan,
                                                      const codegen::Signature& signature) {
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

void KernelDispatch::tell_beyond_budget(const ContextState& context, const CallPlan& plan,
                                        const RunTimeExtents& run_time, const codegen::Signature& signature) {
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
          (run_time.any ? "further shapes run code with run-time extents, (" +
                              describe(plan.kernel->ir, run_time.signature) + ") first" +
                              (reason.empty() ? "" : "; it keeps specialising on the others, since " + reason)
                        : "it keeps specialising, since " + reason));
}

}  // namespace pl::detail
