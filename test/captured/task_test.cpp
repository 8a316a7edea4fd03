// Tasks of compiled kernels, pl::at bodies and pl::Graph, captured by the build of this very file.
#include "runtime/support.hpp"

#include "pl/detail/block.hpp"

#include <cstring>
#include <random>
#include <stdexcept>

using support::contains;
using support::Jit;
using support::message_of;
using support::numbers;

namespace {

using Any = pl::Tensor<float>;
using AnyOut = pl::Out<Any>;
constexpr auto N = pl::dynamic("N");

auto add = pl::jit.incore([](Any a, Any b, AnyOut c) { c = pl::store(pl::load(a) + pl::load(b), c); });
auto add_number = pl::jit.incore([](Any a, float s, AnyOut c) { c = pl::store(pl::load(a) + s, c); });
auto mix = pl::jit.incore(
    [](Any x, pl::InOut<Any> y, pl::Scalar<float> s) { y = pl::store(pl::load(x) + pl::load(y) * s, y); });
auto first_of_two = pl::jit.incore([](Any x, AnyOut a, AnyOut b) {
  a = pl::store(pl::load(x), a);
  b = pl::store(pl::load(x) * 2.0f, b);
  return b;
});

/// (a + b + 1)(a + b + 2) + (a + b), with every operation but the last a body of its own.
auto formula = pl::jit([](Any a, Any b, AnyOut y) {
  auto sum = pl::create_tensor<float>({a.dim(0)});
  auto left = pl::create_tensor<float>({a.dim(0)});
  auto right = pl::create_tensor<float>({a.dim(0)});
  add(a, b, sum);
  const float one = 1.0f;
  float two = 2.0f;
  pl::at(pl::Level::core_group, [&] { left = pl::store(pl::load(sum) + one, left); });
  pl::at(pl::Level::core_group, [&] { right = pl::store(pl::load(sum) + two, right); });
  two = 100.0f;  // a body has the values of its call
  pl::at(pl::Level::core_group, [&] { y = pl::store(pl::load(left) * pl::load(right) + pl::load(sum), y); });
});

/// Every kind of tensor that a body can name; an offset from a captured number.
template <class T>
void all_kinds(pl::Tensor<T, 2, 3> fixed, pl::Tensor<T, N, 3> dynamic, pl::Tensor<T> any,
               pl::Out<pl::Tensor<T>> y, std::int64_t row, int column) {
  pl::at(pl::Level::core_group, [&] {
    auto tile = pl::load(fixed, {0, 0}, {1, 3}) + pl::load(dynamic, {row, 0}, {1, 3}) +
                pl::load(any, {column, 0}, {1, 3});
    y = pl::store(tile, {row, 0}, y);
  });
}
auto kinds = pl::jit([](auto fixed, auto dynamic, auto any, auto y, auto row) {
  using T = typename decltype(any)::value_type;
  all_kinds<T>(fixed, dynamic, any, y, static_cast<std::int64_t>(row), 1);
});

/// One body in a generic entry: each instantiation is its own kernel.
auto generic = pl::jit([](auto x, auto y) {
  pl::at(pl::Level::core_group, [&] { y = pl::store(pl::load(x) + pl::load(x), y); });
});

/// And one in an entry that a template makes.
template <class T>
void twice(pl::Array<T>& x, pl::Array<T>& y) {
  auto entry = pl::jit([](pl::Tensor<T> a, pl::Out<pl::Tensor<T>> b) {
    pl::at(pl::Level::core_group, [&] { b = pl::store(pl::load(a) + pl::load(a), b); });
  });
  entry(x.view(), pl::Out<pl::Tensor<T>>(y.view()));
}

}  // namespace

TEST_CASE("bodies of pl::at are compiled, take what they name, and are tasks like others") {
  const Jit jit;
  pl::Array<float> a({6}, 2.0f), b({6}, 3.0f), y({6});
  for (int round = 0; round < 3; ++round) {
    y.fill(0);
    formula(a.view(), b.view(), AnyOut(y.view()));
    for (float element : y) REQUIRE(element == 47.0f);
  }
  CHECK(jit.context.statistics().eager_calls == 0);
  CHECK(jit.context.statistics().specialisations.size() == 4);
}

