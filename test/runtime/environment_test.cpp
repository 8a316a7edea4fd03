// What surrounds a compiled call: faults with the user's line, printing, the floating-point environment,
// alignment.
#include "hand_captured.hpp"
#include "support.hpp"

#include <cfenv>
#include <stdexcept>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

using support::contains;
using support::hand_kernel;
using support::Jit;
using support::message_of;
using support::numbers;

namespace build = trilith::codegen::build;
using trilith::codegen::Access;
using trilith::codegen::DType;
using trilith::codegen::Op;

namespace {

using Any = pl::Tensor<float>;

// y[0:4] = x[at:at+4]
auto window() {
  build::KernelBuilder k("window", "user_kernel.cpp");
  auto x = k.tensor("x", Access::In, DType::Float32);
  auto y = k.tensor("y", Access::Out, DType::Float32);
  auto at = k.scalar("at", DType::Int64);
  auto t = k.let("t", build::load(x, {at}, {4}));
  k.store(t, {0}, y);
  return hand_kernel([](Any a, pl::Out<Any> b,
                        pl::Scalar<std::int64_t> i) { (void)pl::store(pl::load(a, {i}, {4}), {0}, b); },
                     k.take());
}

// y = x / 3, and the tile printed
auto third(bool print) {
  build::KernelBuilder k("third");
  auto x = k.tensor("x", Access::In, DType::Float32);
  auto y = k.tensor("y", Access::Out, DType::Float32);
  auto t = k.let("t", build::load(x));
  auto d = k.let("d", build::call(Op::Div, {t, build::literal(3.0)}));
  if (print) k.print(d);
  k.store(d, {}, y);
  return hand_kernel([](Any a, pl::Out<Any> b) { (void)pl::store(pl::load(a) / 3.0f, b); }, k.take());
}

}  // namespace

TEST_CASE("a region outside the tensor is a ShapeError at the kernel's line and touches nothing") {
  const Jit jit;
  auto kernel = window();
  auto x = numbers({8});
  pl::Array<float> y({4}, -1.0f);
  kernel(x, y, std::int64_t{4});
  CHECK(y(3) == 7.0f);
  y.fill(-1);
  for (const std::int64_t at : {5, -1, 1000000000}) {
    const std::string message = message_of<pl::ShapeError>([&] { kernel(x, y, at); });
    CHECK(contains(message, "user_kernel.cpp:"));
    CHECK(y(0) == -1.0f);
  }
  kernel(x, y, std::int64_t{0});
  CHECK(y(3) == 3.0f);
}

TEST_CASE("pl::print of a compiled kernel goes to the sink") {
  const Jit jit;
  auto kernel = third(true);
  pl::Array<float> x({3}, 3.0f), y({3});
  std::string text;
  auto previous = pl::set_print_sink([&](std::string_view part) { text += part; });
  kernel(x, y);
  pl::set_print_sink(previous);
  CHECK(contains(text, "float"));
  CHECK(contains(text, "1"));
}

TEST_CASE("an exception of the print sink passes round the compiled frames") {
  const Jit jit;
  auto kernel = third(true);
  pl::Array<float> x({3}, 3.0f), y({3});
  auto previous = pl::set_print_sink([](std::string_view) { throw std::runtime_error("sink"); });
  CHECK(message_of<std::runtime_error>([&] { kernel(x, y); }) == "sink");
  pl::set_print_sink(previous);
  kernel(x, y);
  CHECK(y(2) == 1.0f);
}

#if defined(__x86_64__)
TEST_CASE("the floating-point environment after a call is the one before, flags included") {
  const Jit jit;
  auto kernel = third(false);
  pl::Array<float> x({40}, 1.0f), y({40});
  kernel(x, y);
  const unsigned before = _mm_getcsr();
  for (const unsigned extra : {0U, 0x8040U, 0x6000U, 0x8040U | 0x6000U}) {
    _mm_setcsr(0x1f80U | extra);
    kernel(x, y);
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    CHECK(after == (0x1f80U | extra));
    for (float element : y) CHECK(element == 1.0f / 3.0f);
  }
}

TEST_CASE("denormals are kept although the host flushes them") {
  const Jit jit;
  auto kernel = third(false);
  pl::Array<float> x({40}, 3e-40f), y({40});
  const float expected = x(0) / 3.0f;
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040U);
  kernel(x, y);
  _mm_setcsr(before);
  for (float element : y) CHECK(element == expected);
}
#endif

TEST_CASE("data may lie at any address that its dtype allows") {
  const Jit jit;
  auto kernel = third(false);
  for (int shift = 0; shift < 16; ++shift) {
    pl::Array<float> x({64}, 3.0f), y({64});
    kernel(pl::tensor(x.data() + shift, {37}), pl::tensor(y.data() + 15 - shift, {37}));
    for (int i = 0; i < 64; ++i) CHECK(y(i) == (i >= 15 - shift && i < 15 - shift + 37 ? 1.0f : 0.0f));
  }
}
