// Products of half, bfloat16 and int8, which are summed in float and in int32.
#include "emitter/compare.hpp"

using namespace emitter_test;
using namespace trilith::codegen::build;

TEST_CASE("matmul of 16-bit floats is summed in float, matmul of int8 in int32") {
  struct Case {
    DType in, out;
    double tolerance;
  };
  for (const Case& of : {Case{DType::Float16, DType::Float32, 1e-4},
                         Case{DType::BFloat16, DType::Float32, 1e-4}, Case{DType::Int8, DType::Int32, 0}})
    for (const bool transposed : {false, true})
      for (const std::int64_t n : {1, 17, 64}) {
        CAPTURE(name_of(of.in));
        CAPTURE(transposed);
        CAPTURE(n);
        KernelBuilder k("product");
        const Expr a = k.tensor("a", Access::In, of.in), b = k.tensor("b", Access::In, of.in);
        const Expr y = k.tensor("y", Access::Out, of.out);
        Attributes attributes;
        attributes.trans_b = transposed;
        k.store(tile_call(Op::Matmul, {load(a), load(b)}, attributes), {0, 0}, y);
        const TensorSpec right = transposed ? TensorSpec{{n, 37}, of.in} : TensorSpec{{37, n}, of.in};
        compare(k.take(), {TensorSpec{{13, 37}, of.in}, right, TensorSpec{{13, n}, of.out}},
                {.special_values = false, .tolerance = of.tolerance});
      }
}
