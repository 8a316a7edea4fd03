// arange, tri and random, compiled, against the interpreter.
#include "emitter/compare.hpp"

using namespace emitter_test;
using namespace trilith::codegen::build;

namespace {

constexpr DType numeric[] = {DType::Int32, DType::Int64, DType::Float32, DType::Float64};

}  // namespace

TEST_CASE(
    "arange counts as the reference does on every dtype and shape, with constants and run-time scalars") {
  for (const DType dtype : numeric)
    for (const auto& shape : {std::vector<std::int64_t>{}, {1}, {37}, {3, 16}, {2, 0}, {2, 3, 5}}) {
      CAPTURE(name_of(dtype));
      KernelBuilder k("count");
      const Expr y = k.tensor("y", Access::Out, dtype), z = k.tensor("z", Access::Out, dtype);
      const Expr start = k.scalar("start", dtype);
      const Items extents(shape.begin(), shape.end()), origin(shape.size(), Item(0));
      k.store(tile_call(Op::Arange, {list(extents), literal(3), literal(-2)}, {}, dtype), origin, y);
      k.store(tile_call(Op::Arange, {list(extents), start, cast(dtype, start)}, {}, dtype) + literal(1),
              origin, z);
      const Value value = dtype == DType::Int32     ? Value::scalar(std::int32_t{1999999999})
                          : dtype == DType::Int64   ? Value::scalar(std::int64_t{-7})
                          : dtype == DType::Float32 ? Value::scalar(0.1f)
                                                    : Value::scalar(1e300);
      CHECK(compare(k.take(), {TensorSpec{shape, dtype}, TensorSpec{shape, dtype}, value}) == 0);
    }
}

TEST_CASE("tri agrees with the reference on every dtype and side, for any diagonal") {
  for (const DType dtype : {DType::Bool, DType::Int32, DType::Int64, DType::Float32, DType::Float64})
    for (const bool upper : {false, true}) {
      KernelBuilder k("triangle");
      const Expr y = k.tensor("y", Access::Out, dtype);
      Attributes attributes;
      attributes.upper = upper;
      k.store(tile_call(Op::Tri, {list({5, 19}), k.scalar("diagonal", DType::Int64)}, attributes, dtype),
              {0, 0}, y);
      const Kernel kernel = k.take();
      for (const std::int64_t diagonal :
           {std::int64_t{0}, std::int64_t{3}, std::int64_t{-2}, std::int64_t{100},
            std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()})
        CHECK(compare(kernel, {TensorSpec{{5, 19}, dtype}, Value::scalar(diagonal)}) == 0);
    }
}

TEST_CASE("random gives the reference's bits on every dtype and length") {
  for (const DType dtype : numeric)
    for (const std::int64_t columns : {0, 1, 2, 3, 4, 5, 17, 130}) {
      CAPTURE(name_of(dtype));
      KernelBuilder k("noise");
      const Expr y = k.tensor("y", Access::Out, dtype);
      const Expr seed = k.scalar("seed", DType::Int64), counter = k.scalar("counter", DType::Int64);
      k.store(tile_call(Op::Random, {list({3, columns}), seed, counter}, {}, dtype), {0, 0}, y);
      const Kernel kernel = k.take();
      for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{0x123456789abcdef}})
        CHECK(compare(kernel, {TensorSpec{{3, columns}, dtype}, Value::scalar(value),
                               Value::scalar(std::int64_t{-2} - value)}) == 0);
    }
}

TEST_CASE("a run-time extent below zero is a fault, and nothing is written") {
  KernelBuilder k("noise");
  const Expr y = k.tensor("y", Access::InOut, DType::Float32);
  const Expr n = k.scalar("n", DType::Int64);
  k.store(tile_call(Op::Random, {list({n, 4}), integer(1), integer(2)}, {}, DType::Float32), {0, 0}, y);
  const Kernel kernel = k.take();
  CHECK(compare(kernel, {TensorSpec{{3, 4}}, Value::scalar(std::int64_t{3})}) == 0);
  CHECK(compare(kernel, {TensorSpec{{3, 4}}, Value::scalar(std::int64_t{-1})}) == pl::abi::fault_shape);
}
