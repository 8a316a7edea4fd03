#include "codegen/interpreter.hpp"
#include "codegen/builder.hpp"
#include "values.hpp"

using namespace trilith::codegen;
using namespace trilith::codegen::build;
using namespace trilith::codegen::test;

namespace {

using I = std::int32_t;
using L = std::int64_t;

/// Runs a kernel of one output, made by `make(builder, y)`, and gives what it wrote.
Value run(Value output, const std::function<void(KernelBuilder&, Expr)>& make,
          std::vector<Argument> inputs = {}, const std::function<void(KernelBuilder&)>& parameters = {},
          std::vector<Value> captures = {}) {
  KernelBuilder k("test");
  if (parameters) parameters(k);
  const Expr y = k.tensor("y", Access::InOut, output.dtype);
  make(k, y);
  inputs.push_back(view_of(output));
  interpret(k.take(), inputs, captures);
  return output;
}

/// What a scalar int64 expression gives.
L number(const std::function<Expr(KernelBuilder&)>& make) {
  return run(row<L>({-1}),
             [&](KernelBuilder& k, const Expr& y) {
               const Expr result = make(k);
               k.store(full(DType::Int64, {1}, result), {0}, y);
             })
      .get<L>();
}

}  // namespace

TEST_CASE("the first kernel runs") {
  KernelBuilder k("scale_by_rank");
  const Expr x = k.tensor("x", Access::In, DType::Float32, {{2}, {3}});
  const Expr y = k.tensor("y", Access::Out, DType::Float32, {{2}, {3}});
  const Expr rank = k.scalar("rank", DType::Int32);
  const Expr tile_ = k.let("tile", load(x, {0, 0}, {2, 3}));
  k.store(tile_ * cast(DType::Float32, rank) + tile_, {0, 0}, y);
  Value in = tile<float>({2, 3}, {1, 2, 3, 4, 5, 6}), out = reference::full({2, 3}, Value::scalar(0.0f));
  interpret(k.take(), std::vector<Argument>{view_of(in), view_of(out), Value::scalar(I{3})}, {});
  CHECK_SAME(out, tile<float>({2, 3}, {4, 8, 12, 16, 20, 24}));
}

TEST_CASE("for counts up and down, and its bounds are read once") {
  const auto count = [](Item begin, Item end, Item step) {
    return number([&](KernelBuilder& k) {
      const Expr sum = k.let("sum", integer(0));
      k.for_("i", begin, end, step, [&](Expr i) { k.assign(sum, sum * integer(10) + i); });
      return sum;
    });
  };
  CHECK(count(1, 4, 1) == 123);
  CHECK(count(1, 6, 2) == 135);
  CHECK(count(3, 0, -1) == 321);
  CHECK(count(5, 5, 1) == 0);
  CHECK(count(5, 0, 1) == 0);
  CHECK(count(highest64 - 1, highest64, 5) == highest64 - 1);
  CHECK(count(lowest64 + 1, lowest64, -5) == lowest64 + 1);
  CHECK(count(-9, highest64, highest64) == -9 * 10 + highest64 - 9);
  CHECK(number([&](KernelBuilder& k) {
          const Expr n = k.let("n", integer(3));
          k.for_("i", 0, n, 1, [&](Expr) { k.assign(n, n + integer(1)); });
          return n;
        }) == 6);
}

TEST_CASE("while, break and continue; continue runs the step") {
  CHECK(number([&](KernelBuilder& k) {
          const Expr i = k.let("i", integer(0)), sum = k.let("sum", integer(0));
          k.while_(
              i < integer(100),
              [&] {
                k.if_(call(Op::Eq, {i, integer(2)}), [&] { k.continue_(); });
                k.if_(i > integer(4), [&] { k.break_(); });
                k.assign(sum, sum + i);
              },
              [&] { k.assign(i, i + integer(1)); });
          return sum * integer(100) + i;
        }) == (0 + 1 + 3 + 4) * 100 + 5);
}

