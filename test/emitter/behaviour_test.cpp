// Strides, faults, hazards, control flow and in-place calls, compiled and interpreted.
#include "emitter/compare.hpp"
#include "emitter/kernels.hpp"

using namespace emitter_test;

namespace {

const DType f32 = DType::Float32;

Kernel add_kernel(DType dtype = f32) {
  KernelBuilder k("sum_of_two");
  const Expr a = k.tensor("a", Access::In, dtype), b = k.tensor("b", Access::In, dtype);
  const Expr y = k.tensor("y", Access::Out, dtype);
  k.store(load(a) + load(b), {0, 0}, y);
  return k.take();
}

}  // namespace

TEST_CASE("strided inputs may step backwards or stand still, strided outputs may have gaps") {
  for (const DType dtype : {f32, DType::Float64, DType::Int32, DType::Int64}) {
    CAPTURE(name_of(dtype));
    const TensorSpec backwards{{5, 19}, dtype, Layout::Strided, {-40, -2}};
    const TensorSpec still{{5, 19}, dtype, Layout::Strided, {1, 0}};
    const TensorSpec gaps{{5, 19}, dtype, Layout::Strided, {60, 3}};
    const TensorSpec rows{{5, 19}, dtype, Layout::InnerDense, {23, 1}};
    for (const TensorSpec& a : {backwards, still, rows})
      for (const TensorSpec& y : {gaps, rows}) {
        compare(add_kernel(dtype), {a, TensorSpec{{5, 19}, dtype}, y});
        compare(add_kernel(dtype), {a, TensorSpec{{5, 19}, dtype}, y}, {.at_end = false});
      }
  }
}

TEST_CASE("bools in strided and partial vectors") {
  KernelBuilder k("both");
  const Expr a = k.tensor("a", Access::In, DType::Bool), b = k.tensor("b", Access::In, DType::Bool);
  const Expr y = k.tensor("y", Access::Out, DType::Bool);
  k.store(call(Op::LogicalAnd, {load(a), load(b)}), {0, 0}, y);
  const Kernel kernel = k.take();
  for (const std::int64_t columns : {1, 7, 8, 9, 16, 17, 33}) {
    const TensorSpec dense{{3, columns}, DType::Bool};
    const TensorSpec gaps{{3, columns}, DType::Bool, Layout::Strided, {3 * columns + 1, 3}};
    compare_everywhere(kernel, {dense, dense, dense});
    compare(kernel, {gaps, dense, gaps});
  }
}

TEST_CASE("dtypes of different widths share one loop") {
  KernelBuilder k("mixed");
  const Expr a = k.tensor("a", Access::In, f32), b = k.tensor("b", Access::In, DType::Float64);
  const Expr i = k.tensor("i", Access::In, DType::Int64), m = k.tensor("m", Access::In, DType::Bool);
  const Expr y = k.tensor("y", Access::Out, DType::Float64), z = k.tensor("z", Access::Out, DType::Int32);
  const Expr wide = k.let("wide", cast(DType::Float64, load(a)) + load(b));
  const Expr chosen = k.let("chosen", call(Op::Where, {load(m), wide, cast(DType::Float64, load(i))}));
  k.store(chosen, {0, 0}, y);
  k.store(cast(DType::Int32, chosen, CastMode::Floor), {0, 0}, z);
  const Kernel kernel = k.take();
  for (const std::int64_t columns : {1, 5, 16, 37}) {
    const std::vector<std::int64_t> shape{3, columns};
    compare_everywhere(kernel, {TensorSpec{shape, f32}, TensorSpec{shape, DType::Float64},
                                TensorSpec{shape, DType::Int64}, TensorSpec{shape, DType::Bool},
                                TensorSpec{shape, DType::Float64}, TensorSpec{shape, DType::Int32}});
  }
}

TEST_CASE("equal products cancel: no operation is contracted into another") {
  KernelBuilder k("difference_of_products");
  const Expr a = k.tensor("a", Access::In, f32), b = k.tensor("b", Access::In, f32);
  const Expr y = k.tensor("y", Access::Out, f32);
  const Expr left = k.let("left", load(a)), right = k.let("right", load(b));
  k.store(left * right - left * right, {0}, y);
  compare(k.take(), {TensorSpec{{67}}, TensorSpec{{67}}, TensorSpec{{67}}}, {.special_values = false});
}

