// Partly valid tiles, compiled, against the interpreter: loads cut to their tensor between guard pages, ragged loops,
// run-time and constant valid extents, every operation that takes a part and those that need all of a tile.
#include "emitter/valid_kernels.hpp"

using namespace emitter_test;

namespace {

/// The same where the kernel reads how many rows there are.
Kernel chunked_by_dim(DType dtype, std::int64_t chunk, const std::function<Expr(const Expr&)>& function) {
  KernelBuilder k("chunked_by_dim");
  const Expr x = k.tensor("x", Access::In, dtype), y = k.tensor("y", Access::Out, dtype);
  k.for_("i", 0, dim(x, 0), chunk, [&](const Expr& i) {
    const Expr t = k.let("t", load(x, {i, 0}, {chunk, 37}, true));
    k.store(function(t), {i, 0}, y);
  });
  return k.take();
}

}  // namespace

TEST_CASE("a load that is cut, stored as it is: every dtype, every count of rows, between guard pages") {
  for (const DType dtype : all_dtypes)
    for (const std::int64_t rows : {0, 1, 3, 4, 5, 8, 11}) {
      CAPTURE(name_of(dtype));
      CAPTURE(rows);
      const auto plain = [](KernelBuilder&, const Expr& t) { return t; };
      compare_everywhere(chunked(dtype, rows, 17, 4, plain),
                         {TensorSpec{{rows, 17}, dtype}, TensorSpec{{rows, 17}, dtype}});
      CHECK(compare(chunked_by_dim(dtype, 4, [](const Expr& t) { return t; }),
                    {TensorSpec{{rows, 37}, dtype, Layout::Dense, {}, true},
                     TensorSpec{{rows, 37}, dtype, Layout::Dense, {}, true}}) == 0);
    }
}

TEST_CASE("fillpad writes zero, the largest and the lowest of every dtype behind the valid box") {
  for (const DType dtype : all_dtypes)
    for (const Fill fill : {Fill::Zero, Fill::Max, Fill::Min}) {
      CAPTURE(name_of(dtype));
      const Kernel kernel = with_extents(
          dtype, {9, 40}, [&](KernelBuilder&, const Expr&, const Expr& t) { return fillpad(t, fill); });
      for (const std::int64_t n : {-1, 0, 1, 8, 9, 100})
        for (const std::int64_t m : some_extents)
          CHECK(compare(kernel,
                        {TensorSpec{{9, 40}, dtype}, TensorSpec{{9, 40}, dtype}, int64(n), int64(m)}) == 0);
    }
}

TEST_CASE("elementwise operations meet in what is valid in all operands, and repeat axes of extent 1") {
  for (const DType dtype : {DType::Float32, DType::Int16, DType::Float16}) {
    const Kernel kernel = with_extents(dtype, {9, 40}, [&](KernelBuilder& k, const Expr& x, const Expr& t) {
      const Expr full = k.let("full", load(x, {0, 0}, {9, 40}));
      const Expr cut = k.let("cut", set_valid(full, {5, 33}));
      const Expr row = k.let("row", set_valid(load(x, {0, 0}, {1, 40}), {1, 12}));
      const Expr column = k.let("column", load(x, {0, 0}, {9, 1}));
      return call(Op::Where, {call(Op::Lt, {t, column}), t * row + full, cut - literal(1)});
    });
    for (const std::int64_t n : {0, 4, 5, 6, 9})
      for (const std::int64_t m : some_extents)
        CHECK(compare(kernel, {TensorSpec{{9, 40}, dtype}, TensorSpec{{9, 40}, dtype}, int64(n), int64(m)}) ==
              0);
  }
  // An axis of extent 1 of which nothing is valid repeats nothing.
  const Kernel nothing =
      with_extents(DType::Int32, {1, 40}, [&](KernelBuilder& k, const Expr&, const Expr& t) {
        return k.let("wide", call(Op::Add, {t, full(DType::Int32, {6, 40}, literal(3))}));
      });
  for (const std::int64_t n : {0, 1})
    CHECK(compare(nothing, {TensorSpec{{1, 40}, DType::Int32}, TensorSpec{{6, 40}, DType::Int32}, int64(n),
                            int64(33)}) == 0);
}

