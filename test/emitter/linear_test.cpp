// Products of matrices and vectors, compiled, against the interpreter: shapes, layouts, loops around them.
#include "emitter/compare.hpp"

using namespace emitter_test;
using namespace trilith::codegen::build;

namespace {

using Extents = std::vector<std::int64_t>;

Attributes transposed(bool a, bool b) {
  Attributes attributes;
  attributes.trans_a = a;
  attributes.trans_b = b;
  return attributes;
}

/// y = op(operands…), each operand the whole of a tensor.
Kernel product(Op op, std::size_t result_rank, DType dtype = DType::Float32, bool trans_a = false,
               bool trans_b = false) {
  KernelBuilder k("product");
  std::vector<Expr> operands;
  for (int i = 0; i < operation(op).arity; ++i)
    operands.push_back(load(k.tensor("x" + std::to_string(i), Access::In, dtype)));
  const Expr y = k.tensor("y", Access::Out, dtype);
  k.store(tile_call(op, std::move(operands), transposed(trans_a, trans_b)), Items(result_rank, Item(0)), y);
  return k.take();
}

Options plain(DType dtype = DType::Float32) {
  return {.special_values = false, .tolerance = dtype == DType::Float64 ? 1e-13 : 1e-4};
}

TensorSpec run_time(TensorSpec spec) {
  spec.run_time_extents = true;
  return spec;
}

struct Sizes {
  std::int64_t m, n, k;
};

std::string text_of(const Kernel& kernel, const std::vector<ArgumentSpec>& arguments) {
  const Signature signature = signature_of(kernel, arguments);
  return xsimd::emit(specialise(kernel, signature), signature).text;
}

}  // namespace

TEST_CASE("matmul of odd and empty sizes agrees with the reference, transposed or not, between guard pages") {
  constexpr Sizes sizes[] = {{1, 1, 1},   {3, 5, 0},    {0, 4, 3},   {4, 0, 3},    {1, 17, 16},
                             {17, 1, 15}, {16, 16, 16}, {13, 31, 7}, {37, 41, 67}, {2, 130, 33}};
  for (const Sizes& size : sizes)
    for (const auto& [trans_a, trans_b] :
         {std::pair{false, false}, {false, true}, {true, false}, {true, true}}) {
      if ((trans_a || trans_b) && (size.m * size.n * size.k) % 2 == 0) continue;
      CAPTURE(size.m);
      CAPTURE(size.n);
      CAPTURE(size.k);
      CAPTURE(trans_a);
      CAPTURE(trans_b);
      const TensorSpec a{trans_a ? Extents{size.k, size.m} : Extents{size.m, size.k}};
      const TensorSpec b{trans_b ? Extents{size.n, size.k} : Extents{size.k, size.n}};
      const TensorSpec c{{size.m, size.n}};
      const Kernel kernel = product(Op::Matmul, 2, DType::Float32, trans_a, trans_b);
      compare(kernel, {a, b, c}, plain());
      Options start = plain();
      start.at_end = false;
      start.misalignment = 3;
      compare(kernel, {run_time(a), run_time(b), run_time(c)}, start);
    }
}

TEST_CASE("a product of one term is exact, also of infinities, NaN and subnormals") {
  for (const DType dtype : {DType::Float32, DType::Float64})
    compare(product(Op::Matmul, 2, dtype),
            {TensorSpec{{9, 1}, dtype}, TensorSpec{{1, 35}, dtype}, TensorSpec{{9, 35}, dtype}});
}

TEST_CASE("matmul of doubles, matmul_acc and matmul_bias") {
  const auto in = [](Extents extents, DType dtype) { return TensorSpec{std::move(extents), dtype}; };
  for (const DType dtype : {DType::Float32, DType::Float64})
    for (const Sizes& size : {Sizes{7, 19, 11}, {5, 33, 0}, {1, 16, 40}, {40, 1, 9}}) {
      CAPTURE(name_of(dtype));
      CAPTURE(size.m);
      CAPTURE(size.k);
      const TensorSpec a = in({size.m, size.k}, dtype), b = in({size.k, size.n}, dtype);
      const TensorSpec c = in({size.m, size.n}, dtype);
      compare(product(Op::Matmul, 2, dtype), {a, b, c}, plain(dtype));
      compare(product(Op::MatmulAcc, 2, dtype), {c, a, b, c}, plain(dtype));
      compare(product(Op::MatmulBias, 2, dtype), {a, b, in({size.n}, dtype), c}, plain(dtype));
      compare(product(Op::MatmulBias, 2, dtype), {a, b, in({1, size.n}, dtype), c}, plain(dtype));
    }
}

