// Tiles that loops carry: what a turn computes of the tiles of the turn before is computed of all of them as they were.
#include "ascendc/on_model.hpp"

#include <doctest/doctest.h>

using namespace ascendc_test;
using namespace emitter_test;
using namespace trilith::codegen::build;

namespace {

const Options plain{.special_values = false, .tolerance = 1e-5};

/// (a, b) = (b + rows of x, a) in each turn.
Kernel exchanged() {
  KernelBuilder k("exchanged");
  const Expr x = k.tensor("x", Access::In, DType::Float32), y = k.tensor("y", Access::Out, DType::Float32);
  const Expr a = k.let("a", load(x, {0, 0}, {1, 37}));
  const Expr b = k.let("b", a * literal(2));
  k.for_("i", 0, 3, 1, [&](const Expr& i) {
    const Expr sum = k.let("sum", b + load(x, {i, 0}, {1, 37}));
    k.assign(b, a);
    k.assign(a, sum);
  });
  k.store(a - b, {0, 0}, y);
  return k.take();
}

/// Three tiles change places, and nothing is computed.
Kernel rotated() {
  KernelBuilder k("rotated");
  const Expr x = k.tensor("x", Access::In, DType::Float32), y = k.tensor("y", Access::Out, DType::Float32);
  const Expr a = k.let("a", load(x, {0, 0}, {2, 37}));
  const Expr b = k.let("b", a + literal(1)), c = k.let("c", a * literal(3));
  k.for_("i", 0, 5, 1, [&](const Expr&) {
    const Expr first = k.let("first", a);
    k.assign(a, b);
    k.assign(b, c);
    k.assign(c, first);
  });
  k.store(a, {0, 0}, y);
  k.store(b, {2, 0}, y);
  k.store(c, {4, 0}, y);
  return k.take();
}

}  // namespace

TEST_CASE("Tiles that a loop exchanges are each as they were before the turn") {
  agrees(exchanged(), {TensorSpec{{3, 37}}, TensorSpec{{1, 37}}}, plain);
  agrees(rotated(), {TensorSpec{{2, 37}}, TensorSpec{{6, 37}}}, plain);
}

TEST_CASE("An element that the scalar pipe reads is read before its place is written in place") {
  Options options = plain;
  options.in_place = true;
  KernelBuilder k("scaled");
  const Expr x = k.tensor("x", Access::In, DType::Float32), y = k.tensor("y", Access::Out, DType::Float32);
  const Expr tile = k.let("tile", load(x));
  k.store(tile * literal(2) + call(Op::RowMax, {tile}), {0, 0}, y);
  agrees(k.take(), {TensorSpec{{1, 1}}, TensorSpec{{1, 1}}}, options);
}
