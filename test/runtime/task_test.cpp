// Tasks of a device orchestration: edges, handles, blocks, scopes, errors; with lambdas run natively and with
// compiled kernels.
#include "hand_captured.hpp"
#include "pl/detail/block.hpp"
#include "runtime/core_pool.hpp"
#include "support.hpp"

#include <nlohmann/json.hpp>

#include <atomic>
#include <fstream>
#include <numeric>
#include <random>
#include <thread>

using support::contains;
using support::Eager;
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
using AnyOut = pl::Out<Any>;

/// y = x + s * y, which no change of order leaves alone.
auto mix_kernel() {
  build::KernelBuilder k("mix");
  auto x = k.tensor("x", Access::In, DType::Float32);
  auto y = k.tensor("y", Access::InOut, DType::Float32);
  auto s = k.scalar("s", DType::Float32);
  auto a = k.let("a", build::load(x));
  auto b = k.let("b", build::load(y));
  auto c = k.let("c", build::call(Op::Mul, {b, s}));
  auto d = k.let("d", build::call(Op::Add, {a, c}));
  k.store(d, {}, y);
  return hand_kernel([](Any a_, pl::InOut<Any> b_,
                        pl::Scalar<float> f) { (void)pl::store(pl::load(a_) + pl::load(b_) * f, b_); },
                     k.take());
}

auto copy = pl::jit.incore([](Any x, AnyOut y) {
  y = pl::store(pl::load(x), y);
  return y;
});
auto add_one = pl::jit.incore([](pl::InOut<Any> y) { y = pl::store(pl::load(y) + 1.0f, y); });

template <class Kernel>
void random_orchestrations(const Kernel& mix, const pl::RunConfig& base, int rounds) {
  std::mt19937 random(11);
  for (int round = 0; round < rounds; ++round) {
    struct Call {
      int from, to, rows;
      float factor;
    };
    std::vector<Call> calls(4 + random() % 9);
    for (Call& call : calls) {
      call.rows = 1 + static_cast<int>(random() % 3);
      call.from = static_cast<int>(random() % 6);
      do call.to = static_cast<int>(random() % 6);
      while (std::abs(call.to - call.from) < call.rows);
      call.factor = static_cast<float>(1 + random() % 3);
    }
    auto expected = numbers({9, 3}), data = numbers({9, 3});
    for (const Call& call : calls)
      for (int i = 0; i < call.rows * 3; ++i) {
        float& element = expected.data()[call.to * 3 + i];
        element = expected.data()[call.from * 3 + i] + element * call.factor;
      }
    pl::RunConfig config = base;
    config.schedule_seed = static_cast<std::uint64_t>(round + 1);
    config.cores = 1 + round % 4;
    auto device = pl::jit([&](pl::InOut<Any> x) {
      for (const Call& call : calls)
        mix(x.slice({call.from, 0}, {call.rows, 3}), x.slice({call.to, 0}, {call.rows, 3}), call.factor);
    });
    auto host = pl::jit.host([&](pl::InOut<Any> x) { device(x, pld::device = 0); });
    host(data, config);
    INFO("round " << round);
    REQUIRE(std::equal(data.begin(), data.end(), expected.begin()));
  }
}

}  // namespace

TEST_CASE("10,000 random orchestrations of compiled kernels give what a serial run gives") {
  const Jit jit;
  random_orchestrations(mix_kernel(), support::cached(), 10000);
  CHECK(jit.context.statistics().eager_calls == 0);
}

TEST_CASE("10,000 random orchestrations run natively give what a serial run gives") {
  const Eager eager;
  random_orchestrations(mix_kernel(), {.eager = true}, 10000);
}