TEST_CASE("reductions see valid cells only, over any axis, also none") {
  for (const DType dtype : {DType::Int32, DType::Int8, DType::Float64})
    for (const Op op : {Op::Max, Op::Min, Op::Sum, Op::Prod}) {
      if (is_floating(dtype) && (op == Op::Sum || op == Op::Prod)) continue;
      for (const int axis : {0, 1}) {
        const Kernel kernel = with_extents(dtype, {9, 40}, [&](KernelBuilder&, const Expr&, const Expr& t) {
          return fillpad(reduced(op, t, axis), Fill::Max);
        });
        const std::vector<std::int64_t> result =
            axis == 0 ? std::vector<std::int64_t>{1, 40} : std::vector<std::int64_t>{9, 1};
        for (const std::int64_t n : {0, 1, 5, 9})
          for (const std::int64_t m : some_extents)
            CHECK(compare(kernel,
                          {TensorSpec{{9, 40}, dtype}, TensorSpec{result, dtype}, int64(n), int64(m)}) == 0);
      }
    }
  KernelBuilder k("three_axes");
  const Expr x = k.tensor("x", Access::In, DType::Int32), y = k.tensor("y", Access::Out, DType::Int32);
  const Expr n = k.scalar("n", DType::Int64);
  const Expr t = k.let("t", load(x, {0, 0, 0}, {4, 5, 6}, true, {n, 3, 5}));
  k.store(fillpad(reduced(Op::Sum, t, 0), Fill::Zero) + fillpad(call(Op::ColMax, {t}), Fill::Zero), {0, 0, 0},
          y);
  const Kernel kernel = k.take();
  for (const std::int64_t extent : {0, 1, 3, 4})
    CHECK(compare(kernel, {TensorSpec{{3, 5, 6}, DType::Int32}, TensorSpec{{4, 5, 6}, DType::Int32},
                           int64(extent)}) == 0);
}

TEST_CASE("products sum over what is valid in both operands") {
  KernelBuilder k("product");
  const Expr a = k.tensor("a", Access::In, DType::Float32), b = k.tensor("b", Access::In, DType::Float32);
  const Expr bias = k.tensor("bias", Access::In, DType::Float32),
             y = k.tensor("y", Access::Out, DType::Float32);
  const Expr m = k.scalar("m", DType::Int64), n = k.scalar("n", DType::Int64),
             l = k.scalar("l", DType::Int64);
  const Expr p = k.let("p", load(a, {0, 0}, {8, 16}, false, {m, l}));
  const Expr q = k.let("q", load(b, {0, 0}, {16, 24}, true, {16, n}));
  const Expr sum = k.let("sum", tile_call(Op::MatmulBias, {p, q, load(bias)}));
  k.store(fillpad(tile_call(Op::MatmulAcc, {sum, p, q}), Fill::Max), {0, 0}, y);
  const Kernel kernel = k.take();
  Options options;
  options.special_values = false;
  options.tolerance = 1e-4;
  for (const std::int64_t rows : {0, 3, 8})
    for (const std::int64_t columns : {0, 1, 17, 24})
      for (const std::int64_t inner : {0, 1, 9, 16})
        CHECK(compare(kernel,
                      {TensorSpec{{8, 16}}, TensorSpec{{13, 24}}, TensorSpec{{24}}, TensorSpec{{8, 24}},
                       int64(rows), int64(columns), int64(inner)},
                      options) == 0);
  KernelBuilder batch("batch");
  const Expr c = batch.tensor("c", Access::In, DType::Float64),
             d = batch.tensor("d", Access::In, DType::Float64);
  const Expr z = batch.tensor("z", Access::Out, DType::Float64), count = batch.scalar("count", DType::Int64);
  Attributes attributes;
  attributes.trans_b = true;
  const Expr left = batch.let("left", set_valid(load(c), {count, 4, 5}));
  const Expr right = batch.let("right", set_valid(load(d), {1, 3, count}));
  batch.store(fillpad(tile_call(Op::BatchMatmul, {left, right}, attributes), Fill::Zero), {0, 0, 0}, z);
  const Kernel batches = batch.take();
  for (const std::int64_t extent : {0, 1, 2, 3, 6})
    CHECK(compare(batches,
                  {TensorSpec{{3, 4, 6}, DType::Float64}, TensorSpec{{1, 7, 6}, DType::Float64},
                   TensorSpec{{3, 4, 7}, DType::Float64}, int64(extent)},
                  options) == 0);
}

