// Gather, scatter, argmax, cumsum, sort and single elements, compiled, against the interpreter.
#include "emitter/compare.hpp"

#include <functional>

using namespace emitter_test;
using namespace trilith::codegen::build;

namespace {

using Extents = std::vector<std::int64_t>;

std::vector<DType> dtypes(bool with_bool) {
  std::vector<DType> result;
  for (int i = 0; i < dtype_count; ++i)
    if (const auto dtype = static_cast<DType>(i); (with_bool || dtype != DType::Bool))
      result.push_back(dtype);
  return result;
}

const std::vector<Extents> shapes = {{1, 1},  {0, 3},  {3, 0},  {5, 1},   {1, 7},
                                     {4, 16}, {3, 17}, {33, 5}, {2, 129}, {2, 2, 3, 9}};

/// Every kernel costs a compilation: float has all shapes, the other dtypes have a third of them each.
bool selected(DType dtype) {
  static int turn = 0;
  return dtype == DType::Float32 || ++turn % 3 == 0;
}

Attributes along(int axis, bool flag = false) {
  Attributes attributes;
  attributes.axis = axis;
  attributes.flag = flag;
  return attributes;
}

Items origin(std::size_t rank) { return Items(rank, Item(0)); }

/// y = op(x) for one tile operand.
Kernel of_one(Op op, DType dtype, DType result, const Extents& shape, const Attributes& attributes) {
  KernelBuilder k("one");
  const Expr x = k.tensor("x", Access::In, dtype), y = k.tensor("y", Access::Out, result);
  k.store(tile_call(op, {load(x)}, attributes, result), origin(shape.size()), y);
  return k.take();
}

/// With constant extents and with extents that only the run knows, in turn.
void check(const Kernel& kernel, std::vector<ArgumentSpec> arguments) {
  static int turn = 0;
  const bool run_time = ++turn % 2 == 0;
  for (ArgumentSpec& argument : arguments)
    if (auto* tensor = std::get_if<TensorSpec>(&argument)) tensor->run_time_extents = run_time;
  CHECK(compare(kernel, arguments, {.at_end = !run_time, .seed = static_cast<std::uint64_t>(turn)}) == 0);
}

/// Indices that lie in [0, bound), made of any numbers.
Expr inside(const Expr& any, std::int64_t bound) {
  return call(Op::Rem, {any, literal(static_cast<int>(bound))});
}

}  // namespace

TEST_CASE("argmax and argmin agree with the reference on every dtype and shape, with NaN and both zeros") {
  for (const DType dtype : dtypes(false))
    for (const Extents& shape : shapes)
      for (const Op op : {Op::RowArgmax, Op::RowArgmin, Op::ColArgmax, Op::ColArgmin}) {
        if (!selected(dtype)) continue;
        CAPTURE(name_of(dtype));
        CAPTURE(operation(op).name);
        Extents result = shape;
        result[shape.size() - (op == Op::RowArgmax || op == Op::RowArgmin ? 1 : 2)] = 1;
        check(of_one(op, dtype, DType::Int32, shape, {}),
              {TensorSpec{shape, dtype}, TensorSpec{result, DType::Int32}});
      }
}

TEST_CASE("cumsum and sort agree with the reference on every dtype, shape and axis") {
  for (const DType dtype : dtypes(false))
    for (const Extents& shape : shapes)
      for (int axis = -1; axis + static_cast<int>(shape.size()) >= 0; --axis) {
        if (!selected(dtype)) continue;
        CAPTURE(name_of(dtype));
        CAPTURE(axis);
        check(of_one(Op::Cumsum, dtype, dtype, shape, along(axis)),
              {TensorSpec{shape, dtype}, TensorSpec{shape, dtype}});
        check(of_one(Op::SortIndices, dtype, DType::Int32, shape, along(axis, axis % 2 == 0)),
              {TensorSpec{shape, dtype}, TensorSpec{shape, DType::Int32}});
      }
}

TEST_CASE("a NaN is found at any place of a row, in whole vectors and in the rest") {
  const Kernel kernel = of_one(Op::RowArgmax, DType::Float32, DType::Int32, {64, 41}, {});
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    CHECK(compare(kernel, {TensorSpec{{64, 41}}, TensorSpec{{64, 1}, DType::Int32}}, {.seed = seed}) == 0);
}

TEST_CASE("topk agrees with the reference, also where k is a number of the run") {
  for (const DType dtype : dtypes(false))
    for (const std::int64_t count : {0, 1, 5, 130, 300}) {
      if (!selected(dtype)) continue;
      CAPTURE(name_of(dtype));
      CAPTURE(count);
      for (const bool largest : {true, false}) {
        KernelBuilder k("topk");
        const Expr x = k.tensor("x", Access::In, dtype), y = k.tensor("y", Access::Out, DType::Int32);
        const Expr n = k.scalar("n", DType::Int64);
        k.store(tile_call(Op::TopkIndices, {load(x), integer(count)}, along(-1, largest), DType::Int32),
                {0, 0}, y);
        const Expr z = k.tensor("z", Access::Out, DType::Int32);
        k.store(tile_call(Op::TopkIndices, {load(x), n}, along(-1, largest), DType::Int32), {0, 0}, z);
        CHECK(compare(k.take(), {TensorSpec{{2, 300}, dtype}, TensorSpec{{2, count}, DType::Int32},
                                 Value::scalar(count), TensorSpec{{2, count}, DType::Int32}}) == 0);
      }
    }
}

