#include "codegen/json.hpp"
#include "codegen/random_program.hpp"

#include <doctest/doctest.h>

using namespace trilith::codegen;

TEST_CASE("specialising is deterministic: 20 runs give one text, for 20 random kernels") {
  for (std::uint64_t seed = 500; seed < 520; ++seed) {
    const RandomProgram program = random_program(seed);
    const RandomArguments arguments = random_arguments(program);
    const Signature signature = signature_of(program, arguments);
    const std::string first = to_json(specialise(program.kernel, signature));
    for (int again = 1; again < 20; ++again) CHECK(to_json(specialise(program.kernel, signature)) == first);
  }
}
