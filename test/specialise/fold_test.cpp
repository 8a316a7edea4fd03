#include "codegen/passes/fold.hpp"
#include "signatures.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

using namespace trilith::codegen;
using namespace trilith::codegen::build;
using passes::fold;

namespace {

struct Scalars {
  KernelBuilder k{"scalars"};
  Expr n = k.scalar("n", DType::Int64);
  Expr m = k.scalar("m", DType::Int64);
  Expr f = k.scalar("f", DType::Float32);
  Expr b = k.scalar("b", DType::Bool);
  Kernel kernel = KernelBuilder(k).take();
  [[nodiscard]] std::string text(const Expr& e) const { return to_text(kernel, e); }
  [[nodiscard]] std::string folded(Op op, std::vector<Expr> operands) const {
    return text(fold(call(op, std::move(operands))));
  }
};

Expr int32(std::int32_t value) { return constant(Constant::of(value)); }
Expr float32(float value) { return constant(Constant::of(value)); }

}  // namespace

TEST_CASE("integers fold as they compute: they wrap and nothing traps") {
  const Scalars s;
  const std::int32_t lowest = std::numeric_limits<std::int32_t>::min();
  CHECK(s.folded(Op::Add, {int32(2147483647), int32(1)}) == "-2147483648");
  CHECK(s.folded(Op::Div, {int32(7), int32(0)}) == "0");
  CHECK(s.folded(Op::Fmod, {int32(7), int32(0)}) == "0");
  CHECK(s.folded(Op::Div, {int32(lowest), int32(-1)}) == "-2147483648");
  CHECK(s.folded(Op::Shl, {int32(1), int32(32)}) == "0");
}

TEST_CASE("floats fold exactly, and what is exact only within some ulp stays") {
  const Scalars s;
  CHECK(s.folded(Op::Mul, {float32(0.1f), float32(3.0f)}) == to_text(s.kernel, float32(0.1f * 3.0f)));
  CHECK(s.folded(Op::Exp, {float32(1.0f)}) == "exp(1.0f)");
  CHECK(s.folded(Op::Add, {s.f, float32(0.0f)}) == "f + 0.0f");  // -0 + 0 is +0
  CHECK(s.folded(Op::Mul, {s.f, float32(0.0f)}) == "f * 0.0f");  // NaN * 0 is NaN
}

TEST_CASE("integer identities") {
  const Scalars s;
  CHECK(s.folded(Op::Add, {s.n, integer(0)}) == "n");
  CHECK(s.folded(Op::Add, {integer(0), s.n}) == "n");
  CHECK(s.folded(Op::Mul, {integer(1), s.n}) == "n");
  CHECK(s.folded(Op::Mul, {s.n, integer(0)}) == "0");
  CHECK(s.folded(Op::Sub, {s.n, s.n}) == "0");
  CHECK(s.folded(Op::Div, {s.n, integer(1)}) == "n");
  CHECK(s.folded(Op::Minimum, {s.n, s.n}) == "n");
  CHECK(s.text(fold(call(Op::Add, {fold(call(Op::Add, {s.n, integer(2)})), integer(3)}))) == "n + 5");
  CHECK(s.folded(Op::Sub, {s.n, s.m}) == "n - m");
}

TEST_CASE("conditions: constants choose, and a negation turns integer comparisons only") {
  const Scalars s;
  const Expr yes = constant(Constant::of(true)), no = constant(Constant::of(false));
  CHECK(s.folded(Op::Conditional, {yes, s.n, s.m}) == "n");
  CHECK(s.folded(Op::Conditional, {no, s.n, s.m}) == "m");
  CHECK(s.folded(Op::LogicalAnd, {yes, s.b}) == "b");
  CHECK(s.folded(Op::LogicalAnd, {s.b, no}) == "false");
  CHECK(s.folded(Op::LogicalOr, {s.b, yes}) == "true");
  CHECK(s.folded(Op::LogicalNot, {s.n < s.m}) == "n >= m");
  CHECK(s.folded(Op::LogicalNot, {s.f < s.f}) == "logical_not(f < f)");  // both are false for NaN
  CHECK(s.folded(Op::LogicalNot, {call(Op::LogicalNot, {s.b})}) == "b");
}
