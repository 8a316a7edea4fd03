// The scheduler: random task graphs against a serial run, overlap, blocks, failures.
#include "runtime/task_graph.hpp"
#include "runtime/pointer_map.hpp"

#include "support.hpp"

#include <atomic>
#include <functional>
#include <numeric>
#include <random>
#include <thread>

using pl::detail::Region;
using pl::detail::TaskGraph;
using pl::detail::TaskNumber;
using pl::detail::TaskRequest;
using pl::detail::TaskWork;
using support::message_of;

namespace {

class Call final : public TaskWork {
 public:
  explicit Call(std::function<void(std::int64_t)> body) : body_(std::move(body)) {}
  void run(std::int64_t block, std::int64_t) override { body_(block); }
  [[nodiscard]] std::string name() const override { return "call"; }
  [[nodiscard]] std::unique_ptr<TaskWork> moved(const pl::detail::PointerMap&) const override {
    return std::make_unique<Call>(body_);
  }

 private:
  std::function<void(std::int64_t)> body_;
};

std::shared_ptr<TaskGraph> graph_of(int cores, std::uint64_t seed = 0) {
  TaskGraph::Settings settings;
  settings.cores = cores;
  settings.seed = seed;
  return std::make_shared<TaskGraph>(std::move(settings));
}

TaskRequest request(std::function<void(std::int64_t)> body) {
  TaskRequest result;
  result.work = std::make_unique<Call>(std::move(body));
  return result;
}

/// A box of a 16 x 16 matrix.
struct Box {
  int row, column, rows, columns;
  [[nodiscard]] Region region(std::int64_t* matrix, bool writes) const {
    const std::int64_t extents[] = {rows, columns}, strides[] = {16, 1};
    return {
        pl::detail::RecordedView({pl::DType::Int64, false, 2, matrix + row * 16 + column, extents, strides}),
        writes};
  }
};

/// Adds up `from` and mixes the sum into `to`: any change of order gives other numbers.
struct Step {
  Box from, to;
  std::int64_t factor;
  void run(std::int64_t* matrix) const {
    std::int64_t sum = 0;
    for (int r = 0; r < from.rows; ++r)
      for (int c = 0; c < from.columns; ++c) sum += matrix[(from.row + r) * 16 + from.column + c];
    for (int r = 0; r < to.rows; ++r)
      for (int c = 0; c < to.columns; ++c) {
        std::int64_t& element = matrix[(to.row + r) * 16 + to.column + c];
        element = (element * factor + sum) % 1000003;
      }
  }
};

std::vector<Step> random_steps(std::mt19937& random) {
  const auto up_to = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const auto box = [&] {
    const int row = up_to(14), column = up_to(14);
    return Box{row, column, 1 + up_to(std::min(5, 16 - row)), 1 + up_to(std::min(5, 16 - column))};
  };
  std::vector<Step> steps(static_cast<std::size_t>(4 + up_to(12)));
  for (Step& step : steps) step = {box(), box(), 3 + up_to(100)};
  return steps;
}

TaskRequest request(const Step& step, std::int64_t* matrix) {
  TaskRequest result = request([step, matrix](std::int64_t) { step.run(matrix); });
  result.touches = {step.from.region(matrix, false), step.to.region(matrix, true)};
  result.waits_for = result.touches;
  return result;
}

}  // namespace

TEST_CASE("10,000 random task graphs give what a serial run gives, whatever the order") {
  std::mt19937 random(2026);
  for (int round = 0; round < 10'000; ++round) {
    std::vector<std::int64_t> expected(256), matrix(256);
    std::iota(expected.begin(), expected.end(), round);
    matrix = expected;
    const std::vector<Step> steps = random_steps(random);
    for (const Step& step : steps) step.run(expected.data());
    const auto graph = graph_of(1 + round % 5, static_cast<std::uint64_t>(round));
    for (const Step& step : steps) {
      TaskRequest task = request(step, matrix.data());
      task.own_thread = round % 100 == 0;
      graph->submit(std::move(task));
    }
    graph->finish();
    INFO("round " << round);
    REQUIRE(matrix == expected);
  }
}

TEST_CASE("a recorded graph replays on other memory without another analysis") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::int64_t> expected(256), recorded(256), matrix(256);
    std::iota(expected.begin(), expected.end(), round);
    matrix = expected;
    const std::vector<Step> steps = random_steps(random);
    for (int twice = 0; twice < 2; ++twice)
      for (const Step& step : steps) step.run(expected.data());
    pl::detail::RecordedSteps list;
    const auto recorder = graph_of(1);
    recorder->record_into(&list);
    for (const Step& step : steps) {
      // The work finds its memory itself; regions are what the edges come from.
      TaskRequest task = request([step, &matrix](std::int64_t) { step.run(matrix.data()); });
      task.touches = {step.from.region(recorded.data(), false), step.to.region(recorded.data(), true)};
      task.waits_for = task.touches;
      recorder->submit(std::move(task));
    }
    for (int twice = 0; twice < 2; ++twice) {
      const auto graph = graph_of(4, static_cast<std::uint64_t>(round));
      graph->replay(list, {});
      graph->finish();
    }
    REQUIRE(matrix == expected);
  }
}

