// runtime/pl/at.hpp -- pl::at: a task whose kernel is written where it is called.
//
//   auto device = pl::jit([](pl::Tensor<float> x, pl::Out<pl::Tensor<float>> y, float s) {
//     auto t = pl::at(pl::Level::core_group, [&] { y = pl::store(pl::load(x) * s, y); });
//   });
//
// The build captures the lambda as it captures `pl::jit.incore`. What it names is its arguments, as they are at
// the call: tensors (an Out or InOut may be written, a plain Tensor is read), windows, scalars and other numbers, and
// task ids, which it waits for. It changes no variable around it and captures no `this`. In a `pl::jit` body
// only: LevelError elsewhere. Where lambdas run natively it runs at once, when all earlier tasks are done.
#pragma once

#include "pl/capture_record.hpp"
#include "pl/task.hpp"

#include <atomic>
#include <source_location>
#include <type_traits>
#include <typeinfo>

namespace pl {

/// Where the body of `pl::at` runs.
enum class Level {
  core_group,  ///< on one core of the device
};

namespace detail {

class AtKernel;

/// One pl::at of the program; in a template, one instantiation of it.
struct AtSite {
  const CaptureUnit* unit;
  std::source_location where;
  const std::type_info* closure_type;
  std::atomic<AtKernel*> kernel{nullptr};  ///< made at the first call, never destroyed
};
TaskId run_at(AtSite& site, const void* closure, void (*natively)(const void* closure),
              const TaskOption& option, const std::source_location& where);

template <class F>
TaskId at(const F& body, const TaskOption& option, const std::source_location& where,
          const CaptureUnit* unit) {
  static_assert(std::is_invocable_v<const F&>,
                "the body of pl::at is a lambda without parameters: [&] { … }");
  static AtSite site{unit, where, &typeid(F)};
  return run_at(
      site, &body, [](const void* closure) { (void)(*static_cast<const F*>(closure))(); }, option, where);
}

}  // namespace detail

/// Makes a task of `body`; its handle.
template <class F>
TaskId at(Level, const F& body, std::source_location where = std::source_location::current(),
          const detail::CaptureUnit* unit = detail::current_capture_unit()) {
  return detail::at(body, {}, where, unit);
}
/// The same with `pl::deps = {…}` or `pl::own_thread`.
template <class F>
TaskId at(Level, const F& body, const TaskOption& option,
          std::source_location where = std::source_location::current(),
          const detail::CaptureUnit* unit = detail::current_capture_unit()) {
  return detail::at(body, option, where, unit);
}

}  // namespace pl
