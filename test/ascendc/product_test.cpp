// Products on the model, against the interpreter: sizes that fill no fractal, every dtype and layout, loops around
// them, vector work before and behind them.
#include "ascendc/on_model.hpp"

#include <doctest/doctest.h>

using namespace ascendc_test;
using emitter_test::ArgumentSpec;
using emitter_test::Options;
using emitter_test::TensorSpec;
using namespace trilith::codegen::build;

namespace {

using Extents = std::vector<std::int64_t>;

Attributes transposed(bool a, bool b) {
  Attributes attributes;
  attributes.trans_a = a;
  attributes.trans_b = b;
  return attributes;
}

constexpr DType sums_of(DType dtype) { return dtype == DType::Int8 ? DType::Int32 : DType::Float32; }

/// y = op(operands…), each operand the whole of a tensor.
Kernel product(Op op, std::size_t result_rank, DType dtype, bool trans_a = false, bool trans_b = false) {
  KernelBuilder k("product");
  std::vector<Expr> operands;
  for (int i = 0; i < operation(op).arity; ++i) {
    const bool start = (op == Op::MatmulAcc && i == 0) || (op == Op::MatmulBias && i == 2);
    operands.push_back(load(k.tensor("x" + std::to_string(i), Access::In, start ? sums_of(dtype) : dtype)));
  }
  const Expr y = k.tensor("y", Access::Out, sums_of(dtype));
  k.store(tile_call(op, std::move(operands), transposed(trans_a, trans_b)), Items(result_rank, Item(0)), y);
  return k.take();
}

constexpr Options plain{.special_values = false, .tolerance = 1e-4};
constexpr DType dtypes[] = {DType::Float16, DType::BFloat16, DType::Float32, DType::Int8};

struct Sizes {
  std::int64_t m, n, k;
};

}  // namespace

TEST_CASE("matmul of odd and empty sizes agrees with the reference, of every dtype, transposed or not") {
  constexpr Sizes sizes[] = {{1, 1, 1},   {3, 5, 0},   {0, 4, 3},   {15, 17, 16},
                             {17, 1, 15}, {1, 37, 31}, {41, 8, 40}, {33, 47, 67}};
  int turn = 0;
  for (const DType dtype : dtypes)
    for (const Sizes& size : sizes)
      for (int transposes = 0; transposes < 4; ++transposes) {
        // A third of the combinations, in turn: 4 and 8 share no factor with 3.
        if (++turn % 3 != 0) continue;
        const bool a = (transposes & 1) != 0, b = (transposes & 2) != 0;
        CAPTURE(name_of(dtype));
        CAPTURE(size.m);
        CAPTURE(size.n);
        CAPTURE(size.k);
        CAPTURE(transposes);
        agrees(product(Op::Matmul, 2, dtype, a, b),
               {TensorSpec{a ? Extents{size.k, size.m} : Extents{size.m, size.k}, dtype},
                TensorSpec{b ? Extents{size.n, size.k} : Extents{size.k, size.n}, dtype},
                TensorSpec{{size.m, size.n}, sums_of(dtype)}},
               plain);
      }
}

TEST_CASE("a product larger than the cube core's tiles is summed over k") {
  for (const DType dtype : dtypes)
    for (int transposes = 0; transposes < 4; ++transposes) {
      const bool a = (transposes & 1) != 0, b = (transposes & 2) != 0;
      CAPTURE(name_of(dtype));
      CAPTURE(transposes);
      const std::int64_t m = 131, n = 145, k = 277;
      agrees(product(Op::Matmul, 2, dtype, a, b),
             {TensorSpec{a ? Extents{k, m} : Extents{m, k}, dtype},
              TensorSpec{b ? Extents{n, k} : Extents{k, n}, dtype}, TensorSpec{{m, n}, sums_of(dtype)}},
             plain);
    }
}

TEST_CASE("accumulators and biases are added, batches broadcast, vectors are matrices of one row") {
  for (const DType dtype : dtypes) {
    CAPTURE(name_of(dtype));
    const DType sum = sums_of(dtype);
    agrees(product(Op::MatmulAcc, 2, dtype),
           {TensorSpec{{19, 21}, sum}, TensorSpec{{19, 5}, dtype}, TensorSpec{{5, 21}, dtype},
            TensorSpec{{19, 21}, sum}},
           plain);
    agrees(product(Op::MatmulBias, 2, dtype),
           {TensorSpec{{19, 33}, dtype}, TensorSpec{{33, 21}, dtype}, TensorSpec{{1, 21}, sum},
            TensorSpec{{19, 21}, sum}},
           plain);
    agrees(product(Op::BatchMatmul, 4, dtype),
           {TensorSpec{{3, 1, 5, 7}, dtype}, TensorSpec{{2, 7, 11}, dtype}, TensorSpec{{3, 2, 5, 11}, sum}},
           plain);
    agrees(product(Op::Gemv, 1, dtype),
           {TensorSpec{{19, 33}, dtype}, TensorSpec{{33}, dtype}, TensorSpec{{19}, sum}}, plain);
    agrees(product(Op::Gemv, 1, dtype),
           {TensorSpec{{33}, dtype}, TensorSpec{{33, 18}, dtype}, TensorSpec{{18}, sum}}, plain);
    agrees(product(Op::Dot, 1, dtype),
           {TensorSpec{{333}, dtype}, TensorSpec{{333}, dtype}, TensorSpec{{1}, sum}}, plain);
  }
}

TEST_CASE("a product between loads and a store alone runs on the cube core") {
  const Kernel kernel = product(Op::Matmul, 2, DType::Float16);
  const std::vector<ArgumentSpec> arguments{TensorSpec{{32, 16}, DType::Float16},
                                            TensorSpec{{16, 48}, DType::Float16}, TensorSpec{{32, 48}}};
  const Signature signature = emitter_test::signature_of(kernel, arguments);
  const ascendc::Emitted emitted = ascendc::emit(specialise(kernel, signature), signature);
  CHECK(emitted.cores == ascendc::CoreType::Cube);
  CHECK(emitted.text.find("KERNEL_TYPE_AIC_ONLY") != std::string::npos);
  CHECK(emitted.workspace_bytes == 0);
}

TEST_CASE("vector work before and behind a product runs beside the cube core, loops included") {
  for (const DType dtype : {DType::Float16, DType::BFloat16, DType::Float32}) {
    CAPTURE(name_of(dtype));
    KernelBuilder k("softmax_of_product");
    const Expr a = k.tensor("a", Access::In, dtype), b = k.tensor("b", Access::In, dtype),
               y = k.tensor("y", Access::Out, DType::Float32);
    const Expr x = k.let("x", load(a)), w = k.let("w", load(b));
    const Expr scores =
        k.let("scores", tile_call(Op::Matmul, {k.let("doubled", x + x), w}, {}, DType::Float32));
    const Expr weight =
        k.let("weight", call(Op::Exp, {scores - k.let("highest", call(Op::RowMax, {scores}))}));
    k.store(weight / k.let("total", call(Op::RowSum, {weight})), {0, 0}, y);
    agrees(k.take(), {TensorSpec{{19, 33}, dtype}, TensorSpec{{33, 21}, dtype}, TensorSpec{{19, 21}}}, plain);
  }
}
