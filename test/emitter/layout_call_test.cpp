// Operations that move the elements of tiles, compiled, against the interpreter: every dtype, awkward and
// run-time extents, regions that only the run can refuse.
#include "emitter/compare.hpp"

#include <algorithm>

using namespace emitter_test;
using namespace trilith::codegen::build;

namespace {

constexpr const auto& dtypes = all_dtypes;

Attributes along(int axis) {
  Attributes attributes;
  attributes.axis = axis;
  return attributes;
}

Items items(const std::vector<std::int64_t>& values) { return {values.begin(), values.end()}; }

/// `y = make(x)`, stored whole.
Kernel unary(DType dtype, std::size_t result_rank, const std::function<Expr(const Expr&)>& make,
             std::optional<DType> to = {}) {
  KernelBuilder k("moved");
  const Expr x = k.tensor("x", Access::In, dtype), y = k.tensor("y", Access::Out, to.value_or(dtype));
  k.store(make(load(x)), Items(result_rank, Item(0)), y);
  return k.take();
}

}  // namespace

TEST_CASE("slice, reshape, pad and expand agree with the reference on every dtype") {
  for (const DType dtype : dtypes) {
    CAPTURE(name_of(dtype));
    const auto slice = [&](const std::vector<std::int64_t>& whole, const std::vector<std::int64_t>& offsets,
                           const std::vector<std::int64_t>& shape) {
      const Kernel kernel = unary(dtype, shape.size(), [&](const Expr& x) {
        return tile_call(Op::TileSlice, {x, list(items(offsets)), list(items(shape))});
      });
      CHECK(compare(kernel, {TensorSpec{whole, dtype}, TensorSpec{shape, dtype}}) == 0);
    };
    slice({}, {}, {});
    slice({17}, {3}, {13});
    slice({5, 33}, {1, 2}, {4, 31});
    slice({5, 33}, {5, 33}, {0, 0});
    slice({3, 4, 5, 6}, {1, 0, 2, 3}, {2, 4, 3, 1});
    const auto reshape = [&](const std::vector<std::int64_t>& from, const std::vector<std::int64_t>& to) {
      const Kernel kernel = unary(
          dtype, to.size(), [&](const Expr& x) { return tile_call(Op::Reshape, {x, list(items(to))}); });
      CHECK(compare(kernel, {TensorSpec{from, dtype}, TensorSpec{to, dtype}}) == 0);
    };
    reshape({6, 35}, {5, 42});
    reshape({1}, {});
    reshape({}, {1, 1, 1, 1, 1, 1, 1, 1});
    reshape({0, 7}, {3, 0});
    const auto pad = [&](const std::vector<std::int64_t>& from, const std::vector<std::int64_t>& before,
                         const std::vector<std::int64_t>& after) {
      std::vector<std::int64_t> to = from;
      for (std::size_t axis = 0; axis < to.size(); ++axis) to[axis] += before[axis] + after[axis];
      const Kernel kernel = unary(dtype, to.size(), [&](const Expr& x) {
        Expr value = dtype == DType::Bool ? constant(Constant::of(true))
                                          : literal(is_floating(dtype) || is_signed_integer(dtype) ? -3 : 3);
        return tile_call(Op::Pad, {x, list(items(before)), list(items(after)), value});
      });
      CHECK(compare(kernel, {TensorSpec{from, dtype}, TensorSpec{to, dtype}}) == 0);
    };
    pad({4, 15}, {1, 1}, {0, 1});
    pad({}, {}, {});
    pad({0}, {2}, {3});
    pad({2, 3, 5}, {0, 0, 0}, {0, 0, 11});
    const auto expand = [&](const std::vector<std::int64_t>& from, const std::vector<std::int64_t>& to) {
      const Kernel kernel =
          unary(dtype, to.size(), [&](const Expr& x) { return tile_call(Op::Expand, {x, list(items(to))}); });
      CHECK(compare(kernel, {TensorSpec{from, dtype}, TensorSpec{to, dtype}}) == 0);
    };
    expand({}, {3, 17});
    expand({1, 17}, {4, 17});
    expand({5, 1}, {5, 33});
    expand({3, 1, 5}, {2, 3, 4, 5});
    expand({1}, {0});
    expand({4, 4}, {4, 4});
  }
}

