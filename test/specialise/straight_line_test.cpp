#include "signatures.hpp"

#include <doctest/doctest.h>

using namespace trilith::codegen;
using namespace trilith::codegen::build;
using namespace trilith::codegen::test;

namespace {

Kernel scale_by_rank() {
  KernelBuilder k("scale_by_rank");
  const Expr x = k.tensor("x", Access::In, DType::Float32, {{8}, {8}});
  const Expr y = k.tensor("y", Access::Out, DType::Float32, {{8}, {8}});
  const Expr rank = k.scalar("rank", DType::Int32);
  const Expr tile = k.let("tile", load(x, {0, 0}, {8, 8}));
  const Expr rank_f32 = k.let("rank_f32", cast(DType::Float32, rank));
  const Expr scaled = k.let("scaled", call(Op::Mul, {tile, rank_f32}));
  const Expr result = k.let("result", call(Op::Add, {scaled, tile}));
  k.store(result, {0, 0}, y);
  k.returns(y);
  return k.take();
}

Kernel softmax() {
  KernelBuilder k("softmax");
  const Expr x = k.tensor("x", Access::In, DType::Float32);
  const Expr y = k.tensor("y", Access::Out, DType::Float32);
  const Expr t = k.let("t", load(x));
  const Expr e = k.let("e", call(Op::Exp, {t - call(Op::RowMax, {t})}));
  k.store(e / call(Op::RowSum, {e}), {}, y);
  return k.take();
}

}  // namespace

TEST_CASE("scale_by_rank keeps its statements and gets every type") {
  const Kernel kernel =
      specialise(scale_by_rank(), signature({floats({8, 8}), floats({8, 8}), scalar_argument(DType::Int32)}));
  CHECK(body_text(kernel) ==
        "tile: float[8, 8] = load x[0, 0 : 8, 8]\n"
        "rank_f32 = cast<float>(rank)\n"
        "scaled: float[8, 8] = tile * rank_f32\n"
        "result: float[8, 8] = scaled + tile\n"
        "store y[0, 0] = result\n"
        "return y\n");
  CHECK(kernel.specialised);
  CHECK(kernel.returned_parameter == 1);
}

TEST_CASE("softmax of any shape is taken apart, one operation a statement") {
  CHECK(body_text(specialise(softmax(), signature({floats({4, 16}), floats({4, 16})}))) ==
        "t: float[4, 16] = load x[0, 0 : 4, 16]\n"
        "e_row_max: float[4, 1] = row_max(t)\n"
        "e_sub: float[4, 16] = t - e_row_max\n"
        "e: float[4, 16] = exp(e_sub)\n"
        "y_row_sum: float[4, 1] = row_sum(e)\n"
        "y_div: float[4, 16] = e / y_row_sum\n"
        "store y[0, 0] = y_div\n");
  CHECK(body_text(specialise(softmax(), signature({floats({2, -1, 16}), floats({2, -1, 16})}))) ==
        "t: float[2, x_1, 16] = load x[0, 0, 0 : 2, x_1, 16]\n"
        "e_row_max: float[2, x_1, 1] = row_max(t)\n"
        "e_sub: float[2, x_1, 16] = t - e_row_max\n"
        "e: float[2, x_1, 16] = exp(e_sub)\n"
        "y_row_sum: float[2, x_1, 1] = row_sum(e)\n"
        "y_div: float[2, x_1, 16] = e / y_row_sum\n"
        "store y[0, 0, 0] = y_div\n");
}