TEST_CASE("batch_matmul broadcasts leading axes, also run-time ones") {
  const Kernel kernel = product(Op::BatchMatmul, 3);
  compare(kernel, {TensorSpec{{3, 5, 7}}, TensorSpec{{3, 7, 9}}, TensorSpec{{3, 5, 9}}}, plain());
  compare(kernel, {TensorSpec{{1, 5, 7}}, TensorSpec{{3, 7, 9}}, TensorSpec{{3, 5, 9}}}, plain());
  compare(kernel, {TensorSpec{{5, 7}}, TensorSpec{{2, 7, 9}}, TensorSpec{{2, 5, 9}}}, plain());
  compare(kernel, {TensorSpec{{0, 5, 7}}, TensorSpec{{7, 9}}, TensorSpec{{0, 5, 9}}}, plain());
  compare(kernel, {run_time({{3, 5, 7}}), run_time({{3, 7, 9}}), run_time({{3, 5, 9}})}, plain());
  compare(product(Op::BatchMatmul, 4, DType::Float32, true, true),
          {TensorSpec{{2, 1, 7, 5}}, TensorSpec{{3, 9, 7}}, TensorSpec{{2, 3, 5, 9}}}, plain());
  compare(product(Op::BatchMatmul, 2), {TensorSpec{{5, 7}}, TensorSpec{{7, 9}}, TensorSpec{{5, 9}}}, plain());
}

TEST_CASE("gemv and dot, in either order and with an axis of 1") {
  for (const std::int64_t k : {0, 1, 15, 16, 17, 131}) {
    CAPTURE(k);
    compare(product(Op::Gemv, 1), {TensorSpec{{23, k}}, TensorSpec{{k}}, TensorSpec{{23}}}, plain());
    compare(product(Op::Gemv, 1), {TensorSpec{{k}}, TensorSpec{{k, 23}}, TensorSpec{{23}}}, plain());
    compare(product(Op::Dot, 1), {TensorSpec{{k}}, TensorSpec{{k}}, TensorSpec{{1}}}, plain());
  }
  compare(product(Op::Gemv, 2), {TensorSpec{{1, 19}}, TensorSpec{{19, 40}}, TensorSpec{{1, 40}}}, plain());
  compare(product(Op::Gemv, 2), {TensorSpec{{40, 19}}, TensorSpec{{19, 1}}, TensorSpec{{40, 1}}}, plain());
}

TEST_CASE("large products go through packed panels and scratch memory") {
  compare(product(Op::Matmul, 2), {TensorSpec{{150, 300}}, TensorSpec{{300, 170}}, TensorSpec{{150, 170}}},
          {.special_values = false, .tolerance = 1e-3});
  compare(product(Op::Matmul, 2, DType::Float32, true, true),
          {TensorSpec{{301, 77}}, TensorSpec{{143, 301}}, TensorSpec{{77, 143}}},
          {.special_values = false, .tolerance = 1e-3});
  compare(product(Op::Gemv, 2), {TensorSpec{{1, 300}}, TensorSpec{{300, 400}}, TensorSpec{{1, 400}}},
          {.special_values = false, .tolerance = 1e-3});
}

TEST_CASE("operands and results of any strides are read and written in place") {
  const Kernel kernel = product(Op::Matmul, 2);
  const TensorSpec a{{9, 21}, DType::Float32, Layout::InnerDense, {30, 1}};
  const TensorSpec b{{21, 18}, DType::Float32, Layout::Strided, {2, 50}};
  const TensorSpec reversed{{21, 18}, DType::Float32, Layout::Strided, {-18, 1}};
  const TensorSpec same_row{{21, 18}, DType::Float32, Layout::Strided, {0, 1}};
  const TensorSpec c{{9, 18}, DType::Float32, Layout::InnerDense, {20, 1}};
  const TensorSpec columns{{9, 18}, DType::Float32, Layout::Strided, {1, 9}};
  compare(kernel, {a, b, c}, plain());
  compare(kernel, {a, reversed, c}, plain());
  compare(kernel, {a, same_row, columns}, plain());
  const std::string text = text_of(kernel, {a, TensorSpec{{21, 18}}, c});
  CHECK(text.find("device::matrix<device::dynamic, 1>(x0, x0_stride0, 1), device::matrix<18, 1>(x1)") !=
        std::string::npos);
  CHECK(text.find("_buffer") == std::string::npos);
  CHECK(text.find("for (") == std::string::npos);
}