TEST_CASE("bodies of pl::at run natively too") {
  const support::Eager eager;
  pl::Array<float> a({6}, 2.0f), b({6}, 3.0f), y({6});
  formula(a.view(), b.view(), AnyOut(y.view()));
  for (float element : y) CHECK(element == 47.0f);
}

TEST_CASE("a body names static, dynamic and any-shape tensors, in this compiler's layout") {
  const auto check = [](auto zero) {
    using T = decltype(zero);
    const auto filled = [](const pl::Index& dims) {
      pl::Array<T> result(dims);
      T next = 0;
      for (T& element : result) element = next++;
      return result;
    };
    auto fixed = filled({2, 3}), dynamic = filled({4, 3}), any = filled({5, 3});
    pl::Array<T> y({4, 3});
    kinds(fixed.view(), dynamic.view(), any.view(), pl::Out<pl::Tensor<T>>(y.view()), 2);
    for (int i = 0; i < 3; ++i) CHECK(y(2, i) == fixed(0, i) + dynamic(2, i) + any(1, i));
  };
  const Jit jit;
  check(0.0f);
  check(0.0);
  check(std::int32_t{0});
  CHECK(jit.context.statistics().eager_calls == 0);
}

TEST_CASE("the bodies of a generic entry's instantiations are told apart") {
  const Jit jit;
  auto x = numbers({5});
  pl::Array<float> y({5});
  pl::Array<std::int32_t> i({3}, 4), j({3});
  generic(x.view(), AnyOut(y.view()));
  generic(i.view(), pl::Out<pl::Tensor<std::int32_t>>(j.view()));
  CHECK(y(4) == 8.0f);
  CHECK(j(2) == 8);
  twice(x, y);
  twice(i, j);
  CHECK(y(3) == 6.0f);
  CHECK(j(1) == 8);
}

TEST_CASE("a body waits for the tasks that it names, and gives a handle") {
  const Jit jit;
  auto x = numbers({4});
  pl::Array<float> y({4}), z({4});
  auto device = pl::jit([](Any a, AnyOut b, AnyOut c) {
    pl::manual_scope([&] {
      auto first = pl::submit(add_number, a, 1.0f, b);
      auto second = pl::at(pl::Level::core_group, [&] {
        (void)first;
        c = pl::store(pl::load(b) * 2.0f, c);
      });
      pl::submit(add_number, c, 1.0f, b, pl::deps = {second});
    });
  });
  for (int round = 0; round < 50; ++round) {
    y.fill(0);
    device(x.view(), AnyOut(y.view()), AnyOut(z.view()));
    REQUIRE(z(3) == 8.0f);
    REQUIRE(y(3) == 9.0f);
  }
}

TEST_CASE("pl::at outside of a device orchestration is a LevelError at its line") {
  auto x = numbers({4});
  pl::Array<float> y({4});
  Any a = x.view();
  AnyOut b = y.view();
  const std::string message = message_of<pl::LevelError>(
      [&] { pl::at(pl::Level::core_group, [&] { b = pl::store(pl::load(a), b); }); });
  CHECK(contains(message, "task_test.cpp:"));
  CHECK(contains(message, "pl::at was called outside of a pl::jit entry"));
}

TEST_CASE("the result of a kernel on the device level is the view that it returns, compiled or not") {
  const auto check = [] {
    auto x = numbers({4});
    pl::Array<float> y({4}), z({4}), w({4});
    auto device = pl::jit([](Any a, AnyOut b, AnyOut c, AnyOut d) { add(first_of_two(a, b, c), b, d); });
    device(x.view(), AnyOut(y.view()), AnyOut(z.view()), AnyOut(w.view()));
    CHECK(w(3) == 9.0f);
  };
  {
    const Jit jit;
    check();
  }
  const support::Eager eager;
  check();
}

