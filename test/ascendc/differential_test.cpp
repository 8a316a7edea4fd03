// Emitted AscendC on the CPU model against the reference operations: every operation of the vector unit and every dtype
// it is emitted for, odd shapes, special values, memory between guard pages.
#include "ascendc/on_model.hpp"
#include "codegen/ascendc/lowering.hpp"
#include "codegen/operation.hpp"
#include "emitter/kernels.hpp"
#include "slow.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <utility>
#include <vector>

using namespace ascendc_test;
using namespace emitter_test;
using namespace trilith::codegen::build;

namespace {

bool is_elementwise(const Operation& operation) {
  return operation.group == Group::Elementwise || operation.group == Group::Compare ||
         operation.group == Group::Logic || operation.group == Group::Bits;
}

bool gives_bool(const Operation& operation) {
  return operation.group == Group::Compare || operation.group == Group::Logic;
}

/// Is it emitted for this dtype?
bool is_emitted(const Operation& operation, DType dtype) {
  const Kernel kernel = is_elementwise(operation) ? elementwise(operation.op, dtype, operation.arity,
                                                                gives_bool(operation) ? DType::Bool : dtype)
                                                  : reduction(operation.op, dtype);
  std::vector<ArgumentSpec> arguments;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const DType own = i + 1 == kernel.parameters.size() && gives_bool(operation) ? DType::Bool
                      : operation.op == Op::Where && i == 0                      ? DType::Bool
                                                                                 : dtype;
    const bool last = i + 1 == kernel.parameters.size();
    const bool row = operation.group == Group::RowReduce, column = operation.group == Group::ColReduce;
    arguments.emplace_back(TensorSpec{{last && column ? 1 : 3, last && row ? 1 : 5}, own});
  }
  try {
    const Signature signature = emitter_test::signature_of(kernel, arguments);
    (void)ascendc::emit(specialise(kernel, signature), signature);
    return true;
  } catch (const pl::UserError&) {
    return false;
  }
}

/// All elementwise operations of one exactness on one dtype in one kernel: results go to `rows` rows of their own each.
struct Planes {
  Kernel kernel;
  int results = 0, bools = 0;
};

Planes planes(DType dtype, bool exact, std::int64_t rows) {
  KernelBuilder k("planes");
  const Expr c = k.tensor("c", Access::In, DType::Bool), x = k.tensor("x", Access::In, dtype),
             y = k.tensor("y", Access::In, dtype), z = k.tensor("z", Access::In, dtype);
  const Expr out = k.tensor("out", Access::Out, dtype), truths = k.tensor("truths", Access::Out, DType::Bool);
  const Expr condition = k.let("condition", load(c)), a = k.let("a", load(x)), b = k.let("b", load(y)),
             d = k.let("d", load(z));
  Planes result;
  for (const Operation& operation : operations()) {
    if (!is_elementwise(operation) || !accepts(operation.dtypes, dtype) || operation.op == Op::MoveTo ||
        (operation.exactness == Exactness::Exact) != exact || !is_emitted(operation, dtype))
      continue;
    std::vector<Expr> operands;
    if (operation.op == Op::Where)
      operands = {condition, a, b};
    else
      for (int i = 0; i < operation.arity; ++i) operands.push_back(i == 0 ? a : i == 1 ? b : d);
    const Expr value = call(operation.op, operands);
    if (gives_bool(operation))
      k.store(value, {rows * result.bools++, 0}, truths);
    else
      k.store(value, {rows * result.results++, 0}, out);
  }
  result.kernel = k.take();
  return result;
}

}  // namespace

TEST_CASE("on the model, exact elementwise operations of every dtype give the bits of the reference") {
  for (const DType dtype : all_dtypes) {
    if (dtype == DType::Float64) continue;
    CAPTURE(name_of(dtype));
    for (const auto& [rows, columns] : std::vector<std::pair<std::int64_t, std::int64_t>>{{9, 37}, {3, 64}}) {
      const Planes all = planes(dtype, true, rows);
      if (all.results + all.bools == 0) continue;
      const TensorSpec in{{rows, columns}, dtype};
      agrees(all.kernel, {TensorSpec{{rows, columns}, DType::Bool}, in, in, in,
                          TensorSpec{{rows * std::max(all.results, 1), columns}, dtype},
                          TensorSpec{{rows * std::max(all.bools, 1), columns}, DType::Bool}});
    }
  }
}