TEST_CASE("assemble and concat agree with the reference on every dtype, axis and count") {
  for (const DType dtype : dtypes) {
    CAPTURE(name_of(dtype));
    KernelBuilder k("assembled");
    const Expr x = k.tensor("x", Access::In, dtype), block = k.tensor("block", Access::In, dtype);
    const Expr y = k.tensor("y", Access::Out, dtype);
    k.store(tile_call(Op::Assemble, {load(x), load(block), list({1, 2})}), {0, 0}, y);
    const Kernel kernel = k.take();
    for (const auto& shape : {std::vector<std::int64_t>{4, 17}, {1, 1}, {0, 3}, {5, 31}})
      CHECK(compare(kernel,
                    {TensorSpec{{6, 33}, dtype}, TensorSpec{shape, dtype}, TensorSpec{{6, 33}, dtype}}) == 0);
    for (const int axis : {0, 1, 2, -1})
      for (const std::size_t count : {1u, 2u, 3u}) {
        KernelBuilder c("joined");
        std::vector<Expr> tiles;
        std::vector<ArgumentSpec> arguments;
        std::vector<std::int64_t> sum = {3, 4, 5};
        const auto at = static_cast<std::size_t>(axis < 0 ? axis + 3 : axis);
        sum[at] = 0;
        for (std::size_t i = 0; i < count; ++i) {
          tiles.push_back(load(c.tensor("x" + std::to_string(i), Access::In, dtype)));
          std::vector<std::int64_t> shape = {3, 4, 5};
          shape[at] = static_cast<std::int64_t>(7 * i + 1) % 8;
          sum[at] += shape[at];
          arguments.emplace_back(TensorSpec{shape, dtype});
        }
        const Expr out = c.tensor("y", Access::Out, dtype);
        c.store(tile_call(Op::Concat, std::move(tiles), along(axis)), {0, 0, 0}, out);
        arguments.emplace_back(TensorSpec{sum, dtype});
        CHECK(compare(c.take(), arguments) == 0);
      }
  }
}

TEST_CASE("reinterpret keeps the bits between dtypes of one size") {
  const auto both = [](DType from, DType to) {
    const Kernel kernel =
        unary(from, 2, [&](const Expr& x) { return tile_call(Op::Reinterpret, {x}, {}, to); }, to);
    CHECK(compare(kernel, {TensorSpec{{3, 17}, from}, TensorSpec{{3, 17}, to}}) == 0);
  };
  both(DType::Float32, DType::Int32);
  both(DType::Int32, DType::Float32);
  both(DType::Float64, DType::Int64);
  both(DType::Int64, DType::Float64);
  both(DType::Float32, DType::Float32);
}

TEST_CASE("run-time extents and offsets: results where they fit, faults where they do not") {
  KernelBuilder k("window");
  const Expr x = k.tensor("x", Access::In, DType::Float32), y = k.tensor("y", Access::Out, DType::Float32);
  const Expr at = k.scalar("at", DType::Int64);
  const Expr part = k.let("part", tile_call(Op::TileSlice, {load(x), list({at, 0}), list({2, dim(x, 1)})}));
  k.store(tile_call(Op::Concat, {part * literal(2.0), part}, along(0)), {0, 0}, y);
  const Kernel window = k.take();
  const TensorSpec in{{7, 13}, DType::Float32, Layout::Dense, {}, true}, out{{4, 13}};
  for (const std::int64_t row : {0, 3, 5}) CHECK(compare(window, {in, out, Value::scalar(row)}) == 0);
  for (const std::int64_t row : {std::int64_t{-1}, std::int64_t{6}, std::numeric_limits<std::int64_t>::max()})
    CHECK(compare(window, {in, out, Value::scalar(row)}) == pl::abi::fault_range);

  KernelBuilder b("joined");
  const Expr p = b.tensor("p", Access::In, DType::Float32), q = b.tensor("q", Access::In, DType::Float32);
  const Expr z = b.tensor("z", Access::Out, DType::Float32);
  b.store(tile_call(Op::Concat, {load(p), load(q)}, along(1)), {0, 0}, z);
  const Kernel joined = b.take();
  const auto run_time = [](std::vector<std::int64_t> extents) {
    return TensorSpec{std::move(extents), DType::Float32, Layout::Dense, {}, true};
  };
  CHECK(compare(joined, {run_time({3, 5}), run_time({3, 4}), run_time({3, 9})}) == 0);
  CHECK(compare(joined, {run_time({3, 5}), run_time({4, 4}), run_time({3, 9})}) == pl::abi::fault_shape);

  KernelBuilder r("reshaped");
  const Expr s = r.tensor("s", Access::In, DType::Float32), t = r.tensor("t", Access::Out, DType::Float32);
  const Expr rows = r.scalar("rows", DType::Int64);
  r.store(tile_call(Op::Reshape, {load(s), list({rows, 6})}), {0, 0}, t);
  const Kernel reshaped = r.take();
  CHECK(compare(reshaped, {run_time({4, 9}), run_time({6, 6}), Value::scalar(std::int64_t{6})}) == 0);
  CHECK(compare(reshaped, {run_time({4, 9}), run_time({6, 6}), Value::scalar(std::int64_t{5})}) ==
        pl::abi::fault_shape);
  CHECK(compare(reshaped, {run_time({4, 9}), run_time({6, 6}), Value::scalar(std::int64_t{-6})}) ==
        pl::abi::fault_shape);

  KernelBuilder e("spread");
  const Expr u = e.tensor("u", Access::In, DType::Float32), v = e.tensor("v", Access::Out, DType::Float32);
  e.store(tile_call(Op::Expand, {load(u), list({3, dim(v, 1)})}), {0, 0}, v);
  const Kernel spread = e.take();
  CHECK(compare(spread, {run_time({1, 9}), run_time({3, 9})}) == 0);
  CHECK(compare(spread, {run_time({1, 8}), run_time({3, 9})}) == pl::abi::fault_shape);
}

