// What the vector unit computes: the arithmetic bit by bit, masks, repeats and strides, and what a tail leaves unspecified.
#include <cmath>
#include <limits>

#include "test/model/model.hpp"

using namespace AscendC;
using namespace model_test;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(),
                not_a_number = std::numeric_limits<float>::quiet_NaN();

/// Loads inputs, computes, stores: `compute(dst, a, b)` on tiles of `size` elements.
template <class To, class From, class Compute>
std::vector<To> computed(const std::vector<From>& a, const std::vector<From>& b, std::size_t size,
                         Compute compute) {
  std::vector<To> result(size);
  const Outcome outcome = run({input(a), input(b), output(result)}, [&] {
    TPipe pipe;
    TQue<TPosition::VECIN, 1> first, second;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(first, 1, static_cast<std::int64_t>(a.size() * sizeof(From)));
    pipe.InitBuffer(second, 1, static_cast<std::int64_t>(b.size() * sizeof(From)));
    pipe.InitBuffer(out, 1, static_cast<std::int64_t>(size * sizeof(To)));
    auto x = first.AllocTensor<From>(), y = second.AllocTensor<From>();
    DataCopy(x, global(a), static_cast<std::uint32_t>(a.size()));
    DataCopy(y, global(b), static_cast<std::uint32_t>(b.size()));
    first.EnQue(x);
    second.EnQue(y);
    x = first.DeQue<From>();
    y = second.DeQue<From>();
    auto z = out.AllocTensor<To>();
    compute(z, x, y);
    out.EnQue(z);
    z = out.DeQue<To>();
    DataCopy(global(result), z, static_cast<std::uint32_t>(size));
    first.FreeTensor(x);
    second.FreeTensor(y);
    out.FreeTensor(z);
  });
  CHECK(outcome.message == "");
  return result;
}

template <class T>
std::vector<T> filled(std::initializer_list<T> values, std::size_t size) {
  std::vector<T> result(values);
  result.resize(size, T{1});
  return result;
}

}  // namespace

TEST_CASE("Add, Sub, Mul and Div of float are IEEE's") {
  const auto a = filled<float>({1e30f, 0.1f, infinity, 1e-40f, 3}, 64),
             b = filled<float>({1e30f, 0.2f, infinity, 1e-40f, 0}, 64);
  const auto sum = computed<float>(a, b, 64, [](auto& z, auto& x, auto& y) { Add(z, x, y, 64); });
  const auto product = computed<float>(a, b, 64, [](auto& z, auto& x, auto& y) { Mul(z, x, y, 64); });
  const auto quotient = computed<float>(a, b, 64, [](auto& z, auto& x, auto& y) { Div(z, x, y, 64); });
  for (std::size_t i = 0; i < 5; ++i) {
    if (!std::isnan(a[i] + b[i])) CHECK(sum[i] == a[i] + b[i]);
    CHECK(product[i] == a[i] * b[i]);
    if (!std::isnan(a[i] / b[i])) CHECK(quotient[i] == a[i] / b[i]);
  }
  CHECK(std::isnan(quotient[2]));
  CHECK(sum[3] != 0);  // subnormal
}

TEST_CASE("half is rounded once after every operation") {
  const auto a = filled<half>({2048, 65504, half(0.1f)}, 128), b = filled<half>({1, 65504, half(0.2f)}, 128);
  const auto sum = computed<half>(a, b, 128, [](auto& z, auto& x, auto& y) { Add(z, x, y, 128); });
  CHECK(static_cast<float>(sum[0]) == 2048);  // 2049 is a tie, to even
  CHECK(static_cast<float>(sum[1]) == infinity);
  CHECK(static_cast<float>(sum[2]) == static_cast<float>(half(half(0.1f) + half(0.2f))));
}

