// Kernels over partly valid tiles, for the tests of every emitter.
#pragma once

#include "emitter/compare.hpp"

#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace emitter_test {

using namespace trilith::codegen::build;

inline Items items(const std::vector<std::int64_t>& values) { return {values.begin(), values.end()}; }

inline Attributes along(int axis, int axis2 = 0) {
  Attributes attributes;
  attributes.axis = axis;
  attributes.axis2 = axis2;
  return attributes;
}

inline Expr reduced(Op op, const Expr& x, int axis) {
  Expr expression = call(op, {x});
  expression.attributes.axis = axis;
  return expression;
}

/// y = f(x) row block by row block; the last block is ragged.
inline Kernel chunked(DType dtype, std::int64_t rows, std::int64_t columns, std::int64_t chunk,
                      const std::function<Expr(KernelBuilder&, const Expr&)>& function) {
  KernelBuilder k("chunked");
  const Expr x = k.tensor("x", Access::In, dtype), y = k.tensor("y", Access::Out, dtype);
  k.for_("i", 0, rows, chunk, [&](const Expr& i) {
    const Expr t = k.let("t", load(x, {i, 0}, {chunk, columns}, true));
    k.store(function(k, t), {i, 0}, y);
  });
  return k.take();
}

inline Value int64(std::int64_t value) { return Value::scalar(value); }

/// y = f(x, n): t is x, valid up to n and m.
inline Kernel with_extents(DType dtype, const std::vector<std::int64_t>& shape,
                           const std::function<Expr(KernelBuilder&, const Expr&, const Expr&)>& function,
                           std::optional<DType> to = {}) {
  KernelBuilder k("with_extents");
  const Expr x = k.tensor("x", Access::In, dtype), y = k.tensor("y", Access::Out, to.value_or(dtype));
  const Expr n = k.scalar("n", DType::Int64), m = k.scalar("m", DType::Int64);
  const Expr t = k.let("t", load(x, {0, 0}, items(shape), false, {n, m}));
  k.store(function(k, x, t), {}, y);
  return k.take();
}

inline constexpr std::int64_t some_extents[] = {-3, 0, 1, 7, 8, 9, 16, 17, 33, 40};

}  // namespace emitter_test
