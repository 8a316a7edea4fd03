// Every mistake the specialiser reports: the class, the place in the user's file, and the words.
#include "codegen/error.hpp"
#include "signatures.hpp"

#include <doctest/doctest.h>

using namespace trilith::codegen;
using namespace trilith::codegen::build;
using namespace trilith::codegen::test;

namespace {

Kernel annotated() {
  KernelBuilder k("annotated");
  const Expr x = k.tensor("x", Access::In, DType::Float32, {{8}, {8}});
  const Expr y = k.tensor("y", Access::Out, DType::Float32, {{8}, k.dynamic("N")});
  k.store(load(x), {}, y);
  return k.take();
}

}  // namespace

TEST_CASE("an argument that is not as declared: both types are printed") {
  CHECK(message_of<pl::ShapeError>(annotated(), two({8, 4}, {8, 8})) ==
        "kernel.cpp:2:3: argument 1 (x): float[8, 4] was given, but the kernel declares float[8, 8]; pass a "
        "tensor of that shape, or declare pl::Tensor<T> for any shape or pl::dynamic for a run-time extent");
  CHECK(
      message_of<pl::ShapeError>(annotated(), two({8, 8}, {8, 8, 1})) ==
      "kernel.cpp:2:3: argument 2 (y): float[8, 8, 1] was given, but the kernel declares float[8, N]; pass a "
      "tensor of that shape, or declare pl::Tensor<T> for any shape or pl::dynamic for a run-time extent");
  CHECK(message_of<pl::DtypeError>(annotated(),
                                   signature({tensor_argument(DType::Int32, {8, 8}), floats({8, 8})})) ==
        "kernel.cpp:2:3: argument 1 (x): int32[8, 8] was given, but the kernel declares float[8, 8]; pass an "
        "array of float or declare pl::Tensor<>");
  CHECK(message_of<pl::ShapeError>(annotated(), two({8, 8}, {8, 9})) ==
        "");  // a pl::dynamic takes any extent
}

TEST_CASE("an argument of too high a rank or of the wrong kind") {
  const Kernel kernel =
      unary([](KernelBuilder& k, const Expr& x, const Expr& y) { k.store(load(x), {}, y); });
  CHECK(message_of<pl::ShapeError>(kernel, two({1, 1, 1, 1, 1, 1, 1, 1, 1}, {8})) ==
        "kernel.cpp:2:3: argument 1 (x): rank 9 is above the largest, 8; merge axes before the call");
  CHECK(message_of<pl::DtypeError>(kernel, signature({scalar_argument(DType::Float32), floats({8})})) ==
        "kernel.cpp:2:3: argument 1 (x): a scalar was given, but the kernel declares a tensor");
  KernelBuilder k("scalar");
  k.print(k.scalar("n", DType::Int32));
  CHECK(message_of<pl::DtypeError>(k.take(), signature({scalar_argument(DType::Float32)})) ==
        "kernel.cpp:2:3: argument 1 (n): float was given, but the kernel declares a scalar of int32; convert "
        "it before the call");
}

TEST_CASE("a region outside its tensor") {
  const auto kernel = [](const Items& offsets, const Items& shape) {
    return unary(
        [&](KernelBuilder& k, const Expr& x, const Expr& y) { k.store(load(x, offsets, shape), {0, 0}, y); });
  };
  CHECK(message_of<pl::ShapeError>(kernel({4, 0}, {8, 8}), two({8, 8}, {8, 8})) ==
        "kernel.cpp:2:3: load: offset 4 with extent 8 on axis 0 is not inside the tensor, whose extent is 8; "
        "make the region smaller or move it inside");
  CHECK(message_of<pl::ShapeError>(kernel({-1, 0}, {2, 2}), two({-1, 8}, {8, 8})) ==
        "kernel.cpp:2:3: load: offset -1 with extent 2 on axis 0 is not inside the tensor x: float[x_0, 8]; "
        "make the region smaller or move it inside");
  CHECK(message_of<pl::ShapeError>(kernel({0}, {8}), two({8, 8}, {8, 8})) ==
        "kernel.cpp:2:3: load: the tensor has rank 2, but 1 offsets and a shape of rank 1 are given; "
        "give one of each for every axis");
  CHECK(message_of<pl::ShapeError>(kernel({0, 0}, {-2, 8}), two({8, 8}, {8, 8})) ==
        "kernel.cpp:2:3: a shape has the negative extent -2; extents are 0 or more");
  CHECK(
      message_of<pl::ShapeError>(kernel({0, 0}, {4, 4}), two({8, 8}, {2, 4})) ==
      "kernel.cpp:2:3: store: offset 0 with extent 4 on axis 0 is not inside the tensor, whose extent is 2; "
      "make the region smaller or move it inside");
}

