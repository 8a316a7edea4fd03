// test/operations/printed.hpp -- an operation's example that was printed as C++, captured and built: run natively and
// compiled, against the reference.
#pragma once

#include "operations/example.hpp"
#include "runtime/support.hpp"

#include <functional>

namespace operations_test {

/// The arguments of one run, by parameter number.
class Given {
 public:
  explicit Given(const std::vector<Argument>& arguments) : arguments_(arguments) {}
  template <class T>
  [[nodiscard]] auto tensor(std::size_t number) const {
    const auto& view = std::get<TensorView>(arguments_[number]);
    return pl::tensor(static_cast<T*>(view.data), pl::Index(view.extents), pl::Index(view.strides));
  }
  template <class T>
  [[nodiscard]] T scalar(std::size_t number) const {
    return std::get<Value>(arguments_[number]).get<T>();
  }

 private:
  const std::vector<Argument>& arguments_;
};

inline void run_printed(const char* name, const std::function<void(const Given&)>& call) {
  const Operation& row = operation(operation_from_name(name).value());
  Example example = example_of(row.op, printed_dtype(row));
  const Value expected = reference_result(example);
  Value native(expected.dtype, expected.shape), compiled(expected.dtype, expected.shape);
  {
    const support::Eager eager;
    call(Given(arguments_of(example, native)));
  }
  CHECK(difference(row, expected, native) == "");
  const support::Jit jit;
  call(Given(arguments_of(example, compiled)));
  CHECK(jit.context.statistics().eager_calls == 0);
  CHECK(jit.compiles() == 1);
  CHECK(difference(row, expected, compiled) == "");
}

}  // namespace operations_test
