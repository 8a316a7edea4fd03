// Kernels through the JIT: what is a specialisation, what a key holds, in-place rules, faults, threads.
#include "hand_captured.hpp"
#include "support.hpp"

#include <barrier>
#include <set>
#include <thread>

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

constexpr auto N = pl::dynamic("N");

using Any = pl::Tensor<float>;

// y = x * s, of any shape
auto scale_any() {
  build::KernelBuilder k("scale");
  auto x = k.tensor("x", Access::In, DType::Float32);
  auto y = k.tensor("y", Access::Out, DType::Float32);
  auto s = k.scalar("s", DType::Float32);
  auto t = k.let("t", build::load(x));
  k.store(build::call(Op::Mul, {t, s}), {}, y);
  k.returns(y);
  return hand_kernel([](Any a, pl::Out<Any> b, pl::Scalar<float> f) { return pl::store(pl::load(a) * f, b); },
                     k.take());
}

// y = x * k, where k is captured
auto scale_by_capture(float factor) {
  build::KernelBuilder k("scale_by_capture");
  auto x = k.tensor("x", Access::In, DType::Float32);
  auto y = k.tensor("y", Access::Out, DType::Float32);
  auto c = k.capture("factor", DType::Float32);
  auto t = k.let("t", build::load(x));
  k.store(build::call(Op::Mul, {t, c}), {}, y);
  return hand_kernel([factor](Any a, pl::Out<Any> b) { (void)pl::store(pl::load(a) * factor, b); }, k.take());
}

// y[0:n] = x[0:n], where n is captured and bounds a shape
auto copy_first(std::int64_t count) {
  build::KernelBuilder k("copy_first");
  auto x = k.tensor("x", Access::In, DType::Float32);
  auto y = k.tensor("y", Access::Out, DType::Float32);
  auto n = k.capture("count", DType::Int64);
  auto t = k.let("t", build::load(x, {0}, {n}));
  k.store(t, {0}, y);
  return hand_kernel([count](Any a, pl::Out<Any> b) { (void)pl::store(pl::load(a, {0}, {count}), {0}, b); },
                     k.take());
}

// y = x * n, where n is a pl::Const
auto scale_by_const() {
  build::KernelBuilder k("scale_by_const");
  auto x = k.tensor("x", Access::In, DType::Float32);
  auto y = k.tensor("y", Access::Out, DType::Float32);
  auto n = k.const_scalar("n", DType::Float32);
  auto t = k.let("t", build::load(x));
  k.store(build::call(Op::Mul, {t, n}), {}, y);
  return hand_kernel(
      [](Any a, pl::Out<Any> b, pl::Const<float> f) { (void)pl::store(pl::load(a) * f.value(), b); },
      k.take());
}

// y = a + b over a named extent
auto add_named() {
  build::KernelBuilder k("add_named");
  const auto n = k.dynamic("N");
  auto a = k.tensor("a", Access::In, DType::Float32, {n, {4}});
  auto b = k.tensor("b", Access::In, DType::Float32, {n, {4}});
  auto y = k.tensor("y", Access::Out, DType::Float32, {n, {4}});
  auto s = k.let("s", build::load(a));
  auto t = k.let("t", build::load(b));
  k.store(build::call(Op::Add, {s, t}), {}, y);
  return hand_kernel(
      [](pl::Tensor<float, N, 4> p, pl::Tensor<float, N, 4> q, pl::Out<pl::Tensor<float, N, 4>> r) {
        (void)pl::store(pl::load(p) + pl::load(q), r);
      },
      k.take());
}

// y[0:3] = x[1:4]: not elementwise in x
auto shift() {
  build::KernelBuilder k("shift");
  auto x = k.tensor("x", Access::In, DType::Float32);
  auto y = k.tensor("y", Access::Out, DType::Float32);
  auto t = k.let("t", build::load(x, {1}, {3}));
  k.store(t, {0}, y);
  return hand_kernel([](Any a, pl::Out<Any> b) { (void)pl::store(pl::load(a, {1}, {3}), {0}, b); }, k.take());
}

}  // namespace

TEST_CASE("a kernel compiles once for a shape and is found again") {
  const Jit jit;
  auto scale = scale_any();
  auto x = numbers({8, 8});
  pl::Array<float> y({8, 8});
  auto result = scale(x, y, 2.0f);
  CHECK(result.data() == y.data());
  CHECK(y(7, 7) == 126.0f);
  scale(x, y, 3.0f);
  CHECK(y(7, 7) == 189.0f);
  const pl::Statistics s = jit.context.statistics();
  CHECK(s.compiles == 1);
  CHECK(s.memory_hits == 1);
  CHECK(s.misses == 1);
  CHECK(s.eager_calls == 0);
  REQUIRE(s.specialisations.size() == 1);
  CHECK(s.specialisations[0].kernel == "scale");
  CHECK(s.specialisations[0].signature == "float[8, 8], out float[8, 8], float");
  CHECK(s.specialisations[0].origin == pl::Origin::Compiled);
}

