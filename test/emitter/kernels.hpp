// Kernels that several emitter tests run, written with the IR builder.
#pragma once

#include "codegen/builder.hpp"

#include <vector>

namespace emitter_test {

using namespace trilith::codegen;
using namespace trilith::codegen::build;

inline Kernel scale_by_rank() {
  KernelBuilder k("scale_by_rank");
  const Expr x = k.tensor("x", Access::In, DType::Float32), y = k.tensor("y", Access::Out, DType::Float32);
  const Expr rank = k.scalar("rank", DType::Int32);
  const Expr tile = k.let("tile", load(x));
  const Expr rank_f32 = k.let("rank_f32", cast(DType::Float32, rank));
  const Expr scaled = k.let("scaled", tile * rank_f32);
  const Expr result = k.let("result", scaled + tile);
  k.store(result, {0, 0}, y);
  return k.take();
}

inline Kernel softmax(DType dtype = DType::Float32) {
  KernelBuilder k("softmax");
  const Expr x = k.tensor("x", Access::In, dtype), y = k.tensor("y", Access::Out, dtype);
  const Expr tile = k.let("tile", load(x));
  const Expr highest = k.let("highest", call(Op::RowMax, {tile}));
  const Expr weight = k.let("weight", call(Op::Exp, {tile - highest}));
  const Expr total = k.let("total", call(Op::RowSum, {weight}));
  k.store(weight / total, {0, 0}, y);
  return k.take();
}

inline Kernel column_softmax(DType dtype = DType::Float32) {
  KernelBuilder k("column_softmax");
  const Expr x = k.tensor("x", Access::In, dtype), y = k.tensor("y", Access::Out, dtype);
  const Expr tile = k.let("tile", load(x));
  const Expr highest = k.let("highest", call(Op::ColMax, {tile}));
  const Expr weight = k.let("weight", call(Op::Exp, {tile - highest}));
  const Expr total = k.let("total", call(Op::ColSum, {weight}));
  k.store(weight / total, {0, 0}, y);
  return k.take();
}

inline Kernel layernorm(DType dtype = DType::Float32) {
  KernelBuilder k("layernorm");
  const Expr x = k.tensor("x", Access::In, dtype), gain = k.tensor("gain", Access::In, dtype);
  const Expr bias = k.tensor("bias", Access::In, dtype), y = k.tensor("y", Access::Out, dtype);
  const Expr tile = k.let("tile", load(x));
  const Expr centred = k.let("centred", tile - call(Op::RowMean, {tile}));
  const Expr variance = k.let("variance", call(Op::RowMean, {call(Op::Square, {centred})}));
  const Expr scale = k.let("scale", call(Op::Rsqrt, {variance + literal(1e-5)}));
  k.store(centred * scale * load(gain) + load(bias), {0, 0}, y);
  return k.take();
}

/// One elementwise, compare, logic or bits operation on whole tensors; where the result is bool, y is too.
inline Kernel elementwise(Op op, DType dtype, int operands, DType result) {
  KernelBuilder k("elementwise");
  std::vector<Expr> loaded;
  for (int i = 0; i < operands; ++i) {
    const DType own = op == Op::Where && i == 0 ? DType::Bool : dtype;
    loaded.push_back(load(k.tensor("x" + std::to_string(i), Access::In, own)));
  }
  const Expr y = k.tensor("y", Access::Out, result);
  k.store(call(op, loaded), {0, 0}, y);
  return k.take();
}

inline Kernel reduction(Op op, DType dtype) {
  KernelBuilder k("reduction");
  const Expr x = k.tensor("x", Access::In, dtype), y = k.tensor("y", Access::Out, dtype);
  k.store(call(op, {load(x)}), {0, 0}, y);
  return k.take();
}

}  // namespace emitter_test
