// test/fuzz/printed.hpp -- a random program that was printed as C++, captured and built: run natively and compiled,
// against the interpreter.
#pragma once

#include "fuzz/printed_options.hpp"
#include "runtime/support.hpp"

#include <cstring>
#include <functional>
#include <variant>

namespace fuzz {

/// The arguments of one run, by parameter number.
class Given {
 public:
  explicit Given(const trilith::codegen::RandomProgram& program)
      : arguments(trilith::codegen::random_arguments(program)) {}

  template <class T>
  [[nodiscard]] auto tensor(std::size_t number) const {
    const auto& view = std::get<trilith::codegen::TensorView>(arguments.arguments[number]);
    return pl::tensor(static_cast<T*>(view.data), pl::Index(view.extents), pl::Index(view.strides));
  }
  template <class T>
  [[nodiscard]] T scalar(std::size_t number) const {
    return std::get<trilith::codegen::Value>(arguments.arguments[number]).get<T>();
  }
  template <class T>
  [[nodiscard]] T capture(std::size_t number) const {
    return arguments.captures[number].get<T>();
  }
  trilith::codegen::RandomArguments arguments;
};

/// `call` makes the kernel from its captures and calls it.
inline void run_printed(std::uint64_t seed, const std::function<void(const Given&)>& call) {
  using namespace trilith::codegen;
  const RandomProgram program = random_program(seed, printed_options());
  Given expected(program), native(program), compiled(program);
  interpret(program.kernel, expected.arguments.arguments, expected.arguments.captures);
  {
    const support::Eager eager;
    call(native);
  }
  CHECK(difference(program, expected.arguments, native.arguments) == "");
  const support::Jit jit;
  call(compiled);
  CHECK(jit.context.statistics().eager_calls == 0);
  CHECK(difference(program, expected.arguments, compiled.arguments) == "");
}

}  // namespace fuzz
