// Host memory that an orchestration makes and ends lives until its tasks are done; elements read there are numbers.
#include "runtime/support.hpp"

namespace {

using Any = pl::Tensor<float>;
using AnyOut = pl::Out<Any>;

auto add_number = pl::jit.incore([](Any a, float s, AnyOut c) { c = pl::store(pl::load(a) + s, c); });

/// Memory that is freed too early is most likely handed out again here, and written.
void reuse_memory(std::int64_t count) {
  for (int i = 0; i < 8; ++i) pl::Array<float> other({count}, -100.0f);
}

auto ended_array = pl::jit([](Any x, AnyOut y) {
  {
    pl::Array<float> made({x.dim(0)}, 1.0f);
    add_number(made.view(), 1.0f, y);
  }
  reuse_memory(x.dim(0));
});
auto assigned_array = pl::jit([](Any x, AnyOut y) {
  pl::Array<float> made({x.dim(0)}, 2.0f);
  add_number(made.view(), 1.0f, y);
  made = pl::Array<float>({1});
  reuse_memory(x.dim(0));
});
auto array_of_body = pl::jit([](Any x, AnyOut y) {
  {
    pl::Array<float> made({x.dim(0)}, 3.0f);
    Any view = made.view();
    pl::at(pl::Level::core_group, [&] { y = pl::store(pl::load(view) + 1.0f, y); });
  }
  reuse_memory(x.dim(0));
});
auto four_more = pl::jit([](Any x, AnyOut y) { add_number(x, 4.0f, y); });
auto on_host = pl::jit.host([](Any x, AnyOut y) {
  {
    pl::Array<float> made({x.dim(0)}, 10.0f);
    four_more(made.view(), y, pld::device = 0);
  }
  reuse_memory(x.dim(0));
});

auto branches = pl::jit([](Any x, AnyOut y) {
  add_number(x, 1.0f, y);
  const float chosen = x.dim(0) > 2 ? pl::read(y, {1}) : -1.0f;
  if (pl::read(y, {0}) > 0) add_number(y, pl::read(y, {0}) * 2.f + chosen, y);
});
auto counts = pl::jit([](Any x, pl::Tensor<int> n, AnyOut y) {
  if (pl::read(n, {0}) + 1 > 3) add_number(x, 5.0f, y);
  pl::Scalar<int> rounds = pl::read(n, {0});
  rounds -= 1;
  for (int i = 0; i < rounds; ++i) add_number(y, 1.0f, y);
});

constexpr std::int64_t count = 4096;
bool all(const pl::Array<float>& array, float value) {
  for (const float element : array)
    if (element != value) return false;
  return true;
}

}  // namespace

TEST_CASE("a pl::Array that ends in an orchestration waits for the tasks that use it") {
  pl::Array<float> x({count}, 1.0f), y({count});
  for (int round = 0; round < 20; ++round) {
    ended_array(x, y);
    CHECK(all(y, 2.0f));
    assigned_array(x, y);
    CHECK(all(y, 3.0f));
    array_of_body(x, y);
    CHECK(all(y, 4.0f));
  }
}

TEST_CASE("a pl::Graph of an orchestration that makes arrays runs it as it is") {
  pl::Array<float> x({count}, 1.0f), y({count});
  pl::Graph graph(ended_array);
  for (int round = 0; round < 5; ++round) {
    y.fill(0.0f);
    graph(x, y);
    CHECK(all(y, 2.0f));
  }
  CHECK(graph.replays() == 0);
}

TEST_CASE("a pl::Array that ends in a host orchestrator is there for what it dispatched") {
  pl::Array<float> x({count}, 1.0f), y({count});
  pl::RunConfig config = support::cached();
  config.distributed.device_ids = {0};
  auto program = on_host.compile(x, y, config);
  for (int round = 0; round < 10; ++round) {
    y.fill(0.0f);
    program(x, y);
    CHECK(all(y, 14.0f));
  }
}

TEST_CASE("an element that an orchestration reads is a number of C++") {
  pl::Array<float> x({4}, 1.0f), y({4});
  branches(x, y);
  CHECK(all(y, 8.0f));
  pl::Array<int> n({1}, 3);
  counts(x, n, y);
  CHECK(all(y, 8.0f));
}