TEST_CASE("independent kernel calls of one entry overlap, and dependent ones do not") {
  const Eager eager;
  std::atomic<int> running{0}, most{0};
  const auto watch = [&] {
    const int now = ++running;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    --running;
  };
  auto slow = pl::jit.incore([&](Any x, AnyOut y) {
    watch();
    (void)pl::store(pl::load(x), y);
  });
  auto x = numbers({2, 4});
  pl::Array<float> y({2, 4}), z({2, 4});
  auto apart = pl::jit([&](Any a, AnyOut b) {
    for (int row = 0; row < 2; ++row) slow(a[row], b[row]);
  });
  for (int tries = 0; tries < 50 && most < 2; ++tries) apart(x.view(), AnyOut(y.view()));
  CHECK(most == 2);
  most = 0;
  auto chain = pl::jit([&](Any a, AnyOut b, AnyOut c) {
    slow(a, b);
    slow(b, c);
  });
  chain(x.view(), AnyOut(y.view()), AnyOut(z.view()));
  CHECK(most == 1);
  CHECK(z(1, 3) == x(1, 3));
}

TEST_CASE("write after read: a later task does not overwrite what an earlier one still reads") {
  const Eager eager;
  auto slow_copy = pl::jit.incore([](Any x, AnyOut y) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    (void)pl::store(pl::load(x), y);
  });
  auto device = pl::jit([&](pl::InOut<Any> x, AnyOut y) {
    slow_copy(x, y);
    add_one(x);
  });
  for (int round = 0; round < 10; ++round) {
    auto x = numbers({64});
    pl::Array<float> y({64});
    device(pl::InOut<Any>(x.view()), AnyOut(y.view()));
    CHECK(y(10) == 10.0f);
    CHECK(x(10) == 11.0f);
  }
}

TEST_CASE("submit gives a handle that others depend on, in a manual scope the only order there is") {
  const Eager eager;
  std::vector<int> order;
  std::mutex mutex;
  auto note = pl::jit.incore([&](AnyOut y, std::int32_t number) {
    std::this_thread::sleep_for(std::chrono::milliseconds(number == 0 ? 20 : 0));
    const std::scoped_lock lock(mutex);
    order.push_back(number);
    (void)pl::store(pl::full<float>({1}, static_cast<float>(number)), y);
  });
  pl::Array<float> y({1});
  auto device = pl::jit([&](AnyOut b) {
    pl::manual_scope([&] {
      pl::TaskId last;
      for (int i = 0; i < 8; ++i) last = pl::submit(note, b, i, pl::deps = {last});
    });
    note(b, 8);
  });
  device(AnyOut(y.view()));
  REQUIRE(order.size() == 9);
  for (int i = 0; i < 9; ++i) CHECK(order[static_cast<std::size_t>(i)] == i);
  CHECK(y(0) == 8.0f);
}

