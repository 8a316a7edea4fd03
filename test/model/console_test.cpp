// printf of a kernel: its conversions, and when the sink gets the text.
#include "test/model/model.hpp"

using namespace model_test;

TEST_CASE("printf prints bool, integers of any width and floats, a text for each end of a line") {
  const Outcome outcome = run({}, [] {
    AscendC::printf("no argument\n");
    AscendC::printf("%d %i", true, static_cast<std::int8_t>(-128));
    AscendC::printf(" %d, ", std::int64_t{-9223372036854775807} - 1);
    AscendC::printf("%u %u %x\n", static_cast<std::uint8_t>(255), ~std::uint64_t{0}, 255);
    AscendC::PRINTF("%f %f\n%f\n", 0.1f, half(1.5f), bfloat16_t(-0.0f));
    AscendC::printf("the end");
  });
  CHECK(outcome.message == "");
  CHECK(outcome.printed == std::vector<std::string>{
                               "no argument\n", "1 -128 -9223372036854775808, 255 18446744073709551615 ff\n",
                               "0.1 1.5\n-0\n", "the end"});
}

TEST_CASE("texts of cores do not mix within a line") {
  const Outcome outcome = run(
      {},
      [] {
        AscendC::printf("block ");
        AscendC::SyncAll();
        AscendC::printf("%d\n", AscendC::GetBlockIdx());
      },
      AscendC::model::Cores::Vector, 2);
  CHECK(outcome.message == "");
  REQUIRE(outcome.printed.size() == 2);
  CHECK((outcome.printed[0] + outcome.printed[1]).size() == 16);
  CHECK((outcome.printed[0] == "block 0\n" || outcome.printed[0] == "block 1\n"));
}

TEST_CASE("a format that does not fit its arguments, or that AscendC has not, is a fault") {
  check_fault(run({}, [] { FAULTS(AscendC::printf("%d\n", 1.0f)); }), "%d is given a float");
  check_fault(run({}, [] { FAULTS(AscendC::printf("%u\n", 1)); }), "%u is given a signed integer");
  check_fault(run({}, [] { FAULTS(AscendC::printf("%d %d\n", 1)); }), "1 arguments for more conversions");
  check_fault(run({}, [] { FAULTS(AscendC::printf("%d\n", 1, 2)); }), "2 arguments for 1 conversions");
  check_fault(run({}, [] { FAULTS(AscendC::printf("%5.2f\n", 1.0f)); }), "conversion '%5'");
  check_fault(run({}, [] { FAULTS(AscendC::printf("a\tb\n")); }), "of all escapes");
}
