// Operations on whole tiles, compiled, against the interpreter: alone, between loop nests, in control flow.
#include "emitter/compare.hpp"

using namespace emitter_test;
using namespace trilith::codegen::build;

namespace {

constexpr const auto& dtypes = all_dtypes;

Attributes axes(int axis, int axis2) {
  Attributes attributes;
  attributes.axis = axis;
  attributes.axis2 = axis2;
  return attributes;
}

Kernel transposed(DType dtype, std::size_t rank, int axis, int axis2) {
  KernelBuilder k("transposed");
  const Expr x = k.tensor("x", Access::In, dtype), y = k.tensor("y", Access::Out, dtype);
  k.store(tile_call(Op::Transpose, {load(x)}, axes(axis, axis2)), Items(rank, Item(0)), y);
  return k.take();
}

}  // namespace

TEST_CASE("transpose agrees with the reference on every dtype, rank and pair of axes") {
  const std::vector<std::vector<std::int64_t>> shapes = {{1},
                                                         {5},
                                                         {0, 3},
                                                         {1, 1},
                                                         {7, 1},
                                                         {8, 16},
                                                         {17, 33},
                                                         {31, 3},
                                                         {64, 64},
                                                         {3, 1, 5},
                                                         {2, 17, 19},
                                                         {3, 4, 5, 6},
                                                         {2, 1, 2, 3, 1, 2, 2, 3}};
  for (const DType dtype : dtypes)
    for (const auto& shape : shapes)
      for (int a = 0; a < static_cast<int>(shape.size()); ++a)
        for (int b = a; b < static_cast<int>(shape.size()); ++b) {
          if (shape.size() > 4 && (a + b) % 3 != 0) continue;
          CAPTURE(name_of(dtype));
          CAPTURE(a);
          CAPTURE(b);
          std::vector<std::int64_t> result = shape;
          std::swap(result[static_cast<std::size_t>(a)], result[static_cast<std::size_t>(b)]);
          CHECK(compare(transposed(dtype, shape.size(), a, b),
                        {TensorSpec{shape, dtype}, TensorSpec{result, dtype}}) == 0);
        }
}

TEST_CASE("loop nests before and after a tile call stay, whatever the layout of the tensors") {
  KernelBuilder k("around");
  const Expr x = k.tensor("x", Access::In, DType::Float32), b = k.tensor("b", Access::In, DType::Float32);
  const Expr y = k.tensor("y", Access::Out, DType::Float32), z = k.tensor("z", Access::Out, DType::Float32);
  const Expr t = k.let("t", tile_call(Op::Transpose, {load(x) * literal(2.0)}, axes(-2, -1)));
  const Expr sum = k.let("sum", call(Op::Exp2, {t}) + load(b));
  k.store(sum, {0, 0}, y);
  k.store(tile_call(Op::Transpose, {call(Op::RowMax, {sum})}, axes(0, 1)), {0, 0}, z);
  const Kernel kernel = k.take();
  for (const auto& [rows, columns] :
       {std::pair<std::int64_t, std::int64_t>{3, 37}, {16, 16}, {1, 9}, {33, 5}}) {
    const TensorSpec in{{rows, columns}}, out{{columns, rows}}, row{{1, columns}};
    const Options options{.special_values = false, .tolerance = 1e-6};
    compare_everywhere(kernel, {in, out, out, row}, options);
    compare(kernel,
            {TensorSpec{{rows, columns}, DType::Float32, Layout::Strided, {-2, 3 * rows}}, out, out, row},
            options);
    TensorSpec dynamic_in = in, dynamic_out = out, dynamic_row = row;
    dynamic_in.run_time_extents = dynamic_out.run_time_extents = dynamic_row.run_time_extents = true;
    compare(kernel, {dynamic_in, dynamic_out, dynamic_out, dynamic_row}, options);
  }
}

TEST_CASE("a tile call on a variable that a loop carries does not write the memory it reads") {
  KernelBuilder k("turn");
  const Expr x = k.tensor("x", Access::In, DType::Float32), y = k.tensor("y", Access::Out, DType::Float32);
  const Expr n = k.scalar("n", DType::Int64);
  const Expr t = k.let("t", load(x));
  k.for_("i", 0, n, 1, [&](const Expr&) { k.assign(t, tile_call(Op::Transpose, {t}, axes(0, 1))); });
  k.store(t, {0, 0}, y);
  const Kernel kernel = k.take();
  for (const std::int64_t turns : {0, 1, 2, 3})
    compare(kernel, {TensorSpec{{6, 6}}, TensorSpec{{6, 6}}, Value::scalar(turns)});
}

TEST_CASE("a kernel includes the header of a tile call only where it has one") {
  const TensorSpec shape{{4, 4}};
  const Kernel kernel = transposed(DType::Float32, 2, 0, 1);
  const Signature signature = signature_of(kernel, {shape, shape});
  const std::string text = xsimd::emit(specialise(kernel, signature), signature).text;
  CHECK(text.find("#include \"trilith/device.hpp\"\n#include \"trilith/transpose.hpp\"\n") !=
        std::string::npos);
  KernelBuilder k("copy");
  const Expr x = k.tensor("x", Access::In, DType::Float32), y = k.tensor("y", Access::Out, DType::Float32);
  k.store(load(x), {0, 0}, y);
  const Kernel plain = k.take();
  CHECK(xsimd::emit(specialise(plain, signature), signature).text.find("transpose.hpp") == std::string::npos);
}

TEST_CASE("an axis that is not there is refused where the kernel is specialised, with the user's place") {
  const TensorSpec shape{{4, 4}};
  const Kernel kernel = transposed(DType::Float32, 2, 0, 2);
  std::string message;
  try {
    (void)specialise(kernel, signature_of(kernel, {shape, shape}));
  } catch (const pl::ShapeError& error) {
    message = error.what();
    CHECK(error.location().line == 2);
  }
  CHECK(message.find("transpose: axis 2 of a tile of rank 2; axes are 0 to rank - 1") != std::string::npos);
}