TEST_CASE("views outside their tensor") {
  const auto view = [](const std::function<Expr(const Expr&)>& make) {
    return unary([&](KernelBuilder& k, const Expr& x, const Expr& y) { k.store(load(make(x)), {}, y); });
  };
  CHECK(message_of<pl::ShapeError>(view([](const Expr& x) { return index(x, 8); }), two({8, 8}, {8})) ==
        "kernel.cpp:2:3: x[i]: index 8 is outside axis 0, whose extent is 8; positions count from 0");
  CHECK(message_of<pl::ShapeError>(view([](const Expr& x) { return index(x, 0); }), two({}, {8})) ==
        "kernel.cpp:2:3: x[i]: the tensor has rank 0 and no axis to index");
  CHECK(
      message_of<pl::ShapeError>(view([](const Expr& x) { return slice(x, {6, 0}, {4, 4}); }),
                                 two({8, 8}, {4, 4})) ==
      "kernel.cpp:2:3: slice: offset 6 with extent 4 on axis 0 is not inside the tensor, whose extent is 8; "
      "make the region smaller or move it inside");
}

TEST_CASE("shapes that do not broadcast, and reductions without an axis") {
  const auto kernel = [](const std::function<Expr(const Expr&)>& make) {
    return unary([&](KernelBuilder& k, const Expr& x, const Expr& y) { k.store(make(load(x)), {}, y); });
  };
  CHECK(message_of<pl::ShapeError>(
            kernel([](const Expr& t) { return t + full(DType::Float32, {8, 3}, literal(1.0)); }),
            two({8, 4}, {8, 4})) ==
        "kernel.cpp:2:3: add: shapes [8, 4] and [8, 3] do not broadcast: axis 1 has 4 and 3; extents must be "
        "equal or 1");
  CHECK(message_of<pl::ShapeError>(kernel([](const Expr& t) { return call(Op::ColSum, {t}); }),
                                   two({8}, {1})) ==
        "kernel.cpp:2:3: col_sum needs a tile of rank 2 or more, not shape [8]");
  CHECK(message_of<pl::ShapeError>(
            kernel([](const Expr& t) { return full(DType::Float32, {dim(t, 2)}, literal(1.0)); }),
            two({8, 4}, {4})) ==
        "kernel.cpp:2:3: dim: axis 2 of float[8, 4], which has rank 2; axes count from 0");
}

TEST_CASE("a carried tile that changes its shape names both places") {
  CHECK(message_of<pl::ShapeError>(unary([](KernelBuilder& k, const Expr& x, const Expr& y) {
                                     const Expr t = k.let("t", load(x));
                                     k.for_("i", 0, 4, 1,
                                            [&](const Expr&) { k.assign(t, call(Op::RowSum, {t})); });
                                     k.store(t, {}, y);
                                   }),
                                   two({8, 8}, {8, 8})) ==
        "kernel.cpp:4:3: the tile `t` has shape [8, 1] here and [8, 8] on another path (kernel.cpp:2:3); a "
        "tile carried through a branch or a loop keeps its shape, use a new variable");
}

