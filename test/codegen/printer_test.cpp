#include "codegen/printer.hpp"
#include "codegen/builder.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace trilith::codegen;
using namespace trilith::codegen::build;

TEST_CASE("the first kernel prints as a person would write it") {
  KernelBuilder k("scale_by_rank", "samples/sample.cpp");
  const Expr x = k.tensor("x", Access::In, DType::Float32, {{8}, {8}});
  const Expr y = k.tensor("y", Access::Out, DType::Float32, {{8}, {8}});
  const Expr rank = k.scalar("rank", DType::Int32);
  const Expr tile = k.let("tile", load(x, {0, 0}, {8, 8}));
  const Expr rank_f32 = k.let("rank_f32", cast(DType::Float32, rank));
  const Expr result = k.let("result", tile * rank_f32 + tile);
  k.store(result, {0, 0}, y);
  k.returns(y);
  Kernel kernel = k.take();
  const std::string captured =
      "kernel scale_by_rank(x: in tensor<float>[8, 8], y: out tensor<float>[8, 8], rank: scalar<int32>)   "
      "// sample.cpp:1\n"
      "  tile = load x[0, 0 : 8, 8]        // :2\n"
      "  rank_f32 = cast<float>(rank)      // :3\n"
      "  result = tile * rank_f32 + tile   // :4\n"
      "  store y[0, 0] = result            // :5\n"
      "  return y\n";
  CHECK(to_text(kernel) == captured);

  kernel.specialised = true;
  kernel.variables[static_cast<std::size_t>(tile.variable)].type = Type::tile(DType::Float32, {{8}, {8}});
  CHECK(to_text(kernel).find("  tile: float[8, 8] = load x[0, 0 : 8, 8]") != std::string::npos);
}

TEST_CASE("every statement kind has a line") {
  KernelBuilder k("control");
  const Dim n = k.dynamic("N");
  const Expr x = k.tensor("x", Access::InOut, DType::Int32, {n});
  const Expr c = k.const_scalar("c", DType::Bool);
  const Expr s = k.capture("s", DType::Int64);
  k.if_(c, [&] { k.print(s); }, [&] { k.return_(); });
  k.for_("i", 0, dim(x, 0), 2, [&](Expr i) { k.let("row", index(x, i)); }, LoopKind::Pipeline);
  k.for_("i", 0, 4, 1, [&](Expr) { k.continue_(); }, LoopKind::Unroll);
  k.while_(s < literal(3), [&] { k.break_(); }, [&] { k.assign(s, s + literal(1)); });
  k.block([&](std::int32_t number) { k.leave(number); });
  CHECK(to_text(k.take()) ==
        "kernel control(x: inout tensor<int32>[N], c: const scalar<bool>) captures (s: scalar<int64>)   "
        "// kernel.cpp:1\n"
        "  if c                                         // :2\n"
        "    print s                                    // :3\n"
        "  else\n"
        "    return                                     // :4\n"
        "  for i in 0 .. dim(x, 0) step 2 pipeline(2)   // :5\n"
        "    row = x[i]                                 // :6\n"
        "  for i.2 in 0 .. 4 unroll                     // :7\n"
        "    continue                                   // :8\n"
        "  while s < 3                                  // :9\n"
        "    break                                      // :10\n"
        "  step\n"
        "    s = s + 1                                  // :11\n"
        "  block 1                                      // :12\n"
        "    leave block 1                              // :13\n");
}

TEST_CASE("expressions have brackets where the meaning needs them and nowhere else") {
  KernelBuilder k("expressions");
  const Expr a = k.scalar("a", DType::Float32);
  const Expr b = k.scalar("b", DType::Float32);
  const Expr x = k.tensor("x", Access::In, DType::Float32);
  const Kernel kernel = k.take();
  CHECK(to_text(kernel, (a + b) * a) == "(a + b) * a");
  CHECK(to_text(kernel, a + b * a) == "a + b * a");
  CHECK(to_text(kernel, a - (b - a)) == "a - (b - a)");
  CHECK(to_text(kernel, a - b - a) == "a - b - a");
  CHECK(to_text(kernel, call(Op::Conditional, {a < b, a, b})) == "a < b ? a : b");
  CHECK(to_text(kernel, call(Op::Neg, {a + b})) == "neg(a + b)");
  CHECK(to_text(kernel, cast(DType::Int32, a, CastMode::Trunc)) == "cast<int32, trunc>(a)");
  CHECK(to_text(kernel, load(slice(index(x, 1), {0}, {4}), {2}, {2})) == "load x[1].slice[0 : 4][2 : 2]");
  CHECK(to_text(kernel, load(x)) == "load x");
  CHECK(to_text(kernel, full(DType::Float64, {2, 3}, literal(1))) == "full<double>([2, 3], 1)");
}

TEST_CASE("constants print so that they read back to the same bits") {
  const Kernel kernel;
  const auto text = [&](Constant value) { return to_text(kernel, constant(value)); };
  CHECK(text(Constant::of(0.1f)) == "0.1f");
  CHECK(text(Constant::of(-0.0)) == "-0.0");
  CHECK(text(Constant::of(1e300)) == "1e+300");
  CHECK(text(Constant::of(2.0f)) == "2.0f");
  CHECK(text(Constant::of(std::numeric_limits<float>::infinity())) == "inf");
  CHECK(text(Constant::of(true)) == "true");
  CHECK(text(Constant::of(std::int32_t{-7})) == "-7");
  CHECK(text({DType::UInt64, ~std::uint64_t{0}}) == "18446744073709551615");
}

TEST_CASE("types print with dtype and shape") {
  KernelBuilder k("types");
  const Dim n = k.dynamic("N");
  const Kernel kernel = k.take();
  CHECK(to_text(kernel, Type::tile(DType::Float32, {{8}, n})) == "tile<float>[8, N]");
  CHECK(to_text(kernel, Type::tile(DType::Int64)) == "tile<int64>[...]");
  CHECK(to_text(kernel, Type::scalar(DType::Bool)) == "scalar<bool>");
  CHECK(to_text(kernel, Type{}) == "void");
}

TEST_CASE("a broken kernel still prints") {
  Kernel kernel = KernelBuilder("broken").take();
  Expr expression;
  expression.op = Op::Store;
  expression.variable = 99;
  CHECK(to_text(kernel, expression) == "store ?[?] = ?");
  expression.op = Op::Variable;
  CHECK(to_text(kernel, expression) == "?");
}
