#include "run_both.hpp"

#include <doctest/doctest.h>

using namespace trilith::codegen;
using namespace trilith::codegen::build;
using namespace trilith::codegen::test;

TEST_CASE("a named extent stays a variable, and equal names are one extent") {
  KernelBuilder k("named");
  const Dim n = k.dynamic("N");
  const Expr x = k.tensor("x", Access::In, DType::Float32, {n, {8}});
  const Expr y = k.tensor("y", Access::Out, DType::Float32, {n, {8}});
  k.store(load(x) + load(x, {0, 0}, {dim(y, 0), 8}), {}, y);
  const Kernel kernel = k.take();
  const Signature given = signature({floats({4, 8}), floats({4, 8})});
  CHECK(body_text(specialise(kernel, given)) ==
        "y_load: float[N, 8] = load x[0, 0 : N, 8]\n"
        "y_load_1: float[N, 8] = load x[0, 0 : N, 8]\n"
        "y_add: float[N, 8] = y_load + y_load_1\n"
        "store y[0, 0] = y_add\n");
  CHECK(same_results(kernel, given));
}

TEST_CASE("equal extent expressions become one variable, also from two branches") {
  KernelBuilder k("numbered");
  const Expr x = k.tensor("x", Access::In, DType::Float32);
  const Expr y = k.tensor("y", Access::Out, DType::Float32);
  const Expr n = k.scalar("n", DType::Int64);
  const auto half = [&] { return call(Op::Minimum, {dim(x, 0), integer(2) + n}); };
  const Expr t = k.local("t", Type::tile(DType::Float32));
  k.if_(
      n > integer(0), [&] { k.assign(t, load(x, {0, 0}, {half(), 8})); },
      [&] { k.assign(t, load(x, {0, 0}, {call(Op::Minimum, {n + integer(2), dim(x, 0)}), 8})); });
  k.store(t + load(x, {0, 0}, {half(), 8}), {0, 0}, y);
  const Kernel kernel = k.take();
  const Signature given = signature({floats({-1, 8}), floats({-1, 8}), scalar_argument(DType::Int64)});
  CHECK(body_text(specialise(kernel, given)) ==
        "extent = minimum(x_0, n + 2)\n"
        "if n > 0\n"
        "  t: float[extent, 8] = load x[0, 0 : extent, 8]\n"
        "else\n"
        "  t = load x[0, 0 : extent, 8]\n"
        "y_load: float[extent, 8] = load x[0, 0 : extent, 8]\n"
        "y_add: float[extent, 8] = t + y_load\n"
        "store y[0, 0] = y_add\n");
  for (const std::int64_t value : {-1, 0, 1, 2}) CHECK(same_results(kernel, given, {Value::scalar(value)}));
}

TEST_CASE("run-time extents broadcast against a constant 1, and meet other extents on trust") {
  KernelBuilder k("meet");
  const Expr a = k.tensor("a", Access::In, DType::Float32);
  const Expr b = k.tensor("b", Access::In, DType::Float32);
  const Expr y = k.tensor("y", Access::Out, DType::Float32);
  k.store(load(a) + load(b), {}, y);
  const Kernel kernel = k.take();
  const auto sum = [&](std::vector<std::int64_t> x, std::vector<std::int64_t> z) {
    const std::string text = body_text(
        specialise(kernel, signature({floats(std::move(x)), floats(std::move(z)), floats({-1, -1})})));
    const std::size_t at = text.find("y_add: ") + 7;
    return text.substr(at, text.find(" =", at) - at);
  };
  CHECK(sum({-1, 4}, {1, 4}) == "float[a_0, 4]");
  CHECK(sum({1, 4}, {-1, 4}) == "float[b_0, 4]");
  CHECK(sum({-1, 4}, {6, 4}) == "float[6, 4]");
  CHECK(sum({-1, -1}, {-1}) == "float[a_0, a_1]");
  CHECK(sum({0, 4}, {1, 1}) == "float[0, 4]");
}

TEST_CASE("an extent taken from a changing variable is a copy of it") {
  KernelBuilder k("growing");
  const Expr x = k.tensor("x", Access::In, DType::Float32);
  const Expr y = k.tensor("y", Access::Out, DType::Float32);
  const Expr n = k.let("n", integer(1));
  k.for_("i", 0, 3, 1, [&](const Expr&) {
    k.store(load(x, {0, 0}, {n, 8}), {0, 0}, y);
    k.assign(n, n + integer(1));
  });
  const Kernel kernel = k.take();
  const Signature given = signature({floats({4, 8}), floats({4, 8})});
  CHECK(body_text(specialise(kernel, given)) ==
        "n = 1\n"
        "for i in 0 .. 3\n"
        "  n_1 = n\n"
        "  y_load: float[n_1, 8] = load x[0, 0 : n_1, 8]\n"
        "  store y[0, 0] = y_load\n"
        "  n = n + 1\n");
  CHECK(same_results(kernel, given));
}

TEST_CASE("a load that may fault stays, one that cannot goes") {
  KernelBuilder k("dead");
  const Expr x = k.tensor("x", Access::In, DType::Float32);
  const Expr n = k.scalar("n", DType::Int64);
  k.let("inside", load(x));
  k.let("unknown", load(x, {n, 0}, {1, 8}));
  CHECK(body_text(specialise(k.take(), signature({floats({-1, 8}), scalar_argument(DType::Int64)}))) ==
        "unknown: float[1, 8] = load x[n, 0 : 1, 8]\n");
}
