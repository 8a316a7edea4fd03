#include "values.hpp"

using namespace trilith::codegen;
using namespace trilith::codegen::test;
using reference::apply;

namespace {
using I = std::int32_t;
using L = std::int64_t;

Value all_dtypes_sample(DType dtype) {
  const Value numbers = row<float>({1, 2, 3});
  return reference::apply(Op::Cast, std::span(&numbers, 1), {}, dtype, {});
}
}  // namespace

TEST_CASE("every computing row of the table has a reference on every dtype it accepts") {
  for (const Operation& operation : operations()) {
    const Group group = operation.group;
    if (group == Group::Structure || group == Group::Create || group == Group::Move ||
        group == Group::Debug || group == Group::Identity || group == Group::Synchronise ||
        group == Group::Remote || is_tile_call(group))
      continue;
    for (int i = 0; i < dtype_count; ++i) {
      const auto dtype = static_cast<DType>(i);
      if (dtype == DType::Float16 || dtype == DType::BFloat16) continue;
      CAPTURE(operation.name);
      CAPTURE(name_of(dtype));
      Value operand = all_dtypes_sample(dtype);
      operand.shape = {3, 1};
      std::vector<Value> operands(static_cast<std::size_t>(operation.arity), operand);
      if (operation.op == Op::Where) operands[0] = all_dtypes_sample(DType::Bool);
      if (accepts(operation.dtypes, dtype))
        CHECK_NOTHROW((void)apply(operation.op, operands, {}, DType::Float32, {}));
      else
        CHECK_THROWS_AS((void)apply(operation.op, operands, {}, DType::Float32, {}), pl::DtypeError);
    }
  }
}

TEST_CASE("integers wrap, and nothing traps") {
  const auto check = [](Op op, std::initializer_list<I> a, std::initializer_list<I> b,
                        std::initializer_list<I> r) {
    CAPTURE(operation(op).name);
    CHECK_SAME(apply(op, {row(a), row(b)}), row(r));
  };
  check(Op::Add, {highest32, 1}, {1, 2}, {lowest32, 3});
  check(Op::Sub, {lowest32, 1}, {1, 2}, {highest32, -1});
  check(Op::Mul, {highest32, -3}, {2, 4}, {-2, -12});
  check(Op::Div, {7, -7, 7, -7, 5, lowest32}, {2, 2, -2, -2, 0, -1}, {3, -3, -3, 3, 0, lowest32});
  check(Op::Fmod, {7, -7, 7, -7, 5, lowest32}, {2, 2, -2, -2, 0, -1}, {1, -1, 1, -1, 0, 0});
  check(Op::Rem, {7, -7, 7, -7, 5, lowest32, 6}, {2, 2, -2, -2, 0, -1, -3}, {1, 1, -1, -1, 0, 0, 0});
  check(Op::Maximum, {lowest32, 3}, {highest32, 2}, {highest32, 3});
  check(Op::Minimum, {lowest32, 3}, {highest32, 2}, {lowest32, 2});
  CHECK_SAME(apply(Op::Neg, {row<I>({lowest32, 5})}), row<I>({lowest32, -5}));
  CHECK_SAME(apply(Op::Abs, {row<I>({lowest32, -5, 5})}), row<I>({lowest32, 5, 5}));
  CHECK_SAME(apply(Op::Square, {row<I>({65536, -3})}), row<I>({0, 9}));
  CHECK_SAME(apply(Op::Sign, {row<I>({-9, 0, 4})}), row<I>({-1, 0, 1}));
  CHECK_SAME(apply(Op::Relu, {row<I>({-9, 0, 4})}), row<I>({0, 0, 4}));
  CHECK_SAME(apply(Op::Clamp, {row<I>({-9, 0, 4}), row<I>({-1}), row<I>({2})}), row<I>({-1, 0, 2}));
  CHECK_SAME(apply(Op::Mul, {row<L>({highest64, lowest64}), row<L>({2, -1})}), row<L>({-2, lowest64}));
  CHECK_SAME(apply(Op::Div, {row<L>({lowest64}), row<L>({-1})}), row<L>({lowest64}));
}

TEST_CASE("narrow and unsigned scalars compute in their own width") {
  const auto scalar = [](auto value) { return Value::scalar(value); };
  using S = std::int8_t;
  using U = std::uint16_t;
  CHECK_SAME(apply(Op::Add, {scalar(S{127}), scalar(S{1})}), scalar(S{-128}));
  CHECK_SAME(apply(Op::Mul, {scalar(U{65535}), scalar(U{65535})}), scalar(U{1}));
  CHECK_SAME(apply(Op::Sub, {scalar(std::uint32_t{0}), scalar(std::uint32_t{1})}), scalar(~std::uint32_t{0}));
  CHECK_SAME(apply(Op::Div, {scalar(~std::uint64_t{0}), scalar(std::uint64_t{2})}),
             scalar(~std::uint64_t{0} / 2));
  CHECK_SAME(apply(Op::Abs, {scalar(S{-128})}), scalar(S{-128}));
  CHECK_SAME(apply(Op::Div, {scalar(S{-128}), scalar(S{-1})}), scalar(S{-128}));
  CHECK_SAME(apply(Op::Rem, {scalar(U{7}), scalar(U{0})}), scalar(U{0}));
}

