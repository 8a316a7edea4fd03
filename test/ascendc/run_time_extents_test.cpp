// Tiles whose extents only the run knows, on the CPU model against the interpreter: each kernel is emitted and compiled
// once and runs with every extent, none included.
#include "ascendc/on_model.hpp"
#include "codegen/error.hpp"
#include "emitter/valid_kernels.hpp"

#include <doctest/doctest.h>

using namespace ascendc_test;
using namespace emitter_test;

namespace {

using Function = std::function<Expr(KernelBuilder&, const Expr&, const Expr&)>;

std::int32_t code_of(const Kernel& kernel, const std::vector<ArgumentSpec>& arguments,
                     const Options& options = {}) {
  const std::int32_t code = compare(kernel, arguments, options, for_model);
  INFO(faults().text);
  CHECK(faults().text.empty());
  return code;
}

/// y = f(x valid up to n and m), for all of these n and m.
void with_all_extents(DType dtype, const std::vector<std::int64_t>& result, const Function& function,
                      std::optional<DType> to = {}, const Options& options = {}) {
  CAPTURE(name_of(dtype));
  const Kernel kernel = with_extents(dtype, {9, 40}, function, to);
  for (const std::int64_t n : {-1, 0, 1, 5, 9})
    for (const std::int64_t m : {-3, 0, 1, 8, 17, 40})
      CHECK(code_of(kernel,
                    {TensorSpec{{9, 40}, dtype}, TensorSpec{result, to.value_or(dtype)}, int64(n), int64(m)},
                    options) == 0);
}

Expr filled(const Expr& e) { return fillpad(e, Fill::Min); }

std::string refusal_of(const Kernel& kernel, const std::vector<ArgumentSpec>& arguments) {
  const Signature signature = emitter_test::signature_of(kernel, arguments);
  try {
    (void)ascendc::emit(specialise(kernel, signature), signature);
  } catch (const pl::UserError& error) {
    return error.what();
  }
  return "emitted";
}

}  // namespace

TEST_CASE("on the model, a load that is cut is stored as it is, for every number of rows") {
  for (const DType dtype : {DType::Float32, DType::Float16, DType::Int8, DType::Bool})
    for (const std::int64_t rows : {3, 11}) {
      CAPTURE(name_of(dtype));
      CHECK(code_of(chunked(dtype, rows, 17, 4, [](KernelBuilder&, const Expr& t) { return t; }),
                    {TensorSpec{{rows, 17}, dtype}, TensorSpec{{rows, 17}, dtype}}) == 0);
    }
}

TEST_CASE("on the model, fillpad fills what is behind the valid box") {
  for (const DType dtype : {DType::Float32, DType::Int16})
    with_all_extents(dtype, {9, 40}, [](KernelBuilder&, const Expr&, const Expr& t) { return filled(t); });
}

TEST_CASE("on the model, elementwise operations meet in what is valid in all operands") {
  for (const DType dtype : {DType::Float32, DType::Int16})
    with_all_extents(dtype, {9, 40}, [](KernelBuilder& k, const Expr& x, const Expr& t) {
      const Expr full = k.let("full", load(x, {0, 0}, {9, 40}));
      const Expr cut = k.let("cut", set_valid(full, {5, 33}));
      const Expr row = k.let("row", set_valid(load(x, {0, 0}, {1, 40}), {1, 12}));
      const Expr column = k.let("column", load(x, {0, 0}, {9, 1}));
      return call(Op::Where, {call(Op::Lt, {t, column}), t * row + full, cut - literal(1)});
    });
}

TEST_CASE("on the model, reductions see valid cells only, over any axis, also none") {
  for (const DType dtype : {DType::Int32, DType::Int8})
    for (const Op op : {Op::Max, Op::Sum})
      for (const int axis : {0, 1})
        with_all_extents(dtype,
                         axis == 0 ? std::vector<std::int64_t>{1, 40} : std::vector<std::int64_t>{9, 1},
                         [&](KernelBuilder&, const Expr&, const Expr& t) {
                           return fillpad(reduced(op, t, axis), Fill::Max);
                         });
  Options options;
  options.special_values = false;
  options.tolerance = 1e-5;
  with_all_extents(
      DType::Float32, {9, 40},
      [](KernelBuilder& k, const Expr&, const Expr& t) {
        const Expr largest = k.let("largest", call(Op::RowMax, {t}));
        const Expr powers = k.let("powers", call(Op::Exp, {t - largest}));
        return k.let("result", powers / call(Op::RowSum, {powers}) + call(Op::RowMean, {t}));
      },
      {}, options);
  with_all_extents(
      DType::Float32, {1, 40},
      [](KernelBuilder& k, const Expr&, const Expr& t) {
        return k.let("result", call(Op::ColMean, {t}) - call(Op::ColMax, {t}));
      },
      {}, options);
}