TEST_CASE(
    "reductions over any axis agree with the reference for every dtype, constant and run-time extents") {
  constexpr std::pair<Op, Exactness> ops[] = {{Op::Sum, Exactness::Sum},
                                              {Op::Prod, Exactness::Sum},
                                              {Op::Max, Exactness::Exact},
                                              {Op::Min, Exactness::Exact},
                                              {Op::Mean, Exactness::Sum}};
  for (const auto& [op, exactness] : ops)
    for (const DType dtype : {DType::Int32, DType::Int64, DType::Float32, DType::Float64}) {
      if (!accepts(operation(op).dtypes, dtype)) continue;
      for (const auto& shape : {std::vector<std::int64_t>{3, 4, 17}, {2, 0, 3, 5}, {7}, {3, 2, 1, 2, 3}})
        for (int axis = -1; axis < static_cast<int>(shape.size()); ++axis) {
          CAPTURE(operation(op).name);
          CAPTURE(name_of(dtype));
          CAPTURE(axis);
          std::vector<std::int64_t> result = shape;
          result[static_cast<std::size_t>(axis < 0 ? axis + static_cast<int>(shape.size()) : axis)] = 1;
          const Kernel kernel = unary(dtype, shape.size(), [&](const Expr& x) {
            Expr reduced = call(op, {x});
            reduced.attributes = along(axis);
            return reduced;
          });
          Options options;
          options.special_values = exactness == Exactness::Exact;
          options.tolerance = exactness == Exactness::Exact || is_integer(dtype) ? 0
                              : dtype == DType::Float32                          ? 1e-5
                                                                                 : 1e-12;
          const bool run_time = shape.size() < 4;
          compare(kernel,
                  {TensorSpec{shape, dtype, Layout::Dense, {}, run_time},
                   TensorSpec{result, dtype, Layout::Dense, {}, run_time}},
                  options);
        }
    }
}

TEST_CASE("move to a memory of the core is a hint: it costs nothing in the emitted text") {
  const auto text_of = [](bool moves) {
    const Kernel kernel = unary(DType::Float32, 2, [&](const Expr& x) {
      Expr moved = call(Op::MoveTo, {x});
      moved.attributes.memory = MemorySpace::Left;
      return call(Op::Square, {moves ? moved : x});
    });
    const TensorSpec shape{{3, 37}};
    compare(kernel, {shape, shape});
    const Signature signature = signature_of(kernel, {shape, shape});
    std::string text = xsimd::emit(specialise(kernel, signature), signature).text;
    std::string code;
    for (std::size_t at = 0; at < text.size();) {  // without comments
      const std::size_t end = text.find('\n', at);
      const std::string line = text.substr(at, end - at);
      if (line.find("//") == std::string::npos) code += line + "\n";
      at = end + 1;
    }
    return code;
  };
  const std::string with = text_of(true), without = text_of(false);
  CHECK(std::count(with.begin(), with.end(), '\n') == std::count(without.begin(), without.end(), '\n'));
}
