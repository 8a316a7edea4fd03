// Seeded random kernels, compiled, against the interpreter: control flow, every dtype, strides, run-time
// extents.
#include "codegen/random_program.hpp"
#include "emitter/compare.hpp"

#include <cstdlib>

using namespace emitter_test;

namespace {

std::uint64_t slot_of(const Value& value) {
  std::uint64_t slot = 0;
  std::memcpy(&slot, value.bytes.data(), value.bytes.size());
  return slot;
}

void run_compiled(const xsimd::Emitted& emitted, RandomArguments& given, Host& host) {
  std::vector<pl::abi::Tensor> tensors;
  std::vector<std::uint64_t> scalars;
  for (const Argument& argument : given.arguments) {
    if (const auto* view = std::get_if<TensorView>(&argument))
      tensors.push_back({view->data, view->extents.data(), view->strides.data()});
    else
      scalars.push_back(slot_of(std::get<Value>(argument)));
  }
  for (const Value& capture : given.captures) scalars.push_back(slot_of(capture));
  const pl::abi::Args args{tensors.data(), scalars.data(), 0, 1};
  CHECK(compile(emitted)(&args, &host.services) == 0);
}

}  // namespace

TEST_CASE("random kernels leave the same memory compiled and interpreted") {
  // More of them by hand: TRILITH_RANDOM_FROM and TRILITH_RANDOM_COUNT.
  const char *from = std::getenv("TRILITH_RANDOM_FROM"), *count = std::getenv("TRILITH_RANDOM_COUNT");
  const std::uint64_t first = from != nullptr ? std::strtoull(from, nullptr, 10) : 1;
  const std::uint64_t number = count != nullptr ? std::strtoull(count, nullptr, 10) : 60;
  for (std::uint64_t seed = first; seed < first + number; ++seed) {
    CAPTURE(seed);
    const RandomProgram program = random_program(seed);
    RandomArguments expected = random_arguments(program), given = random_arguments(program);
    const Signature signature = signature_of(program, given);
    const Kernel specialised = specialise(program.kernel, signature);
    const xsimd::Emitted emitted = xsimd::emit(specialised, signature);
    INFO(to_text(specialised));
    INFO(emitted.text);
    Host host;
    try {
      run_compiled(emitted, given, host);
    } catch (const pl::Error& error) {
      FAIL_CHECK(error.what());
      continue;
    }
    interpret(program.kernel, expected.arguments, expected.captures);
    CHECK(difference(program, expected, given) == "");
  }
}
