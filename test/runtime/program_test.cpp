// Host, devices and kernels together, with the lambdas run natively.
#include "support.hpp"

#include <atomic>
#include <set>
#include <stdexcept>
#include <thread>

using support::contains;
using support::Eager;
using support::message_of;
using support::numbers;

namespace {

constexpr auto NR = pl::dynamic("NR");
using Rows = pl::Tensor<float, NR, 4>;
using Row = pl::Tensor<float, 4>;

auto scale = pl::jit.incore([](Row x, pl::Out<Row> y, pl::Scalar<std::int32_t> rank) {
  auto tile = pl::load(x);
  y = pl::store(tile * pl::cast<float>(rank) + tile, y);
  return y;
});
auto device_orch = pl::jit([](auto x, auto y, auto rank) { return scale(x, y, rank); });
auto host_orch = pl::jit.host([](Rows x, pl::Out<Rows> y) {
  for (auto r : pl::range(pld::world_size())) device_orch(x[r], y[r], r, pld::device = r);
});

pl::RunConfig devices(std::vector<int> ids) {
  return {.distributed = {.device_ids = std::move(ids)}, .eager = true};
}

void check_scaled(const pl::Array<float>& x, const pl::Array<float>& y, int ranks) {
  for (int r = 0; r < ranks; ++r)
    for (int i = 0; i < 4; ++i) CHECK(y(r, i) == x(r, i) * static_cast<float>(r + 1));
}

}  // namespace

TEST_CASE("a compiled program runs every rank on its device") {
  auto x = numbers({3, 4});
  pl::Array<float> y({3, 4});
  const pl::RunConfig config = devices({4, 7, 2});
  auto compiled = host_orch.compile(x, y, config);
  for (float element : y) CHECK(element == 0.0f);
  compiled(x, y, config);
  check_scaled(x, y, 3);
  compiled(x, y);
  check_scaled(x, y, 3);
}

TEST_CASE("a host orchestrator called directly compiles once and runs") {
  auto x = numbers({2, 4});
  pl::Array<float> y({2, 4});
  int recorded = 0, ran = 0;
  auto host = pl::jit.host([&](Rows a, pl::Out<Rows> b) {
    ++(pl::recording() ? recorded : ran);
    for (auto r : pl::range(pld::world_size())) device_orch(a[r], b[r], r, pld::device = r);
  });
  host(x, y, devices({0, 1}));
  host(x, y, devices({0, 1}));
  CHECK(recorded == 1);
  CHECK(ran == 2);
  check_scaled(x, y, 2);
}

TEST_CASE("arguments of a program that disagree on a named extent are refused before anything runs") {
  auto x = numbers({2, 4});
  pl::Array<float> y({3, 4}), fitting({2, 4});
  const pl::RunConfig config = devices({0, 1});
  const auto expected = [](const std::string& message) {
    CHECK(contains(message, "program_test.cpp:"));
    CHECK(contains(message,
                   "the extent \"NR\" of a program is 2 in argument 1 (float[2, 4]) and 3 in argument 2 "
                   "(float[3, 4]); all uses of one name must agree"));
  };
  expected(message_of<pl::ShapeError>([&] { (void)host_orch.compile(x, y, config); }));
  auto compiled = host_orch.compile(x, fitting, config);
  expected(message_of<pl::ShapeError>([&] { compiled(x, y); }));
  for (float element : y) CHECK(element == 0.0f);
}

TEST_CASE("a generic host orchestrator takes views and arrays") {
  auto host = pl::jit.host([](auto x, auto y) {
    for (auto r : pl::range(pld::world_size())) device_orch(x[r], y[r], r, pld::device = r);
  });
  auto x = numbers({2, 4});
  pl::Array<float> y({2, 4});
  const pl::RunConfig config = devices({0, 1});
  auto compiled = host.compile(x, y, config);
  compiled(x, y, config);
  check_scaled(x, y, 2);
}

TEST_CASE("a device entry called from ordinary C++ runs on device 0 and gives its result") {
  const Eager eager;
  auto x = numbers({4});
  pl::Array<float> y({4});
  const pl::Out<Row> result = device_orch(x.view(), pl::Out<Row>(y.view()), 2);
  CHECK(result.data() == y.data());
  CHECK(y(3) == 9.0f);
}

TEST_CASE("the result of a dispatch cannot be read in the host orchestrator") {
  auto host = pl::jit.host([](Rows x, pl::Out<Rows> y) {
    auto result = device_orch(x[0], y[0], pld::Rank(0), pld::device = 0);
    (void)result.get();
  });
  auto x = numbers({1, 4});
  pl::Array<float> y({1, 4});
  CHECK(contains(message_of<pl::LevelError>([&] { host(x, y, devices({0})); }), "only enqueued"));
}

