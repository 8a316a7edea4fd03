#include "runtime/exact_call.hpp"

namespace pl::detail {

std::unique_ptr<const ExactCall> ExactCall::of(const Specialisation& specialisation, std::uint64_t context,
                                               const CallPlan& plan, const ArgumentRules& rules,
                                               std::span<const ParameterInfo> parameters,
                                               const Argument* arguments, const Measured* measured,
                                               const void* closure) {
  if (rules.windows) return nullptr;
  for (const std::size_t i : rules.tensors)
    if (measured[i].layout != trilith::codegen::Layout::Dense || measured[i].begin == measured[i].end)
      return nullptr;
  std::unique_ptr<ExactCall> call(new ExactCall(specialisation, context));
  std::size_t count = 0;
  for (const std::size_t i : rules.tensors) count += 2 * static_cast<std::size_t>(arguments[i].view.rank);
  call->numbers_.reserve(count);  // the views keep pointers into it
  for (const std::size_t i : rules.tensors) {
    const ViewRef& view = arguments[i].view;
    call->views_.push_back({static_cast<std::uint8_t>(i), parameters[i].access != Access::In, view.dtype,
                            view.rank, call->numbers_.data() + call->numbers_.size()});
    for (int axis = 0; axis < view.rank; ++axis) {
      call->numbers_.push_back(view.extents[axis]);
      call->numbers_.push_back(view.strides[axis]);
    }
  }
  for (const std::size_t i : rules.outputs)
    for (const std::size_t j : rules.tensors) {
      // Two outputs meet once.
      if (i == j || (parameters[j].access != Access::In && j < i)) continue;
      call->apart_.push_back({static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(j),
                              measured[i].end - measured[i].begin, measured[j].end - measured[j].begin});
    }
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].constant)
      call->constants_.push_back({static_cast<std::uint8_t>(i), arguments[i].scalar});
  for (const CallPlan::Capture& capture : plan.captures)
    if (capture.specialised) call->captures_.push_back({capture, read_capture(closure, capture)});
  return call;
}

}  // namespace pl::detail