TEST_CASE("integers wrap") {
  const auto a = filled<std::int32_t>({2147483647, -2147483647 - 1, 65536}, 64),
             b = filled<std::int32_t>({1, -1, 65536}, 64);
  const auto sum = computed<std::int32_t>(a, b, 64, [](auto& z, auto& x, auto& y) { Add(z, x, y, 64); });
  const auto product = computed<std::int32_t>(a, b, 64, [](auto& z, auto& x, auto& y) { Mul(z, x, y, 64); });
  CHECK(sum[0] == -2147483647 - 1);
  CHECK(sum[1] == 2147483647);
  CHECK(product[2] == 0);
  const auto c = filled<std::int16_t>({32767, 300}, 128), d = filled<std::int16_t>({1, 300}, 128);
  CHECK(computed<std::int16_t>(c, d, 128, [](auto& z, auto& x, auto& y) { Add(z, x, y, 128); })[0] == -32768);
  CHECK(computed<std::int16_t>(c, d, 128, [](auto& z, auto& x, auto& y) { Mul(z, x, y, 128); })[1] ==
        static_cast<std::int16_t>(90000));
}

TEST_CASE("NaN goes through Max, Min and Relu") {
  const auto a = filled<float>({not_a_number, 1, -0.0f}, 64), b = filled<float>({1, not_a_number, 0.0f}, 64);
  const auto greatest = computed<float>(a, b, 64, [](auto& z, auto& x, auto& y) { Max(z, x, y, 64); });
  const auto least = computed<float>(a, b, 64, [](auto& z, auto& x, auto& y) { Min(z, x, y, 64); });
  for (int i = 0; i < 2; ++i) {
    CHECK(std::isnan(greatest[static_cast<std::size_t>(i)]));
    CHECK(std::isnan(least[static_cast<std::size_t>(i)]));
  }
  CHECK_FALSE(std::signbit(greatest[2]));
  CHECK(std::signbit(least[2]));
  CHECK(std::isnan(computed<float>(a, b, 64, [](auto& z, auto& x, auto&) { Relu(z, x, 64); })[0]));
}

TEST_CASE("a mask keeps the lanes that it does not name") {
  const std::vector<float> a(128, 2), b(128, 3);
  const auto bits = computed<float>(a, b, 128, [](auto& z, auto& x, auto& y) {
    Duplicate(z, 0.0f, 128);
    PipeBarrier<PIPE_V>();
    const std::uint64_t mask[2] = {0x5, 0};
    Add(z, x, y, mask, 2, {1, 1, 1, 8, 8, 8});
  });
  for (std::size_t i = 0; i < 128; ++i) CHECK(bits[i] == (i % 64 == 0 || i % 64 == 2 ? 5 : 0));
  const auto first = computed<float>(a, b, 128, [](auto& z, auto& x, auto& y) {
    Duplicate(z, 0.0f, 128);
    PipeBarrier<PIPE_V>();
    Add(z, x, y, 10, 2, {1, 1, 1, 8, 8, 8});
  });
  for (std::size_t i = 0; i < 128; ++i) CHECK(first[i] == (i % 64 < 10 ? 5 : 0));
}

TEST_CASE("a row and a column are broadcast by strides of 0") {
  std::vector<float> a(8 * 64), row(64), column(8);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i);
  for (std::size_t i = 0; i < 64; ++i) row[i] = static_cast<float>(i) * 100;
  for (std::size_t i = 0; i < 8; ++i) column[i] = static_cast<float>(i) * 1000;
  const auto by_row = computed<float>(
      a, row, a.size(), [](auto& z, auto& x, auto& y) { Add(z, x, y, 64, 8, {1, 1, 1, 8, 8, 0}); });
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(by_row[i] == a[i] + row[i % 64]);
  const auto by_column = computed<float>(a, column, a.size(), [](auto& z, auto& x, auto& y) {
    // The 8 scalars become 8 blocks in the first row of the result's last row, which is written last.
    auto blocks = z[7 * 64];
    Brcb(blocks, y, 1, {1, 8});
    PipeBarrier<PIPE_V>();
    Add(z, x, blocks, 64, 7, {1, 1, 0, 8, 8, 1});
    PipeBarrier<PIPE_V>();
    Adds(blocks, x[7 * 64], 7000.0f, 64);
  });
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(by_column[i] == a[i] + column[i / 64]);
}

