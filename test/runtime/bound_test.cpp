// pl::Bound: what is checked when it is made, what it reads at each call, and what it keeps alive.
#include "hand_captured.hpp"
#include "support.hpp"

#include <cfenv>
#include <optional>
#include <stdexcept>
#include <vector>

using support::contains;
using support::hand_kernel;
using support::message_of;
using support::numbers;

namespace build = trilith::codegen::build;
using trilith::codegen::Access;
using trilith::codegen::DType;
using trilith::codegen::Op;

namespace {

using Any = pl::Tensor<float>;

// y = x * s + c
auto scale(float shift) {
  build::KernelBuilder k("scale");
  auto x = k.tensor("x", Access::In, DType::Float32);
  auto y = k.tensor("y", Access::Out, DType::Float32);
  auto s = k.scalar("s", DType::Float32);
  auto c = k.capture("shift", DType::Float32);
  auto t = k.let("t", build::load(x));
  k.store(build::call(Op::Add, {build::call(Op::Mul, {t, s}), c}), {}, y);
  return hand_kernel(
      [shift](Any a, pl::Out<Any> b, pl::Scalar<float> f) { (void)pl::store(pl::load(a) * f + shift, b); },
      k.take());
}

}  // namespace

TEST_CASE(
    "a bound call, and its bare one, runs with its arguments and the captured value, and reads memory as it "
    "is then") {
  for (const bool eager : {false, true}) {
    CAPTURE(eager);
    ++support::hash_round();
    pl::RunConfig config = support::cached();
    config.eager = eager;
    pl::Context context(config);
    const pl::ContextScope scope(context);
    auto kernel = scale(0.5f);
    auto x = numbers({3, 5});
    pl::Array<float> y({3, 5});
    const auto bound = kernel.compile(x, y, 2.0f).bind(x, y, 3.0f);
    bound();
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(y.data()[i] == x.data()[i] * 3.0f + 0.5f);
    x.fill(7.0f);
    bound();
    for (const float element : y) CHECK(element == 21.5f);
    const auto bare = bound.bare();
    x.fill(9.0f);
    bare();
    for (const float element : y) CHECK(element == 27.5f);
  }
}

TEST_CASE("a bound call keeps the code and the extents it needs when all else is gone") {
  const support::Jit jit;
  std::optional<pl::Bound> bound;
  pl::Array<float> x({4, 6}, 2.0f), y({4, 6});
  {
    auto kernel = scale(0.0f);
    // The view, with its extents, dies before the call.
    const auto from = x.view(), to = y.view();
    bound = kernel.compile(from, to, 1.0f).bind(from, to, 10.0f);
  }
  (*bound)();
  for (const float element : y) CHECK(element == 20.0f);
  const auto bare = bound->bare();
  bound.reset();
  y.fill(0.0f);
  bare();
  for (const float element : y) CHECK(element == 20.0f);
}

TEST_CASE("what does not fit is refused when a call is bound, at the line of bind") {
  const support::Jit jit;
  auto kernel = scale(0.0f);
  auto x = numbers({4, 4});
  pl::Array<float> y({4, 4});
  const auto held = kernel.compile(x, y, 1.0f);
  auto other = numbers({4, 5});
  pl::Array<float> to({4, 5});
  const unsigned line = __LINE__ + 1;
  const std::string shapes = message_of<pl::ShapeError>([&] { (void)held.bind(other, to, 1.0f); });
  CHECK_MESSAGE(contains(shapes, "was compiled for (float[4, 4]"), shapes);
  CHECK_MESSAGE(contains(shapes, "float[4, 5]"), shapes);
  CHECK_MESSAGE(contains(shapes, "bound_test.cpp:" + std::to_string(line)), shapes);

  pl::Array<float> one({5, 4});
  const auto in = pl::tensor(one.data(), {4, 4}), out = pl::tensor(one.data() + 4, {4, 4});
  const std::string overlap = message_of<pl::ShapeError>([&] { (void)held.bind(in, out, 1.0f); });
  CHECK_MESSAGE(contains(overlap, "overlaps"), overlap);
}