TEST_CASE("NaN in any lane and in the tail comes through maximum and row_max") {
  for (const std::int64_t at : {0, 3, 15, 16, 31, 35, 36}) {
    KernelBuilder k("highest");
    const Expr x = k.tensor("x", Access::In, f32), y = k.tensor("y", Access::Out, f32);
    k.store(call(Op::RowMax, {load(x)}), {0, 0}, y);
    const TensorSpec shape{{1, 37}}, one{{1, 1}};
    const Kernel kernel = k.take();
    const Signature signature = signature_of(kernel, {shape, one});
    const xsimd::Emitted emitted = xsimd::emit(specialise(kernel, signature), signature);
    std::vector<float> values(37, -1.0f);
    values[static_cast<std::size_t>(at)] = std::numeric_limits<float>::quiet_NaN();
    float result = 0;
    const pl::abi::Tensor tensors[] = {{values.data(), nullptr, nullptr}, {&result, nullptr, nullptr}};
    const pl::abi::Args args{tensors, nullptr, 0, 1};
    Host host;
    CHECK(compile(emitted)(&args, &host.services) == 0);
    CHECK(std::isnan(result));
  }
}

TEST_CASE("an input may be the very memory of the output where the emitter says so") {
  const TensorSpec shape{{6, 37}};
  compare(scale_by_rank(), {shape, shape, Value::scalar(std::int32_t{2})}, {.in_place = true});
  Options options{.special_values = false, .tolerance = 1e-6, .in_place = true};
  compare(softmax(), {shape, shape}, options);
}

TEST_CASE("an InOut tensor is read as of the statement that loads it") {
  SUBCASE("the same place") {
    KernelBuilder k("update");
    const Expr y = k.tensor("y", Access::InOut, f32);
    k.store(load(y) * literal(3), {0, 0}, y);
    k.store(load(y) + literal(1), {0, 0}, y);
    compare(k.take(), {TensorSpec{{5, 19}}});
  }
  SUBCASE("a place that overlaps") {
    KernelBuilder k("shift");
    const Expr y = k.tensor("y", Access::InOut, f32);
    k.store(load(y, {0, 0}, {4, 19}), {1, 0}, y);
    compare(k.take(), {TensorSpec{{5, 19}}});
  }
  SUBCASE("read again after it is overwritten") {
    KernelBuilder k("keep");
    const Expr y = k.tensor("y", Access::InOut, f32), z = k.tensor("z", Access::Out, f32);
    const Expr before = k.let("before", load(y));
    k.store(before + literal(1), {0, 0}, y);
    k.store(call(Op::ColSum, {before}), {0, 0}, z);
    compare(k.take(), {TensorSpec{{5, 19}}, TensorSpec{{1, 19}}},
            {.special_values = false, .tolerance = 1e-5});
  }
  SUBCASE("by its own column sums") {
    KernelBuilder k("normalise");
    const Expr y = k.tensor("y", Access::InOut, f32);
    const Expr before = k.let("before", load(y));
    k.store(before - call(Op::ColMax, {before}), {0, 0}, y);
    compare(k.take(), {TensorSpec{{5, 19}}});
  }
}

TEST_CASE("tiles are carried through loops and branches") {
  KernelBuilder k("carry");
  const Expr x = k.tensor("x", Access::In, f32), y = k.tensor("y", Access::Out, f32);
  const Expr n = k.scalar("n", DType::Int64);
  const Expr total = k.let("total", full(f32, {8, 5}, literal(0)));
  const Expr previous = k.let("previous", load(x, {0, 0}, {8, 5}));
  k.for_("i", 0, n, 8, [&](const Expr& i) {
    const Expr tile = k.let("tile", load(x, {i, 0}, {8, 5}));
    k.if_(
        i > integer(8), [&] { k.assign(total, total + tile * previous); },
        [&] { k.assign(total, total - tile); });
    k.assign(previous, tile);
  });
  k.store(total + previous, {0, 0}, y);
  const Kernel kernel = k.take();
  for (const std::int64_t turns : {0, 8, 16, 40})
    compare(kernel, {TensorSpec{{40, 5}}, TensorSpec{{8, 5}}, Value::scalar(turns)},
            {.special_values = false});
}