TEST_CASE("gather, gather_row and scatter agree with the reference on every dtype, shape and axis") {
  for (const DType dtype : dtypes(true))
    for (const Extents& shape : shapes)
      for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
        const auto at = static_cast<std::size_t>(axis);
        if (shape[at] == 0 || !selected(dtype)) continue;
        CAPTURE(name_of(dtype));
        CAPTURE(axis);
        const DType index = axis % 2 == 0 ? DType::Int32 : DType::Int64;
        Extents chosen = shape;
        chosen[at] = 2 * shape[at] % 71 + 1;
        KernelBuilder k("gather");
        const Expr x = k.tensor("x", Access::In, dtype), i = k.tensor("i", Access::In, index);
        const Expr y = k.tensor("y", Access::Out, dtype), z = k.tensor("z", Access::Out, dtype);
        const Expr indices = k.let("indices", inside(load(i), shape[at]));
        const Expr gathered = k.let("gathered", tile_call(Op::Gather, {load(x), indices}, along(axis)));
        k.store(gathered, origin(shape.size()), y);
        const Op scatter = dtype != DType::Bool && axis % 2 == 0 ? Op::ScatterAdd : Op::Scatter;
        k.store(tile_call(scatter, {load(x), indices, gathered}, along(axis)), origin(shape.size()), z);
        check(k.take(), {TensorSpec{shape, dtype}, TensorSpec{chosen, index}, TensorSpec{chosen, dtype},
                         TensorSpec{shape, dtype}});
        if (axis != 0) continue;
        Extents rows = {3, 2};
        rows.insert(rows.end(), shape.begin() + 1, shape.end());
        KernelBuilder r("rows");
        const Expr table = r.tensor("table", Access::In, dtype), ids = r.tensor("ids", Access::In, index);
        const Expr from_tile = r.tensor("from_tile", Access::Out, dtype);
        const Expr from_tensor = r.tensor("from_tensor", Access::Out, dtype);
        const Expr id = r.let("id", inside(load(ids), shape[0]));
        r.store(tile_call(Op::GatherRow, {load(table), id}), origin(rows.size()), from_tile);
        r.store(tile_call(Op::LoadRow, {table, list({}), list({}), id}, {}, dtype), origin(rows.size()),
                from_tensor);
        check(r.take(), {TensorSpec{shape, dtype}, TensorSpec{{3, 2}, index}, TensorSpec{rows, dtype},
                         TensorSpec{rows, dtype}});
      }
}

TEST_CASE("gather_row reads views of any stride, sliced and indexed at run time") {
  KernelBuilder k("views");
  const Expr table = k.tensor("table", Access::In, DType::Float32),
             ids = k.tensor("ids", Access::In, DType::Int32);
  const Expr at = k.scalar("at", DType::Int64), y = k.tensor("y", Access::Out, DType::Float32);
  const Expr part = slice(index(table, at), {1, 0, 2}, {4, 3, 5});
  k.store(tile_call(Op::LoadRow, {part, list({}), list({}), inside(load(ids), 4)}, {}, DType::Float32),
          {0, 0, 0}, y);
  const Kernel kernel = k.take();
  const TensorSpec dense{{2, 6, 3, 8}};
  const TensorSpec strided{{2, 6, 3, 8}, DType::Float32, Layout::Strided, {1, -60, 20, 2}};
  const TensorSpec positions{{6}, DType::Int32}, out{{6, 3, 5}};
  for (const TensorSpec& spec : {dense, strided}) {
    check(kernel, {spec, positions, Value::scalar(std::int64_t{1}), out});
    CHECK(compare(kernel, {spec, positions, Value::scalar(std::int64_t{2}), out}) == pl::abi::fault_range);
  }
}

TEST_CASE("paged_gather agrees with the reference for ragged lengths and any layout of the pages") {
  for (const DType dtype : dtypes(true)) {
    KernelBuilder k("paged");
    const Expr pages = k.tensor("pages", Access::In, dtype),
               table = k.tensor("table", Access::In, DType::Int32);
    const Expr lengths = k.tensor("lengths", Access::In, DType::Int64),
               start = k.scalar("start", DType::Int64);
    const Expr y = k.tensor("y", Access::Out, dtype), z = k.tensor("z", Access::Out, dtype);
    const Expr blocks = k.let("blocks", inside(load(table), 7));
    const Expr rows = k.let("rows", inside(load(lengths), 21));
    k.store(
        tile_call(Op::PagedGather, {pages, list({}), list({}), blocks, rows, integer(11), start}, {}, dtype),
        {0, 0, 0}, y);
    k.store(tile_call(Op::PagedGather, {pages, list({}), list({}), blocks, start, integer(9), integer(1)}, {},
                      dtype),
            {0, 0, 0}, z);
    const Kernel kernel = k.take();
    for (const std::int64_t first : {0, 4, 20}) {
      const std::vector<ArgumentSpec> rest = {TensorSpec{{3, 5}, DType::Int32}, TensorSpec{{3}, DType::Int64},
                                              Value::scalar(first), TensorSpec{{3, 11, 6}, dtype},
                                              TensorSpec{{3, 9, 6}, dtype}};
      for (const TensorSpec& spec :
           {TensorSpec{{7, 4, 6}, dtype}, TensorSpec{{7, 4, 6}, dtype, Layout::Strided, {1, 100, -7}}}) {
        std::vector<ArgumentSpec> arguments = rest;
        arguments.insert(arguments.begin(), spec);
        check(kernel, arguments);
      }
    }
  }
}