TEST_CASE("float arithmetic keeps zeros' signs, infinities, NaN and denormals") {
  const float tiny = std::numeric_limits<float>::denorm_min();
  const float least = std::numeric_limits<float>::min();
  CHECK_SAME(apply(Op::Add, {row({0.0f, -0.0f, inf32, tiny}), row({-0.0f, -0.0f, -inf32, tiny})}),
             row({0.0f, -0.0f, nan32, 2 * tiny}));
  CHECK_SAME(apply(Op::Mul, {row({-1.0f, inf32, least}), row({0.0f, 0.0f, 0.5f})}),
             row({-0.0f, nan32, least / 2}));
  CHECK_SAME(apply(Op::Div, {row({1.0f, -1.0f, 0.0f}), row({0.0f, 0.0f, 0.0f})}),
             row({inf32, -inf32, nan32}));
  CHECK_SAME(apply(Op::Sub, {row({1.0f, inf32}), row({1.0f, inf32})}), row({0.0f, nan32}));
  CHECK_SAME(apply(Op::Neg, {row({0.0f, -0.0f, inf32, nan32})}), row({-0.0f, 0.0f, -inf32, nan32}));
  CHECK_SAME(apply(Op::Abs, {row({-0.0f, -inf32, -2.5f, nan32})}), row({0.0f, inf32, 2.5f, nan32}));
  CHECK_SAME(apply(Op::Recip, {row({0.0f, -0.0f, inf32, 4.0f})}), row({inf32, -inf32, 0.0f, 0.25f}));
  CHECK_SAME(apply(Op::Sqrt, {row({4.0f, -0.0f, -1.0f, inf32})}), row({2.0f, -0.0f, nan32, inf32}));
  CHECK_SAME(apply(Op::Rsqrt, {row({4.0f, 0.0f, -0.0f, -1.0f, inf32})}),
             row({0.5f, inf32, -inf32, nan32, 0.0f}));
  CHECK_SAME(apply(Op::Square, {row({-3.0f, 1e30f, nan32})}), row({9.0f, inf32, nan32}));
  CHECK_SAME(apply(Op::Sign, {row({-2.0f, -0.0f, 0.0f, tiny, nan32})}),
             row({-1.0f, 0.0f, 0.0f, 1.0f, nan32}));
  CHECK_SAME(apply(Op::Add, {row({0.1, 1e308}), row({0.2, 1e308})}), row({0.1 + 0.2, inf64}));
}

TEST_CASE("operations are each rounded once: no contraction, and fma is one rounding") {
  const float a = 1.0f + 0x1p-13f, b = 1.0f - 0x1p-13f;
  const Value product = apply(Op::Mul, {row({a}), row({b})});
  CHECK_SAME(apply(Op::Sub, {product, product}), row({0.0f}));
  CHECK_SAME(product, row({1.0f}));
  CHECK_SAME(apply(Op::Fma, {row({a}), row({b}), row({-1.0f})}), row({-0x1p-26f}));
  CHECK_SAME(apply(Op::Fma, {row({1.0 + 0x1p-27}), row({1.0 - 0x1p-27}), row({-1.0})}), row({-0x1p-54}));
}

TEST_CASE("NaN goes through maximum, minimum, relu and clamp, and -0 is below +0") {
  CHECK_SAME(apply(Op::Maximum, {row({nan32, 1.0f, -0.0f, 0.0f, -0.0f, -inf32}),
                                 row({1.0f, nan32, 0.0f, -0.0f, -0.0f, 2.0f})}),
             row({nan32, nan32, 0.0f, 0.0f, -0.0f, 2.0f}));
  CHECK_SAME(apply(Op::Minimum, {row({nan32, 1.0f, -0.0f, 0.0f, 0.0f, -inf32}),
                                 row({1.0f, nan32, 0.0f, -0.0f, 0.0f, 2.0f})}),
             row({nan32, nan32, -0.0f, -0.0f, 0.0f, -inf32}));
  CHECK_SAME(apply(Op::Relu, {row({nan32, -1.0f, -0.0f, 2.0f, inf32, -inf32})}),
             row({nan32, 0.0f, 0.0f, 2.0f, inf32, 0.0f}));
  CHECK_SAME(apply(Op::Clamp, {row({nan32, -5.0f, 5.0f, 0.5f}), row({0.0f}), row({1.0f})}),
             row({nan32, 0.0f, 1.0f, 0.5f}));
  CHECK_SAME(apply(Op::Clamp, {row({0.5f}), row({nan32}), row({1.0f})}), row({nan32}));
}