TEST_CASE("a graph is recorded once and replayed on the same and on other memory") {
  const Jit jit;
  pl::Graph graph(formula);
  pl::Array<float> a({6}, 2.0f), b({6}, 3.0f), y({6});
  for (int round = 0; round < 5; ++round) {
    y.fill(0);
    graph(a.view(), b.view(), AnyOut(y.view()));
    REQUIRE(y(5) == 47.0f);
  }
  CHECK(graph.recordings() == 1);
  CHECK(graph.replays() == 5);
  pl::Array<float> c({6}, 5.0f), z({6});
  graph(c.view(), a.view(), AnyOut(z.view()));
  CHECK(z(0) == 8.0f * 9.0f + 7.0f);
  CHECK(graph.recordings() == 1);
  pl::Array<float> longer({9}, 1.0f), w({9});
  graph(longer.view(), longer.view(), AnyOut(w.view()));
  CHECK(w(8) == 3.0f * 4.0f + 2.0f);
  CHECK(graph.recordings() == 2);
}

TEST_CASE("a graph with other scalars, or arguments that share memory in another way, is recorded again") {
  const Jit jit;
  auto entry = pl::jit([](pl::InOut<Any> x, pl::InOut<Any> y, float s) {
    mix(x, y, s);
    mix(y, x, s);
  });
  pl::Graph graph(entry);
  const auto run = [&](int x_at, int y_at, float s) {
    auto memory = numbers({12}), expected = numbers({12});
    const auto at = [](pl::Array<float>& array, int begin) {
      return pl::InOut<Any>(array.view().slice({begin}, {4}));
    };
    entry(at(expected, x_at), at(expected, y_at), s);
    graph(at(memory, x_at), at(memory, y_at), s);
    REQUIRE(std::equal(memory.begin(), memory.end(), expected.begin()));
  };
  run(0, 4, 2.0f);
  run(4, 0, 2.0f);
  run(1, 8, 2.0f);
  CHECK(graph.recordings() == 1);
  run(0, 4, 3.0f);
  CHECK(graph.recordings() == 2);
}

TEST_CASE("a graph in a host orchestrator: every rank replays on its own slices") {
  const Jit jit;
  pl::Graph graph(formula);
  auto host = pl::jit.host([&](Any a, Any b, AnyOut y) {
    for (auto r : pl::range(pld::world_size())) graph(a[r], b[r], y[r], pld::device = r);
  });
  pl::RunConfig config = support::cached();
  config.distributed.device_ids = {0, 1, 2};
  pl::Array<float> a({3, 4}, 2.0f), b({3, 4}, 3.0f), y({3, 4});
  auto compiled = host.compile(a, b, y, config);
  for (int round = 0; round < 3; ++round) {
    y.fill(0);
    compiled(a, b, y);
    for (float element : y) REQUIRE(element == 47.0f);
  }
  CHECK(graph.recordings() == 1);
  CHECK(graph.replays() == 9);
}

TEST_CASE("memory that a recorded lambda names by itself stays where it is, and may not be an argument too") {
  const Jit jit;
  auto weights = numbers({4});
  pl::Array<float> y({4});
  Any named = weights.view();
  auto entry = pl::jit([named](AnyOut b) { add_number(named, 1.0f, b); });
  pl::Graph graph(entry);
  graph(AnyOut(y.view()));
  weights(3) = 10.0f;
  graph(AnyOut(y.view()));
  CHECK(y(3) == 11.0f);
  CHECK(graph.replays() == 2);
  graph(AnyOut(weights.view()));  // runs the lambda: the edges between the two were not recorded
  CHECK(weights(3) == 11.0f);
  CHECK(graph.replays() == 2);
}

TEST_CASE("a read in a recorded lambda is refused with its place") {
  const Jit jit;
  auto entry = pl::jit([](Any a, AnyOut b) {
    add_number(a, 1.0f, b);
    pl::wait(b);
  });
  pl::Graph graph(entry);
  auto x = numbers({4});
  pl::Array<float> y({4});
  const std::string message = message_of<pl::PlanError>([&] { graph(x.view(), AnyOut(y.view())); });
  CHECK(contains(message, "task_test.cpp:"));
  CHECK(contains(message, "in an orchestration that a pl::Graph records"));
}