TEST_CASE("two carried tiles change places") {
  KernelBuilder k("swap");
  const Expr x = k.tensor("x", Access::In, f32), y = k.tensor("y", Access::Out, f32);
  const Expr n = k.scalar("n", DType::Int64);
  const Expr a = k.let("a", load(x, {0, 0}, {3, 7})), b = k.let("b", load(x, {3, 0}, {3, 7}));
  k.for_("i", 0, n, 1, [&](const Expr&) {
    const Expr kept = k.let("kept", call(Op::Neg, {a}));
    k.assign(a, b);
    k.assign(b, kept);
  });
  k.store(a, {0, 0}, y);
  k.store(b, {3, 0}, y);
  const Kernel kernel = k.take();
  for (const std::int64_t turns : {0, 1, 2, 3})
    compare(kernel, {TensorSpec{{6, 7}}, TensorSpec{{6, 7}}, Value::scalar(turns)});
}

TEST_CASE("a region outside its tensor is a fault at the user's line, and nothing is written") {
  KernelBuilder k("window");
  const Expr x = k.tensor("x", Access::In, f32), y = k.tensor("y", Access::Out, f32);
  const Expr at = k.scalar("at", DType::Int64);
  k.store(load(x, {at, 0}, {4, 6}), {0, 0}, y);
  const Kernel kernel = k.take();
  for (const std::int64_t row : {0, 1, 4})
    CHECK(compare(kernel, {TensorSpec{{8, 6}}, TensorSpec{{4, 6}}, Value::scalar(row)}) == 0);
  for (const std::int64_t row : {std::int64_t{-1}, std::int64_t{5}, std::numeric_limits<std::int64_t>::max(),
                                 std::numeric_limits<std::int64_t>::min()})
    CHECK(compare(kernel, {TensorSpec{{8, 6}}, TensorSpec{{4, 6}}, Value::scalar(row)}) ==
          pl::abi::fault_range);
}

TEST_CASE("run-time extents that must agree are compared before memory is touched") {
  const TensorSpec five{{5, 7}, f32, Layout::Dense, {}, true}, four{{4, 7}, f32, Layout::Dense, {}, true};
  CHECK(compare(add_kernel(), {five, five, five}) == 0);
  CHECK(compare(add_kernel(), {five, four, five}) == pl::abi::fault_shape);
  CHECK(compare(add_kernel(), {five, five, four}) == pl::abi::fault_range);
}

TEST_CASE("rows too long for the stack wait in scratch memory, and none left is a fault") {
  const TensorSpec shape{{2, 40000}};
  CHECK(compare(softmax(), {shape, shape}, {.special_values = false, .tolerance = 1e-5}) == 0);
  const Kernel kernel = softmax();
  const Signature signature = signature_of(kernel, {shape, shape});
  const xsimd::Emitted emitted = xsimd::emit(specialise(kernel, signature), signature);
  std::vector<float> x(80000), y(80000);
  const pl::abi::Tensor tensors[] = {{x.data(), nullptr, nullptr}, {y.data(), nullptr, nullptr}};
  const pl::abi::Args args{tensors, nullptr, 0, 1};
  Host host;
  host.services.scratch = [](void*, std::uint64_t) -> void* { return nullptr; };
  CHECK(compile(emitted)(&args, &host.services) == pl::abi::fault_out_of_memory);
  REQUIRE(host.fault);
  CHECK(host.fault->line == 4);
}

