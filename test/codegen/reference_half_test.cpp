// half and bfloat16 in the reference operations, and the host types themselves.
#include "values.hpp"

#include "codegen/passes/fold.hpp"

using namespace trilith::codegen;
using namespace trilith::codegen::test;
using pl::bfloat16;
using pl::half;

namespace {

using Limits = std::numeric_limits<half>;

template <class T>
Value all_values() {
  Value x(dtype_of<T>, {65536});
  for (unsigned pattern = 0; pattern < 65536; ++pattern)
    x.data<T>()[pattern] = T::from_bits(static_cast<std::uint16_t>(pattern));
  return x;
}

}  // namespace

TEST_CASE("every half is its float: the compiler's own conversion agrees, and it comes back") {
  for (unsigned pattern = 0; pattern < 65536; ++pattern) {
    const half x = half::from_bits(static_cast<std::uint16_t>(pattern));
    const float wide = x;
    // By the definition of binary16, with ldexp.
    const int exponent = static_cast<int>(pattern >> 10) & 31, fraction = static_cast<int>(pattern) & 1023;
    const float size = exponent == 31  ? (fraction != 0 ? nan32 : inf32)
                       : exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                       : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
    REQUIRE(same_element(wide, (pattern & 0x8000) != 0 ? -size : size));
    REQUIRE(same_element(half(wide), x));
    const auto brain = bfloat16::from_bits(static_cast<std::uint16_t>(pattern));
    REQUIRE(same_element(static_cast<float>(brain), std::bit_cast<float>(pattern << 16)));
    REQUIRE(same_element(bfloat16(static_cast<float>(brain)), brain));
  }
}

TEST_CASE("a half is rounded to nearest, ties to even, once; too large is infinity") {
  CHECK(half(1.0f + 0x1p-11f).bits == 0x3c00);
  CHECK(half(1.0f + 0x3p-11f).bits == 0x3c02);
  CHECK(half(1.0 + 0x1p-11 + 0x1p-40).bits == 0x3c01);  // a float in between would lose the last bit
  CHECK(half(65519.99).bits == 0x7bff);
  CHECK(half(65520).bits == 0x7c00);
  CHECK(half(-1e30).bits == 0xfc00);
  CHECK(half(0x1p-25).bits == 0);
  CHECK(half(0x1.8p-25).bits == 1);
  CHECK(half(-0.0f).bits == 0x8000);
  CHECK(half(nan64) != half(nan64));
  CHECK(bfloat16(0x101p55).bits == bfloat16(0x1p63).bits);
  CHECK(bfloat16((std::int64_t{0x101} << 54) + 1).bits ==
        bfloat16(0x102p54).bits);  // an odd int64: above the tie
  CHECK(bfloat16(~std::uint64_t{0}).bits == bfloat16(0x1p64).bits);
  CHECK(bfloat16(std::numeric_limits<std::int64_t>::min()).bits == bfloat16(-0x1p63).bits);
  CHECK(static_cast<float>(Limits::max()) == 65504.0f);
  CHECK(static_cast<float>(Limits::denorm_min()) == 0x1p-24f);
  CHECK(static_cast<float>(Limits::epsilon()) == 0x1p-10f);
  CHECK(static_cast<float>(std::numeric_limits<bfloat16>::epsilon()) == 0x1p-7f);
  CHECK(static_cast<float>(std::numeric_limits<bfloat16>::min()) == std::numeric_limits<float>::min());
}

TEST_CASE("arithmetic on the host rounds after every operation") {
  half sum(2048);
  sum += half(1);
  CHECK(sum == half(2048));
  static_assert(std::is_same_v<decltype(half() * half()), half>);
  static_assert(std::is_same_v<decltype(half() * 2.0f), float>);
  static_assert(std::is_same_v<decltype(half() + bfloat16()), float>);
  CHECK((half(3) / half(7)).bits == half(3.0 / 7.0).bits);
  CHECK(same_element(-half(0), half(-0.0f)));
  CHECK(half(1) < half(2));
}