TEST_CASE("on the model, transcendental functions stay within their tolerance") {
  for (const DType dtype : {DType::Float32, DType::Float16, DType::BFloat16}) {
    const Planes all = planes(dtype, false, 5);
    REQUIRE(all.results > 5);
    CAPTURE(name_of(dtype));
    Options options;
    options.tolerance = dtype == DType::Float32 ? 2e-6 : dtype == DType::Float16 ? 2e-3 : 2e-2;
    options.special_values = false;
    const TensorSpec in{{5, 67}, dtype};
    agrees(all.kernel,
           {TensorSpec{{5, 67}, DType::Bool}, in, in, in, TensorSpec{{5 * all.results, 67}, dtype},
            TensorSpec{{5, 67}, DType::Bool}},
           options);
  }
}

TEST_CASE("on the model, sine and cosine are right for angles of any size, and NaN where there is none") {
  KernelBuilder k("angles");
  const Expr x = k.tensor("x", Access::In, DType::Float32), y = k.tensor("y", Access::Out, DType::Float32);
  const Expr tile = k.let("tile", load(x));
  std::int64_t plane = 0;
  const auto add = [&](const Expr& angle) {
    const Expr kept = k.let("angle" + std::to_string(plane), angle);
    for (const Op op : {Op::Sin, Op::Cos}) k.store(call(op, {kept}), {9 * plane++, 0}, y);
  };
  for (const double scale : {1.0, 0x1p14, 0x1p16, 0x1p17, 0x1p40, 0x1p77, 0x1p125})
    add(tile * literal(scale));
  add(tile * tile * tile * literal(0x1p20));  // small and large ones in one block
  // Of all floats these are the closest to a multiple of pi/2.
  add((tile - tile) + literal(0x1.f37c8ap+95));
  add((tile - tile) - literal(0x1.f37c8ap+95));
  const Kernel kernel = k.take();
  Options options;
  options.tolerance = 1e-6;
  options.special_values = false;
  agrees(kernel, {TensorSpec{{9, 37}}, TensorSpec{{9 * plane, 37}}}, options);
  options.special_values = true;
  agrees(kernel, {TensorSpec{{9, 37}}, TensorSpec{{9 * plane, 37}}}, options);
}

namespace {

/// Any bits at all as an element of the dtype, made of an integer by a factor that wraps.
Expr any_bits(const Expr& tile, DType dtype, int factor) {
  const DType integer = size_of(dtype) == 2 ? DType::Int16 : DType::Int32;
  return tile_call(Op::Reinterpret, {cast(integer, tile * literal(factor))}, {}, dtype);
}

}  // namespace

TEST_CASE("on the model, fma and the remainders of floats are right for any bits") {
  for (const DType dtype : {DType::Float32, DType::Float16, DType::BFloat16}) {
    CAPTURE(name_of(dtype));
    KernelBuilder k("bits");
    const Expr x = k.tensor("x", Access::In, DType::Int32), y = k.tensor("y", Access::In, DType::Int32),
               out = k.tensor("out", Access::Out, dtype);
    const Expr first = k.let("first", load(x)), second = k.let("second", load(y));
    const Expr a = k.let("a", any_bits(first, dtype, 48271069)),
               b = k.let("b", any_bits(second, dtype, 69621087)),
               c = k.let("c", any_bits(first + second, dtype, 22695477));
    std::int64_t plane = 0;
    const auto add = [&](const Expr& value) { k.store(value, {23 * plane++, 0}, out); };
    add(call(Op::Fma, {a, b, c}));
    // Nearly all of the product is taken away again: what its rounding loses is left.
    const Expr product = k.let("product", a * b);
    add(call(Op::Fma, {a, b, call(Op::Neg, {product})}));
    add(call(Op::Fma, {a, b, call(Op::Neg, {product * literal(1.125)})}));
    add(call(Op::Fma, {a, k.let("row", call(Op::RowMax, {b})), literal(0.1)}));
    for (const Op op : {Op::Fmod, Op::Rem}) {
      add(call(op, {a, b}));
      add(call(op, {a, literal(-3)}));
      add(call(op, {call(Op::RowMax, {b}), a}));
    }
    agrees(k.take(), {TensorSpec{{23, 37}, DType::Int32}, TensorSpec{{23, 37}, DType::Int32},
                      TensorSpec{{23 * plane, 37}, dtype}});
  }
}

