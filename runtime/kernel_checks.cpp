#include "runtime/kernel_dispatch.hpp"

#include "runtime/native_run.hpp"

namespace pl::detail {

namespace codegen = trilith::codegen;

void KernelDispatch::throw_no_memory(std::size_t number, const ViewRef& view) {
  throw ShapeError(argument(number, view) + " has no memory; give a pointer to its elements", here());
}

void KernelDispatch::throw_unequal(const EqualExtents& pair, const ViewRef& first, const ViewRef& second) {
  throw ShapeError(
      "the extent \"" + std::string(pair.name) + "\" is " + std::to_string(first.extents[pair.axis]) +
          " in " + argument(static_cast<std::size_t>(pair.parameter), first) + " (axis " +
          std::to_string(pair.axis) + ") and " + std::to_string(second.extents[pair.other_axis]) + " in " +
          argument(static_cast<std::size_t>(pair.other_parameter), second) + " (axis " +
          std::to_string(pair.other_axis) + "); all uses of one name must agree",
      here());
}

void KernelDispatch::check_output(std::size_t number, const ViewRef& view) {
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

void KernelDispatch::refuse_overlap(const Specialisation* specialisation, std::size_t output,
                                    std::size_t other, const Argument* arguments, const Measured* measured) {
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
           : exact ? "; two outputs need memory of their own"
                   : " in part; give it other memory, or the very same view where the kernel is elementwise"),
      here());
}

void KernelDispatch::require_group(ContextState& context, const CallPlan& plan,
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

std::string KernelDispatch::title() {
  return "the in-core " + (name().starts_with("kernel at") ? name() : "kernel \"" + name() + "\"");
}

std::string KernelDispatch::argument(std::size_t number, const ViewRef& view) {
  if (const CallPlan* plan = captured_plan()) {
    const codegen::Kernel& ir = plan->kernel->ir;
    return ir.variables[static_cast<std::size_t>(ir.parameters[number].variable)].name + " (" +
           describe(view) + ")";
  }
  return "argument " + std::to_string(number + 1) + " (" + describe(view) + ")";
}

}  // namespace pl::detail
