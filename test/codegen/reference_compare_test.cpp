#include "values.hpp"

using namespace trilith::codegen;
using namespace trilith::codegen::test;
using reference::apply;

namespace {
using I = std::int32_t;
using L = std::int64_t;
}  // namespace

TEST_CASE("comparisons give bool; NaN is unequal to everything") {
  const Value a = row({1.0f, 2.0f, nan32, -0.0f}), b = row({2.0f, 2.0f, nan32, 0.0f});
  CHECK_SAME(apply(Op::Eq, {a, b}), row({false, true, false, true}));
  CHECK_SAME(apply(Op::Ne, {a, b}), row({true, false, true, false}));
  CHECK_SAME(apply(Op::Lt, {a, b}), row({true, false, false, false}));
  CHECK_SAME(apply(Op::Le, {a, b}), row({true, true, false, true}));
  CHECK_SAME(apply(Op::Gt, {b, a}), row({true, false, false, false}));
  CHECK_SAME(apply(Op::Ge, {b, a}), row({true, true, false, true}));
  CHECK_SAME(apply(Op::Lt, {row<I>({lowest32, 1}), row<I>({highest32, 1})}), row({true, false}));
  CHECK_SAME(apply(Op::Gt, {Value::scalar(~std::uint64_t{0}), Value::scalar(std::uint64_t{1})}),
             Value::scalar(true));
  CHECK_SAME(apply(Op::Eq, {row({true, false}), row({true, true})}), row({true, false}));
  CHECK_SAME(apply(Op::IsNan, {row({nan32, inf32, 0.0f})}), row({true, false, false}));
  CHECK_SAME(apply(Op::IsInf, {row({nan64, inf64, -inf64, 0.0})}), row({false, true, true, false}));
}

TEST_CASE("logic works on bool") {
  const Value a = row({false, false, true, true}), b = row({false, true, false, true});
  CHECK_SAME(apply(Op::LogicalAnd, {a, b}), row({false, false, false, true}));
  CHECK_SAME(apply(Op::LogicalOr, {a, b}), row({false, true, true, true}));
  CHECK_SAME(apply(Op::LogicalNot, {a}), row({true, true, false, false}));
  CHECK_SAME(apply(Op::BitAnd, {a, b}), row({false, false, false, true}));
  CHECK_SAME(apply(Op::BitOr, {a, b}), row({false, true, true, true}));
  CHECK_SAME(apply(Op::BitXor, {a, b}), row({false, true, true, false}));
  CHECK_SAME(apply(Op::BitNot, {a}), row({true, true, false, false}));
}

TEST_CASE("bits work on integers") {
  CHECK_SAME(apply(Op::BitAnd, {row<I>({12, -1}), row<I>({10, 7})}), row<I>({8, 7}));
  CHECK_SAME(apply(Op::BitOr, {row<I>({12, 0}), row<I>({10, lowest32})}), row<I>({14, lowest32}));
  CHECK_SAME(apply(Op::BitXor, {row<I>({12, -1}), row<I>({10, -1})}), row<I>({6, 0}));
  CHECK_SAME(apply(Op::BitNot, {row<L>({0, lowest64})}), row<L>({-1, highest64}));
}

TEST_CASE("shifts beyond the width give 0 or the sign") {
  CHECK_SAME(apply(Op::Shl, {row<I>({1, 1, 1, 1, -1, 3}), row<I>({0, 31, 32, -1, 4, 31})}),
             row<I>({1, lowest32, 0, 0, -16, lowest32}));
  CHECK_SAME(apply(Op::Shr, {row<I>({-8, 8, -8, 8, -8, 8}), row<I>({1, 1, 32, 32, -1, -1})}),
             row<I>({-4, 4, -1, 0, -1, 0}));
  CHECK_SAME(apply(Op::Shl, {row<L>({1, 1}), row<L>({63, 64})}), row<L>({lowest64, 0}));
  CHECK_SAME(apply(Op::Shr, {row<L>({lowest64, lowest64}), row<L>({63, highest64})}), row<L>({-1, -1}));
  CHECK_SAME(apply(Op::Shr, {Value::scalar(std::uint8_t{200}), Value::scalar(std::uint8_t{8})}),
             Value::scalar(std::uint8_t{0}));
  CHECK_SAME(apply(Op::Shl, {Value::scalar(std::uint8_t{200}), Value::scalar(std::uint8_t{1})}),
             Value::scalar(std::uint8_t{144}));
}