TEST_CASE("Cast rounds by its mode and saturates") {
  const auto a = filled<float>({2.5f, -2.5f, 3e9f, not_a_number, -0.5f, 1.5f}, 64);
  const auto cast = [&](RoundMode mode) {
    return computed<std::int32_t>(a, a, 64, [mode](auto& z, auto& x, auto&) { Cast(z, x, mode, 64); });
  };
  CHECK(cast(RoundMode::CAST_RINT)[0] == 2);
  CHECK(cast(RoundMode::CAST_ROUND)[0] == 3);
  CHECK(cast(RoundMode::CAST_ROUND)[1] == -3);
  CHECK(cast(RoundMode::CAST_FLOOR)[1] == -3);
  CHECK(cast(RoundMode::CAST_CEIL)[0] == 3);
  CHECK(cast(RoundMode::CAST_TRUNC)[1] == -2);
  CHECK(cast(RoundMode::CAST_RINT)[2] == std::numeric_limits<std::int32_t>::max());
  CHECK(cast(RoundMode::CAST_RINT)[3] == 0);
  const auto b = filled<float>({2049, 2051, 1e6f, 1.0f + 0x1p-12f}, 64);
  const auto narrow = [&](RoundMode mode) {
    return computed<half>(b, b, 64, [mode](auto& z, auto& x, auto&) { Cast(z, x, mode, 64); });
  };
  CHECK(static_cast<float>(narrow(RoundMode::CAST_RINT)[0]) == 2048);
  CHECK(static_cast<float>(narrow(RoundMode::CAST_ROUND)[0]) == 2050);
  CHECK(static_cast<float>(narrow(RoundMode::CAST_CEIL)[0]) == 2050);
  CHECK(static_cast<float>(narrow(RoundMode::CAST_RINT)[1]) == 2052);
  CHECK(static_cast<float>(narrow(RoundMode::CAST_RINT)[2]) == infinity);
  CHECK(static_cast<float>(narrow(RoundMode::CAST_TRUNC)[2]) == 65504);
  CHECK(narrow(RoundMode::CAST_ODD)[3].bits == 0x3c01);
}

TEST_CASE("Compare makes a mask that Select takes") {
  const auto a = filled<float>({1, 5, not_a_number, -1}, 64), b = filled<float>({2, 4, 0, -1}, 64);
  const auto chosen = computed<float>(a, b, 64, [](auto& z, auto& x, auto& y) {
    auto mask = GetTPipePtr();
    TBuf<TPosition::VECCALC> buffer;
    mask->InitBuffer(buffer, 32);
    auto bits = buffer.Get<std::uint8_t>();
    Compare(bits, x, y, CMPMODE::LT, 64);
    PipeBarrier<PIPE_V>();
    Select(z, bits, x, y, SELMODE::VSEL_TENSOR_TENSOR_MODE, 64);
  });
  CHECK(chosen[0] == 1);
  CHECK(chosen[1] == 4);
  CHECK(chosen[2] == 0);  // NaN is less than nothing
  CHECK(chosen[3] == -1);
}

TEST_CASE("reductions of repeats, blocks and ranges") {
  std::vector<float> a(128);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>((i * 37) % 128);
  const auto result = computed<float>(a, a, 64, [](auto& z, auto& x, auto&) {
    TBuf<TPosition::VECCALC> buffer;
    GetTPipePtr()->InitBuffer(buffer, 64);
    Duplicate(z, 0.0f, 64);
    PipeBarrier<PIPE_V>();
    WholeReduceSum(z, x, 64, 2, 1, 1, 8);
    WholeReduceMax(z[8], x, 64, 2, 1, 1, 8);
    WholeReduceMin(z[16], x, 64, 2, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);
    BlockReduceSum(z[24], x, 1, 64, 1, 1, 8);
    ReduceMax(z[32], x, buffer.Get<float>(), 128, true);
  });
  float sum[2] = {0, 0};
  std::size_t greatest = 0;
  for (std::size_t i = 0; i < 128; ++i) {
    sum[i / 64] += a[i];
    if (a[i] > a[greatest]) greatest = i;
  }
  CHECK(result[0] == sum[0]);
  CHECK(result[1] == sum[1]);
  CHECK(result[8 + greatest / 64 * 2] == 127);
  CHECK(__builtin_bit_cast(std::uint32_t, result[9 + greatest / 64 * 2]) == greatest % 64);
  CHECK(result[16] == 0);
  CHECK(result[24] == a[0] + a[1] + a[2] + a[3] + a[4] + a[5] + a[6] + a[7]);
  CHECK(result[32] == 127);
  CHECK(__builtin_bit_cast(std::uint32_t, result[33]) == greatest);
}

