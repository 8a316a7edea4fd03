// Each error carries the place of the user's line; the builder gives statement n line n + 1.
#include "codegen/builder.hpp"
#include "codegen/interpreter.hpp"
#include "values.hpp"

using namespace trilith::codegen;
using namespace trilith::codegen::build;
using namespace trilith::codegen::test;

namespace {

/// The error of a kernel on x: float[4, 8] (InOut) and s: int32, made by `make`.
template <class Error>
std::string error_of(const std::function<void(KernelBuilder&, Expr x, Expr s)>& make) {
  KernelBuilder k("test");
  const Expr x = k.tensor("x", Access::InOut, DType::Float32);
  const Expr s = k.scalar("s", DType::Int32);
  make(k, x, s);
  const Kernel kernel = k.take();
  Value memory(DType::Float32, {4, 8});
  const std::vector<Argument> arguments{view_of(memory), Value::scalar(std::int32_t{3})};
  return message_of<Error>([&] { interpret(kernel, arguments, {}); });
}

}  // namespace

TEST_CASE("shape mistakes are reported at the user's line") {
  const auto error = [](const auto& make) { return error_of<pl::ShapeError>(make); };
  CHECK(error([](KernelBuilder& k, Expr x, Expr) {
          k.let("a", load(x, {0, 0}, {4, 4}));
          k.let("b", load(x, {0, 0}, {4, 8}) + load(x, {0, 0}, {4, 3}));
        }) ==
        "kernel.cpp:3:3: add: shapes [4, 8] and [4, 3] do not broadcast: axis 1 has 8 and 3; extents must be "
        "equal or 1");
  CHECK_CONTAINS(error([](KernelBuilder& k, Expr x, Expr s) { k.let("a", load(x, {s, 0}, {2, 8})); }),
                 "kernel.cpp:2:3: load: offset 3 with extent 2 on axis 0");
  CHECK_CONTAINS(error([](KernelBuilder& k, Expr x, Expr s) { k.let("a", index(x, s + literal(1))); }),
                 "kernel.cpp:2:3: x[i]: index 4 is outside axis 0, whose extent is 4");
  CHECK_CONTAINS(error([](KernelBuilder& k, Expr x, Expr) { k.let("a", slice(x, {0, 4}, {4, 5})); }),
                 "slice: offset 4 with extent 5 on axis 1");
  CHECK_CONTAINS(error([](KernelBuilder& k, Expr x, Expr) { k.let("a", index(index(index(x, 0), 0), 0)); }),
                 "rank 0 and no axis");
  CHECK_CONTAINS(error([](KernelBuilder& k, Expr x, Expr) { k.store(literal(1.0), {0, 0}, x); }),
                 "kernel.cpp:2:3: store: a scalar is no tile");
  CHECK_CONTAINS(error([](KernelBuilder& k, Expr, Expr s) {
                   k.let("a", full(DType::Float32, {s - literal(9)}, literal(0)));
                 }),
                 "kernel.cpp:2:3: a shape has the negative extent -6");
  CHECK_CONTAINS(error([](KernelBuilder& k, Expr x, Expr) { k.let("a", dim(x, 2)); }),
                 "dim(2) of shape [4, 8]: there is no such axis");
  CHECK_CONTAINS(error([](KernelBuilder& k, Expr x, Expr) { k.if_(load(x) > literal(0), [] {}); }),
                 "a condition must be a scalar, and 'load x > 0' is a tile of shape [4, 8]");
  CHECK_CONTAINS(
      error([](KernelBuilder& k, Expr x, Expr) { k.let("a", load(x, {literal(0.5), 0}, {1, 1})); }),
      "must be an integer scalar, and '0.5' is double 0.5");
}

TEST_CASE("dtype mistakes are reported at the user's line") {
  const auto error = [](const auto& make) { return error_of<pl::DtypeError>(make); };
  CHECK_CONTAINS(
      error([](KernelBuilder& k, Expr x, Expr s) { k.let("a", load(x) * s); }),
      "kernel.cpp:2:3: mul: the operands are float and int32, and dtypes are not mixed; convert one with "
      "pl::cast<float>");
  CHECK_CONTAINS(error([](KernelBuilder& k, Expr, Expr s) { k.let("a", s * literal(0.5)); }),
                 "mul: the floating constant 0.5 stands beside int32");
  CHECK_CONTAINS(error([](KernelBuilder& k, Expr x, Expr) { k.let("a", call(Op::BitNot, {load(x)})); }),
                 "bit_not takes bool and integers, not float");
  CHECK_CONTAINS(error([](KernelBuilder& k, Expr x, Expr) { k.store(cast(DType::Int32, load(x)), {}, x); }),
                 "the tile is int32 and the tensor float");
}

TEST_CASE("other mistakes are reported at the user's line") {
  const auto error = [](const auto& make) { return error_of<pl::UserError>(make); };
  CHECK_CONTAINS(
      error([](KernelBuilder& k, Expr, Expr) { k.let("a", k.local("t", Type::tile(DType::Float32))); }),
      "kernel.cpp:2:3: 't' is used before it has a value");
  CHECK_CONTAINS(
      error([](KernelBuilder& k, Expr, Expr s) { k.for_("i", 0, 4, s - literal(3), [](Expr) {}); }),
      "the step of this loop is 0");
}

TEST_CASE("arguments that do not fit the parameters are refused with both") {
  KernelBuilder k("test");
  (void)k.tensor("x", Access::In, DType::Float32, {{4}, {8}});
  (void)k.scalar("s", DType::Int32);
  const Kernel kernel = k.take();
  Value good(DType::Float32, {4, 8}), wide(DType::Float32, {4, 9}), flat(DType::Float32, {32});
  Value doubles(DType::Float64, {4, 8});
  const auto call_with = [&](std::vector<Argument> arguments) {
    return message_of<pl::UserError>([&] { interpret(kernel, arguments, {}); });
  };
  const Value three = Value::scalar(std::int32_t{3});
  CHECK(call_with({view_of(good), three}) == "no error");
  CHECK_CONTAINS(call_with({view_of(good)}), "takes 2 arguments, not 1");
  CHECK_CONTAINS(call_with({view_of(wide), three}),
                 "'x' has shape [4, 9], but tensor<float>[4, 8] is expected");
  CHECK_CONTAINS(call_with({view_of(flat), three}), "'x' has shape [32]");
  CHECK_CONTAINS(call_with({view_of(doubles), three}), "'x' is double and must be float");
  CHECK_CONTAINS(call_with({three, three}), "'x' must be a tensor");
  CHECK_CONTAINS(call_with({view_of(good), view_of(good)}), "'s' must be a scalar");
  CHECK_CONTAINS(call_with({view_of(good), Value::scalar(3.0f)}), "'s' is float and must be int32");
}

TEST_CASE("a tile given for a scalar argument is refused") {
  KernelBuilder k("scalar");
  k.print(k.scalar("s", DType::Float32));
  const Kernel kernel = k.take();
  const std::vector<Argument> arguments{Value(DType::Float32, {2})};
  CHECK_CONTAINS(message_of<pl::UserError>([&] { interpret(kernel, arguments, {}); }),
                 "argument 's' must be a scalar, not a tile");
}