TEST_CASE(
    "on the model, powers are as C's Annex F has them, and within 4 ulp where there is something to round") {
  KernelBuilder k("powers");
  const Expr x = k.tensor("x", Access::In, DType::Float32), y = k.tensor("y", Access::In, DType::Float32),
             out = k.tensor("out", Access::Out, DType::Float32);
  const Expr a = k.let("a", load(x)), b = k.let("b", load(y));
  k.store(call(Op::Pow, {a, call(Op::Rint, {b})}), {0, 0}, out);
  // Next to 1, to powers up to both ends of what a float holds.
  k.store(call(Op::Pow, {call(Op::Abs, {a}) * literal(0x1p-20) + literal(1), b * literal(0x1p24)}), {29, 0},
          out);
  Options options;
  options.tolerance = 0x1p-22;  // 2 to 4 ulp
  agrees(k.take(), {TensorSpec{{29, 37}}, TensorSpec{{29, 37}}, TensorSpec{{58, 37}}}, options);
}

TEST_CASE("on the model, integers of more digits than a float are rounded to bfloat16 once") {
  for (const DType dtype : {DType::Int32, DType::UInt32, DType::Int64, DType::UInt64}) {
    CAPTURE(name_of(dtype));
    KernelBuilder k("once");
    const Expr x = k.tensor("x", Access::In, dtype), y = k.tensor("y", Access::Out, DType::BFloat16);
    const Expr tile = k.let("tile", load(x));
    // Half way between two, and next to that: a float cannot tell them apart.
    const int bits = static_cast<int>(8 * size_of(dtype)) - (is_signed_integer(dtype) ? 2 : 1);
    const std::uint64_t half_way = std::uint64_t{1} << bits | std::uint64_t{1} << (bits - 8);
    std::int64_t plane = 0;
    for (const int beside : {-1, 0, 1}) {
      const auto number = static_cast<std::int64_t>(half_way + static_cast<std::uint64_t>(beside));
      const Expr value =
          k.let("value" + std::to_string(plane), (tile - tile) + constant(Constant::of(dtype, number)));
      k.store(cast(DType::BFloat16, value), {plane++, 0}, y);
      if (is_signed_integer(dtype)) k.store(cast(DType::BFloat16, call(Op::Neg, {value})), {plane++, 0}, y);
    }
    agrees(k.take(), {TensorSpec{{1, 9}, dtype}, TensorSpec{{plane, 9}, DType::BFloat16}});
  }
}

TEST_CASE("on the model, reductions of rows and columns agree with the reference") {
  for (const Operation& operation : operations()) {
    if (operation.group != Group::RowReduce && operation.group != Group::ColReduce) continue;
    for (const DType dtype :
         {DType::Float32, DType::Float16, DType::Int32, DType::Int8, DType::Int64, DType::UInt64}) {
      if (!accepts(operation.dtypes, dtype) || !is_emitted(operation, dtype)) continue;
      CAPTURE(operation.name);
      CAPTURE(name_of(dtype));
      Options options;
      options.special_values = false;
      if (operation.exactness != Exactness::Exact && is_floating(dtype))
        options.tolerance = dtype == DType::Float32 ? 1e-4 : 2e-2;
      const bool row = operation.group == Group::RowReduce;
      agrees(reduction(operation.op, dtype),
             {TensorSpec{{7, 131}, dtype}, TensorSpec{{row ? 7 : 1, row ? 1 : 131}, dtype}}, options);
    }
  }
}

