// The estimate against kernels that were counted by hand, at the rates of codegen/ascendc/cost.cpp: 32 bytes a cycle from
// and to device memory, a repeat of 256 bytes a cycle on the vector unit, 16x16x16 halves a cycle on the cube unit.
#include "codegen/ascendc/cost.hpp"
#include "ascendc/kernels.hpp"

#include <doctest/doctest.h>

using namespace ascendc_test;

namespace {

constexpr DType f16 = DType::Float16, f32 = DType::Float32;

double cycles(const ascendc::Emitted& emitted, const std::string& pipe) {
  for (const ascendc::PipeCycles& each : emitted.estimate.pipes)
    if (each.pipe == pipe) return each.block;
  return 0;
}

double all_cycles(const ascendc::Emitted& emitted, const std::string& pipe) {
  for (const ascendc::PipeCycles& each : emitted.estimate.pipes)
    if (each.pipe == pipe) return each.all;
  return 0;
}

}  // namespace

TEST_CASE("a kernel of one block takes the sum of its copies and of its operations") {
  // 8x8 floats are 256 bytes: 8 cycles in, 8 out, Muls and Add are one repeat each.
  const auto emitted = emit(scale_by_rank(), {{f32, {8, 8}}, {f32, {8, 8}}, scalar(DType::Int32)});
  CHECK(cycles(emitted, "AIV MTE2") == 8);
  CHECK(cycles(emitted, "AIV V") == 2);
  CHECK(cycles(emitted, "AIV MTE3") == 8);
  CHECK(emitted.estimate.pipes.size() == 3);
}

TEST_CASE("operations by row take a repeat for each row and each 64 columns of floats") {
  // One row block of 8x100, 104 floats apart. In and out: 8 rows of 416 bytes. Row maximum: the first 64 columns (Muls),
  // the other 36 (Max), WholeReduceMax: 3 times 8. Its column spread (Brcb): 1. Sub: 2 lines of 8 rows. Exp: 8 * 104 floats
  // are 13 repeats. Row sum: 3 times 8. Brcb: 1. Div: 2 lines of 8 rows.
  const auto emitted = emit(softmax(), {{f32, {8, 100}}, {f32, {8, 100}}});
  CHECK(cycles(emitted, "AIV MTE2") == 8 * 416 / 32);
  CHECK(cycles(emitted, "AIV V") == 24 + 1 + 16 + 13 + 24 + 1 + 16);
  CHECK(cycles(emitted, "AIV MTE3") == 8 * 416 / 32);
}

TEST_CASE(
    "cores share the rounds of a nest that is spread: a block takes its part, all of them take everything") {
  const DType dtype = f32;
  const auto emitted = emit(elementwise(Op::Add, dtype, 2, dtype),
                            {{dtype, {1024, 1024}}, {dtype, {1024, 1024}}, {dtype, {1024, 1024}}});
  REQUIRE(emitted.blocks == 40);
  const double bytes = 4.0 * 1024 * 1024;
  CHECK(all_cycles(emitted, "AIV MTE2") == doctest::Approx(2 * bytes / 32));
  CHECK(all_cycles(emitted, "AIV V") == doctest::Approx(bytes / 256));
  CHECK(all_cycles(emitted, "AIV MTE3") == doctest::Approx(bytes / 32));
  CHECK(cycles(emitted, "AIV MTE3") >= bytes / 32 / 40);
  CHECK(cycles(emitted, "AIV MTE3") < bytes / 32 / 20);
}

TEST_CASE("a product is counted on the cube core, pipe by pipe") {
  // One tile of 64x64, k 64: 2 * 8192 bytes to L1; to L0A 8192 at 512, to L0B 8192 at 256; 4*4*4 steps; 16384 bytes out.
  const auto halves = emit(matmul(), {{f16, {64, 64}}, {f16, {64, 64}}, {f32, {64, 64}}});
  CHECK(cycles(halves, "AIC MTE2") == 512);
  CHECK(cycles(halves, "AIC MTE1") == 16 + 32);
  CHECK(cycles(halves, "AIC M") == 64);
  CHECK(cycles(halves, "AIC FIX") == 512);
  // Floats: twice the bytes, a quarter of the steps a cycle.
  const auto floats = emit(matmul(f32), {{f32, {64, 64}}, {f32, {64, 64}}, {f32, {64, 64}}});
  CHECK(cycles(floats, "AIC MTE2") == 1024);
  CHECK(cycles(floats, "AIC M") == 256);
  // Four tiles of 128x128: each half of a and b is read twice.
  const auto large = emit(matmul(), {{f16, {256, 64}}, {f16, {64, 256}}, {f32, {256, 256}}});
  CHECK(cycles(large, "AIC MTE2") == 2 * 2 * 256 * 64 * 2 / 32);
}

TEST_CASE("a loop takes its rounds times its body, and one whose rounds only the run knows is counted once") {
  const auto with_end = [](bool constant) {
    KernelBuilder k("rounds");
    const Expr x = k.tensor("x", Access::In, f32), y = k.tensor("y", Access::Out, f32);
    const Expr n = k.scalar("n", DType::Int64);
    k.for_("i", 0, constant ? Item(5) : Item(n), 1,
           [&](const Expr& i) { k.store(load(x, {i, 0}, {1, 64}) * literal(2), {i, 0}, y); });
    return emit(k.take(), {{f32, {8, 64}}, {f32, {8, 64}}, scalar(DType::Int64)});
  };
  CHECK(cycles(with_end(true), "AIV V") == 5);
  CHECK(with_end(true).estimate.open_loops == 0);
  CHECK(cycles(with_end(false), "AIV V") == 1);
  CHECK(with_end(false).estimate.open_loops == 1);
  CHECK(ascendc::estimate_text(with_end(false)).find("1 loop has a number of turns") != std::string::npos);
}

TEST_CASE("the estimate of a kernel that does nothing is that, without a table") {
  KernelBuilder k("nothing");
  (void)k.tensor("x", Access::In, f32);
  CHECK(ascendc::estimate_text(emit(k.take(), {{f32, {8, 8}}})) ==
        "trilith_nothing moves and computes no tiles: there is nothing to estimate.\n");
}

TEST_CASE("the estimate's text says what bounds the kernel, and that it is an estimate") {
  const auto emitted = emit(scale_by_rank(), {{f32, {8, 8}}, {f32, {8, 8}}, scalar(DType::Int32)});
  CHECK(ascendc::estimate_text(emitted) ==
        "Estimate of trilith_scale_by_rank, by published peak rates: a lower bound, not a measurement.\n"
        "1 block; cycles:\n\n"
        "pipe           a block  rate\n"
        "AIV V                2  256 bytes a cycle: vec_calc_size, 128 lanes of 16 bits\n"
        "AIV MTE2             8  32 bytes a cycle: ddr_read_rate\n"
        "AIV MTE3             8  32 bytes a cycle: ddr_write_rate\n\n"
        "Bound by AIV MTE2: at least 8 cycles a block, 0.00 us at 1800 MHz.\n"
        "Not counted: starts of instructions and copies, waits, the longer time of exponentials, logarithms, "
        "roots and\n"
        "divisions, conflicts of banks, and that cores share the bandwidth of device memory.\n");
}