TEST_CASE("a tile that others read, too, has a buffer; a column of a wider tensor is not written in place") {
  KernelBuilder k("both");
  const Expr x = k.tensor("x", Access::In, DType::Float32), y = k.tensor("y", Access::Out, DType::Float32);
  const Expr z = k.tensor("z", Access::Out, DType::Float32);
  const Expr t = k.let("t", load(x));
  k.store(tile_call(Op::Matmul, {t, t}, transposed(false, true)), {0, 0}, y);
  k.store(t * literal(2.0), {0, 0}, z);
  compare(k.take(), {TensorSpec{{5, 19}}, TensorSpec{{5, 5}}, TensorSpec{{5, 19}}}, plain());

  KernelBuilder column("column");
  const Expr a = column.tensor("a", Access::In, DType::Float32),
             b = column.tensor("b", Access::In, DType::Float32);
  const Expr out = column.tensor("out", Access::Out, DType::Float32);
  column.store(tile_call(Op::Matmul, {load(a), load(b)}), {0, 2}, out);
  const Kernel kernel = column.take();
  compare(kernel, {TensorSpec{{6, 4}}, TensorSpec{{4, 1}}, TensorSpec{{6, 5}}}, plain());
}

TEST_CASE("an operand whose tensor is written before the product keeps its old elements") {
  KernelBuilder k("order");
  const Expr x = k.tensor("x", Access::InOut, DType::Float32), y = k.tensor("y", Access::Out, DType::Float32);
  const Expr t = k.let("t", load(x));
  k.store(t * literal(3.0), {0, 0}, x);
  k.store(tile_call(Op::Matmul, {t, t}), {0, 0}, y);
  compare(k.take(), {TensorSpec{{6, 6}}, TensorSpec{{6, 6}}}, plain());
}

TEST_CASE("accumulating over slices of K in a loop, with a nest behind it") {
  KernelBuilder k("slices");
  const Expr a = k.tensor("a", Access::In, DType::Float32), b = k.tensor("b", Access::In, DType::Float32);
  const Expr y = k.tensor("y", Access::Out, DType::Float32);
  const Expr acc = k.let("acc", full(DType::Float32, {11, 23}, constant(Constant::of(0.0f))));
  k.for_("i", 0, 4, 1, [&](const Expr& i) {
    const Expr from = i * integer(8);
    k.assign(acc, tile_call(Op::MatmulAcc,
                            {acc, load(a, {0, Item(from)}, {11, 8}), load(b, {Item(from), 0}, {8, 23})}));
  });
  k.store(call(Op::Maximum, {acc, literal(0.0)}) + literal(1.0), {0, 0}, y);
  const Kernel kernel = k.take();
  const std::vector<ArgumentSpec> arguments = {TensorSpec{{11, 32}}, TensorSpec{{32, 23}},
                                               TensorSpec{{11, 23}}};
  compare(kernel, arguments, plain());
  // The accumulator stays where it is.
  CHECK(text_of(kernel, arguments).find("product.run(acc_buffer, 23, acc_buffer, 23, ") != std::string::npos);
}

TEST_CASE("a region that runs past a tensor is a fault before the product reads or writes") {
  KernelBuilder k("outside");
  const Expr a = k.tensor("a", Access::In, DType::Float32), b = k.tensor("b", Access::In, DType::Float32);
  const Expr y = k.tensor("y", Access::Out, DType::Float32);
  const Expr at = k.scalar("at", DType::Int64), to = k.scalar("to", DType::Int64);
  k.store(tile_call(Op::Matmul, {load(a, {Item(at), 0}, {4, 8}), load(b)}), {Item(to), 0}, y);
  const Kernel kernel = k.take();
  const TensorSpec left{{10, 8}}, right{{8, 5}}, out{{10, 5}};
  CHECK(compare(kernel, {left, right, out, Value::scalar(std::int64_t{6}), Value::scalar(std::int64_t{2})},
                plain()) == 0);
  CHECK(compare(kernel, {left, right, out, Value::scalar(std::int64_t{7}), Value::scalar(std::int64_t{2})},
                plain()) == pl::abi::fault_range);
  CHECK(compare(kernel, {left, right, out, Value::scalar(std::int64_t{6}), Value::scalar(std::int64_t{-1})},
                plain()) == pl::abi::fault_range);
}

TEST_CASE("run-time inner extents that differ are a fault") {
  const Kernel kernel = product(Op::Matmul, 2);
  CHECK(compare(kernel, {run_time({{4, 6}}), run_time({{7, 5}}), run_time({{4, 5}})}, plain()) ==
        pl::abi::fault_shape);
}