TEST_CASE("an index out of range faults with the call's line, and nothing outside is touched") {
  using Make = std::function<Expr(const Expr& x, const Expr& indices)>;
  const auto fault = [](std::int32_t index, const std::string& what, std::size_t rank, const Make& make) {
    KernelBuilder k("outside");
    const Expr x = k.tensor("x", Access::In, DType::Float32), n = k.scalar("n", DType::Int32);
    const Expr y = k.tensor("y", Access::Out, DType::Float32);
    const Expr indices = k.let("indices", full(DType::Int32, rank == 1 ? Items{2} : Items{2, 1}, n));
    k.store(make(x, indices), {0, 0}, y);
    const Kernel kernel = k.take();
    const std::vector<ArgumentSpec> arguments = {TensorSpec{{2, 3}}, Value::scalar(index),
                                                 TensorSpec{{2, 3}}};
    CHECK(compare(kernel, arguments) == pl::abi::fault_index);
    const Signature signature = signature_of(kernel, arguments);
    const std::string text = xsimd::emit(specialise(kernel, signature), signature).text;
    CHECK(text.find("fault_index, \"kernel.cpp\", 3, ") != std::string::npos);
    CHECK(text.find('"' + what + "\", bad.given, bad.bound") != std::string::npos);
  };
  for (const std::int32_t bad : {-1, 3, 1 << 30, -(1 << 30)}) {
    fault(bad, "gather", 2,
          [](const Expr& x, const Expr& i) { return tile_call(Op::Gather, {load(x), i}, along(-1)); });
    fault(bad, "scatter", 2, [](const Expr& x, const Expr& i) {
      return tile_call(Op::Scatter, {load(x), i, load(x, {0, 0}, {2, 1})}, along(-1));
    });
    fault(bad, "gather_row", 1, [](const Expr& x, const Expr& i) {
      return tile_call(Op::LoadRow, {x, list({}), list({}), i}, {}, DType::Float32);
    });
  }
}

TEST_CASE("single elements: read at run time, written in place in a loop, faults outside") {
  for (const DType dtype : dtypes(true)) {
    KernelBuilder k("elements");
    const Expr x = k.tensor("x", Access::In, dtype), y = k.tensor("y", Access::Out, dtype);
    const Expr i = k.scalar("i", DType::Int64), z = k.tensor("z", Access::Out, dtype);
    const Expr t = k.let("t", load(x));
    const Expr first = k.let("first", read(t, {i, 0}));
    k.for_("j", 0, 5, 1, [&](const Expr& j) {
      const Expr moved = k.let("moved", read(t, {Item(j), 1}));
      k.assign(t, tile_call(Op::Write, {t, list({Item(j), 2}), moved}));
    });
    k.store(t, {0, 0}, y);
    k.store(full(dtype, {1, 1}, first), {0, 0}, z);
    const Kernel kernel = k.take();
    const auto arguments = [&](std::int64_t at) {
      return std::vector<ArgumentSpec>{TensorSpec{{5, 3}, dtype}, TensorSpec{{5, 3}, dtype},
                                       Value::scalar(at), TensorSpec{{1, 1}, dtype}};
    };
    check(kernel, arguments(4));
    CHECK(compare(kernel, arguments(5)) == pl::abi::fault_index);
    CHECK(compare(kernel, arguments(-1)) == pl::abi::fault_index);
    const Signature signature = signature_of(kernel, arguments(0));
    const std::string text = xsimd::emit(specialise(kernel, signature), signature).text;
    CHECK(text.find("memcpy") == std::string::npos);  // the loop changes one element, not the tile
  }
}

TEST_CASE("a read at a constant place outside is refused when the kernel is specialised") {
  KernelBuilder k("outside");
  const Expr x = k.tensor("x", Access::In, DType::Float32), y = k.tensor("y", Access::Out, DType::Float32);
  const Expr e = k.let("e", read(load(x), {0, 3}));
  k.store(full(DType::Float32, {1, 1}, e), {0, 0}, y);
  const Kernel kernel = k.take();
  std::string message;
  try {
    (void)specialise(kernel, signature_of(kernel, {TensorSpec{{2, 3}}, TensorSpec{{1, 1}}}));
  } catch (const pl::ShapeError& error) {
    message = error.what();
  }
  CHECK(message.find("kernel.cpp:2:") == 0);
  CHECK(message.find("read: axis 1: index 3 is not inside [0, 3)") != std::string::npos);
}