TEST_CASE("break and continue mean the innermost loop, leave its block, return the kernel") {
  const Value out = run(row<L>({0, 0, 0}), [&](KernelBuilder& k, const Expr& y) {
    const auto put = [&](L place, const Expr& value) { k.store(full(DType::Int64, {1}, value), {place}, y); };
    const Expr sum = k.let("sum", integer(0));
    k.for_("i", 0, 3, 1, [&](Expr i) {
      k.for_("j", 0, 9, 1, [&](Expr j) {
        k.if_(j > i, [&] { k.break_(); });
        k.assign(sum, sum + integer(1));
      });
    });
    put(0, sum);
    k.block([&](std::int32_t outer) {
      k.block([&](std::int32_t) {
        k.for_("i", 0, 5, 1, [&](Expr) { k.leave(outer); });
        put(1, integer(77));
      });
      put(1, integer(78));
    });
    k.if_(sum > integer(0), [&] { k.return_(); });
    put(2, integer(79));
  });
  CHECK_SAME(out, row<L>({6, 0, 0}));
}

TEST_CASE("if takes one side") {
  for (I given : {1, 5}) {
    const Value out = run(
        row<I>({0}),
        [&](KernelBuilder& k, const Expr& y) {
          Expr s;
          s.op = Op::Variable;
          s.variable = 0;
          s.type = Type::scalar(DType::Int32);
          k.if_(
              s < literal(3), [&] { k.store(full(DType::Int32, {1}, literal(10)), {0}, y); },
              [&] { k.store(full(DType::Int32, {1}, literal(20)), {0}, y); });
        },
        {Value::scalar(given)}, [](KernelBuilder& k) { (void)k.scalar("s", DType::Int32); });
    CHECK(out.get<I>() == (given < 3 ? 10 : 20));
  }
}

TEST_CASE("conditional evaluates one side only") {
  CHECK(number([&](KernelBuilder& k) {
          (void)k;
          return call(Op::Conditional,
                      {integer(1) < integer(2), integer(7), dim(full(DType::Float32, {2}, literal(0)), 5)});
        }) == 7);
}

