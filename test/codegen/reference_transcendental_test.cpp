#include "values.hpp"

using namespace trilith::codegen;
using namespace trilith::codegen::test;
using reference::apply;

TEST_CASE("special values follow C's Annex F") {
  const auto check = [](Op op, std::initializer_list<float> in, std::initializer_list<float> out) {
    CAPTURE(operation(op).name);
    CHECK_SAME(apply(op, {row(in)}), row(out));
    std::vector<double> wide_in(in.begin(), in.end()), wide_out(out.begin(), out.end());
    Value a(DType::Float64, {static_cast<std::int64_t>(in.size())}), b = a;
    std::copy(wide_in.begin(), wide_in.end(), a.data<double>());
    std::copy(wide_out.begin(), wide_out.end(), b.data<double>());
    CHECK_SAME(apply(op, {a}), b);
  };
  check(Op::Exp, {0, -0.0f, inf32, -inf32, nan32, 1e4f, -1e4f}, {1, 1, inf32, 0, nan32, inf32, 0});
  check(Op::Exp2, {0, 3, -2, inf32, -inf32, nan32}, {1, 8, 0.25f, inf32, 0, nan32});
  check(Op::Expm1, {0, -0.0f, inf32, -inf32, nan32}, {0, -0.0f, inf32, -1, nan32});
  check(Op::Log, {1, 0, -0.0f, -1, inf32, nan32}, {0, -inf32, -inf32, nan32, inf32, nan32});
  check(Op::Log2, {8, 1, 0, -1, inf32, nan32}, {3, 0, -inf32, nan32, inf32, nan32});
  check(Op::Log1p, {0, -0.0f, -1, -2, inf32, nan32}, {0, -0.0f, -inf32, nan32, inf32, nan32});
  check(Op::Sin, {0, -0.0f, inf32, nan32}, {0, -0.0f, nan32, nan32});
  check(Op::Cos, {0, -0.0f, inf32, nan32}, {1, 1, nan32, nan32});
  check(Op::Tanh, {0, -0.0f, inf32, -inf32, nan32}, {0, -0.0f, 1, -1, nan32});
  check(Op::Erf, {0, -0.0f, inf32, -inf32, nan32}, {0, -0.0f, 1, -1, nan32});
  check(Op::Sigmoid, {0, inf32, -inf32, nan32}, {0.5f, 1, 0, nan32});
  CHECK_SAME(apply(Op::Pow, {row({2.0f, 0.0f, -0.0f, -8.0f, nan32, 1.0f, 0.0f, -2.0f}),
                             row({10.0f, -1.0f, -3.0f, 1.0f / 3, 0.0f, nan32, 0.0f, 3.0f})}),
             row({1024.0f, inf32, -inf32, nan32, 1.0f, 1.0f, 1.0f, -8.0f}));
}

TEST_CASE("float results are right to the last bit at the edges of the range") {
  CHECK_SAME(
      apply(Op::Exp, {row({88.72283f, 88.72284f, -103.97f, 1.0f})}),
      row({static_cast<float>(std::exp(static_cast<double>(88.72283f))), inf32, 0x1p-149f, 2.7182817f}));
  CHECK_SAME(apply(Op::Exp2, {row({127.5f, -149.0f, -150.5f})}), row({0x1.6a09e6p+127f, 0x1p-149f, 0.0f}));
  CHECK_SAME(apply(Op::Sin, {row({3.1415927f, 1e10f})}),
             row({static_cast<float>(std::sin(static_cast<double>(3.1415927f))),
                  static_cast<float>(std::sin(1e10))}));
  CHECK_SAME(apply(Op::Log1p, {row({1e-10f})}), row({1e-10f}));
  CHECK_SAME(apply(Op::Sigmoid, {row({-100.0f})}), row({static_cast<float>(1 / (1 + std::exp(100.0)))}));
}

TEST_CASE("double results are within one ulp of the C library") {
  for (double x : {-700.0, -3.5, -1e-9, 1e-300, 0.1, 2.0, 9.75, 700.0})
    CHECK(apply(Op::Exp, {row({x})}).get<double>() == doctest::Approx(std::exp(x)).epsilon(3e-16));
  CHECK_SAME(apply(Op::Exp, {row({-745.0})}), row({0x1p-1074}));
}
