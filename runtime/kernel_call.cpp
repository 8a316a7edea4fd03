#include "runtime/kernel_dispatch.hpp"

#include "runtime/native_run.hpp"
#include "runtime/services.hpp"

namespace pl::detail {

namespace codegen = trilith::codegen;

int KernelDispatch::call(const Argument* arguments, void* result, const KernelObject::Handle* handle) {
  ThreadState& thread = thread_state();
  if (thread.level != Level::None) [[unlikely]] {
    if (handle != nullptr && thread.level == Level::Device) {
      Measured measured[64];
      check(arguments, measured);
      require_match(*handle->context, *handle->specialisation, arguments, measured);
    }
    return call_at_level(thread, arguments, result);
  }
  return execute(thread, arguments, result, handle);
}

int KernelDispatch::execute(ThreadState& thread, const Argument* arguments, void* result,
                            const KernelObject::Handle* handle) {
  ContextState& context = handle != nullptr ? *handle->context : current_context(thread);
  if (const ExactCall* exact = state_.exact.load(std::memory_order_acquire);
      exact != nullptr && (handle == nullptr || handle->specialisation == &exact->specialisation()) &&
      exact->matches(context.id, arguments, closure_) && !natively(context)) [[likely]] {
    context.count_hit(thread);
    run(exact->specialisation(), arguments);
    return exact->specialisation().returned_parameter;
  }
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

const Specialisation* KernelDispatch::find(ThreadState& thread, ContextState& context,
                                           const Argument* arguments, const Measured* measured) {
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

void KernelDispatch::check(const Argument* arguments, Measured* measured) {
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

void KernelDispatch::check_overlap(const Specialisation* specialisation, const Argument* arguments,
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

void KernelDispatch::require_match(ContextState& context, const Specialisation& specialisation,
                                   const Argument* arguments, const Measured* measured) {
  const CallPlan& plan = call_plan(context.constant_extents);
  Key key;
  make_key(plan, context.id, state_.parameters, arguments, measured, closure_, key);
  if (specialisation.matches(key)) [[likely]]
    return;
  require_group(context, plan, specialisation, arguments, measured, key);
}

void KernelDispatch::run(const Specialisation& specialisation, const Argument* arguments) {
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

int KernelDispatch::fill_scalars(const Argument* arguments, std::uint64_t* scalars) {
  int scalar_count = 0;
  for (const std::size_t i : state_.rules.scalars) scalars[scalar_count++] = arguments[i].scalar;
  const CallPlan& plan = *state_.plan.load(std::memory_order_relaxed);
  for (const CallPlan::Capture& capture : plan.captures) {
    scalars[scalar_count] = 0;
    std::memcpy(&scalars[scalar_count++], static_cast<const char*>(closure_) + capture.offset, capture.size);
  }
  return scalar_count;
}

int KernelDispatch::run_natively(ContextState& context, const Argument* arguments, void* result,
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

}  // namespace pl::detail
