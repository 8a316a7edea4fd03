// Run-time extents in the place of constants, as beyond the budget of specialisations: the same bits.
#include "emitter/abi_arguments.hpp"
#include "emitter/compare.hpp"

#include <cstdlib>
#include <map>

using namespace emitter_test;

namespace {

/// All extents but 1 at run time, equal ones together.
Signature with_run_time_extents(Signature signature) {
  std::map<std::int64_t, std::int64_t> numbers;
  for (ArgumentSignature& argument : signature.arguments)
    for (std::int64_t& extent : argument.extents)
      if (extent >= 0 && extent != 1)
        extent =
            shared_extent(numbers.emplace(extent, static_cast<std::int64_t>(numbers.size())).first->second);
  return signature;
}

void run(const xsimd::Emitted& emitted, RandomArguments& given) {
  Host host;
  const AbiArguments arguments(given);
  CHECK(compile(emitted)(&arguments.args, &host.services) == 0);
}

}  // namespace

TEST_CASE("random kernels with run-time extents leave the bits that constants give") {
  int same = 0, constants_needed = 0;
  // More of them by hand: TRILITH_RANDOM_FROM and TRILITH_RANDOM_COUNT.
  const char *from = std::getenv("TRILITH_RANDOM_FROM"), *count = std::getenv("TRILITH_RANDOM_COUNT");
  const std::uint64_t first = from != nullptr ? std::strtoull(from, nullptr, 10) : 1;
  const std::uint64_t number = count != nullptr ? std::strtoull(count, nullptr, 10) : 60;
  for (std::uint64_t seed = first; seed < first + number; ++seed) {
    CAPTURE(seed);
    RandomProgram program = random_program(seed);
    RandomArguments expected = random_arguments(program), given = random_arguments(program);
    const Signature exact = signature_of(program, given);
    const Signature signature = with_run_time_extents(exact);
    if (signature == exact) continue;
    Kernel specialised;
    try {
      specialised = specialise(program.kernel, signature);
    } catch (const pl::UserError&) {
      ++constants_needed;
      continue;
    }
    if (computed_extent_in_doubt(specialised).line != 0) {
      ++constants_needed;
      continue;
    }
    const xsimd::Emitted emitted = xsimd::emit(specialised, signature);
    INFO(to_text(specialised));
    INFO(emitted.text);
    try {
      run(emitted, given);
      run(xsimd::emit(specialise(program.kernel, exact), exact), expected);
    } catch (const pl::Error& error) {
      FAIL_CHECK(error.what());
      continue;
    }
    for (RandomParameter& parameter : program.parameters) parameter.tolerance = Tolerance::Exact;
    CHECK(difference(program, expected, given) == "");
    ++same;
  }
  MESSAGE(same, " kernels with the same bits, ", constants_needed, " need constants");
  if (count == nullptr) CHECK(same > 20);
}