TEST_CASE("each shape, rank and layout is a specialisation of its own") {
  const Jit jit;
  auto scale = scale_any();
  auto x = numbers({4, 6});
  pl::Array<float> y({4, 6});
  scale(x, y, 1.0f);
  scale(pl::tensor(x.data(), {24}), pl::tensor(y.data(), {24}), 2.0f);
  CHECK(y(3, 5) == 46.0f);
  scale(pl::tensor(x.data(), {2, 6}), pl::tensor(y.data(), {2, 6}), 3.0f);
  CHECK(y(1, 5) == 33.0f);
  CHECK(jit.compiles() == 3);
  // A transposed view: the same extents, other strides.
  pl::Array<float> z({6, 4});
  scale(pl::tensor(x.data(), {6, 4}, {1, 6}), z, 1.0f);
  CHECK(z(5, 0) == x(0, 5));
  CHECK(z(0, 3) == x(3, 0));
  scale(pl::tensor(x.data(), {6, 4}, {4, 1}), z, 1.0f);
  CHECK(z(5, 0) == 20.0f);
  CHECK(jit.compiles() == 5);
  // Only the layout class is in the key: another row length is the same code.
  scale(pl::tensor(x.data(), {3, 4}, {6, 1}), pl::tensor(y.data(), {3, 4}, {6, 1}), 1.0f);
  CHECK(y(2, 3) == x(2, 3));
  scale(pl::tensor(x.data(), {3, 4}, {8, 1}), pl::tensor(y.data(), {3, 4}, {8, 1}), 2.0f);
  CHECK(y.begin()[19] == 38.0f);
  CHECK(jit.compiles() == 6);
}

TEST_CASE("negative and zero strides work for inputs") {
  const Jit jit;
  auto scale = scale_any();
  auto x = numbers({5});
  pl::Array<float> y({5});
  scale(pl::tensor(x.data() + 4, {5}, {-1}), y, 1.0f);
  for (int i = 0; i < 5; ++i) CHECK(y(i) == static_cast<float>(4 - i));
  scale(pl::tensor(x.data() + 3, {5}, {0}), y, 2.0f);
  for (int i = 0; i < 5; ++i) CHECK(y(i) == 6.0f);
}

TEST_CASE("a captured value is read at the call and stays a run-time scalar") {
  const Jit jit;
  auto two = scale_by_capture(2), three = scale_by_capture(3);
  pl::Array<float> x({4}, 1.0f), y({4});
  two(x, y);
  CHECK(y(3) == 2.0f);
  three(x, y);
  CHECK(y(3) == 3.0f);
  two(x, y);
  CHECK(y(3) == 2.0f);
  CHECK(jit.compiles() == 1);
}

TEST_CASE("a captured value that bounds a shape is a specialisation each, and the old one stays right") {
  const Jit jit;
  auto x = numbers({8});
  auto two = copy_first(2), three = copy_first(3);
  pl::Array<float> y({8}), z({8});
  two(x, y);
  three(x, z);
  CHECK(y(1) == 1.0f);
  CHECK(y(2) == 0.0f);
  CHECK(z(2) == 2.0f);
  CHECK(z(3) == 0.0f);
  y.fill(0);
  two(x, y);
  CHECK(y(2) == 0.0f);
  CHECK(jit.compiles() == 2);
  CHECK(contains(jit.context.statistics().specialisations[1].signature, "captured count = 3"));
}

TEST_CASE("pl::Const is a specialisation for each value, pl::Scalar is not") {
  const Jit jit;
  auto constant = scale_by_const();
  auto scale = scale_any();
  pl::Array<float> x({4}, 1.0f), y({4});
  for (const float f : {2.0f, 3.0f, 2.0f}) {
    constant(x, y, f);
    CHECK(y(0) == f);
  }
  CHECK(jit.compiles() == 2);
  for (const float f : {2.0f, 3.0f, 2.0f}) {
    scale(x, y, f);
    CHECK(y(0) == f);
  }
  CHECK(jit.compiles() == 3);
}

TEST_CASE("one specialisation serves every value of a named extent") {
  const Jit jit;
  auto add = add_named();
  for (const int n : {5, 1, 0, 9}) {
    auto a = numbers({n, 4});
    pl::Array<float> y({n, 4});
    add(a, a, y);
    for (int i = 0; i < 4 * n; ++i) CHECK(y.begin()[i] == 2.0f * static_cast<float>(i));
  }
  CHECK(jit.compiles() == 1);
  pl::Array<float> a({5, 4}), b({6, 4}), y({5, 4});
  const std::string message = message_of<pl::ShapeError>([&] { add(a, b, y); });
  CHECK(contains(message, "a (float[5, 4])"));
  CHECK(contains(message, "b (float[6, 4])"));
}