TEST_CASE("operations that move elements move the valid shape") {
  const auto check = [](const std::vector<std::int64_t>& result,
                        const std::function<Expr(KernelBuilder&, const Expr&, const Expr&)>& function,
                        std::optional<DType> to = {}) {
    const Kernel kernel = with_extents(DType::Int32, {9, 40}, function, to);
    for (const std::int64_t n : {0, 4, 9})
      for (const std::int64_t m : {0, 1, 17, 40})
        CHECK(compare(kernel, {TensorSpec{{9, 40}, DType::Int32},
                               TensorSpec{result, to.value_or(DType::Int32)}, int64(n), int64(m)}) == 0);
  };
  const auto filled = [](const Expr& e) { return fillpad(e, Fill::Min); };
  check({40, 9}, [&](KernelBuilder&, const Expr&, const Expr& t) {
    return filled(tile_call(Op::Transpose, {t}, along(0, 1)));
  });
  check(
      {9, 40},
      [&](KernelBuilder&, const Expr&, const Expr& t) {
        return filled(tile_call(Op::Reinterpret, {t}, {}, DType::UInt32));
      },
      DType::UInt32);
  check({9, 40}, [&](KernelBuilder&, const Expr&, const Expr& t) {
    return filled(tile_call(Op::Cumsum, {t}, along(1)));
  });
  check({9, 40}, [&](KernelBuilder&, const Expr&, const Expr& t) {
    return filled(tile_call(Op::SortIndices, {t}, along(1)));
  });
  check({9, 1},
        [&](KernelBuilder&, const Expr&, const Expr& t) { return filled(tile_call(Op::RowArgmax, {t})); });
  check({1, 40},
        [&](KernelBuilder&, const Expr&, const Expr& t) { return filled(tile_call(Op::ColArgmin, {t})); });
  check({9, 40}, [&](KernelBuilder& k, const Expr&, const Expr& t) {
    const Expr order = k.let("order", tile_call(Op::SortIndices, {t}, along(1)));
    return filled(tile_call(Op::Gather, {t, order}, along(1)));
  });
  check({18, 40}, [&](KernelBuilder&, const Expr& x, const Expr& t) {
    const Expr other = set_valid(load(x, {0, 0}, {9, 40}), {9, 30});
    const Expr wide = fillpad(set_valid(load(x, {0, 0}, {9, 40}), {4, 40}), Fill::Zero);
    (void)t;
    return filled(tile_call(Op::Concat, {other, set_valid(wide, {9, 20})}, along(0)));
  });
  check({2, 9, 40}, [&](KernelBuilder&, const Expr&, const Expr& t) {
    return filled(tile_call(Op::Expand, {t, list(items({2, 9, 40}))}));
  });
  check({9, 10}, [&](KernelBuilder&, const Expr& x, const Expr& t) {
    (void)t;
    const Expr part = set_valid(load(x, {0, 0}, {9, 40}), {7, 30});
    return filled(tile_call(Op::TileSlice, {part, list({0, 20}), list({9, 10})}));
  });
  check({9, 40}, [&](KernelBuilder&, const Expr& x, const Expr& t) {
    const Expr block = set_valid(tile_call(Op::TileSlice, {load(x), list({0, 0}), list({4, 8})}), {3, 5});
    (void)t;
    return filled(tile_call(Op::Assemble, {set_valid(load(x), {8, 33}), block, list({5, 28})}));
  });
}

