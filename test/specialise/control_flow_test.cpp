#include "run_both.hpp"

#include <doctest/doctest.h>

using namespace trilith::codegen;
using namespace trilith::codegen::build;
using namespace trilith::codegen::test;

namespace {

Signature one_in_one_out() { return signature({floats({4, 8}), floats({4, 8})}); }

struct Unary {
  KernelBuilder k{"unary"};
  Expr x = k.tensor("x", Access::In, DType::Float32);
  Expr y = k.tensor("y", Access::Out, DType::Float32);
};

}  // namespace

TEST_CASE("a tile that a loop changes is carried in one variable") {
  Unary u;
  const Expr acc = u.k.let("acc", load(u.x));
  u.k.for_("i", 0, 3, 1, [&](const Expr&) {
    u.k.assign(acc, acc * acc);
    u.k.assign(acc, acc + literal(1.0));
  });
  u.k.store(acc, {}, u.y);
  const Kernel kernel = u.k.take();
  const Signature given = one_in_one_out();
  CHECK(body_text(specialise(kernel, given)) ==
        "acc: float[4, 8] = load x[0, 0 : 4, 8]\n"
        "for i in 0 .. 3\n"
        "  acc_1: float[4, 8] = acc * acc\n"
        "  acc = acc_1 + 1.0f\n"
        "store y[0, 0] = acc\n");
  CHECK(same_results(kernel, given));
}

TEST_CASE("values that loops swap go through a temporary") {
  Unary u;
  const Expr a = u.k.let("a", load(u.x));
  const Expr b = u.k.let("b", full(DType::Float32, {4, 8}, literal(2.0)));
  u.k.for_("i", 0, 3, 1, [&](const Expr&) {
    const Expr t = u.k.let("t", a);
    u.k.assign(a, b);
    u.k.assign(b, t);
  });
  u.k.store(a - b, {}, u.y);
  const Kernel kernel = u.k.take();
  const Signature given = one_in_one_out();
  CHECK(body_text(specialise(kernel, given)) ==
        "a: float[4, 8] = load x[0, 0 : 4, 8]\n"
        "b: float[4, 8] = full<float>([4, 8], 2.0f)\n"
        "for i in 0 .. 3\n"
        "  a_1: float[4, 8] = b\n"
        "  b = a\n"
        "  a = a_1\n"
        "y_sub: float[4, 8] = a - b\n"
        "store y[0, 0] = y_sub\n");
  CHECK(same_results(kernel, given));
}

TEST_CASE("branches meet in one variable and keep what they did not change") {
  KernelBuilder k("branch");
  const Expr x = k.tensor("x", Access::In, DType::Float32);
  const Expr y = k.tensor("y", Access::Out, DType::Float32);
  const Expr n = k.scalar("n", DType::Int64);
  const Expr t = k.let("t", load(x));
  const Expr s = k.let("s", constant(Constant::of(1.0f)));
  k.if_(
      n > integer(0), [&] { k.assign(t, t + literal(1.0)); },
      [&] { k.assign(s, constant(Constant::of(1.0f))); });
  k.store(t * s, {}, y);
  const Kernel kernel = k.take();
  const Signature given = signature({floats({4, 8}), floats({4, 8}), scalar_argument(DType::Int64)});
  CHECK(body_text(specialise(kernel, given)) ==
        "t: float[4, 8] = load x[0, 0 : 4, 8]\n"
        "if n > 0\n"
        "  t_1: float[4, 8] = t + 1.0f\n"
        "else\n"
        "  t_1 = t\n"
        "y_mul: float[4, 8] = t_1 * 1.0f\n"
        "store y[0, 0] = y_mul\n");
  for (const std::int64_t value : {-1, 0, 1, 2, 3})
    CHECK(same_results(kernel, given, {Value::scalar(value)}));
}

TEST_CASE("a constant condition chooses its branch and the other one is not typed") {
  Unary u;
  const Expr t = u.k.let("t", load(u.x));
  u.k.if_(
      call(Op::Eq, {rank(u.x), integer(2)}), [&] { u.k.store(t, {}, u.y); },
      [&] { u.k.store(t + full(DType::Float32, {3, 3}, literal(1.0)), {}, u.y); });
  const Kernel kernel = u.k.take();
  const Signature given = one_in_one_out();
  CHECK(body_text(specialise(kernel, given)) ==
        "t: float[4, 8] = load x[0, 0 : 4, 8]\n"
        "store y[0, 0] = t\n");
  CHECK(same_results(kernel, given));
}