TEST_CASE("each operation of the reference is rounded to half once") {
  const Value x = row({half(1), half(2048), half(65504), half(0.1f), Limits::denorm_min()});
  const Value y = row({half(0x1p-11f), half(1), half(65504), half(3), half(0.5f)});
  CHECK_SAME(reference::apply(Op::Add, {x, y}),
             row({half(1), half(2048), Limits::infinity(), half(0.1f) + half(3), half(0.5f)}));
  CHECK_SAME(reference::apply(Op::Mul, {x, y}),
             row({half(0x1p-11f), half(2048), Limits::infinity(), half(0.1f) * half(3), half(0)}));
  // 1 / sqrt(3): the root is a half first.
  const half root(std::sqrt(3.0));
  CHECK_SAME(reference::apply(Op::Rsqrt, {row({half(3)})}), row({half(1) / root}));
  // The tiny addend decides a tie that a double would have rounded to.
  const Value one = row({bfloat16(1)}), more = row({bfloat16(1 + 0x1p-7)}), tiny = row({bfloat16(0x1p-100)});
  const Value tie = row({bfloat16(0x1.02p0)});
  CHECK_SAME(reference::apply(Op::Fma, {row({bfloat16(0x1.02p0)}), row({bfloat16(0x1.02p0)}), tiny}),
             row({bfloat16(0x1.0404p0)}));
  CHECK_SAME(reference::apply(Op::Fma, {row({bfloat16(0x1.1p0)}), row({bfloat16(0x1.1p0)}), tiny}),
             row({bfloat16(0x1.22p0)}));  // 1.21: the tie between 1.20 and 1.22
  CHECK_SAME(reference::apply(Op::Maximum, {one, more}), more);
  CHECK_SAME(reference::apply(Op::Minimum, {row({half(0)}), row({half(-0.0f)})}), row({half(-0.0f)}));
  CHECK_SAME(reference::apply(Op::Maximum, {row({Limits::quiet_NaN()}), row({half(1)})}),
             row({Limits::quiet_NaN()}));
  (void)tie;
}

TEST_CASE("every half through exact operations equals double's result, rounded") {
  const Value x = all_values<half>();
  const Value root = reference::apply(Op::Sqrt, {x}), whole = reference::apply(Op::Rint, {x}),
              reciprocal = reference::apply(Op::Recip, {x}), square = reference::apply(Op::Square, {x});
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const double value = static_cast<double>(x.get<half>(i));
    REQUIRE(same_element(root.get<half>(i), half(std::sqrt(value))));
    REQUIRE(same_element(whole.get<half>(i), half(std::nearbyint(value))));
    REQUIRE(same_element(reciprocal.get<half>(i), half(1 / value)));
    REQUIRE(same_element(square.get<half>(i), half(value * value)));
  }
}

TEST_CASE("sums of half are kept wider and rounded at the end") {
  Value x(DType::Float16, {1, 4096});
  std::fill_n(x.data<half>(), 4096, half(1));
  CHECK(reference::apply(Op::RowSum, {x}).get<half>() == half(4096));  // half by half it would stay at 2048
  CHECK(reference::apply(Op::RowMean, {x}).get<half>() == half(1));
  const Value none(DType::Float16, {2, 0});
  CHECK_SAME(reference::apply(Op::RowMax, {none}), tile<half>({2, 1}, {half(-inf32), half(-inf32)}));
}

TEST_CASE("literals beside half tiles are rounded, and half values are printed") {
  CHECK_SAME(reference::literal_as(Value::scalar(0.1), DType::Float16, "mul", {}), Value::scalar(half(0.1)));
  CHECK_SAME(reference::literal_as(Value::scalar(std::int32_t{70000}), DType::BFloat16, "mul", {}),
             Value::scalar(bfloat16(70000)));
  CHECK(reference::to_text(Value::scalar(half(1.5f))) == "half 1.5");
  CHECK(passes::constant_of(Value::scalar(half(-2))) == Constant::rounded(DType::Float16, -2.0));
  CHECK(Constant::rounded(DType::BFloat16, -2.5).as_double() == -2.5);
}