TEST_CASE("a fault in a compiled task is thrown at the kernel's line with the task's call") {
  const Jit jit;
  auto window = pl::jit.incore(
      [](Any x, AnyOut y, pl::Scalar<std::int64_t> at) { y = pl::store(pl::load(x, {at}, {4}), {0}, y); });
  auto device = pl::jit([&](Any x, AnyOut y, std::int64_t at) {
    window(x, y, at);
    add_number(y, 1.0f, y);
  });
  auto x = numbers({8});
  pl::Array<float> y({4});
  const std::string message =
      message_of<pl::ShapeError>([&] { device(x.view(), AnyOut(y.view()), std::int64_t{5}); });
  CHECK(contains(message, "task_test.cpp:"));
  CHECK(contains(message, "in task window, called at"));
  device(x.view(), AnyOut(y.view()), std::int64_t{4});
  CHECK(y(3) == 8.0f);
}

TEST_CASE("a read on the device level waits for the tasks that write the tensor") {
  const auto check = [] {
    auto entry = pl::jit([](Any a, AnyOut b, AnyOut c) {
      add_number(a, 1.0f, b);
      for (int step = 0; step < 20; ++step) add_number(b, 1.0f, b);
      const float last = pl::read(b, {3});
      add_number(a, last, c);
    });
    auto x = numbers({4});
    pl::Array<float> y({4}), z({4});
    entry(x.view(), AnyOut(y.view()), AnyOut(z.view()));
    CHECK(y(3) == 24.0f);
    CHECK(z(1) == 25.0f);
    const std::string message = message_of<pl::ShapeError>([&] {
      pl::jit([](Any a, AnyOut b) { add_number(a, pl::read(a, {4}), b); })(x.view(), AnyOut(y.view()));
    });
    CHECK(contains(message, "task_test.cpp:"));
    CHECK(contains(message, "offset 4 with extent 1 on axis 0 is not inside the tensor"));
  };
  {
    const Jit jit;
    check();
    CHECK(jit.context.statistics().eager_calls == 0);
  }
  const support::Eager eager;
  check();
}

TEST_CASE("a program whose device level reads is compiled up to the read, and the rest when it is reached") {
  const Jit jit;
  auto entry = pl::jit([](Any a, AnyOut b) {
    add_number(a, 1.0f, b);
    const float first = pl::read(b, {0});
    mix(a, b, first);
  });
  auto host = pl::jit.host([&](Any a, AnyOut b) {
    for (auto r : pl::range(pld::world_size())) entry(a[r], b[r], pld::device = r);
  });
  pl::RunConfig config = support::cached();
  config.distributed.device_ids = {0, 1};
  auto x = numbers({2, 4});
  pl::Array<float> y({2, 4});
  auto compiled = host.compile(x, y, config);
  CHECK(jit.context.statistics().specialisations.size() == 1);
  compiled(x, y, config);
  CHECK(jit.context.statistics().specialisations.size() == 2);
  CHECK(y(0, 3) == 3.0f + 4.0f * 1.0f);
  CHECK(y(1, 3) == 7.0f + 8.0f * 5.0f);
}

TEST_CASE("a read in a host orchestrator is refused: its devices may still write") {
  const Jit jit;
  auto host = pl::jit.host([](Any a) { (void)pl::read(a, {0}); });
  auto x = numbers({4});
  const std::string message = message_of<pl::LevelError>([&] { host(x, support::cached()); });
  CHECK(contains(message, "pl::read was called in a host orchestrator"));
}

TEST_CASE("each block of a compiled pl::spmd kernel reads its own number") {
  auto rows = pl::jit.incore([](Any x, AnyOut y) {
    const int row = pl::block_idx();
    auto scale = pl::cast<float>(pl::Scalar<int>(row * 100 + pl::block_num()));
    y = pl::store(pl::load(x, {row, 0}, {1, 4}) * scale, {row, 0}, y);
  });
  const Jit jit;
  auto entry = pl::jit([&](Any x, AnyOut y) { pl::spmd(5, rows, x, y); });
  pl::Array<float> x({5, 4}, 1.0f), y({5, 4});
  for (int round = 0; round < 20; ++round) {
    y.fill(0);
    entry(x.view(), AnyOut(y.view()));
    for (int row = 0; row < 5; ++row)
      for (int column = 0; column < 4; ++column) REQUIRE(y(row, column) == static_cast<float>(100 * row + 5));
  }
  CHECK(jit.context.statistics().eager_calls == 0);
}