TEST_CASE("a handle calls without a look-up and refuses other shapes with both signatures") {
  const Jit jit;
  auto scale = scale_any();
  auto x = numbers({8, 8}), wide = numbers({8, 9});
  pl::Array<float> y({8, 8}), z({8, 9});
  auto handle = scale.compile(x, y, 1.0f);
  CHECK(jit.compiles() == 1);
  CHECK(y(1, 1) == 0.0f);
  handle(x, y, 2.0f);
  CHECK(y(1, 1) == 18.0f);
  scale(x, y, 3.0f);
  CHECK(jit.compiles() == 1);
  const std::string message = message_of<pl::ShapeError>([&] { handle(wide, z, 1.0f); });
  CHECK(contains(message, "compiled for (float[8, 8]"));
  CHECK(contains(message, "called with (float[8, 9]"));
}

TEST_CASE("exact in-place use is allowed where the kernel is elementwise, and refused where it is not") {
  const Jit jit;
  auto scale = scale_any();
  auto x = numbers({4, 4});
  scale(x, x.view(), 2.0f);
  CHECK(x(3, 3) == 30.0f);
  auto shifting = shift();
  auto row = numbers({4});
  const std::string message = message_of<pl::ShapeError>([&] { shifting(row, row.view()); });
  CHECK(contains(message, "not elementwise"));
  CHECK(contains(message, "shift"));
}

TEST_CASE("an output that overlaps in part is refused before anything is written") {
  const Jit jit;
  auto scale = scale_any();
  auto x = numbers({8});
  CHECK(contains(message_of<pl::ShapeError>(
                     [&] { scale(pl::tensor(x.data(), {4}), pl::tensor(x.data() + 1, {4}), 2.0f); }),
                 "in part"));
  for (int i = 0; i < 8; ++i) CHECK(x(i) == static_cast<float>(i));
}

TEST_CASE("many threads that call one new specialisation compile it once and get one code") {
  const Jit jit;
  const pl::Context& context = jit.context;
  auto scale = scale_any();
  constexpr int count = 32;
  std::barrier start(count);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < count; ++t)
    threads.emplace_back([&] {
      const pl::ContextScope scope(context);
      pl::Array<float> x({16}, 3.0f), y({16});
      start.arrive_and_wait();
      scale(x, y, 2.0f);
      if (y(15) != 6.0f) ++wrong;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(context.statistics().compiles == 1);
  CHECK(context.statistics().specialisations.size() == 1);
}

TEST_CASE("many specialisations of one kernel are all found again, from several threads") {
  const Jit jit;
  const pl::Context& context = jit.context;
  auto scale = scale_any();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      const pl::ContextScope scope(context);
      for (int round = 0; round < 20; ++round)
        for (int n = 1; n <= 12; ++n) {
          pl::Array<float> x({n}, 3.0f), y({n});
          scale(x, y, 2.0f);
          if (y(n - 1) != 6.0f) ++wrong;
        }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(context.statistics().specialisations.size() == 12);
}

TEST_CASE("contexts have their own code and outlive nothing that runs") {
  auto scale = scale_any();
  pl::Array<float> x({4}, 1.0f), y({4});
  for (int round = 0; round < 5; ++round) {
    const Jit jit;
    scale(x, y, 2.0f);
    CHECK(jit.context.statistics().specialisations.size() == 1);
    CHECK(jit.context.statistics().memory_hits == 0);
  }
  CHECK(y(0) == 2.0f);
}

TEST_CASE("lower and emit show the IR and the source of a specialisation") {
  const Jit jit;
  auto scale = scale_any();
  pl::Array<float> x({8, 8}), y({8, 8});
  CHECK(contains(scale.lower(x, y, 1.0f), "8, 8"));
  CHECK(contains(scale.emit("xsimd", x, y, 1.0f), "extern \"C\""));
  CHECK(contains(scale.emit("json", x, y, 1.0f), "\"scale\""));
  CHECK(contains(message_of<pl::UserError>([&] { (void)scale.emit("cuda", x, y, 1.0f); }), "\"xsimd\""));
  CHECK(scale.name() == "scale");
  CHECK(jit.compiles() == 0);
}

TEST_CASE("RunConfig.compile = false answers from caches only") {
  ++support::hash_round();
  pl::RunConfig config = support::cached();
  config.compile = false;
  const pl::Context context(config);
  const pl::ContextScope scope(context);
  auto scale = scale_any();
  pl::Array<float> x({4}), y({4});
  CHECK(contains(message_of<pl::ConfigError>([&] { scale(x, y, 1.0f); }), "RunConfig.compile is false"));
}

TEST_CASE("a lambda that was not captured says how to capture it") {
  const Jit jit;
  auto kernel = pl::jit.incore([](Any x, pl::Out<Any> y) { (void)pl::store(pl::load(x), y); },
                               std::source_location::current(), nullptr);
  pl::Array<float> x({4}), y({4});
  CHECK(contains(message_of<pl::CaptureError>([&] { kernel(x, y); }), "trilith_capture"));
}

TEST_CASE("a kernel object that is made anew at each call finds the code of the last one in memory") {
  const Jit jit;
  pl::Array<float> x({4}, 1.0f), y({4});
  for (int round = 0; round < 3; ++round) scale_by_capture(static_cast<float>(round))(x, y);
  CHECK(y(0) == 2.0f);
  CHECK(jit.compiles() == 1);
  CHECK(jit.context.statistics().disk_hits == 0);
}