TEST_CASE("a bound call in a host orchestrator is a level error") {
  const support::Jit jit;
  auto kernel = scale(0.0f);
  auto x = numbers({4, 4});
  pl::Array<float> y({4, 4});
  const auto bound = kernel.compile(x, y, 1.0f).bind(x, y, 1.0f);
  auto host = pl::jit.host([&](pl::Tensor<float, 4, 4>) { bound(); });
  const std::string text = message_of<pl::LevelError>([&] { (void)host.compile(x); });
  CHECK_MESSAGE(contains(text, "host orchestrator"), text);
}

TEST_CASE("a fault of a bare call is the user's error, and the next call runs") {
  const support::Jit jit;
  auto kernel = support::hand_kernel(
      [](Any a, pl::Out<Any> b, pl::Tensor<std::int64_t> at) {
        (void)pl::store(pl::load(a, {pl::read(pl::load(at), {0})}, {4}), {0}, b);
      },
      [] {
        build::KernelBuilder k("window", "user_kernel.cpp");
        auto x = k.tensor("x", Access::In, DType::Float32);
        auto y = k.tensor("y", Access::Out, DType::Float32);
        auto at = k.tensor("at", Access::In, DType::Int64);
        auto t = k.let("t", build::load(x, {build::read(build::load(at), {0})}, {4}));
        k.store(t, {0}, y);
        return k.take();
      }());
  auto x = numbers({8});
  pl::Array<float> y({4}, -1.0f);
  pl::Array<std::int64_t> at({1}, 9);
  const auto bare = kernel.compile(x, y, at).bind(x, y, at).bare();
  CHECK(contains(message_of<pl::ShapeError>([&] { bare(); }), "user_kernel.cpp:"));
  CHECK(y(0) == -1.0f);
  at.fill(4);
  bare();
  CHECK(y(3) == 7.0f);
}

TEST_CASE("an exception of the print sink ends a bare call, once") {
  const support::Jit jit;
  auto kernel = support::hand_kernel([](Any a) { pl::print(pl::load(a)); },
                                     [] {
                                       build::KernelBuilder k("shows");
                                       auto x = k.tensor("x", Access::In, DType::Float32);
                                       k.print(k.let("t", build::load(x)));
                                       return k.take();
                                     }());
  pl::Array<float> x({3}, 3.0f);
  const auto bare = kernel.compile(x).bind(x).bare();
  auto previous = pl::set_print_sink([](std::string_view) { throw std::runtime_error("sink"); });
  CHECK(message_of<std::runtime_error>([&] { bare(); }) == "sink");
  int parts = 0;
  pl::set_print_sink([&](std::string_view) { ++parts; });
  bare();
  pl::set_print_sink(previous);
  CHECK(parts == 1);
}

TEST_CASE("a bare call runs in the caller's floating-point environment") {
  const support::Jit jit;
  auto kernel = scale(0.0f);
  auto x = numbers({5, 8});
  pl::Array<float> y({5, 8});
  const auto bare = kernel.compile(x, y, 1.0f).bind(x, y, 1.0f / 3.0f).bare();
  bare();
  const std::vector<float> nearest(y.begin(), y.end());
  const int before = std::fegetround();
  std::fesetround(FE_UPWARD);
  bare();
  std::fesetround(before);
  int larger = 0;
  for (std::size_t i = 0; i < nearest.size(); ++i) {
    CHECK(y.data()[i] >= nearest[i]);
    larger += y.data()[i] > nearest[i] ? 1 : 0;
  }
  CHECK(larger > 0);
}

TEST_CASE("a bare call is not made in an orchestration") {
  const support::Jit jit;
  auto kernel = scale(0.0f);
  auto x = numbers({4, 4});
  pl::Array<float> y({4, 4});
  const auto bound = kernel.compile(x, y, 1.0f).bind(x, y, 1.0f);
  auto host = pl::jit.host([&](pl::Tensor<float, 4, 4>) { (void)bound.bare(); });
  const std::string text = message_of<pl::LevelError>([&] { (void)host.compile(x); });
  CHECK_MESSAGE(contains(text, "a bare call of "), text);
  CHECK_MESSAGE(contains(text, "bound_test.cpp:"), text);
}
