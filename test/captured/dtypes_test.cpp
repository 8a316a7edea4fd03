// Kernels of every dtype, captured by the build and compiled, against an eager run of the same lambda.
#include "runtime/support.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

using support::Eager;
using support::Jit;

namespace {

/// Small numbers, then the extremes of the dtype.
template <class T>
pl::Array<T> filled(const pl::Index& dims, int seed) {
  pl::Array<T> result(dims);
  using Limits = std::numeric_limits<T>;
  const T extremes[] = {Limits::lowest(), Limits::max(), T(0), T(1), static_cast<T>(Limits::max() / T(2))};
  for (std::size_t i = 0; i < result.size(); ++i)
    result.data()[i] =
        i % 7 == 3 ? extremes[(i / 7) % 5] : static_cast<T>(static_cast<int>((i * 13 + seed) % 40) + 1);
  return result;
}

/// Runs a kernel compiled and natively on the same inputs and compares the outputs bit for bit, any NaN equal to any NaN.
template <class R, class Kernel, class... Inputs>
bool agrees(const Kernel& kernel, const pl::Index& dims, Inputs&&... inputs) {
  pl::Array<R> compiled(dims), natively(dims);
  {
    const Jit jit;
    kernel(inputs..., compiled);
    if (jit.context.statistics().eager_calls != 0) return false;
  }
  const Eager eager;
  kernel(inputs..., natively);
  for (std::size_t i = 0; i < compiled.size(); ++i) {
    const R a = compiled.data()[i], b = natively.data()[i];
    if (std::memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b)) continue;
    MESSAGE("element ", i, ": compiled ", +a, ", natively ", +b);
    return false;
  }
  return true;
}

template <class T>
auto arithmetic() {
  return pl::jit.incore([](pl::Tensor<T> a, pl::Tensor<T> b, pl::Scalar<T> s, pl::Out<pl::Tensor<T>> y) {
    auto x = pl::load(a);
    auto mixed = (x * s + pl::load(b) * 3) / (pl::load(b) - 5) - x % 7;
    y = pl::store(pl::where(x > s, mixed, pl::minimum(x, pl::square(mixed))), y);
  });
}
template <class T>
auto sums() {
  return pl::jit.incore([](pl::Tensor<T> a, pl::Out<pl::Tensor<T>> y) {
    auto x = pl::load(a);
    y = pl::store(pl::row_sum(x) + pl::row_max(x) * pl::row_min(x), y);
  });
}
template <class T>
auto bits() {
  return pl::jit.incore([](pl::Tensor<T> a, pl::Tensor<T> b, pl::Out<pl::Tensor<T>> y) {
    auto x = pl::load(a);
    y = pl::store(((x & pl::load(b)) | (x << 3)) ^ (~x >> pl::load(b)), y);
  });
}
/// A Const, a captured value, and C++ arithmetic on values of the type in the kernel.
template <class T>
auto scalars(T captured) {
  return pl::jit.incore(
      [captured](pl::Tensor<T> a, pl::Const<T> k, pl::Scalar<T> s, pl::Out<pl::Tensor<T>> y) {
        const T one(1);
        T local = static_cast<T>(captured + one);
        local += one;
        local = static_cast<T>(local * T(3));
        if (s > captured) local = static_cast<T>(local - one);
        y = pl::store(pl::load(a) * local + k - s, y);
      });
}
template <class From, class To>
auto conversion() {
  return pl::jit.incore([](pl::Tensor<From> a, pl::Out<pl::Tensor<To>> y) {
    y = pl::store(pl::cast<To>(pl::load(a)) + pl::cast<To>(pl::load(a), {.mode = pl::CastMode::odd}), y);
  });
}

template <class T>
void check_dtype() {
  CAPTURE(trilith::codegen::name_of(trilith::codegen::dtype_of<T>));
  const pl::Index shape{3, 67};
  auto a = filled<T>(shape, 1), b = filled<T>(shape, 5);
  CHECK(agrees<T>(arithmetic<T>(), shape, a, b, T(9)));
  CHECK(agrees<T>(scalars<T>(T(11)), shape, a, T(2), T(90)));
  CHECK(agrees<float>(conversion<T, float>(), shape, a));
  CHECK(agrees<std::int16_t>(conversion<T, std::int16_t>(), shape, a));
}
template <class T>
void check_integer() {
  check_dtype<T>();
  const pl::Index shape{3, 67};
  auto a = filled<T>(shape, 1), b = filled<T>(shape, 5);
  CHECK(agrees<T>(sums<T>(), {3, 1}, a));
  CHECK(agrees<T>(bits<T>(), shape, a, b));
}

enum class Small : std::uint8_t { low = 3, high = 250 };
enum Plain { first, second = 7 };
enum class Unsigned : unsigned { top = 4294967295u };
enum class Long : std::int64_t { far = -(std::int64_t{1} << 40) };

}  // namespace

TEST_CASE("kernels of 8-bit integers give what an eager run gives") {
  check_integer<std::int8_t>();
  check_integer<std::uint8_t>();
}
TEST_CASE("kernels of 16-bit integers give what an eager run gives") {
  check_integer<std::int16_t>();
  check_integer<std::uint16_t>();
}
TEST_CASE("kernels of 32-bit integers give what an eager run gives") {
  check_integer<std::int32_t>();
  check_integer<std::uint32_t>();
}
TEST_CASE("kernels of 64-bit integers give what an eager run gives") {
  check_integer<std::int64_t>();
  check_integer<std::uint64_t>();
}
TEST_CASE("kernels of floats give what an eager run gives") {
  check_dtype<float>();
  check_dtype<double>();
}