TEST_CASE("dtypes that mix name pl::cast") {
  KernelBuilder k("mix");
  const Expr x = k.tensor("x", Access::In, DType::Float32);
  const Expr n = k.tensor("n", Access::In, DType::Int32);
  const Expr s = k.scalar("s", DType::Float64);
  const Expr y = k.tensor("y", Access::Out, DType::Float32);
  const auto with = [&](const Expr& value) {
    KernelBuilder copy = k;
    copy.store(value, {}, y);
    return message_of<pl::DtypeError>(copy.take(), signature({floats({8}), tensor_argument(DType::Int32, {8}),
                                                              scalar_argument(DType::Float64), floats({8})}));
  };
  CHECK(with(load(x) + load(n)) ==
        "kernel.cpp:2:3: add: the operands are float and int32, and dtypes are not mixed; convert one with "
        "pl::cast<float>(...)");
  CHECK(with(load(x) * s) ==
        "kernel.cpp:2:3: mul: the operands are float and double, and dtypes are not mixed; convert one with "
        "pl::cast<float>(...)");
  CHECK(with(load(n) * literal(0.5)) ==
        "kernel.cpp:2:3: mul: the floating constant 0.5 stands beside int32, which cannot hold it; convert "
        "with pl::cast<float>(...)");
  CHECK(with(load(n) + constant(Constant::of(std::int64_t{3}))) ==
        "kernel.cpp:2:3: add: the operands are int32 and int64, and dtypes are not mixed; convert one with "
        "pl::cast<std::int32_t>(...)");
  Expr big = constant(Constant::of(std::int64_t{1} << 40));
  big.literal = true;
  CHECK(with(load(n) + big) ==
        "kernel.cpp:2:3: add: the integer constant 1099511627776 stands beside int32, which cannot hold it; "
        "convert with pl::cast<std::int64_t>(...)");
  CHECK(with(load(n)) ==
        "kernel.cpp:2:3: store: the tile is int32 and the tensor y is float; convert the tile with "
        "pl::cast<float>(...)");
  CHECK(with(call(Op::Exp, {load(n)})) ==
        "kernel.cpp:2:3: exp takes floats, not int32; convert with pl::cast<float>(...)");
  CHECK(with(call(Op::Where, {load(x), load(x), load(x)})) ==
        "kernel.cpp:2:3: where: the condition is float and must be bool; write a comparison, such as x != 0");
  CHECK(
      with(full(DType::Float32, {8}, s)) ==
      "kernel.cpp:2:3: full: the element is double and the tile float; convert it with pl::cast<float>(...)");
}

TEST_CASE("stores of what is no tile, and to what is read-only") {
  CHECK(message_of<pl::ShapeError>(unary([](KernelBuilder& k, const Expr&, const Expr& y) {
                                     k.store(constant(Constant::of(1.0f)), {0}, y);
                                   }),
                                   two({8}, {8})) ==
        "kernel.cpp:2:3: store: a scalar is no tile; make one of the shape to be written with "
        "pl::full<T>({...}, value)");
  CHECK(message_of<pl::UserError>(
            unary([](KernelBuilder& k, const Expr& x, const Expr&) { k.store(load(x), {0}, x); }),
            two({8}, {8})) ==
        "kernel.cpp:2:3: store: x is read-only; declare it pl::Out<...> or pl::InOut<...>");
}

TEST_CASE("loops that cannot be") {
  KernelBuilder k("loops");
  const Expr n = k.scalar("n", DType::Int64);
  KernelBuilder unrolled = k;
  unrolled.for_("i", 0, n, 1, [&](const Expr& i) { unrolled.print(i); }, LoopKind::Unroll);
  CHECK(message_of<pl::ShapeError>(unrolled.take(), signature({scalar_argument(DType::Int64)})) ==
        "kernel.cpp:2:3: pl::unroll needs constant bounds, and this one is known only when the kernel runs; "
        "use pl::range, or make the value a pl::Const parameter");
  KernelBuilder many = k;
  many.for_("i", 0, 5000, 1, [&](const Expr& i) { many.print(i); }, LoopKind::Unroll);
  CHECK(message_of<pl::ShapeError>(many.take(), signature({scalar_argument(DType::Int64)})) ==
        "kernel.cpp:2:3: pl::unroll would write out 5000 rounds, more than 4096; use pl::range");
  KernelBuilder endless = k;
  endless.for_("i", 0, 5, 0, [&](const Expr& i) { endless.print(i); });
  CHECK(message_of<pl::UserError>(endless.take(), signature({scalar_argument(DType::Int64)})) ==
        "kernel.cpp:2:3: the step of this loop is 0, so that it would never end; give it another step");
}

TEST_CASE("values that may be missing, and conditions that are tiles") {
  CHECK(message_of<pl::UserError>(unary([](KernelBuilder& k, const Expr& x, const Expr& y) {
                                    const Expr t = k.local("t", Type::tile(DType::Float32));
                                    k.if_(call(Op::Eq, {dim(x, 0), integer(3)}),
                                          [&] { k.assign(t, load(x)); });
                                    k.store(t, {}, y);
                                  }),
                                  two({8}, {8})) ==
        "kernel.cpp:4:3: `t` is read before it has a value; give it one on every path to this line");
  CHECK(message_of<pl::ShapeError>(unary([](KernelBuilder& k, const Expr& x, const Expr& y) {
                                     const Expr t = k.let("t", load(x));
                                     k.if_(t > t, [&] { k.store(t, {}, y); });
                                   }),
                                   two({8}, {8})) ==
        "kernel.cpp:3:3: a condition must be one bool, and this is the tile bool[8]; choose element by "
        "element with pl::where(condition, a, b)");
}

