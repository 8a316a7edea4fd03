// The collectives of a program's plan, as compiled.save_plan writes them.
#include "windows/windows.hpp"

#include <nlohmann/json.hpp>

#include <fstream>

using nlohmann::json;
using support::contains;
using windows::config;

namespace {

constexpr auto NR = pl::dynamic("NR");
using Data = pld::DistributedTensor<float, 64>;
using Rows = pld::DistributedTensor<float, 4, 16>;
using Cells = pld::DistributedTensor<std::int32_t, 8>;
using Out = pl::Out<pl::Tensor<std::int32_t, NR>>;

constexpr int barrier_line = __LINE__ + 2;
auto many = pl::jit.incore([](Data data, Rows rows, pl::Scalar<int> rounds) {
  pld::barrier(data);
  for (int i = 0; i < 3; ++i)
    for (int j = 1; j <= rounds; ++j) pld::allreduce(data, {.algorithm = pld::Algorithm::Ring});
  for (int i = 0; i < pld::nranks(data); ++i) pld::broadcast(data, {.root = i});
  if (pld::nranks(data) > 2) pld::allgather(rows);
  pld::all_to_all(rows);
});
auto many_device = pl::jit([](auto data, auto rows, auto rounds) { many(data, rows, rounds); });
auto many_host = pl::jit.host([](Out, pl::Scalar<int> rounds) {
  auto data = pld::window<float>(pld::alloc_window_buffer<float>({64}), {64});
  auto rows = pld::window<float>(pld::alloc_window_buffer<float>({4, 16}), {4, 16});
  for (auto r : pl::range(pld::world_size())) many_device(data, rows, rounds, pld::device = r);
});

auto small = pl::jit.incore([](Data data) { pld::allreduce(data); });
auto small_device = pl::jit([](auto data) { small(data); });
auto host_calls = pl::jit.host([](Out) {
  auto data = pld::window<float>(pld::alloc_window_buffer<float>({64}), {64});
  auto half = pld::window<float>(pld::alloc_window_buffer<float>({64}), {64});
  auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({8}), {8});
  for (int r = 0; r < 4; ++r) small_device(data, pld::device = r);
  for (int r = 2; r < 4; ++r) small_device(half, pld::device = r);
  for (int round = 0; round < 2; ++round)
    pld::allreduce(data, {.algorithm = pld::Algorithm::Mesh, .signal = cells});
  pld::reduce(data, {.root = 1});
});

/// A kernel that leaves early, and one round of a loop.
auto early = pl::jit.incore([](Data data, pl::Scalar<int> rounds) {
  for (int i = 0; i < 4; ++i) {
    if (i == rounds) break;
    pld::barrier(data);
  }
  pld::allgather(data);
  if (rounds > 7) return;
  pld::all_to_all(data);
});
auto early_device = pl::jit([](auto data, auto rounds) { early(data, rounds); });
auto early_host = pl::jit.host([](Out, pl::Scalar<int> rounds) {
  auto data = pld::window<float>(pld::alloc_window_buffer<float>({64}), {64});
  for (auto r : pl::range(pld::world_size())) early_device(data, rounds, pld::device = r);
});

template <class Program>
json plan_of(const Program& program) {
  const support::TemporaryFolder folder;
  program.save_plan(folder.path() + "/plan.json");
  std::ifstream stream(folder.path() + "/plan.json");
  return json::parse(stream);
}

std::string line_of(const json& item) {
  return item["operation"].get<std::string>() + " " + item["algorithm"].get<std::string>() + " " +
         item["bytes"].dump() + " x" + item["times"].dump() + " n" + item["ranks"].dump() + " " +
         item["by"].get<std::string>() + (item["conditional"] == true ? " perhaps" : "") +
         (item["signal"] == true ? " cells" : "");
}

std::string lines_of(const json& plan) {
  std::string result;
  for (const json& item : plan["collectives"]) result += line_of(item) + "\n";
  return result;
}

}  // namespace

TEST_CASE("a saved plan has the collectives in the code of kernels, and how often where the arguments tell") {
  windows::natively = false;
  pl::Array<std::int32_t> y({4});
  const json plan = plan_of(many_host.compile(y, 5, config(4)));
  CHECK(plan["trilith_plan"] == 1);
  CHECK(plan["ranks"] == 4);
  CHECK(plan["dispatches"] == 4);
  CHECK(plan["kernel_calls"] == 4);
  CHECK(plan["kernel_calls_without_ir"] == 0);
  CHECK(lines_of(plan) ==
        "barrier auto 0 x1 n4 many\n"
        "allreduce ring 256 x15 n4 many\n"
        "broadcast auto 256 xnull n4 many\n"
        "allgather auto 256 x1 n4 many perhaps\n"
        "all_to_all auto 256 x1 n4 many\n");
  CHECK(contains(plan["collectives"][0]["at"], "plan_test.cpp:" + std::to_string(barrier_line)));
}

TEST_CASE("a saved plan has the collectives of the host, and the ranks that share their windows") {
  windows::natively = false;
  pl::Array<std::int32_t> y({4});
  CHECK(lines_of(plan_of(host_calls.compile(y, config(4)))) ==
        "allreduce auto 256 x1 n4 small\n"
        "allreduce auto 256 x1 n2 small\n"
        "allreduce mesh 256 x1 n4 the host cells\n"
        "allreduce mesh 256 x1 n4 the host cells\n"
        "reduce auto 256 x1 n4 the host\n");
}

TEST_CASE("a collective behind an early return, or in a loop with a break, is one that may not happen") {
  windows::natively = false;
  pl::Array<std::int32_t> y({4});
  CHECK(lines_of(plan_of(early_host.compile(y, 2, config(4)))) ==
        "barrier auto 0 x4 n4 early perhaps\n"
        "allgather auto 256 x1 n4 early\n"
        "all_to_all auto 256 x1 n4 early perhaps\n");
}

TEST_CASE("a plan that cannot be written is an error with the caller's line") {
  pl::Array<std::int32_t> y({4});
  const auto program = many_host.compile(y, 5, config(4));
  const std::string message = windows::message_of([&] { program.save_plan("/nonexistent/plan.json"); });
  CHECK(contains(message, "plan_test.cpp:" + std::to_string(__LINE__ - 1)));
  CHECK(contains(message,
                 "save_plan: /nonexistent/plan.json cannot be written: No such file or directory; name a "
                 "file in a folder"));
}