TEST_CASE("Gather takes byte offsets, CreateVecIndex counts, shifts and bit operations work on their bits") {
  std::vector<std::int32_t> a(64);
  for (std::size_t i = 0; i < 64; ++i) a[i] = static_cast<std::int32_t>(i) * 10 - 100;
  const auto turned = computed<std::int32_t>(a, a, 64, [](auto& z, auto& x, auto& y) {
    CreateVecIndex(y, 0, 64);
    PipeBarrier<PIPE_V>();
    Muls(y, y, -4, 64);
    PipeBarrier<PIPE_V>();
    Adds(y, y, 63 * 4, 64);
    PipeBarrier<PIPE_V>();
    Gather(z, x, y.template ReinterpretCast<std::uint32_t>(), 0, 64);
  });
  for (std::size_t i = 0; i < 64; ++i) CHECK(turned[i] == a[63 - i]);
  const auto shifted =
      computed<std::int32_t>(a, a, 64, [](auto& z, auto& x, auto&) { ShiftRight(z, x, 1, 64); });
  CHECK(shifted[0] == -50);
  const auto negated = computed<std::int32_t>(a, a, 64, [](auto& z, auto& x, auto&) {
    Not(z.template ReinterpretCast<std::int16_t>(), x.template ReinterpretCast<std::int16_t>(), 128);
  });
  CHECK(negated[3] == ~a[3]);
}

TEST_CASE("a tail is loaded by DataCopyPad and only its elements are stored") {
  std::vector<float> x(3 * 5), y(3 * 5);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  const Outcome outcome = run({input(x), output(y)}, [&] {
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
    pipe.InitBuffer(queue, 1, 3 * 32);
    auto tile = queue.AllocTensor<float>();
    DataCopyPad(tile, global(x), {3, 20, 0, 0, 0}, {false, 0, 0, 0.0f});
    queue.EnQue(tile);
    tile = queue.DeQue<float>();
    DataCopyPad(global(y), tile, {3, 20, 0, 0, 0});
    queue.FreeTensor(tile);
  });
  CHECK(outcome.message == "");
  CHECK(x == y);
}

TEST_CASE("a million elements take seconds") {
  std::vector<float> x(1 << 20, 1.5f), y(x.size());
  constexpr std::uint32_t tile = 8192;
  const Outcome outcome = run(
      {input(x), output(y)},
      [&] {
        TPipe pipe;
        TQue<TPosition::VECIN, 1> in;
        TQue<TPosition::VECOUT, 1> out;
        pipe.InitBuffer(in, 2, tile * 4);
        pipe.InitBuffer(out, 2, tile * 4);
        const auto each = static_cast<std::uint32_t>(x.size() / static_cast<std::size_t>(GetBlockNum()));
        const auto first = static_cast<std::uint32_t>(GetBlockIdx()) * each;
        for (std::uint32_t at = first; at < first + each; at += tile) {
          auto a = in.AllocTensor<float>();
          DataCopy(a, global(x)[at], tile);
          in.EnQue(a);
          a = in.DeQue<float>();
          auto b = out.AllocTensor<float>();
          Mul(b, a, a, tile);
          out.EnQue(b);
          in.FreeTensor(a);
          b = out.DeQue<float>();
          DataCopy(global(y)[at], b, tile);
          out.FreeTensor(b);
        }
      },
      Cores::Vector, 16);
  CHECK(outcome.message == "");
  CHECK(y == std::vector<float>(y.size(), 2.25f));
}
