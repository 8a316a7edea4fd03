// runtime/pl/range.hpp -- counted loops of kernels: range, parallel, unroll, pipeline.
//
//   for (auto i : pl::range(n))            // 0 … n-1
//   for (auto i : pl::range(2, 10, 3))     // 2, 5, 8
//   for (auto i : pl::unroll(4))           // bounds are constants, the body is repeated
//
// The loop variable is an int64. In an eager run all of them are plain loops.
#pragma once

#include "pl/scalar.hpp"

#include <cstdint>

namespace pl {

struct PipelineOptions {
  int stage = 2;  ///< buffers in flight; a hint on the simulator
};

namespace detail {

void throw_bad_step(const std::source_location& where);

/// A counted range; `Element` is what the loop variable is made from.
template <class Element>
class Counted {
 public:
  struct Iterator {
    std::int64_t value;
    std::int64_t step;
    Element operator*() const { return Element(value); }
    Iterator& operator++() {
      value += step;
      return *this;
    }
    bool operator!=(const Iterator& end) const { return step > 0 ? value < end.value : value > end.value; }
  };
  Counted(std::int64_t first, std::int64_t last, const Extent& step)
      : first_(first), last_(last), step_(step.value) {
    if (step.value == 0) throw_bad_step(step.where);
  }
  [[nodiscard]] Iterator begin() const { return {first_, step_}; }
  [[nodiscard]] Iterator end() const { return {last_, step_}; }

 private:
  std::int64_t first_, last_, step_;
};

using Range = Counted<std::int64_t>;

}  // namespace detail

/// 0 … n-1, one after the other.
[[nodiscard]] inline detail::Range range(Extent n) { return {0, n.value, 1}; }
/// first, first+step, … before last (after it when step < 0). A step of 0 is an error.
[[nodiscard]] inline detail::Range range(Extent first, Extent last, Extent step = 1) {
  return {first.value, last.value, step};
}
/// As range; the iterations are independent and may run on several cores.
[[nodiscard]] inline detail::Range parallel(Extent n) { return {0, n.value, 1}; }
[[nodiscard]] inline detail::Range parallel(Extent first, Extent last, Extent step = 1) {
  return {first.value, last.value, step};
}
/// As range; the bounds are constants of the specialisation and the body is repeated.
[[nodiscard]] inline detail::Range unroll(Extent n) { return {0, n.value, 1}; }
[[nodiscard]] inline detail::Range unroll(Extent first, Extent last, Extent step = 1) {
  return {first.value, last.value, step};
}
/// As range, with loads of the next iterations in flight: a queue depth on the NPU.
[[nodiscard]] inline detail::Range pipeline(Extent n, PipelineOptions = {}) { return {0, n.value, 1}; }
[[nodiscard]] inline detail::Range pipeline(Extent first, Extent last, Extent step, PipelineOptions = {}) {
  return {first.value, last.value, step};
}

}  // namespace pl