TEST_CASE("two independent tasks run at the same time") {
  const auto graph = graph_of(2);
  std::atomic<int> arrived{0};
  std::atomic<bool> met[2] = {false, false};
  for (int task = 0; task < 2; ++task)
    graph->submit(request([&, task](std::int64_t) {
      ++arrived;
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
      while (arrived != 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
      met[task] = arrived == 2;
    }));
  graph->finish();
  CHECK(met[0]);
  CHECK(met[1]);
}

TEST_CASE("no more blocks run at a time than the device has cores, and every block runs once") {
  for (const int cores : {1, 2, 3}) {
    const auto graph = graph_of(cores);
    std::atomic<int> running{0}, most{0};
    std::vector<std::atomic<int>> runs(50);
    TaskRequest task = request([&](std::int64_t block) {
      const int now = ++running;
      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
      }
      std::this_thread::yield();
      ++runs[static_cast<std::size_t>(block)];
      --running;
    });
    task.blocks = 50;
    graph->submit(std::move(task));
    graph->finish();
    CHECK(most <= cores);
    for (const auto& count : runs) CHECK(count == 1);
  }
}

TEST_CASE("a task waits for explicit edges, and one of no blocks is done at once") {
  const auto graph = graph_of(4, 3);
  std::vector<int> order;
  TaskNumber last = 0;
  for (int i = 0; i < 20; ++i) {
    TaskRequest task = request([&, i](std::int64_t) { order.push_back(i); });
    if (i > 0) task.after = {last};
    last = graph->submit(std::move(task));
    TaskRequest nothing = request([](std::int64_t) { FAIL("it has no blocks"); });
    nothing.blocks = 0;
    nothing.after = {last};
    last = graph->submit(std::move(nothing));
  }
  graph->finish();
  REQUIRE(order.size() == 20);
  for (int i = 0; i < 20; ++i) CHECK(order[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("tasks that may wait for each other have threads of their own, and one core suffices") {
  const auto graph = graph_of(1);
  std::atomic<int> signal{0};
  std::atomic<int> done{0};
  TaskRequest waiting = request([&](std::int64_t) {
    while (signal != 3) std::this_thread::yield();
    ++done;
  });
  waiting.own_thread = true;
  waiting.blocks = 4;
  graph->submit(std::move(waiting));
  for (int i = 0; i < 3; ++i) graph->submit(request([&](std::int64_t) { ++signal; }));
  graph->finish();
  CHECK(done == 4);
}

TEST_CASE("the first error stops what has not begun and is thrown by finish") {
  const auto graph = graph_of(2);
  std::atomic<int> ran{0};
  TaskRequest failing = request([](std::int64_t) { throw pl::ShapeError("too long", {"a.cpp", 3, 4}); });
  const TaskNumber number = graph->submit(std::move(failing));
  for (int i = 0; i < 10; ++i) {
    TaskRequest task = request([&](std::int64_t) { ++ran; });
    task.after = {number};
    try {
      graph->submit(std::move(task));
    } catch (const pl::detail::Stopped&) {
      break;
    }
  }
  CHECK(message_of<pl::ShapeError>([&] { graph->finish(); }) == "a.cpp:3:4: too long; in task call");
  CHECK(ran == 0);
}

TEST_CASE("a task that waits for ever ends when another one fails, and the first error is told") {
  const auto graph = graph_of(1);
  std::atomic<bool> waits{false};
  TaskRequest waiting = request([&](std::int64_t) {
    waits = true;
    pl::wait_until([] { return false; });
  });
  waiting.own_thread = true;
  graph->submit(std::move(waiting));
  graph->submit(request([&](std::int64_t) {
    pl::wait_until([&] { return waits.load(); });
    throw pl::ShapeError("too long", {"a.cpp", 3, 4});
  }));
  CHECK(message_of<pl::ShapeError>([&] { graph->finish(); }) == "a.cpp:3:4: too long; in task call");
}

TEST_CASE("a task that waits for ever ends when another rank fails") {
  std::atomic<bool> stop{false};
  TaskGraph::Settings settings;
  settings.stop = &stop;
  const auto graph = std::make_shared<TaskGraph>(std::move(settings));
  std::atomic<bool> waits{false};
  TaskRequest waiting = request([&](std::int64_t) {
    waits = true;
    pl::wait_until([] { return false; });
  });
  waiting.own_thread = true;
  graph->submit(std::move(waiting));
  pl::wait_until([&] { return waits.load(); });
  stop = true;
  bool stopped = false;
  try {
    graph->finish();
  } catch (const pl::detail::Stopped&) {
    stopped = true;
  }
  CHECK(stopped);
}

TEST_CASE("wait runs tasks and returns when that one is done") {
  const auto graph = graph_of(1);
  int value = 0;
  graph->submit(request([&](std::int64_t) { value = 1; }));
  TaskRequest task = request([&](std::int64_t) { value *= 5; });
  task.after = {0};
  graph->wait(graph->submit(std::move(task)));
  CHECK(value == 5);
  graph->finish();
}

TEST_CASE("a hundred thousand tasks are submitted without waiting for the last") {
  const auto graph = graph_of(2);
  std::atomic<int> count{0};
  for (int i = 0; i < 100'000; ++i) graph->submit(request([&](std::int64_t) { ++count; }));
  graph->finish();
  CHECK(count == 100'000);
}