TEST_CASE("an early return guards what follows") {
  KernelBuilder k("early");
  const Expr x = k.tensor("x", Access::In, DType::Float32);
  const Expr y = k.tensor("y", Access::Out, DType::Float32);
  const Expr n = k.scalar("n", DType::Int64);
  k.if_(n < integer(0), [&] { k.return_(); });
  const Expr t = k.let("t", load(x));
  k.store(t, {}, y);
  const Kernel kernel = k.take();
  const Signature given = signature({floats({4, 8}), floats({4, 8}), scalar_argument(DType::Int64)});
  CHECK(body_text(specialise(kernel, given)) ==
        "if n >= 0\n"
        "  t: float[4, 8] = load x[0, 0 : 4, 8]\n"
        "  store y[0, 0] = t\n");
  for (const std::int64_t value : {-1, 0, 1, 2, 3})
    CHECK(same_results(kernel, given, {Value::scalar(value)}));
}

TEST_CASE("an inlined helper with one return leaves no block") {
  Unary u;
  const Expr result = u.k.local("result", Type::tile(DType::Float32));
  u.k.block([&](std::int32_t block) {
    u.k.assign(result, load(u.x) * literal(2.0));
    u.k.leave(block);
  });
  u.k.store(result, {}, u.y);
  const Kernel kernel = u.k.take();
  const Signature given = one_in_one_out();
  CHECK(body_text(specialise(kernel, given)) ==
        "result_load: float[4, 8] = load x[0, 0 : 4, 8]\n"
        "result: float[4, 8] = result_load * 2.0f\n"
        "store y[0, 0] = result\n");
  CHECK(same_results(kernel, given));
}

TEST_CASE("an inlined helper with two returns becomes if and else") {
  KernelBuilder k("helper");
  const Expr x = k.tensor("x", Access::In, DType::Float32);
  const Expr y = k.tensor("y", Access::Out, DType::Float32);
  const Expr n = k.scalar("n", DType::Int64);
  const Expr result = k.local("result", Type::tile(DType::Float32));
  k.block([&](std::int32_t block) {
    k.if_(n < integer(0), [&] {
      k.assign(result, load(x) * literal(2.0));
      k.leave(block);
    });
    k.assign(result, load(x) * literal(3.0));
    k.leave(block);
  });
  k.store(result, {}, y);
  const Kernel kernel = k.take();
  const Signature given = signature({floats({4, 8}), floats({4, 8}), scalar_argument(DType::Int64)});
  CHECK(body_text(specialise(kernel, given)) ==
        "if n < 0\n"
        "  result_load: float[4, 8] = load x[0, 0 : 4, 8]\n"
        "  result: float[4, 8] = result_load * 2.0f\n"
        "else\n"
        "  result_load_1: float[4, 8] = load x[0, 0 : 4, 8]\n"
        "  result = result_load_1 * 3.0f\n"
        "store y[0, 0] = result\n");
  for (const std::int64_t value : {-1, 0, 1, 2, 3})
    CHECK(same_results(kernel, given, {Value::scalar(value)}));
}

TEST_CASE("unrolled loops are written out, with break and continue as structure") {
  KernelBuilder k("unrolled");
  const Expr x = k.tensor("x", Access::In, DType::Float32);
  const Expr y = k.tensor("y", Access::Out, DType::Float32);
  const Expr n = k.scalar("n", DType::Int64);
  const Expr sum = k.let("sum", full(DType::Float32, {1, 8}, literal(0.0)));
  k.for_(
      "i", 0, dim(x, 0), 1,
      [&](const Expr& i) {
        k.if_(n < i, [&] { k.break_(); });
        k.if_(call(Op::Eq, {i, n}), [&] { k.continue_(); });
        k.assign(sum, sum + load(x, {i, 0}, {1, 8}));
      },
      LoopKind::Unroll);
  k.store(sum, {0, 0}, y);
  const Kernel kernel = k.take();
  const Signature given = signature({floats({2, 8}), floats({4, 8}), scalar_argument(DType::Int64)});
  CHECK(body_text(specialise(kernel, given)) ==
        "sum: float[1, 8] = full<float>([1, 8], 0.0f)\n"
        "block 1\n"
        "  if n < 0\n"
        "    sum_1: float[1, 8] = sum\n"
        "    leave block 1\n"
        "  if 0 == n\n"
        "    sum_2: float[1, 8] = sum\n"
        "  else\n"
        "    sum_load: float[1, 8] = load x[0, 0 : 1, 8]\n"
        "    sum_2 = sum + sum_load\n"
        "  if n < 1\n"
        "    sum_1 = sum_2\n"
        "    leave block 1\n"
        "  if 1 == n\n"
        "    sum_3: float[1, 8] = sum_2\n"
        "  else\n"
        "    sum_load_1: float[1, 8] = load x[1, 0 : 1, 8]\n"
        "    sum_3 = sum_2 + sum_load_1\n"
        "  sum_1 = sum_3\n"
        "store y[0, 0] = sum_1\n");
  for (const std::int64_t value : {-1, 0, 1, 2, 3})
    CHECK(same_results(kernel, given, {Value::scalar(value)}));
}

