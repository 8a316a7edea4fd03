// runtime/pl/bound.hpp -- pl::Bound: a compiled kernel with its arguments, for calls that are repeated.
//
//   auto step = scale.compile(x, y, 2.0f).bind(x, y, 2.0f);
//   for (int i = 0; i < 1'000'000; ++i) step();
//
// Everything that a call checks was checked by `bind`: memory, shapes, strides, overlap, named extents. The
// tensors' memory must live, at the same address, as long as the object is called; numbers and captured values
// are those of the time of `bind`. Not counted in `pl::statistics()`. Copies share what they hold.
// Thread-safe, as far as the tensors' memory is. Errors: what the kernel itself raises; LevelError where a
// call of the kernel would be one.
//
//   pl::BareCall bare = step.bare();         // the machine code and nothing around it
//   for (int i = 0; i < 1'000'000; ++i) bare();
#pragma once

#include "pl/abi.hpp"

#include <memory>
#include <source_location>
#include <utility>

namespace pl {

namespace detail {
class BoundCall;
class KernelObject;
void run_bound(const BoundCall& call, const std::source_location& where);

/// What a bare call gives its kernel, and what the kernel leaves behind.
struct BareState {
  virtual ~BareState() = default;
  /// After a call that failed, took scratch memory or printed: gives the memory back, throws what was raised.
  virtual void finish(std::int32_t code) = 0;

  abi::Entry entry = nullptr;  ///< never null: a native kernel has one that calls the lambda
  abi::Args arguments{};
  abi::Services services{};
  const bool* used_services = nullptr;
};
[[nodiscard]] std::unique_ptr<BareState> make_bare(const BoundCall& call, const std::source_location& where);
}  // namespace detail

/// A bound call for loops around kernels of a few nanoseconds, where the two reads of the floating-point control
/// register that every other call makes would be most of the time. As the bound call it was made from, but: the kernel
/// runs in the caller's floating-point environment (results are those promised where that is the default one:
/// rounding to nearest, denormals kept) and may raise its flags; it runs at once wherever it is called, in an orchestration, too; one
/// thread at a time may call an object.
class BareCall {
 public:
  BareCall(std::shared_ptr<detail::KernelObject> kernel, std::shared_ptr<const detail::BoundCall> call,
           std::unique_ptr<detail::BareState> state)
      : entry_(state->entry),
        arguments_(&state->arguments),
        services_(&state->services),
        used_services_(state->used_services),
        state_(std::move(state)),
        kernel_(std::move(kernel)),
        call_(std::move(call)) {}

  void operator()() const {
    const std::int32_t code = entry_(arguments_, services_);
    if ((code | static_cast<std::int32_t>(*used_services_)) != 0) [[unlikely]]
      state_->finish(code);
  }

 private:
  // Copied from the state, so that a call follows one pointer less.
  abi::Entry entry_;
  const abi::Args* arguments_;
  const abi::Services* services_;
  const bool* used_services_;
  std::unique_ptr<detail::BareState> state_;
  std::shared_ptr<detail::KernelObject> kernel_;  // owns the code
  std::shared_ptr<const detail::BoundCall> call_;
};

class Bound {
 public:
  Bound(std::shared_ptr<detail::KernelObject> kernel, std::shared_ptr<const detail::BoundCall> call)
      : kernel_(std::move(kernel)), call_(std::move(call)) {}

  void operator()(const std::source_location& where = std::source_location::current()) const {
    detail::run_bound(*call_, where);
  }
  /// The same call without what surrounds it: see BareCall. Throws LevelError in an orchestration.
  [[nodiscard]] BareCall bare(const std::source_location& where = std::source_location::current()) const {
    return {kernel_, call_, detail::make_bare(*call_, where)};
  }

 private:
  std::shared_ptr<detail::KernelObject> kernel_;  // owns the code that call_ runs
  std::shared_ptr<const detail::BoundCall> call_;
};

}  // namespace pl