TEST_CASE("ranks run on threads of their own, each device on one") {
  std::mutex mutex;
  std::set<std::pair<int, std::thread::id>> seen;
  auto device = pl::jit([&](auto x, auto y, auto rank) {
    if (!pl::recording()) {
      const std::scoped_lock lock(mutex);
      seen.emplace(static_cast<int>(rank), std::this_thread::get_id());
    }
    scale(x, y, rank);
  });
  auto host = pl::jit.host([&](Rows x, pl::Out<Rows> y) {
    for (auto r : pl::range(pld::world_size())) device(x[r], y[r], r, pld::device = r);
  });
  auto x = numbers({3, 4});
  pl::Array<float> y({3, 4});
  const pl::RunConfig config = devices({0, 1, 2});
  auto compiled = host.compile(x, y, config);
  compiled(x, y);
  compiled(x, y);
  CHECK(seen.size() == 3);
  std::set<std::thread::id> threads;
  for (const auto& [rank, thread] : seen) threads.insert(thread);
  CHECK(threads.size() == 3);
  CHECK_FALSE(threads.contains(std::this_thread::get_id()));
}

TEST_CASE("the first error of a rank is thrown on the host, the others stop, the program stays usable") {
  std::atomic<bool> fail{true};
  std::atomic<int> steps{0};
  auto device = pl::jit([&](auto x, auto y, auto rank) {
    if (pl::recording()) return;
    if (static_cast<int>(rank) == 1 && fail) throw std::runtime_error("rank 1 failed");
    for (int step = 0; step < (fail ? 1'000'000 : 1); ++step) {
      scale(x, y, rank);
      ++steps;
    }
  });
  auto host = pl::jit.host([&](Rows x, pl::Out<Rows> y) {
    for (auto r : pl::range(pld::world_size())) device(x[r], y[r], r, pld::device = r);
  });
  auto x = numbers({2, 4});
  pl::Array<float> y({2, 4});
  const pl::RunConfig config = devices({0, 1});
  auto compiled = host.compile(x, y, config);
  CHECK(message_of<std::runtime_error>([&] { compiled(x, y); }) == "rank 1 failed");
  CHECK(steps < 1'000'000);
  fail = false;
  compiled(x, y);
  check_scaled(x, y, 2);
}

TEST_CASE("an error of the host orchestrator waits for the ranks that run") {
  std::atomic<int> finished{0};
  auto device = pl::jit([&](auto, auto) {
    if (pl::recording()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ++finished;
  });
  auto host = pl::jit.host([&](Rows x, pl::Out<Rows> y) {
    device(x[0], y[0], pld::device = 0);
    if (pl::recording()) return;
    while (finished == 0) std::this_thread::yield();
    throw std::runtime_error("host failed");
  });
  auto x = numbers({1, 4});
  pl::Array<float> y({1, 4});
  auto compiled = host.compile(x, y, devices({0}));
  CHECK(message_of<std::runtime_error>([&] { compiled(x, y); }) == "host failed");
  CHECK(finished == 1);
}

TEST_CASE("one program may run several times at once") {
  auto x = numbers({2, 4});
  pl::Array<float> first({2, 4}), second({2, 4});
  auto compiled = host_orch.compile(x, first, devices({0, 1}));
  std::thread other([&] {
    for (int i = 0; i < 50; ++i) compiled(x, second);
  });
  for (int i = 0; i < 50; ++i) compiled(x, first);
  other.join();
  check_scaled(x, first, 2);
  check_scaled(x, second, 2);
}

TEST_CASE("a configuration that does not fit what was compiled is refused with both printed") {
  auto x = numbers({2, 4});
  pl::Array<float> y({2, 4});
  auto compiled = host_orch.compile(x, y, devices({0, 1}));
  std::string message = message_of<pl::ConfigError>([&] { compiled(x, y, devices({0, 2})); });
  CHECK(contains(message, "{0, 1}"));
  CHECK(contains(message, "{0, 2}"));
  pl::RunConfig hardware = devices({0, 1});
  hardware.platform = "a2a3";
  message = message_of<pl::ConfigError>([&] { compiled(x, y, hardware); });
  CHECK(contains(message, "a2a3sim"));
  CHECK(contains(message, "\"a2a3\""));
}

TEST_CASE("arguments that a program was not compiled for are refused with both printed") {
  auto host = pl::jit.host([](pl::Tensor<float> x, pl::Out<pl::Tensor<float>> y) {
    for (auto r : pl::range(pld::world_size())) device_orch(x[r], y[r], r, pld::device = r);
  });
  auto x = numbers({2, 4}), longer = numbers({3, 4});
  pl::Array<float> y({2, 4});
  auto compiled = host.compile(x, y, devices({0, 1}));
  const std::string message = message_of<pl::ShapeError>([&] { compiled(longer, y); });
  CHECK(contains(message, "float[3, 4]"));
  CHECK(contains(message, "float[2, 4]"));
}

TEST_CASE("the plan lists ranks, arguments and kernels") {
  auto x = numbers({2, 4});
  pl::Array<float> y({2, 4});
  const std::string plan = host_orch.compile(x, y, devices({0, 1})).plan();
  CHECK(contains(plan, "plan for 2 ranks"));
  CHECK(contains(plan, "rank 1 (float[4], out float[4], rank 1)"));
  CHECK(contains(plan, "program_test.cpp:"));
}
