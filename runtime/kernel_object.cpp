#include "pl/detail/kernel_object.hpp"

#include "codegen/ascendc/emit.hpp"
#include "codegen/json.hpp"
#include "codegen/printer.hpp"
#include "codegen/xsimd/emit.hpp"
#include "runtime/bound_call.hpp"
#include "runtime/external_kernel.hpp"
#include "runtime/kernel_dispatch.hpp"
#include "runtime/kernel_work.hpp"
#include "runtime/services.hpp"
#include "runtime/written_regions.hpp"

#include <utility>

namespace pl::detail {

namespace codegen = trilith::codegen;

KernelObject::Handle KernelDispatch::compile(const Argument* arguments) {
  ThreadState& thread = thread_state();
  if (thread.level == Level::Core)
    throw LevelError(title() + " is compiled inside an in-core kernel; compile it before", here());
  ContextState& context = current_context(thread);
  Measured measured[64];
  check(arguments, measured);
  return {context.shared_from_this(),
          natively(context) ? nullptr : find(thread, context, arguments, measured)};
}

std::shared_ptr<const BoundCall> KernelDispatch::bind(const KernelObject::Handle& handle,
                                                      const Argument* arguments) {
  Measured measured[64];
  check(arguments, measured);
  if (handle.specialisation != nullptr)
    require_match(*handle.context, *handle.specialisation, arguments, measured);
  check_overlap(handle.specialisation, arguments, measured);
  std::uint64_t scalars[Key::capacity];
  const int count = handle.specialisation != nullptr ? fill_scalars(arguments, scalars) : 0;
  // As they were given: where the kernel itself is called with them, they are converted there.
  return std::make_shared<const BoundCall>(object_, handle, state_.parameters, given_,
                                           std::vector<std::uint64_t>(scalars, scalars + count));
}

std::string KernelDispatch::emit(std::string_view target, const Argument* arguments) {
  Measured measured[64];
  check(arguments, measured);
  ContextState& context = current_context(thread_state());
  const CallPlan& plan = call_plan(target == "ascendc" || context.constant_extents);
  const codegen::Signature signature =
      make_signature(plan, state_.parameters, arguments, measured, closure_, context.config);
  if (plan.kernel->external != nullptr) {
    if (target == "xsimd") return external_source(*plan.kernel->external, ranks_of(signature)).text;
    throw UserError("emit: " + title() + " is written by hand and has no IR; expected \"xsimd\", its source",
                    here());
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

std::string KernelDispatch::name() {
  if (const CallPlan* plan = state_.plan.load(std::memory_order_acquire);
      plan && !plan->kernel->ir.name.empty())
    return plan->kernel->ir.name;
  return "kernel at " + std::string(state_.definition.where.file_name()) + ":" +
         std::to_string(state_.definition.where.line());
}

KernelObject::KernelObject(Definition definition) : state_(std::make_unique<State>(std::move(definition))) {
  check_capacity(state_->parameters.size(), 0);
}
KernelObject::~KernelObject() = default;

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
