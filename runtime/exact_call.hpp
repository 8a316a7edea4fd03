// runtime/exact_call.hpp -- the first call that a kernel's code was made for, so that the very same one is recognised by
// comparing numbers: without measuring views, making a key and looking it up.
//
// Most kernels are called again and again with tensors of one shape. Immutable once it is published.
#pragma once

#include "codegen/dtype.hpp"
#include "runtime/call_plan.hpp"
#include "runtime/specialisation_table.hpp"

#include <cstdint>
#include <vector>

namespace pl::detail {

class ExactCall {
 public:
  /// Null where other calls of these numbers would be checked further: windows, views that are not dense or empty.
  [[nodiscard]] static std::unique_ptr<const ExactCall> of(const Specialisation& specialisation,
                                                           std::uint64_t context, const CallPlan& plan,
                                                           const ArgumentRules& rules,
                                                           std::span<const ParameterInfo> parameters,
                                                           const Argument* arguments,
                                                           const Measured* measured, const void* closure);

  [[nodiscard]] const Specialisation& specialisation() const { return specialisation_; }

  /// Has this call the same context, dtypes, extents, strides and constants, in memory that no output shares? All that a
  /// call is checked for then holds, as it did for the first.
  [[nodiscard]] bool matches(std::uint64_t context, const Argument* arguments, const void* closure) const {
    if (context != context_) return false;
    for (const View& view : views_) {
      const ViewRef& given = arguments[view.parameter].view;
      if (given.dtype != view.dtype || given.rank != view.rank || given.data == nullptr ||
          (view.written && given.read_only))
        return false;
      const std::int64_t* expected = view.numbers;
      for (int axis = 0; axis < view.rank; ++axis, expected += 2)
        if (given.extents[axis] != expected[0] || given.strides[axis] != expected[1]) return false;
    }
    for (const Apart& pair : apart_) {
      const char* const first = static_cast<const char*>(arguments[pair.first].view.data);
      const char* const second = static_cast<const char*>(arguments[pair.second].view.data);
      if (first < second + pair.second_bytes && second < first + pair.first_bytes) return false;
    }
    for (const Constant& constant : constants_)
      if (arguments[constant.parameter].scalar != constant.value) return false;
    for (const Captured& captured : captures_)
      if (read_capture(closure, captured.capture) != captured.value) return false;
    return true;
  }

 private:
  explicit ExactCall(const Specialisation& specialisation, std::uint64_t context)
      : specialisation_(specialisation), context_(context) {}
  struct View {
    std::uint8_t parameter;
    bool written;
    DType dtype;
    int rank;
    const std::int64_t* numbers;  ///< of each axis: extent, stride
  };
  struct Apart {
    std::uint8_t first, second;
    std::int64_t first_bytes, second_bytes;
  };
  struct Constant {
    std::uint8_t parameter;
    std::uint64_t value;
  };
  struct Captured {
    CallPlan::Capture capture;
    std::uint64_t value;
  };
  const Specialisation& specialisation_;
  const std::uint64_t context_;
  std::vector<std::int64_t> numbers_;
  std::vector<View> views_;
  std::vector<Apart> apart_;
  std::vector<Constant> constants_;
  std::vector<Captured> captures_;
};

}  // namespace pl::detail
