// The specialiser against the interpreter: a program means the same before and after it is specialised.
#include "codegen/printer.hpp"
#include "codegen/random_program.hpp"
#include "codegen/specialise.hpp"

#include <doctest/doctest.h>

using namespace trilith::codegen;

TEST_CASE("random programs mean the same after specialisation") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const RandomProgram program = random_program(seed);
    RandomArguments expected = random_arguments(program), given = random_arguments(program);
    interpret(program.kernel, expected.arguments, expected.captures);
    std::string failure, specialised_text;
    try {
      const Kernel specialised = specialise(program.kernel, signature_of(program, given));
      specialised_text = to_text(specialised);
      verify(specialised);
      interpret(specialised, given.arguments, given.captures);
      failure = difference(program, expected, given);
    } catch (const std::exception& error) {
      failure = error.what() + std::string("\n") + to_text(program.kernel);
    }
    CAPTURE(seed);
    CAPTURE(specialised_text);
    CHECK(failure == "");
  }
}