TEST_CASE("on the model, softmax and layer normalisation of any shape agree with the reference") {
  Options options;
  options.special_values = false;
  for (const auto& [rows, columns] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {0, 16}, {1, 1}, {1, 7}, {8, 8}, {9, 63}, {37, 65}, {250, 64}, {3, 2041}, {2, 40000}}) {
    CAPTURE(rows);
    CAPTURE(columns);
    const TensorSpec all{{rows, columns}}, one_row{{1, columns}};
    options.tolerance = 1e-5;
    agrees(softmax(), {all, all}, options);
    options.tolerance = 5e-4;
    agrees(layernorm(), {all, one_row, one_row, all}, options);
  }
  options.tolerance = 2e-2;
  for (const DType dtype : {DType::Float16, DType::BFloat16}) {
    const TensorSpec all{{17, 67}, dtype}, one_row{{1, 67}, dtype};
    agrees(softmax(dtype), {all, all}, options);
    agrees(column_softmax(dtype), {all, all}, options);
    agrees(layernorm(dtype), {all, one_row, one_row, all}, options);
  }
}

TEST_CASE("on the model, operands broadcast and lie in strided tensors") {
  const Kernel add = elementwise(Op::Add, DType::Float32, 2, DType::Float32);
  const std::vector<std::int64_t> whole{9, 37};
  for (const std::vector<std::int64_t>& other : {std::vector<std::int64_t>{9, 1}, {1, 37}, {1, 1}, {9, 37}}) {
    agrees(add, {TensorSpec{whole}, TensorSpec{other}, TensorSpec{whole}});
    agrees(add, {TensorSpec{other}, TensorSpec{whole}, TensorSpec{whole}});
  }
  const TensorSpec strided{whole, DType::Float32, Layout::InnerDense, {41, 1}};
  agrees(add, {strided, TensorSpec{whole}, TensorSpec{whole}});
  agrees(add, {TensorSpec{whole}, strided, strided});
}

TEST_CASE("on the model, the elements of a row may lie apart, in what is read and in what is written") {
  const std::vector<std::int64_t> whole{9, 37};
  for (const DType dtype : {DType::Float32, DType::Float16, DType::Int8, DType::Int64}) {
    CAPTURE(name_of(dtype));
    const Kernel add = elementwise(Op::Add, dtype, 2, dtype);
    const TensorSpec dense{whole, dtype}, transposed{whole, dtype, Layout::Strided, {1, 9}},
        apart{whole, dtype, Layout::Strided, {80, 2}}, backwards{whole, dtype, Layout::Strided, {37, -1}},
        repeated{whole, dtype, Layout::Strided, {1, 0}};
    agrees(add, {transposed, apart, dense});
    agrees(add, {backwards, repeated, apart});
    agrees(add, {dense, dense, transposed});
  }
  Options options{.special_values = false, .tolerance = 1e-5};
  const TensorSpec apart{{5, 1300}, DType::Float32, Layout::Strided, {1, 5}};
  agrees(softmax(), {apart, apart}, options);
  agrees(column_softmax(), {apart, TensorSpec{{5, 1300}}}, options);
}

TEST_CASE("on the model, kernels whose output is loaded and stored at the same places run in place") {
  Options options{.special_values = false, .tolerance = 1e-5};
  options.in_place = true;
  const TensorSpec small{{37, 65}}, long_rows{{2, 40000}};
  agrees(softmax(), {small, small}, options);
  agrees(softmax(), {long_rows, long_rows}, options);
  agrees(column_softmax(), {small, small}, options);
  agrees(elementwise(Op::Add, DType::Float32, 2, DType::Float32), {small, small, small}, options);
  const auto pairs = [](const Kernel& kernel, const std::vector<ArgumentSpec>& arguments) {
    const Signature signature = emitter_test::signature_of(kernel, arguments);
    return ascendc::emit(specialise(kernel, signature), signature).in_place;
  };
  CHECK(pairs(softmax(), {small, small}) == std::vector<std::pair<int, int>>{{0, 1}});
  // Here the rows change places.
  KernelBuilder k("shifted");
  const Expr x = k.tensor("x", Access::In, DType::Float32), y = k.tensor("y", Access::Out, DType::Float32);
  k.store(load(x, {1, 0}, {36, 65}), {0, 0}, y);
  CHECK(pairs(k.take(), {small, small}).empty());
}

