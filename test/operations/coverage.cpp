// Asks each backend for each operation in each dtype.
#include "codegen/cpp_printer.hpp"
#include "codegen/error.hpp"
#include "codegen/xsimd/emit.hpp"
#include "operations/example.hpp"

namespace operations_test {
namespace {

template <class Try>
std::string refusal_of(const Try& attempt) {
  try {
    return attempt();
  } catch (const std::exception& error) {
    const std::string what = error.what();
    return what.empty() ? "an exception without words" : what;
  }
}

}  // namespace

std::string try_reference(Op op, DType dtype) {
  return refusal_of([&] { return reference_result(example_of(op, dtype)).bytes.empty() ? "no result" : ""; });
}

std::string try_interpreter(Op op, DType dtype) {
  return refusal_of([&] {
    Example example = example_of(op, dtype);
    const Value expected = reference_result(example);
    Value given(expected.dtype, expected.shape);
    interpret(kernel_of(example), arguments_of(example, given), {});
    return difference(operation(op), expected, given);
  });
}

std::string try_eager(Op op, DType dtype) {
  // Printed as C++ it is captured, built and run by test_operations: in one dtype an operation, since each costs a
  // template instantiation. The eager function passes the dtype on to the reference operation.
  return refusal_of(
      [&] { return to_cpp(kernel_of(example_of(op, dtype))).empty() ? "nothing printed" : ""; });
}

std::string try_xsimd(Op op, DType dtype) {
  return refusal_of([&] {
    Example example = example_of(op, dtype);
    Value result = reference_result(example);
    const Signature signature = signature_of(arguments_of(example, result));
    return xsimd::emit(specialise(kernel_of(example), signature), signature).text.empty() ? "no text" : "";
  });
}

}  // namespace operations_test