template <class T>
void check_narrow_float() {
  check_dtype<T>();
  const pl::Index shape{3, 67};
  auto a = filled<T>(shape, 1);
  // Sums may associate in another order: these are exact.
  pl::Array<T> ones(shape, T(1));
  CHECK(agrees<T>(sums<T>(), {3, 1}, ones));
  // Every operation in this kernel is rounded: its result differs where one is not.
  auto rounded = pl::jit.incore([](pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y) {
    auto t = pl::load(x) * 0.1 + 3;
    y = pl::store(pl::fma(t, t, -t) / (t + 0.7f) - pl::sqrt(pl::abs(t)), y);
  });
  CHECK(agrees<T>(rounded, shape, a));
  // C++ arithmetic on values of the type: rounded too, and a float where a float takes part.
  const T start(0.1);
  auto scalar = pl::jit.incore([start](pl::Tensor<T> x, pl::Scalar<T> s, pl::Out<pl::Tensor<T>> y) {
    T sum = start;
    for (int i = 0; i < 7; ++i) sum += start * T(i);
    if (sum > 2.0f) sum = -sum;
    const float wide = sum * 1.001f;
    constexpr T third(1.0 / 3.0);
    y = pl::store(pl::load(x) * sum + T(wide) - s * third, y);
  });
  CHECK(agrees<T>(scalar, shape, a, T(0.3)));
  CHECK(agrees<T>(conversion<T, T>(), shape, a));
  CHECK(agrees<pl::half>(conversion<T, pl::half>(), shape, a));
  CHECK(agrees<pl::bfloat16>(conversion<T, pl::bfloat16>(), shape, a));
}
TEST_CASE("kernels of half give what an eager run gives") { check_narrow_float<pl::half>(); }
TEST_CASE("kernels of bfloat16 give what an eager run gives") { check_narrow_float<pl::bfloat16>(); }

TEST_CASE("enums of every underlying type are captured with their value") {
  Small small = Small::high;
  Plain plain = second;
  Unsigned top = Unsigned::top;
  Long far = Long::far;
  auto kernel = pl::jit.incore(
      [small, plain, top, far](pl::Tensor<std::int64_t> x, pl::Out<pl::Tensor<std::int64_t>> y) {
        std::int64_t sum = static_cast<std::int64_t>(top) + static_cast<std::int64_t>(far);
        if (small == Small::high) sum += static_cast<int>(small);
        sum += plain;
        y = pl::store(pl::load(x) + sum, y);
      });
  const Jit jit;
  pl::Array<std::int64_t> x({5}, std::int64_t{1}), y({5});
  kernel(x, y);
  CHECK(jit.context.statistics().eager_calls == 0);
  CHECK(y(4) == 1 + 4294967295 - (std::int64_t{1} << 40) + 250 + 7);
}

TEST_CASE("unsigned and size_t scalars count, wrap and compare as in C++") {
  std::size_t rounds = 5;
  unsigned start = 4294967290u;
  std::uint16_t narrow = 65535;
  auto kernel = pl::jit.incore(
      [rounds, start, narrow](pl::Tensor<std::uint32_t> x, pl::Out<pl::Tensor<std::uint32_t>> y) {
        unsigned total = start;
        for (std::size_t i = 0; i < rounds; ++i) total += static_cast<unsigned>(i);
        std::uint16_t wrapped = narrow;
        ++wrapped;
        if (wrapped == 0 && start > 5u) total += 100;
        total += static_cast<unsigned char>(300);
        y = pl::store(pl::load(x) + total, y);
      });
  const Jit jit;
  pl::Array<std::uint32_t> x({9}, 1u), y({9});
  kernel(x, y);
  CHECK(jit.context.statistics().eager_calls == 0);
  CHECK(y(8) == static_cast<std::uint32_t>(4294967290u + 10 + 100 + 44 + 1));
}

TEST_CASE("a 64-bit literal beside a tile keeps every bit") {
  auto kernel = pl::jit.incore([](pl::Tensor<std::int64_t> x, pl::Out<pl::Tensor<std::int64_t>> y) {
    y = pl::store(pl::load(x) + 9007199254740993LL, y);  // 2^53 + 1: no double
  });
  auto natural = pl::jit.incore([](pl::Tensor<std::uint64_t> x, pl::Out<pl::Tensor<std::uint64_t>> y) {
    y = pl::store(pl::load(x) ^ 18446744073709551615ull, y);
  });
  pl::Array<std::int64_t> x({3}, std::int64_t{0});
  pl::Array<std::uint64_t> u({3}, std::uint64_t{1});
  CHECK(agrees<std::int64_t>(kernel, {3}, x));
  CHECK(agrees<std::uint64_t>(natural, {3}, u));
  const Eager eager;
  pl::Array<std::int64_t> y({3});
  kernel(x, y);
  CHECK(y(0) == 9007199254740993LL);
}

TEST_CASE("a constant that the tile's integer dtype cannot hold is refused by both in the same words") {
  auto kernel = pl::jit.incore([](pl::Tensor<std::uint8_t> x, pl::Out<pl::Tensor<std::uint8_t>> y) {
    y = pl::store(pl::load(x) + 300, y);
  });
  pl::Array<std::uint8_t> x({3}), y({3});
  const std::string words =
      "add: the integer constant 300 stands beside uint8, which cannot hold it; convert with pl::cast";
  const auto message = [&] {
    try {
      kernel(x, y);
    } catch (const pl::DtypeError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  {
    const Jit jit;
    CHECK(message().find(words) != std::string::npos);
  }
  const Eager eager;
  CHECK(message().find(words) != std::string::npos);
}