TEST_CASE("on the model, long rows of a run-time length are walked in chunks") {
  KernelBuilder k("long_rows");
  const Expr x = k.tensor("x", Access::In, DType::Float32), y = k.tensor("y", Access::Out, DType::Float32);
  const Expr n = k.scalar("n", DType::Int64), m = k.scalar("m", DType::Int64);
  const Expr t = k.let("t", load(x, {0, 0}, {3, 40000}, false, {n, m}));
  k.store(t - call(Op::RowMax, {t}), {0, 0}, y);
  const Kernel kernel = k.take();
  for (const auto& [rows, columns] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{3, 40000}, {2, 17001}, {3, 5}, {0, 8}, {2, 0}})
    CHECK(code_of(kernel, {TensorSpec{{3, 40000}}, TensorSpec{{3, 40000}}, int64(rows), int64(columns)}) ==
          0);
}

TEST_CASE("on the model, products sum over what is valid in both operands") {
  KernelBuilder k("product");
  const Expr a = k.tensor("a", Access::In, DType::Float32), b = k.tensor("b", Access::In, DType::Float32);
  const Expr bias = k.tensor("bias", Access::In, DType::Float32),
             y = k.tensor("y", Access::Out, DType::Float32);
  const Expr m = k.scalar("m", DType::Int64), n = k.scalar("n", DType::Int64),
             l = k.scalar("l", DType::Int64);
  const Expr p = k.let("p", load(a, {0, 0}, {8, 16}, false, {m, l}));
  const Expr q = k.let("q", load(b, {0, 0}, {16, 24}, true, {16, n}));
  const Expr sum = k.let("sum", tile_call(Op::MatmulBias, {p, q, load(bias)}));
  const Expr again = k.let("again", tile_call(Op::MatmulAcc, {sum, p, q}));
  k.store(fillpad(k.let("plus", again + tile_call(Op::Matmul, {p, q})), Fill::Max), {0, 0}, y);
  const Kernel kernel = k.take();
  Options options;
  options.special_values = false;
  options.tolerance = 1e-4;
  for (const std::int64_t rows : {0, 3, 8})
    for (const std::int64_t columns : {0, 1, 17})
      for (const std::int64_t inner : {0, 1, 9, 16})
        CHECK(code_of(kernel,
                      {TensorSpec{{8, 16}}, TensorSpec{{13, 24}}, TensorSpec{{24}}, TensorSpec{{8, 24}},
                       int64(rows), int64(columns), int64(inner)},
                      options) == 0);
}

TEST_CASE("on the model, operations that move elements move the valid shape") {
  const DType dtype = DType::Int32;
  with_all_extents(dtype, {40, 9}, [](KernelBuilder&, const Expr&, const Expr& t) {
    return filled(tile_call(Op::Transpose, {t}, along(0, 1)));
  });
  for (const int axis : {0, 1})
    with_all_extents(dtype, {9, 40}, [&](KernelBuilder& k, const Expr&, const Expr& t) {
      const Expr order = k.let("order", tile_call(Op::SortIndices, {t}, along(axis)));
      const Expr sorted = k.let("sorted", tile_call(Op::Gather, {t, order}, along(axis)));
      return filled(tile_call(Op::Cumsum, {sorted}, along(axis)));
    });
  with_all_extents(dtype, {9, 1}, [](KernelBuilder&, const Expr&, const Expr& t) {
    return filled(tile_call(Op::RowArgmax, {t}));
  });
  with_all_extents(dtype, {1, 40}, [](KernelBuilder&, const Expr&, const Expr& t) {
    return filled(tile_call(Op::ColArgmin, {t}));
  });
  with_all_extents(dtype, {2, 9, 40}, [](KernelBuilder&, const Expr&, const Expr& t) {
    return filled(tile_call(Op::Expand, {t, list(items({2, 9, 40}))}));
  });
}

TEST_CASE("on the model, what is outside of the valid part is a fault") {
  const auto code = [](const Function& function, const std::vector<std::int64_t>& result, std::int64_t n) {
    return code_of(
        with_extents(DType::Int32, {9, 40}, function),
        {TensorSpec{{9, 40}, DType::Int32}, TensorSpec{result, DType::Int32}, int64(n), int64(40)});
  };
  const auto sliced = [](KernelBuilder&, const Expr&, const Expr& t) {
    return tile_call(Op::TileSlice, {t, list({2, 0}), list({3, 40})});
  };
  CHECK(code(sliced, {3, 40}, 5) == 0);
  CHECK(code(sliced, {3, 40}, 4) != 0);
  const auto element = [](KernelBuilder& k, const Expr&, const Expr& t) {
    const Expr value = k.let("value", read(t, {4, 0}));
    return full(DType::Int32, {1, 1}, value);
  };
  CHECK(code(element, {1, 1}, 5) == 0);
  CHECK(code(element, {1, 1}, 4) != 0);
}