TEST_CASE("an unrolled tile may change its shape from round to round") {
  KernelBuilder k("halving");
  const Expr x = k.tensor("x", Access::In, DType::Float32);
  const Expr y = k.tensor("y", Access::Out, DType::Float32);
  const Expr t = k.let("t", load(x));
  k.for_(
      "axis", 0, 2, 1,
      [&](const Expr& axis) {
        k.if_(
            call(Op::Eq, {axis, integer(0)}), [&] { k.assign(t, call(Op::RowSum, {t})); },
            [&] { k.assign(t, call(Op::ColSum, {t})); });
      },
      LoopKind::Unroll);
  k.store(t, {0, 0}, y);
  const Kernel kernel = k.take();
  const Signature given = signature({floats({4, 8}), floats({1, 1})});
  CHECK(body_text(specialise(kernel, given)) ==
        "t: float[4, 8] = load x[0, 0 : 4, 8]\n"
        "t_1: float[4, 1] = row_sum(t)\n"
        "t_2: float[1, 1] = col_sum(t_1)\n"
        "store y[0, 0] = t_2\n");
  CHECK(same_results(kernel, given));
}

TEST_CASE("a while loop carries its scalars and runs its step on continue") {
  KernelBuilder k("while");
  const Expr x = k.tensor("x", Access::In, DType::Float32);
  const Expr y = k.tensor("y", Access::Out, DType::Float32);
  const Expr n = k.scalar("n", DType::Int64);
  const Expr i = k.let("i", integer(0));
  const Expr t = k.let("t", load(x));
  k.while_(
      i < n,
      [&] {
        k.if_(call(Op::Eq, {i, integer(1)}), [&] { k.continue_(); });
        k.assign(t, t + t);
      },
      [&] { k.assign(i, i + integer(1)); });
  k.store(t, {}, y);
  const Kernel kernel = k.take();
  const Signature given = signature({floats({4, 8}), floats({4, 8}), scalar_argument(DType::Int64)});
  CHECK(body_text(specialise(kernel, given)) ==
        "i = 0\n"
        "t: float[4, 8] = load x[0, 0 : 4, 8]\n"
        "while i < n\n"
        "  if i == 1\n"
        "    t_1: float[4, 8] = t\n"
        "  else\n"
        "    t_1 = t + t\n"
        "  i = i + 1\n"
        "  t = t_1\n"
        "store y[0, 0] = t\n");
  for (const std::int64_t value : {-1, 0, 1, 2, 3})
    CHECK(same_results(kernel, given, {Value::scalar(value)}));
}

TEST_CASE("a loop that runs no round is removed") {
  Unary u;
  const Expr t = u.k.let("t", load(u.x));
  u.k.for_("i", 4, dim(u.x, 0), 1, [&](const Expr&) { u.k.assign(t, t + t); });
  u.k.store(t, {}, u.y);
  const Kernel kernel = u.k.take();
  const Signature given = one_in_one_out();
  CHECK(body_text(specialise(kernel, given)) ==
        "t: float[4, 8] = load x[0, 0 : 4, 8]\n"
        "store y[0, 0] = t\n");
  CHECK(same_results(kernel, given));
}

TEST_CASE("views are resolved to their parameter, also carried through a loop") {
  KernelBuilder k("views");
  const Expr x = k.tensor("x", Access::In, DType::Float32);
  const Expr y = k.tensor("y", Access::Out, DType::Float32);
  const Expr part = k.let("part", slice(x, {1, 2, 0}, {2, 4, 8}));
  k.for_("i", 0, 2, 1, [&](const Expr& i) {
    const Expr t = k.let("t", load(index(part, i), {1, 0}, {2, 8}));
    k.store(t, {0, 0}, y);
    k.assign(y, slice(y, {0, 0}, {2, 8}));
  });
  const Expr row = k.let("row", index(part, 0));
  k.for_("j", 0, 2, 1, [&](const Expr& j) {
    k.store(load(row, {0, 0}, {2, 8}), {0, 0}, y);
    k.assign(row, index(part, j));
  });
  const Kernel kernel = k.take();
  const Signature given = signature({floats({4, 8, 8}), floats({2, 8})});
  CHECK(body_text(specialise(kernel, given)) ==
        "for i in 0 .. 2\n"
        "  t: float[2, 8] = load x[i + 1, 3, 0 : 1, 2, 8]\n"
        "  store y[0, 0] = t\n"
        "row = 1\n"
        "for j in 0 .. 2\n"
        "  y_load: float[2, 8] = load x[row, 2, 0 : 1, 2, 8]\n"
        "  store y[0, 0] = y_load\n"
        "  row = j + 1\n");
  CHECK(same_results(kernel, given));
}