TEST_CASE("broadcasts along every axis of three") {
  const std::vector<std::vector<std::int64_t>> shapes = {{1, 1, 1}, {3, 1, 1},  {1, 4, 1},  {1, 1, 19},
                                                         {3, 4, 1}, {3, 1, 19}, {1, 4, 19}, {3, 4, 19}};
  for (const auto& left : shapes)
    for (const auto& right : shapes) {
      KernelBuilder k("spread");
      const Expr a = k.tensor("a", Access::In, f32), b = k.tensor("b", Access::In, f32);
      const Expr c = k.tensor("c", Access::In, f32), y = k.tensor("y", Access::Out, f32);
      k.store(call(Op::Exp2, {load(a)}) * load(b) + load(c), {0, 0, 0}, y);
      compare(k.take(), {TensorSpec{left}, TensorSpec{right}, TensorSpec{{3, 4, 19}}, TensorSpec{{3, 4, 19}}},
              {.special_values = false, .tolerance = 1e-6});
    }
}

TEST_CASE("a reduction of a reduction and the reduction itself are needed by one statement") {
  // Each was once computed in front of that statement for itself: the inner one twice, under one name.
  for (const Op outer : {Op::ColMin, Op::RowMax, Op::ColSum})
    for (const std::vector<std::int64_t>& shape :
         {std::vector<std::int64_t>{1, 1}, {5, 1}, {1, 7}, {5, 19}}) {
      KernelBuilder k("twice_reduced");
      const Expr x = k.tensor("x", Access::In, DType::Int32), y = k.tensor("y", Access::Out, DType::Int32);
      const Expr inner = k.let("inner", call(Op::ColSum, {load(x)}));
      k.store(call(Op::Rem, {call(outer, {inner}), inner}), {0, 0}, y);
      compare(k.take(), {TensorSpec{shape, DType::Int32}, TensorSpec{{1, shape[1]}, DType::Int32}});
    }
}

TEST_CASE("pl::print hands the tile or scalar to the host") {
  KernelBuilder k("say");
  const Expr x = k.tensor("x", Access::In, f32);
  const Expr tile = k.let("tile", load(x) * literal(2));
  k.print(tile);
  const Expr s = k.let("s", integer(3) + k.scalar("n", DType::Int64));
  k.print(s);
  const Kernel kernel = k.take();
  const std::vector<ArgumentSpec> arguments = {TensorSpec{{3, 5}}, Value::scalar(std::int64_t{1})};
  const Signature signature = signature_of(kernel, arguments);
  const xsimd::Emitted emitted = xsimd::emit(specialise(kernel, signature), signature);
  std::vector<float> values(15, 1.0f);
  const pl::abi::Tensor tensors[] = {{values.data(), nullptr, nullptr}};
  const std::uint64_t scalars[] = {1};
  const pl::abi::Args args{tensors, scalars, 0, 1};
  Host host;
  CHECK(compile(emitted)(&args, &host.services) == 0);
  CHECK(host.printed == "tile:11:2\ns:4:0\n");
}

TEST_CASE("results larger than the caches are written past them, at every alignment, and to the byte") {
  const auto streams = [](const Kernel& kernel, const std::vector<ArgumentSpec>& arguments) {
    const Signature signature = signature_of(kernel, arguments);
    const std::string text = xsimd::emit(specialise(kernel, signature), signature).text;
    return text.find("store_streaming") != std::string::npos &&
           text.find("streaming_fence") != std::string::npos;
  };
  SUBCASE("one flat loop") {
    const TensorSpec shape{{1, 4200003}};
    const std::vector<ArgumentSpec> arguments = {shape, shape, Value::scalar(std::int32_t{3})};
    CHECK(streams(scale_by_rank(), arguments));
    for (const int misalignment : {0, 1, 5})
      compare(scale_by_rank(), arguments, {.misalignment = misalignment, .at_end = false});
  }
  SUBCASE("rows, the last pass after sums") {
    const TensorSpec shape{{2047, 2053}}, row{{1, 2053}};
    CHECK(streams(layernorm(), {shape, row, row, shape}));
    compare(layernorm(), {shape, row, row, shape}, {.special_values = false, .tolerance = 1e-5});
  }
  SUBCASE("not where the kernel reads the tensor") {
    KernelBuilder k("update");
    const Expr y = k.tensor("y", Access::InOut, f32);
    k.store(load(y) * literal(3), {0, 0}, y);
    CHECK(!streams(k.take(), {TensorSpec{{1, 4200003}}}));
  }
}