TEST_CASE("the roundings differ where they should") {
  const Value x = row({-2.5f, -0.5f, -0.25f, 0.5f, 1.5f, 2.5f, inf32, nan32, 1e20f});
  CHECK_SAME(apply(Op::Floor, {x}), row({-3.0f, -1.0f, -1.0f, 0.0f, 1.0f, 2.0f, inf32, nan32, 1e20f}));
  CHECK_SAME(apply(Op::Ceil, {x}), row({-2.0f, -0.0f, -0.0f, 1.0f, 2.0f, 3.0f, inf32, nan32, 1e20f}));
  CHECK_SAME(apply(Op::Round, {x}), row({-3.0f, -1.0f, -0.0f, 1.0f, 2.0f, 3.0f, inf32, nan32, 1e20f}));
  CHECK_SAME(apply(Op::Rint, {x}), row({-2.0f, -0.0f, -0.0f, 0.0f, 2.0f, 2.0f, inf32, nan32, 1e20f}));
  CHECK_SAME(apply(Op::Trunc, {x}), row({-2.0f, -0.0f, -0.0f, 0.0f, 1.0f, 2.0f, inf32, nan32, 1e20f}));
}

TEST_CASE("fmod has the dividend's sign, rem the divisor's") {
  const Value a = row({7.5f, -7.5f, 7.5f, -7.5f, 1.0f, inf32, -1.0f, -6.0f, 6.0f});
  const Value b = row({2.0f, 2.0f, -2.0f, -2.0f, 0.0f, 2.0f, inf32, 3.0f, -3.0f});
  CHECK_SAME(apply(Op::Fmod, {a, b}), row({1.5f, -1.5f, 1.5f, -1.5f, nan32, nan32, -1.0f, -0.0f, 0.0f}));
  CHECK_SAME(apply(Op::Rem, {a, b}), row({1.5f, 0.5f, -0.5f, -1.5f, nan32, nan32, inf32, 0.0f, -0.0f}));
}

TEST_CASE("where moves bits, whatever they are") {
  const float payload = std::bit_cast<float>(0x7fc01234u);
  const Value picked = apply(Op::Where, {row({true, false}), row({payload, 1.0f}), row({2.0f, -0.0f})});
  CHECK(std::bit_cast<std::uint32_t>(picked.get<float>(0)) == 0x7fc01234u);
  CHECK(std::bit_cast<std::uint32_t>(picked.get<float>(1)) == 0x80000000u);
  CHECK_SAME(apply(Op::Where, {Value::scalar(true), tile<I>({2, 1}, {1, 2}), row<I>({7, 8})}),
             tile<I>({2, 2}, {1, 1, 2, 2}));
}

TEST_CASE("operands broadcast as in NumPy") {
  const Value column = tile<float>({2, 1}, {10, 20});
  CHECK_SAME(apply(Op::Add, {column, row({1.0f, 2.0f, 3.0f})}),
             tile<float>({2, 3}, {11, 12, 13, 21, 22, 23}));
  CHECK_SAME(apply(Op::Mul, {column, Value::scalar(2.0f)}), tile<float>({2, 1}, {20, 40}));
  CHECK_SAME(apply(Op::Add, {tile<float>({0, 3}, {}), row({1.0f, 2.0f, 3.0f})}), tile<float>({0, 3}, {}));
  CHECK_SAME(apply(Op::Add, {tile<float>({1, 3}, {1, 2, 3}), tile<float>({0, 1}, {})}),
             tile<float>({0, 3}, {}));
  CHECK_SAME(apply(Op::Fma, {column, row({1.0f, 2.0f}), tile<float>({1, 1, 1}, {0.5f})}),
             tile<float>({1, 2, 2}, {10.5f, 20.5f, 20.5f, 40.5f}));
  CHECK_SAME(apply(Op::Add, {Value::scalar(1.0f), Value::scalar(2.0f)}), Value::scalar(3.0f));
  CHECK(reference::broadcast({5, 1, 3}, {4, 1}, "add", {}) == Shape{5, 4, 3});
}

TEST_CASE("a result depends on nothing but its operands") {
  const Value x = row({0.1f, 1e-40f, -3.7f, 88.7f});
  for (Op op : {Op::Exp, Op::Sin, Op::Sqrt, Op::Square, Op::Sigmoid})
    CHECK(apply(op, {x}).bytes == apply(op, {x}).bytes);
}