TEST_CASE("views: a slice and an index name the same memory") {
  Value memory = tile<float>({2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  KernelBuilder k("views");
  const Expr x = k.tensor("x", Access::InOut, DType::Float32);
  const Expr y = k.tensor("y", Access::Out, DType::Int64);
  const Expr second = k.let("second", index(x, 1));
  const Expr part = k.let("part", slice(second, {1, 0}, {2, 2}));
  k.store(load(part) * literal(10), {0, 0}, part);
  k.assign(part, slice(part, {1, 1}, {1, 1}));
  k.store(load(part, {0, 0}, {1, 1}) + literal(0.5), {0, 0}, part);
  k.store(full(DType::Int64, {1}, dim(second, 0) * integer(100) + rank(second) * integer(10) + dim(part, 1)),
          {0}, y);
  Value out = row<L>({0});
  interpret(k.take(), std::vector<Argument>{view_of(memory), view_of(out)}, {});
  CHECK_SAME(memory, tile<float>({2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 80, 90, 100, 110.5f}));
  CHECK(out.get<L>() == 321);
}

TEST_CASE("a loaded tile is a copy: a later store does not change it") {
  const Value out = run(row({1.0f, 2.0f}), [](KernelBuilder& k, const Expr& y) {
    const Expr before = k.let("before", load(y));
    k.store(before * literal(5), {}, y);
    k.store(load(y) + before, {}, y);
  });
  CHECK_SAME(out, row({6.0f, 12.0f}));
}

TEST_CASE("tiles are carried through loops, also with a new shape") {
  const Value out = run(row({0.0f, 0.0f, 0.0f}), [](KernelBuilder& k, const Expr& y) {
    const Expr t = k.let("t", full(DType::Float32, {1}, literal(1)));
    k.for_("i", 0, 3, 1, [&](Expr i) { k.assign(t, t * literal(2) + cast(DType::Float32, i)); });
    k.assign(t, t + load(y));
    k.store(t, {0}, y);
  });
  CHECK_SAME(out, row({12.0f, 12.0f, 12.0f}));
}

TEST_CASE("literals take the dtype of the tile or scalar beside them") {
  const auto times = [](const Value& in, const Expr& by) {
    return run(in, [&](KernelBuilder& k, const Expr& y) { k.store(load(y) * by, {}, y); });
  };
  CHECK_SAME(times(row({3.0f}), literal(0.1)), row({3.0f * 0.1f}));
  CHECK_SAME(times(row({3.0}), literal(0.1)), row({3.0 * 0.1}));
  CHECK_SAME(times(row({3.0f}), literal(2)), row({6.0f}));
  CHECK_SAME(times(row<L>({3}), literal(2)), row<L>({6}));
  CHECK_THROWS_AS(times(row<I>({3}), literal(0.5)), pl::DtypeError);
  CHECK_THROWS_AS(times(row<I>({3}), constant(Constant::of(L{2}))), pl::DtypeError);
  Expr big = constant(Constant::of(L{1} << 40));
  big.literal = true;
  CHECK_THROWS_AS(times(row<I>({3}), big), pl::DtypeError);
  CHECK_SAME(times(row<L>({3}), big), row<L>({L{3} << 40}));
  const Value picked = run(row({1.0, -1.0}), [](KernelBuilder& k, const Expr& y) {
    k.store(call(Op::Where, {load(y) > literal(0), literal(2), literal(0.5)}) * load(y), {}, y);
  });
  CHECK_SAME(picked, row({2.0, -0.5}));  // two literals alone: C++'s common type
}

TEST_CASE("captures, const scalars and dynamic extents are values") {
  KernelBuilder k("values");
  const Dim n = k.dynamic("N");
  const Expr x = k.tensor("x", Access::In, DType::Float32, {n, {2}});
  const Expr c = k.const_scalar("c", DType::Int32);
  const Expr y = k.tensor("y", Access::Out, DType::Float32, {n});
  const Expr s = k.capture("s", DType::Float32);
  Expr extent;
  extent.op = Op::Variable;
  extent.variable = n.variable;
  extent.type = Type::scalar(DType::Int64);
  k.store(full(DType::Float32, {extent}, s + cast(DType::Float32, c)), {0}, y);
  const Kernel kernel = k.take();
  Value in(DType::Float32, {3, 2}), out(DType::Float32, {3});
  const std::vector<Value> captures{Value::scalar(0.5f)};
  interpret(kernel, std::vector<Argument>{view_of(in), Value::scalar(I{4}), view_of(out)}, captures);
  CHECK_SAME(out, row({4.5f, 4.5f, 4.5f}));

  Value short_out(DType::Float32, {2});
  CHECK(message_of<pl::ShapeError>([&] {
          interpret(kernel, std::vector<Argument>{view_of(in), Value::scalar(I{4}), view_of(short_out)},
                    captures);
        }) ==
        "kernel.cpp:1:3: argument 'y' has shape [2], but tensor<float>[N] is expected, where N is 3 by "
        "argument "
        "'x'");
}

TEST_CASE("print gives the text of a tile or scalar") {
  KernelBuilder k("print");
  k.print(full(DType::Int32, {2}, literal(7)));
  k.print(integer(3));
  std::vector<std::string> printed;
  interpret(k.take(), {}, {}, [&](const std::string& text) { printed.push_back(text); });
  CHECK(printed == std::vector<std::string>{"tile<int32>[2]\n  7, 7", "int64 3"});
}

TEST_CASE("a specialised kernel runs: regions of the parameter's rank, tiles of their own") {
  KernelBuilder k("specialised");
  const Expr x = k.tensor("x", Access::InOut, DType::Float32, {{2}, {3}});
  const Expr t = k.local("t", Type::tile(DType::Float32, {{3}}));
  Expr from = load(x, {1, 0}, {1, 3});
  from.type = t.type;
  k.assign(t, from);
  k.store(t, {0, 0}, x);
  Kernel kernel = k.take();
  kernel.specialised = true;
  Value memory = tile<float>({2, 3}, {0, 0, 0, 4, 5, 6});
  interpret(kernel, std::vector<Argument>{view_of(memory)}, {});
  CHECK_SAME(memory, tile<float>({2, 3}, {4, 5, 6, 4, 5, 6}));

  kernel.variables[static_cast<std::size_t>(t.variable)].type.shape = {{2}};
  CHECK_THROWS_AS(interpret(kernel, std::vector<Argument>{view_of(memory)}, {}), pl::InternalError);
}

TEST_CASE("two runs give the same bytes") {
  const auto once = [] {
    return run(row({0.1f, -3.0f, 1e-40f}), [](KernelBuilder& k, const Expr& y) {
      k.store(call(Op::Exp, {load(y)}) / call(Op::RowSum, {call(Op::Exp, {load(y)})}), {}, y);
    });
  };
  CHECK(once().bytes == once().bytes);
}