TEST_CASE("on the model, remainders of scalars have the sign of the divisor, near overflow, too") {
  constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min(),
                         most = std::numeric_limits<std::int32_t>::max();
  KernelBuilder k("scalar_remainder");
  const Expr a = k.scalar("a", DType::Int32), b = k.scalar("b", DType::Int32),
             y = k.tensor("y", Access::Out, DType::Int32);
  k.store(full(DType::Int32, {2}, call(Op::Rem, {a, b})), {0}, y);
  const Kernel kernel = k.take();
  for (const auto& [dividend, divisor] : std::vector<std::pair<std::int32_t, std::int32_t>>{
           {most - 1, most}, {-most, least}, {7, -2}, {-7, 2}, {6, -3}, {5, 0}, {5, -1}, {least, -1}})
    agrees(kernel, {Value::scalar(dividend), Value::scalar(divisor), TensorSpec{{2}, DType::Int32}});
}

TEST_CASE("on the model, casts of rows of odd lengths to all dtypes give the bits of the reference") {
  const auto is_refused = [](DType dtype) { return ascendc::refusal(Op::Cast, dtype) != ""; };
  const std::vector<std::int64_t> lengths = support::slow_rounds(0, 1) == 0
                                                ? std::vector<std::int64_t>{257}
                                                : std::vector<std::int64_t>{1, 17, 257, 4097};
  for (const DType from : all_dtypes)
    for (const std::int64_t length : lengths) {
      if (is_refused(from)) continue;
      KernelBuilder k("convert");
      const Expr x = k.tensor("x", Access::In, from);
      const Expr tile = k.let("tile", load(x));
      std::vector<ArgumentSpec> arguments{TensorSpec{{1, length}, from}};
      for (const DType to : all_dtypes) {
        if (from == to || is_refused(to)) continue;
        const Expr y = k.tensor("y_" + std::string(name_of(to)), Access::Out, to);
        k.store(cast(to, tile), {0, 0}, y);
        arguments.push_back(TensorSpec{{1, length}, to});
      }
      CAPTURE(name_of(from));
      CAPTURE(length);
      agrees(k.take(), arguments);
    }
}

TEST_CASE("on the model, a cast between any two dtypes gives the bits of the reference") {
  for (const DType from : all_dtypes)
    for (const DType to : all_dtypes) {
      if (from == to) continue;
      KernelBuilder k("convert");
      const Expr x = k.tensor("x", Access::In, from);
      std::vector<Expr> outputs;
      // The modes differ for floating operands alone.
      const std::vector<CastMode> modes =
          is_floating(from) ? std::vector<CastMode>{CastMode::Rint, CastMode::Round, CastMode::Floor,
                                                    CastMode::Ceil, CastMode::Trunc, CastMode::Odd}
                            : std::vector<CastMode>{CastMode::Rint};
      const Expr y = k.tensor("y", Access::Out, to);
      const Expr tile = k.let("tile", load(x));
      std::int64_t plane = 0;
      for (const CastMode mode : modes) k.store(cast(to, tile, mode), {9 * plane++, 0}, y);
      const Kernel kernel = k.take();
      const std::vector<ArgumentSpec> arguments{
          TensorSpec{{9, 37}, from}, TensorSpec{{9 * static_cast<std::int64_t>(modes.size()), 37}, to}};
      CAPTURE(name_of(from));
      CAPTURE(name_of(to));
      try {
        const Signature signature = emitter_test::signature_of(kernel, arguments);
        (void)ascendc::emit(specialise(kernel, signature), signature);
      } catch (const pl::UserError&) {
        continue;  // table_test.cpp says which
      }
      agrees(kernel, arguments);
    }
}