TEST_CASE("questions that a scalar has no answer to, and an axis that only the run knows") {
  const auto asked = [](const Expr& question) {
    return unary([&](KernelBuilder& k, const Expr& x, const Expr& y) {
      k.print(question);
      k.store(load(x), {}, y);
    });
  };
  CHECK(message_of<pl::ShapeError>(asked(build::rank(integer(3))), two({8}, {8}))
            .find("rank: a scalar has no shape") != std::string::npos);
  KernelBuilder k("axis");
  const Expr x = k.tensor("x", Access::In, DType::Float32), n = k.scalar("n", DType::Int64);
  Expr extent = dim(x, 0);
  extent.operands[1] = n;
  k.print(extent);
  CHECK(message_of<pl::ShapeError>(k.take(), signature({floats({8}), scalar_argument(DType::Int64)}))
            .find("dim: the axis must be a constant; loop over axes with pl::unroll") != std::string::npos);
  KernelBuilder element("element");
  const Expr s = element.scalar("s", DType::Float32);
  element.print(element.let("e", read(s, {})));
  CHECK(message_of<pl::ShapeError>(element.take(), signature({scalar_argument(DType::Float32)}))
            .find("read: a scalar has no elements") != std::string::npos);
}

TEST_CASE("the sides of a conditional that differ in shape or dtype") {
  KernelBuilder k("sides");
  const Expr x = k.tensor("x", Access::In, DType::Float32), z = k.tensor("z", Access::In, DType::Float32);
  const Expr y = k.tensor("y", Access::Out, DType::Float32), c = k.scalar("c", DType::Bool);
  Expr tiles = call(Op::Where, {c, load(x), load(z)});
  tiles.op = Op::Conditional;
  k.store(tiles, {0}, y);
  CHECK(message_of<pl::ShapeError>(
            k.take(), signature({floats({8}), floats({4}), floats({8}), scalar_argument(DType::Bool)}))
            .find("; both must have one shape and dtype") != std::string::npos);
  KernelBuilder numbers("numbers");
  const Expr condition = numbers.scalar("c", DType::Bool);
  Expr scalars =
      call(Op::Where, {condition, numbers.scalar("i", DType::Int32), numbers.scalar("f", DType::Float32)});
  scalars.op = Op::Conditional;
  numbers.print(scalars);
  CHECK(message_of<pl::DtypeError>(numbers.take(),
                                   signature({scalar_argument(DType::Bool), scalar_argument(DType::Int32),
                                              scalar_argument(DType::Float32)}))
            .find("conditional: one side is ") != std::string::npos);
}

TEST_CASE("a tensor that has no value yet, or that only the run could tell") {
  KernelBuilder k("late");
  const Expr y = k.tensor("y", Access::Out, DType::Float32), x = k.tensor("x", Access::In, DType::Float32);
  const Expr c = k.scalar("c", DType::Bool);
  const Expr view = k.local("view", x.type);
  k.if_(c, [&] { k.assign(view, x); });
  k.store(load(view), {}, y);
  CHECK(
      message_of<pl::UserError>(k.take(), signature({floats({8}), floats({8}), scalar_argument(DType::Bool)}))
          .find("the tensor `view` is used before it has a value; give it one on every path") !=
      std::string::npos);
  KernelBuilder choice("choice");
  const Expr a = choice.tensor("a", Access::In, DType::Float32),
             b = choice.tensor("b", Access::In, DType::Float32);
  const Expr z = choice.tensor("z", Access::Out, DType::Float32), n = choice.scalar("n", DType::Bool);
  Expr either = a;
  either.op = Op::Conditional;
  either.operands = {n, a, b};
  choice.store(load(either), {}, z);
  CHECK(message_of<pl::UserError>(
            choice.take(), signature({floats({8}), floats({8}), floats({8}), scalar_argument(DType::Bool)}))
            .find("which tensor is meant is known only when the kernel runs") != std::string::npos);
}

TEST_CASE("an offset that is no integer is refused") {
  KernelBuilder k("offset");
  const Expr x = k.tensor("x", Access::In, DType::Float32), y = k.tensor("y", Access::Out, DType::Float32);
  const Expr at = k.scalar("at", DType::Float32);
  k.store(load(x, {at}, {4}), {0}, y);
  CHECK(message_of<pl::DtypeError>(k.take(),
                                   signature({floats({8}), floats({8}), scalar_argument(DType::Float32)}))
            .find("an offset, extent or bound must be an integer, not float") != std::string::npos);
}
