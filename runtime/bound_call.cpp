#include "runtime/bound_call.hpp"

#include "pl/error.hpp"
#include "runtime/services.hpp"
#include "runtime/specialisation_table.hpp"
#include "runtime/thread_state.hpp"

namespace pl::detail {

BoundCall::BoundCall(KernelObject& kernel, KernelObject::Handle handle,
                     std::span<const ParameterInfo> parameters, const Argument* arguments,
                     std::vector<std::uint64_t> scalars)
    : kernel_(kernel),
      handle_(std::move(handle)),
      entry_(handle_.specialisation != nullptr ? handle_.specialisation->code.entry : nullptr),
      arguments_(arguments, arguments + parameters.size()),
      scalars_(std::move(scalars)) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].tensor) count += 2 * static_cast<std::size_t>(arguments[i].view.rank);
  numbers_.reserve(count);  // what follows keeps pointers into it
  const auto keep = [&](const std::int64_t* numbers, int rank) {
    const std::int64_t* const kept = numbers_.data() + numbers_.size();
    numbers_.insert(numbers_.end(), numbers, numbers + rank);
    return kept;
  };
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].tensor) continue;
    ViewRef& view = arguments_[i].view;
    view.extents = keep(view.extents, view.rank);
    view.strides = keep(view.strides, view.rank);
    tensors_.push_back({view.data, view.extents, view.strides});
  }
}

void BoundCall::run(const std::source_location& where) const {
  if (entry_ == nullptr || thread_state().level != Level::None) [[unlikely]]
    kernel_.call(handle_, arguments_.data(), nullptr, where);
  else
    run_entry(entry_, {tensors_.data(), scalars_.data(), 0, 1});
}

namespace {

/// A kernel without code: its entry makes the ordinary call.
struct NativeBare final : BareState {
  NativeBare(const BoundCall& call_, const std::source_location& where_) : call(call_), where(where_) {
    static constexpr bool never = false;
    entry = [](const abi::Args*, const abi::Services* given) {
      const auto& self = *static_cast<const NativeBare*>(given->context);
      self.call.run(self.where);
      return std::int32_t{0};
    };
    services.context = this;
    used_services = &never;
  }
  void finish(std::int32_t) override {}
  const BoundCall& call;
  const std::source_location where;
};

}  // namespace

std::unique_ptr<BareState> BoundCall::bare(const std::source_location& where) const {
  if (thread_state().level == Level::Host || thread_state().level == Level::Device)
    throw LevelError(
        "a bare call of " + kernel_.name() +
            " was made in an orchestration, where calls become tasks; make it in ordinary C++, or call the "
            "kernel itself",
        {where.file_name(), where.line(), where.column()});
  if (entry_ == nullptr) return std::make_unique<NativeBare>(*this, where);
  return make_bare_state(entry_, {tensors_.data(), scalars_.data(), 0, 1});
}

std::unique_ptr<BareState> make_bare(const BoundCall& call, const std::source_location& where) {
  return call.bare(where);
}

void run_bound(const BoundCall& call, const std::source_location& where) { call.run(where); }

}  // namespace pl::detail