TEST_CASE("what is outside of the valid part is a fault where only the run can tell") {
  const auto code = [](const std::function<Expr(KernelBuilder&, const Expr&, const Expr&)>& function,
                       const std::vector<std::int64_t>& result, std::int64_t n) {
    return compare(
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

TEST_CASE("a cut load that starts before its tensor is a fault, and one that starts behind it is empty") {
  KernelBuilder k("starts");
  const Expr x = k.tensor("x", Access::In, DType::Float32), y = k.tensor("y", Access::Out, DType::Float32);
  const Expr at = k.scalar("at", DType::Int64);
  const Expr t = k.let("t", load(x, {at}, {8}, true));
  k.store(fillpad(t, Fill::Max), {0}, y);
  const Kernel kernel = k.take();
  const auto code = [&](std::int64_t start) {
    return compare(kernel, {TensorSpec{{20}}, TensorSpec{{8}}, int64(start)});
  };
  for (const std::int64_t start : {0, 12, 13, 19, 20, 21, 1000}) CHECK(code(start) == 0);
  CHECK(code(INT64_MAX) == 0);
  CHECK(code(-1) != 0);
  CHECK(code(INT64_MIN) != 0);
}

TEST_CASE("a cut load through a view is cut to the view") {
  KernelBuilder k("views");
  const Expr x = k.tensor("x", Access::In, DType::Int16), y = k.tensor("y", Access::Out, DType::Int16);
  const Expr at = k.scalar("at", DType::Int32);
  const Expr t = k.let("t", load(index(slice(x, {1, 2}, {3, 9}), at), {4}, {8}, true));
  k.store(fillpad(t, Fill::Zero), {0}, y);
  const Kernel kernel = k.take();
  for (const std::int32_t row : {0, 2})
    CHECK(compare(kernel, {TensorSpec{{5, 14}, DType::Int16}, TensorSpec{{8}, DType::Int16},
                           Value::scalar(row)}) == 0);
}

TEST_CASE("ranks 0, 1 and 8") {
  for (const bool eight : {false, true}) {
    KernelBuilder k("ranks");
    const Expr x = k.tensor("x", Access::In, DType::Float32), y = k.tensor("y", Access::Out, DType::Float32);
    const std::vector<std::int64_t> shape =
        eight ? std::vector<std::int64_t>{2, 1, 2, 1, 3, 1, 2, 4} : std::vector<std::int64_t>{5};
    Items valid = items(shape);
    valid.back() = k.scalar("n", DType::Int64);
    k.store(fillpad(load(x, Items(shape.size(), Item(0)), items(shape), true, valid), Fill::Max),
            Items(shape.size(), Item(0)), y);
    const Kernel kernel = k.take();
    for (const std::int64_t n : {0, 2, 5})
      CHECK(compare(kernel, {TensorSpec{shape}, TensorSpec{shape}, int64(n)}) == 0);
  }
  KernelBuilder k("rank_0");
  const Expr x = k.tensor("x", Access::In, DType::Float32), y = k.tensor("y", Access::Out, DType::Float32);
  k.store(fillpad(set_valid(load(x), {}), Fill::Max), {}, y);
  CHECK(compare(k.take(), {TensorSpec{{}}, TensorSpec{{}}}) == 0);
}

TEST_CASE("an added store adds the valid cells, and valid extents are numbers that a kernel computes with") {
  KernelBuilder k("added");
  const Expr x = k.tensor("x", Access::In, DType::Int32), y = k.tensor("y", Access::InOut, DType::Int32);
  k.for_("i", 0, 10, 4, [&](const Expr& i) {
    const Expr t = k.let("t", load(x, {i}, {4}, true));
    k.store(t * cast(DType::Int32, valid(t, 0)) + cast(DType::Int32, dim(t, 0)), {i}, y, Atomic::Add);
  });
  CHECK(compare(k.take(), {TensorSpec{{10}, DType::Int32}, TensorSpec{{10}, DType::Int32}}) == 0);
}
