// Seeded random kernels, compiled, against the interpreter: control flow, every dtype, strides, run-time
// extents.
#include "emitter/abi_arguments.hpp"
#include "emitter/compare.hpp"

#include <cstdlib>

using namespace emitter_test;

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
      const AbiArguments arguments(given);
      CHECK(compile(emitted)(&arguments.args, &host.services) == 0);
    } catch (const pl::Error& error) {
      FAIL_CHECK(error.what());
      continue;
    }
    interpret(program.kernel, expected.arguments, expected.captures);
    CHECK(difference(program, expected, given) == "");
  }
}
