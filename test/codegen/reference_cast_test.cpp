#include "values.hpp"

using namespace trilith::codegen;
using namespace trilith::codegen::test;

namespace {
using I = std::int32_t;
using L = std::int64_t;

Value cast(DType to, const Value& x, CastMode mode = CastMode::Rint) {
  Attributes attributes;
  attributes.mode = mode;
  return reference::apply(Op::Cast, std::span(&x, 1), attributes, to, {});
}
}  // namespace

TEST_CASE("each mode rounds a float to an integer in its own way") {
  const Value x = row({-2.5f, -1.5f, -0.75f, 0.25f, 0.5f, 1.5f, 2.5f, 3.0f});
  CHECK_SAME(cast(DType::Int32, x, CastMode::Rint), row<I>({-2, -2, -1, 0, 0, 2, 2, 3}));
  CHECK_SAME(cast(DType::Int32, x, CastMode::Round), row<I>({-3, -2, -1, 0, 1, 2, 3, 3}));
  CHECK_SAME(cast(DType::Int32, x, CastMode::Floor), row<I>({-3, -2, -1, 0, 0, 1, 2, 3}));
  CHECK_SAME(cast(DType::Int32, x, CastMode::Ceil), row<I>({-2, -1, 0, 1, 1, 2, 3, 3}));
  CHECK_SAME(cast(DType::Int32, x, CastMode::Trunc), row<I>({-2, -1, 0, 0, 0, 1, 2, 3}));
  CHECK_SAME(cast(DType::Int32, x, CastMode::Odd), row<I>({-3, -1, -1, 1, 1, 1, 3, 3}));
}

TEST_CASE("float to integer saturates and NaN becomes 0, in every mode") {
  for (int mode = 0; mode <= static_cast<int>(CastMode::Odd); ++mode) {
    const auto m = static_cast<CastMode>(mode);
    CHECK_SAME(cast(DType::Int32, row({nan32, inf32, -inf32, 3e9f, -3e9f, 2147483648.0f}), m),
               row<I>({0, highest32, lowest32, highest32, lowest32, highest32}));
    CHECK_SAME(cast(DType::Int64, row({nan64, inf64, -inf64, 1e19, 0x1p63, -0x1p63}), m),
               row<L>({0, highest64, lowest64, highest64, highest64, lowest64}));
    CHECK_SAME(cast(DType::UInt8, Value::scalar(-1.0f), m), Value::scalar(std::uint8_t{0}));
    CHECK_SAME(cast(DType::UInt64, Value::scalar(2e19), m), Value::scalar(~std::uint64_t{0}));
  }
  CHECK_SAME(cast(DType::Int32, row({2147483647.5, 2147483646.5}), CastMode::Floor),
             row<I>({highest32, highest32 - 1}));
  CHECK_SAME(cast(DType::Int8, Value::scalar(127.5f), CastMode::Round), Value::scalar(std::int8_t{127}));
}

TEST_CASE("integers wrap into narrower ones and round to nearest into floats, whatever the mode") {
  CHECK_SAME(cast(DType::Int32, row<L>({0x1'0000'0005, -1})), row<I>({5, -1}));
  CHECK_SAME(cast(DType::Int64, row<I>({lowest32, 7})), row<L>({lowest32, 7}));
  for (CastMode mode : {CastMode::Rint, CastMode::Trunc, CastMode::Floor}) {
    CHECK_SAME(cast(DType::Float32, row<I>({16777217, 16777219}), mode), row({16777216.0f, 16777220.0f}));
    CHECK_SAME(cast(DType::Float32, row({0.1, 1e40, 1e-46, -0.0}), mode), row({0.1f, inf32, 0.0f, -0.0f}));
  }
  CHECK_SAME(cast(DType::Float64, row({0.1f, inf32, nan32})), row({static_cast<double>(0.1f), inf64, nan64}));
  CHECK_SAME(cast(DType::Float64, row<L>({highest64})), row({0x1p63}));
}

TEST_CASE("bool is x != 0, and 0 or 1 the other way") {
  CHECK_SAME(cast(DType::Bool, row({0.25f, -0.0f, nan32, 2.0f})), row({true, false, true, true}));
  CHECK_SAME(cast(DType::Bool, row<I>({256, 0, -1})), row({true, false, true}));
  CHECK_SAME(cast(DType::Float32, row({true, false})), row({1.0f, 0.0f}));
  CHECK_SAME(cast(DType::Int64, row({true, false})), row<L>({1, 0}));
}

TEST_CASE("a cast to the same dtype changes no bit") {
  const Value x = row({std::bit_cast<float>(0x7fc01234u), 0.5f, -0.0f});
  CHECK(cast(DType::Float32, x, CastMode::Floor).bytes == x.bytes);
}