TEST_CASE("no_dep lets writers of one tensor overlap; its readers wait for all of them") {
  const Eager eager;
  std::atomic<int> arrived{0}, met{0};
  auto meet = pl::jit.incore([&](AnyOut) {
    ++arrived;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (arrived < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    if (arrived >= 2) ++met;
  });
  int seen = 0;
  auto look = pl::jit.incore([&](Any) { seen = met; });
  pl::Array<float> y({4});
  auto device = pl::jit([&](AnyOut b) {
    meet(pl::no_dep(b));
    meet(pl::no_dep(b));
    look(b);
  });
  device(AnyOut(y.view()));
  CHECK(met == 2);
  CHECK(seen == 2);
}

TEST_CASE("spmd runs each block once and the kernel knows which one it is") {
  const Eager eager;
  auto mark = pl::jit.incore([](AnyOut y) {
    const pl::detail::Block block = pl::detail::current_block();
    (void)pl::store(pl::full<float>({1}, static_cast<float>(100 * block.count + block.index)), {block.index},
                    y);
  });
  pl::Array<float> y({7});
  auto device = pl::jit([&](AnyOut b) {
    auto t = pl::spmd(7, mark, b);
    CHECK(static_cast<bool>(t));
    pl::spmd(0, mark, b, pl::deps = {t});
  });
  device(AnyOut(y.view()));
  for (int i = 0; i < 7; ++i) CHECK(y(i) == static_cast<float>(700 + i));
}

TEST_CASE("device tensors carry results between tasks") {
  const Eager eager;
  auto x = numbers({3, 5});
  pl::Array<float> y({3, 5});
  auto device = pl::jit([](Any a, AnyOut b) {
    auto first = pl::create_tensor<float>({a.dim(0), a.dim(1)});
    auto second = pl::create_tensor<float>(a.dim(0), 5);
    copy(a, first);
    add_one(first);
    copy(first, second);
    copy(second, b);
  });
  device(x.view(), AnyOut(y.view()));
  CHECK(y(2, 4) == x(2, 4) + 1.0f);
}

TEST_CASE("wait makes the device level see what tasks have written") {
  const Eager eager;
  auto x = numbers({4});
  pl::Array<float> y({4}), z({4});
  float first = 0, second = 0;
  auto device = pl::jit([&](Any a, AnyOut b, AnyOut c) {
    copy(a, b);
    pl::wait(b);
    first = b.data()[3];
    pl::wait(pl::submit(copy, b, c));
    second = c.data()[2];
  });
  device(x.view(), AnyOut(y.view()), AnyOut(z.view()));
  CHECK(first == 3.0f);
  CHECK(second == 2.0f);
}

TEST_CASE("a read on the device level ends the recorded plan, and the program runs all the same") {
  const Eager eager;
  auto x = numbers({4});
  pl::Array<float> y({4}), z({4});
  auto device = pl::jit([&](Any a, AnyOut b, AnyOut c) {
    copy(a, b);
    pl::wait(b);
    if (b.data()[3] == 3.0f) copy(b, c);
  });
  auto host = pl::jit.host([&](Any a, AnyOut b, AnyOut c) { device(a, b, c, pld::device = 0); });
  auto compiled = host.compile(x, y, z, {.eager = true});
  CHECK(contains(compiled.plan(), "the plan ends at the read at"));
  CHECK(contains(compiled.plan(), "task_test.cpp:"));
  compiled(x, y, z);
  CHECK(z(3) == 3.0f);
}

TEST_CASE("a failing task stops its entry and is thrown with its line, its task and its rank") {
  const Eager eager;
  std::atomic<bool> fail{true};
  std::atomic<int> later{0};
  auto failing = pl::jit.incore([&](Any x, AnyOut y) {
    if (fail) throw pl::ShapeError("does not fit", {"kernel.cpp", 7, 3});
    (void)pl::store(pl::load(x), y);
  });
  auto after = pl::jit.incore([&](Any x, AnyOut y) {
    ++later;
    (void)pl::store(pl::load(x), y);
  });
  auto device = pl::jit([&](auto a, auto b, auto rank) {
    if (static_cast<int>(rank) == 1)
      failing(a, b);
    else
      copy(a, b);
    after(b, a);
  });
  auto host = pl::jit.host([&](pl::InOut<Any> a, pl::InOut<Any> b) {
    for (auto r : pl::range(pld::world_size())) device(a[r], b[r], r, pld::device = r);
  });
  auto x = numbers({2, 4});
  pl::Array<float> y({2, 4});
  pl::RunConfig config{.distributed = {.device_ids = {0, 1}}, .eager = true};
  auto compiled = host.compile(x, y, config);
  const std::string message = message_of<pl::ShapeError>([&] { compiled(x, y); });
  CHECK(contains(message, "kernel.cpp:7:3: does not fit; in task kernel at"));
  CHECK(contains(message, "task_test.cpp:"));
  CHECK(contains(message, "; on rank 1"));
  CHECK(later <= 1);
  fail = false;
  compiled(x, y);
  CHECK(y(1, 3) == x(1, 3));
}

TEST_CASE("the local kernel of an orchestration lives until its tasks are done") {
  const Eager eager;
  auto x = numbers({4});
  pl::Array<float> y({4});
  auto device = pl::jit([](Any a, AnyOut b) {
    auto local = pl::jit.incore([](Any c, AnyOut d) { (void)pl::store(pl::load(c) + 1.0f, d); });
    local(a, b);
  });
  device(x.view(), AnyOut(y.view()));
  CHECK(y(3) == 4.0f);
}

TEST_CASE("tasks that may wait for each other run beside one core") {
  const Eager eager;
  std::atomic<int> signal{0};
  auto waiting = pl::jit.incore([&](AnyOut) {
    while (signal < 4) std::this_thread::yield();
  });
  auto signals = pl::jit.incore([&](AnyOut) { ++signal; });
  pl::Array<float> y({2});
  pl::RunConfig config{.cores = 1, .eager = true};
  const pl::Context context(config);
  const pl::ContextScope scope(context);
  auto device = pl::jit([&](AnyOut b) {
    pl::spmd(3, waiting, b[0], pl::own_thread);
    for (int i = 0; i < 4; ++i) pl::submit(signals, b[1], pl::deps = {}, pl::own_thread);
  });
  device(AnyOut(y.view()));
  CHECK(signal == 4);
}

TEST_CASE(
    "a failing task ends one that waits for a signal which never comes, and the program throws the failure") {
  const pl::Context context({.cores = 1, .eager = true});
  const pl::ContextScope scope(context);
  std::atomic<bool> waits{false};
  auto waiting = pl::jit.incore([&](AnyOut) {
    waits = true;
    pl::wait_until([] { return false; });
  });
  auto failing = pl::jit.incore([&](AnyOut) {
    pl::wait_until([&] { return waits.load(); });
    throw pl::ShapeError("the signal was never sent");
  });
  pl::Array<float> y({2});
  auto device = pl::jit([&](AnyOut b) {
    pl::submit(waiting, b[0], pl::own_thread);
    pl::submit(failing, b[1], pl::own_thread);
  });
  auto host = pl::jit.host([&](AnyOut b) { device(b, pld::device = 0); });
  CHECK(contains(message_of<pl::ShapeError>([&] { host(AnyOut(y.view())); }), "the signal was never sent"));
}

TEST_CASE("task functions outside of a device orchestration are LevelErrors with the place") {
  pl::Array<float> y({4});
  const auto refused = [](const std::string& message, const std::string& what) {
    CHECK(contains(message, "task_test.cpp:"));
    CHECK(contains(message, what + " was called outside of a pl::jit entry"));
    CHECK(contains(message, "call it in the body of a pl::jit entry"));
  };
  refused(message_of<pl::LevelError>([&] { pl::submit(add_one, y); }), "pl::submit");
  refused(message_of<pl::LevelError>([&] { pl::spmd(2, add_one, y); }), "pl::spmd");
  refused(message_of<pl::LevelError>([&] { (void)pl::create_tensor<float>({4}); }), "pl::create_tensor");
  refused(message_of<pl::LevelError>([&] { pl::wait(pl::TaskId{}); }), "pl::wait");
  refused(message_of<pl::LevelError>([&] { pl::manual_scope([] {}); }), "pl::manual_scope");
}

TEST_CASE("wrong blocks, foreign handles and calls that are no task are refused with the place") {
  const Eager eager;
  pl::Array<float> y({4});
  const auto message_in = [&](auto body) {
    auto device = pl::jit([&](AnyOut b) { body(b); });
    const std::string message = message_of<pl::UserError>([&] { device(AnyOut(y.view())); });
    CHECK(contains(message, "task_test.cpp:"));
    return message;
  };
  auto writes = pl::jit.incore([](AnyOut b) { (void)pl::store(pl::full<float>({1}, 1.0f), b); });
  CHECK(contains(message_in([&](AnyOut b) { pl::spmd(-1, writes, b); }), "-1 blocks; expected 0 or more"));
  CHECK(contains(message_in([&](AnyOut b) { pl::spmd(300, writes, b, pl::own_thread); }),
                 "300 blocks that may wait for each other need a thread each; expected at most 256"));
  pl::TaskId stale;
  auto first = pl::jit([&](AnyOut b) { stale = pl::submit(writes, b); });
  first(AnyOut(y.view()));
  CHECK(contains(message_in([&](AnyOut b) { pl::submit(writes, b, pl::deps = {stale}); }),
                 "a pl::TaskId of another orchestration"));
}

TEST_CASE("an argument that does not fit is refused at the line of the submit") {
  const Eager eager;
  auto typed = pl::jit.incore([](pl::Tensor<float, 4> x, AnyOut y) { (void)pl::store(pl::load(x), y); });
  pl::Array<float> x({3}), y({3});
  int line = 0;
  auto device = pl::jit([&](Any a, AnyOut b) {
    line = __LINE__ + 1;
    pl::submit(typed, a, b);
  });
  const std::string message = message_of<pl::ShapeError>([&] { device(x.view(), AnyOut(y.view())); });
  CHECK(contains(message, "task_test.cpp:" + std::to_string(line) + ":"));
}

TEST_CASE("the trace holds the host, the devices and the cores, complete after every run") {
  std::string transport = "threads";
  SUBCASE("of threads") {}
  SUBCASE("of processes") { transport = "processes"; }
  const support::TemporaryFolder folder;
  const std::string file = folder.path() + "/trace.json";
  auto x = numbers({2, 4});
  pl::Array<float> y({2, 4});
  auto device = pl::jit([&](auto a, auto b) {
    copy(a, b);
    pl::spmd(3, add_one, b);
  });
  auto host = pl::jit.host([&](pl::InOut<Any> a, pl::InOut<Any> b) {
    for (auto r : pl::range(pld::world_size())) device(a[r], b[r], pld::device = r);
  });
  pl::RunConfig config{
      .distributed = {.device_ids = {0, 5}, .transport = transport}, .trace = file, .eager = true};
  auto compiled = host.compile(x, y, config);
  for (int round = 1; round <= 3; ++round) {
    compiled(x, y);
    std::ifstream stream(file);
    const auto trace = nlohmann::json::parse(stream);
    int tasks = 0, orchestrations = 0, waits = 0;
    std::string names;
    for (const auto& event : trace["traceEvents"]) {
      if (event["ph"] == "M") names += event["args"]["name"].get<std::string>() + "|";
      if (event["ph"] != "X") continue;
      CHECK(event["dur"].get<double>() >= 0);
      if (event["pid"] == 0) {
        waits += event["name"] == "wait for ranks" ? 1 : 0;
      } else if (event["tid"] == 0) {
        orchestrations += event["name"] == "orchestrate" ? 1 : 0;
      } else {
        ++tasks;
      }
    }
    CHECK(tasks == round * 2 * 4);
    CHECK(orchestrations == round * 2);
    CHECK(waits == round);
    CHECK(contains(names, "host|"));
    CHECK(contains(names, "rank 1 (device 5)|"));
    CHECK(contains(names, "core 3|"));
  }
}

TEST_CASE("a benchmark gives host and device times per rank and phase") {
  const Eager eager;
  auto x = numbers({2, 4});
  pl::Array<float> y({2, 4});
  auto slow = pl::jit.incore([](Any a, AnyOut b) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    (void)pl::store(pl::load(a), b);
  });
  auto device = pl::jit([&](auto a, auto b) { slow(a, b); });
  auto host = pl::jit.host([&](Any a, AnyOut b) {
    for (auto r : pl::range(pld::world_size())) device(a[r], b[r], pld::device = r);
  });
  pl::RunConfig config{.distributed = {.device_ids = {0, 3}}, .eager = true};
  auto compiled = host.compile(x, y, config);
  const pl::BenchmarkReport report =
      pl::benchmark(compiled, x, y, pl::BenchmarkOptions{.warm_up = 1, .runs = 3, .seconds = 0});
  CHECK(report.runs == 3);
  REQUIRE(report.ranks.size() == 2);
  CHECK(report.ranks[1].rank == 1);
  CHECK(report.ranks[1].device == 3);
  CHECK(report.ranks[1].tasks == 1);
  CHECK(report.ranks[0].task_seconds >= 0.002);
  CHECK(report.ranks[0].total_seconds >= report.ranks[0].task_seconds);
  CHECK(report.host_seconds >= report.ranks[0].total_seconds);
  CHECK(report.fastest_seconds <= report.host_seconds);
  CHECK(contains(report.text(), "rank 1 (device 3)"));
  const pl::BenchmarkReport kernel = pl::benchmark(copy, x, y);
  CHECK(kernel.ranks.empty());
  CHECK(kernel.runs >= 5);
  CHECK(contains(
      message_of<pl::UserError>([&] { (void)pl::benchmark(copy, x, y, pl::BenchmarkOptions{.runs = 0}); }),
      "pl::benchmark: warm_up = 2, runs = 0, seconds = "));
}

TEST_CASE("cores out of range are refused") {
  CHECK(contains(message_of<pl::ConfigError>([] { const pl::Context context({.cores = 0}); }),
                 "RunConfig.cores = 0: expected 1 to 1024"));
}
