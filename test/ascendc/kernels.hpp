// Kernels of whole-tile operations for the tests of the AscendC emitter: products, attention, indices.
#pragma once

#include "ascendc/emitted.hpp"

namespace ascendc_test {

using namespace trilith::codegen::build;

inline Kernel matmul(DType dtype = DType::Float16) {
  KernelBuilder k("matmul");
  const Expr a = k.tensor("a", Access::In, dtype), b = k.tensor("b", Access::In, dtype);
  const Expr c = k.tensor("c", Access::Out, DType::Float32);
  const Expr left = k.let("left", load(a)), right = k.let("right", load(b));
  k.store(k.let("product", tile_call(Op::Matmul, {left, right}, {}, DType::Float32)), {0, 0}, c);
  return k.take();
}

/// Softmax over the columns that the caller says are valid.
inline Kernel softmax_of_length(int rows, int columns) {
  KernelBuilder k("softmax_of_length");
  const Expr x = k.tensor("x", Access::In, DType::Float32), y = k.tensor("y", Access::Out, DType::Float32);
  const Expr length = k.scalar("length", DType::Int64);
  const Expr tile = k.let("tile", load(x, {0, 0}, {rows, columns}, false, {rows, length}));
  const Expr powers = k.let("powers", call(Op::Exp, {tile - call(Op::RowMax, {tile})}));
  k.store(powers / call(Op::RowSum, {powers}), {0, 0}, y);
  return k.take();
}

inline Kernel matmul_bias() {
  KernelBuilder k("matmul_bias");
  const Expr x = k.tensor("x", Access::In, DType::Float16), w = k.tensor("w", Access::In, DType::Float16);
  const Expr bias = k.tensor("bias", Access::In, DType::Float32),
             y = k.tensor("y", Access::Out, DType::Float32);
  const Expr in = k.let("in", load(x)), weights = k.let("weights", load(w)),
             shift = k.let("shift", load(bias));
  const Expr sum = k.let("sum", tile_call(Op::MatmulBias, {in, weights, shift}, {}, DType::Float32));
  k.store(call(Op::Relu, {sum}), {0, 0}, y);
  return k.take();
}

/// Queries [rows, depth] against blocks of `block` keys: a running maximum and a running sum.
inline Kernel flash_attention(int rows, int keys, int block, int depth) {
  KernelBuilder k("flash_attention");
  const DType half = DType::Float16, f32 = DType::Float32;
  const Expr q = k.tensor("q", Access::In, half), key = k.tensor("k", Access::In, half),
             v = k.tensor("v", Access::In, half), y = k.tensor("y", Access::Out, f32);
  const Expr queries = k.let("queries", load(q));
  const Expr maximum = k.let("maximum", full(f32, {rows, 1}, literal(-3e38)));
  const Expr sum = k.let("sum", full(f32, {rows, 1}, literal(0)));
  const Expr output = k.let("output", full(f32, {rows, depth}, literal(0)));
  k.for_("i", 0, keys / block, 1, [&](const Expr& i) {
    const Expr at = i * integer(block);
    const Expr columns = k.let("columns", load(key, {at, 0}, {block, depth}));
    const Expr values = k.let("values", load(v, {at, 0}, {block, depth}));
    Attributes transposed;
    transposed.trans_b = true;
    const Expr product = k.let("product", tile_call(Op::Matmul, {queries, columns}, transposed, f32));
    const Expr scores = k.let("scores", product * literal(0.125));
    const Expr larger = k.let("larger", call(Op::Maximum, {maximum, call(Op::RowMax, {scores})}));
    const Expr rescale = k.let("rescale", call(Op::Exp, {maximum - larger}));
    const Expr weights = k.let("weights", call(Op::Exp, {scores - larger}));
    k.assign(sum, sum * rescale + call(Op::RowSum, {weights}));
    const Expr rescaled = k.let("rescaled", output * rescale);
    const Expr narrow = k.let("narrow", cast(half, weights));
    k.assign(output, tile_call(Op::MatmulAcc, {rescaled, narrow, values}, {}, f32));
    k.assign(maximum, larger);
  });
  k.store(output / sum, {0, 0}, y);
  return k.take();
}

/// Rows of a table by number.
inline Kernel embedding() {
  KernelBuilder k("embedding");
  const Expr table = k.tensor("table", Access::In, DType::Float32),
             ids = k.tensor("ids", Access::In, DType::Int32);
  const Expr y = k.tensor("y", Access::Out, DType::Float32);
  const Expr rows = k.let("rows", load(table)), numbers = k.let("numbers", load(ids));
  k.store(k.let("chosen", tile_call(Op::GatherRow, {rows, numbers})), {0, 0}, y);
  return k.take();
}

inline Kernel argmax() {
  KernelBuilder k("argmax");
  const Expr x = k.tensor("x", Access::In, DType::Float32), y = k.tensor("y", Access::Out, DType::Int32);
  const Expr tile = k.let("tile", load(x));
  k.store(k.let("best", tile_call(Op::RowArgmax, {tile}, {}, DType::Int32)), {0, 0}, y);
  return k.take();
}

}  // namespace ascendc_test
