// pl::Bound: what is checked when it is made, what it reads at each call, and what it keeps alive.
#include "hand_captured.hpp"
#include "support.hpp"

#include <optional>

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

TEST_CASE("a bound call runs with its arguments and the captured value, and reads memory as it is then") {
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
