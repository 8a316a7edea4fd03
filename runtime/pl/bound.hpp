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
#pragma once

#include <memory>
#include <source_location>
#include <utility>

namespace pl {

namespace detail {
class BoundCall;
class KernelObject;
void run_bound(const BoundCall& call, const std::source_location& where);
}  // namespace detail

class Bound {
 public:
  Bound(std::shared_ptr<detail::KernelObject> kernel, std::shared_ptr<const detail::BoundCall> call)
      : kernel_(std::move(kernel)), call_(std::move(call)) {}

  void operator()(const std::source_location& where = std::source_location::current()) const {
    detail::run_bound(*call_, where);
  }

 private:
  std::shared_ptr<detail::KernelObject> kernel_;  // owns the code that call_ runs
  std::shared_ptr<const detail::BoundCall> call_;
};

}  // namespace pl