TEST_CASE("on the model, a load of a length that the caller names is inside its tensor or a fault") {
  KernelBuilder k("named");
  const Expr x = k.tensor("x", Access::In, DType::Float32), y = k.tensor("y", Access::Out, DType::Float32);
  const Expr at = k.scalar("at", DType::Int64), n = k.scalar("n", DType::Int64);
  const Expr t = k.let("t", load(x, {at, 0}, {n, 20}));
  k.store(t + full(DType::Float32, {n, 20}, literal(1)), {0, 0}, y);
  const Kernel kernel = k.take();
  const auto code = [&](std::int64_t from, std::int64_t count) {
    return code_of(kernel, {TensorSpec{{12, 20}}, TensorSpec{{12, 20}}, int64(from), int64(count)});
  };
  for (const std::int64_t count : {0, 1, 5, 8}) CHECK(code(4, count) == 0);
  for (const auto& [from, count] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{4, 9}, {-1, 2}, {0, -1}, {0, 13}})
    CHECK(code(from, count) != 0);
}

TEST_CASE("on the model, run-time lengths that must agree and do not are a fault") {
  KernelBuilder k("two_lengths");
  const Expr x = k.tensor("x", Access::In, DType::Float32), y = k.tensor("y", Access::Out, DType::Float32);
  const Expr n = k.scalar("n", DType::Int64), m = k.scalar("m", DType::Int64);
  k.store(load(x, {0}, {n}) + load(x, {1}, {m}), {0}, y);
  const Kernel kernel = k.take();
  const auto code = [&](std::int64_t a, std::int64_t b) {
    return code_of(kernel, {TensorSpec{{9}}, TensorSpec{{9}}, int64(a), int64(b)});
  };
  CHECK(code(7, 7) == 0);
  CHECK(code(7, 6) != 0);
}

TEST_CASE(
    "a tensor whose extents only the run knows is refused: kernels that are dispatched have constants "
    "there") {
  KernelBuilder k("of_any_shape");
  const Expr x = k.tensor("x", Access::In, DType::Float32), y = k.tensor("y", Access::Out, DType::Float32);
  k.store(load(x), {0}, y);
  const TensorSpec any{{9}, DType::Float32, Layout::Dense, {}, true};
  const std::string message = refusal_of(k.take(), {any, any});
  CAPTURE(message);
  CHECK(message.find("of a tensor is a number of the run; this target needs the extents of tensors") !=
        std::string::npos);
}

TEST_CASE("a tile of a length that nothing bounds is refused with what to do") {
  KernelBuilder k("unbounded");
  const Expr y = k.tensor("y", Access::Out, DType::Float32);
  const Expr n = k.scalar("n", DType::Int64);
  const Expr sum = k.let("sum", call(Op::RowSum, {full(DType::Float32, {1, n}, literal(1))}));
  k.store(sum, {0, 0}, y);
  const std::string message = refusal_of(k.take(), {TensorSpec{{1, 1}}, int64(3)});
  CAPTURE(message);
  CHECK(message.find("is computed when the kernel runs and nothing says how large it can be") !=
        std::string::npos);
  CHECK(message.find("load a tile of a constant shape with {.valid = {...}}") != std::string::npos);
}

TEST_CASE("on the model, an extent of tiles of several tensors has the room of the largest") {
  KernelBuilder k("branches");
  const Expr a = k.tensor("a", Access::In, DType::Float32), b = k.tensor("b", Access::In, DType::Float32),
             y = k.tensor("y", Access::Out, DType::Float32);
  const Expr n = k.scalar("n", DType::Int64);
  k.if_(
      call(Op::Le, {n, integer(3)}), [&] { k.store(k.let("t", load(a, {0}, {n})) * literal(2), {0}, y); },
      [&] { k.store(k.let("u", load(b, {0}, {n})) * literal(3), {0}, y); });
  const Kernel kernel = k.take();
  for (const std::int64_t least : {0, 3})
    for (const std::int64_t n_given : {0, 3, 4, 70, 100}) {
      if (n_given == 3 && least == 0) continue;
      CHECK(code_of(kernel, {TensorSpec{{least}}, TensorSpec{{100}}, TensorSpec{{100}}, int64(n_given)}) ==
            0);
    }
}
