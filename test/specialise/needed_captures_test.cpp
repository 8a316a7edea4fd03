#include "signatures.hpp"

#include <doctest/doctest.h>

using namespace trilith::codegen;
using namespace trilith::codegen::build;
using namespace trilith::codegen::test;

TEST_CASE("a capture is specialised where a shape or an unroll bound needs it, and only there") {
  KernelBuilder k("captures");
  const Expr x = k.tensor("x", Access::InOut, DType::Float32);
  const Expr factor = k.capture("factor", DType::Float32);
  const Expr rows = k.capture("rows", DType::Int32);
  const Expr offset = k.capture("offset", DType::Int64);
  const Expr rounds = k.capture("rounds", DType::Int64);
  const Expr bound = k.capture("bound", DType::Int64);
  const Expr choice = k.capture("choice", DType::Bool);
  const Expr half = k.let("half", rows / constant(Constant::of(std::int32_t{2})));
  const Expr width = k.let("width", integer(4));
  k.if_(choice, [&] { k.assign(width, integer(8)); });
  k.for_("i", 0, bound, 1,
         [&](const Expr& i) { k.store(load(x, {offset, i}, {half, width}) * factor, {0, 0}, x); });
  k.for_("j", 0, rounds, 1, [&](const Expr& j) { k.print(j); }, LoopKind::Unroll);
  const std::vector<bool> expected = {false, true, false, true, false, true};
  CHECK(captures_to_specialise(k.take()) == expected);
}

TEST_CASE("a specialised capture and a pl::Const are constants, a plain capture is not") {
  KernelBuilder k("constants");
  const Expr x = k.tensor("x", Access::InOut, DType::Float32);
  const Expr rank = k.const_scalar("rank", DType::Int32);
  const Expr rows = k.capture("rows", DType::Int32);
  const Expr factor = k.capture("factor", DType::Float32);
  k.store(load(x, {rank, 0}, {rows, 8}) * factor, {0, 0}, x);
  const Kernel kernel =
      specialise(k.take(), signature({floats({8, 8}), const_argument(Constant::of(std::int32_t{3}))},
                                     {Constant::of(std::int32_t{2}), std::nullopt}));
  CHECK(body_text(kernel) ==
        "x_load: float[2, 8] = load x[3, 0 : 2, 8]\n"
        "x_mul: float[2, 8] = x_load * factor\n"
        "store x[0, 0] = x_mul\n");
  CHECK(kernel.parameters.size() == 2);
  CHECK(kernel.captures.size() == 2);
}

TEST_CASE("a run-time scalar may be an extent") {
  KernelBuilder k("extent");
  const Expr x = k.tensor("x", Access::InOut, DType::Float32);
  const Expr rows = k.scalar("rows", DType::Int32);
  k.store(load(x, {0, 0}, {rows, 8}) + full(DType::Float32, {rows, 8}, literal(1.0)), {0, 0}, x);
  CHECK(body_text(specialise(k.take(), signature({floats({8, 8}), scalar_argument(DType::Int32)}))) ==
        "rows_1 = cast<int64, trunc>(rows)\n"
        "x_load: float[rows_1, 8] = load x[0, 0 : rows_1, 8]\n"
        "x_full: float[rows_1, 8] = full<float>([rows_1, 8], 1.0f)\n"
        "x_add: float[rows_1, 8] = x_load + x_full\n"
        "store x[0, 0] = x_add\n");
}
