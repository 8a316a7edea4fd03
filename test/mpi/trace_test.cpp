// Processes of mpirun write one trace together, with arrows from a rank's signal to another rank's wait.
#include "mpi.hpp"

#include "trace/shown.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

using shown::Arrow;
using shown::json;
using shown::Shown;
using support::contains;

namespace {

constexpr auto NR = pl::dynamic("NR");
using Cells = pld::DistributedTensor<std::int32_t, 4>;
using Data = pld::DistributedTensor<float, 64>;
using Out = pl::Out<pl::Tensor<std::int32_t, NR>>;

constexpr int rounds = 5;
/// Each rank waits for its neighbour's signal, once at the end of the task, and all meet.
auto around = pl::jit.incore([](Cells signal, Data data) {
  const int next = (pld::rank(signal) + 1) % pld::nranks(signal);
  for (int round = 1; round <= rounds; ++round) {
    pld::notify(signal, {.peer = next, .offsets = {3}});
    pld::wait(signal, {.offsets = {3}, .expected = round});
  }
  pld::allreduce(data);
  pld::defer_wait(signal, {.offsets = {1}});
  pld::notify(signal, {.peer = next, .offsets = {1}});
});
auto around_device = pl::jit([](auto signal, auto data) { around(signal, data); });
auto around_host = pl::jit.host([](Out) {
  auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
  auto data = pld::window<float>(pld::alloc_window_buffer<float>({64}), {64});
  for (auto r : pl::range(pld::world_size())) around_device(signal, data, pld::device = r);
});

auto stuck = pl::jit.incore([](Cells signal) { pld::wait(signal, {.offsets = {2}, .expected = 9}); });
auto stuck_device = pl::jit([](auto signal) { stuck(signal); });
auto stuck_host = pl::jit.host([](Out) {
  auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
  for (auto r : pl::range(pld::world_size())) stuck_device(signal, pld::device = r);
});

/// Of the process group: each has the same name, and rank 0 alone looks at what stands there.
std::string file_of_all(const std::string& name) {
  const char* folder = std::getenv("TRILITH_CACHE_DIR");
  return (folder != nullptr ? std::string(folder) : std::filesystem::temp_directory_path().string()) + "/" +
         name + std::to_string(mpi::processes()) + ".json";
}

/// The message of the run; rank 0 reads the trace into `shown`.
template <class Host>
std::string trace_of(const Host& host, const std::string& name, Shown& shown) {
  pl::RunConfig with = mpi::config();
  with.trace = file_of_all(name + (windows::natively ? "_native" : "_compiled"));
  pl::Array<std::int32_t> y({mpi::processes()});
  const std::string message = windows::message_of([&] { host(y, with); });
  if (mpi::own_rank() == 0) shown = shown::read_trace(with.trace);
  CHECK_FALSE(std::filesystem::exists(with.trace + ".rank" + std::to_string(mpi::own_rank())));
  return message;
}

}  // namespace

TEST_CASE(
    "rank 0 writes one trace of all processes, with an arrow from each signal to the wait it satisfied") {
  BOTH_WAYS
  Shown shown;
  CHECK(trace_of(around_host, "trace", shown) == "");
  if (mpi::own_rank() != 0) return;
  const int ranks = mpi::processes();
  const auto all = static_cast<std::size_t>(ranks);
  const std::vector<Arrow> arrows = shown.into("pld::wait");
  CHECK(shown.named("pld::wait").size() == all * rounds);
  REQUIRE(arrows.size() == all * rounds);
  std::set<double> notifies;
  for (const Arrow& arrow : arrows) {
    const json &notify = *arrow.source, &wait = *arrow.target;
    CHECK(notify["name"] == "pld::notify");
    const int from = notify["pid"].get<int>() - 1, to = wait["pid"].get<int>() - 1;
    CHECK(to == (from + 1) % ranks);
    CHECK(notify["args"]["peer"] == to);
    CHECK(notify["args"]["cell"] == 3);
    CHECK(wait["args"]["peer"] == from);
    CHECK(wait["args"]["notified_at"] == notify["args"]["at"]);
    notifies.insert(notify["ts"].get<double>());
  }
  // Each signal satisfies one wait.
  CHECK(notifies.size() == arrows.size());
  CHECK(shown.into("pld::defer_wait").size() == all);
  CHECK(shown.named("pld::allreduce").size() == all);
  for (const Arrow& arrow : shown.into("wait in pld::allreduce")) CHECK(arrow.from["pid"] != arrow.to["pid"]);
  if (ranks > 1) CHECK_FALSE(shown.into("wait in pld::allreduce").empty());
  for (int rank = 0; rank < ranks; ++rank)
    CHECK(shown.names.contains("rank " + std::to_string(rank) + " (device " + std::to_string(rank) + ")"));
  for (int rank = 1; rank < ranks; ++rank)
    CHECK(shown.names.contains("host in the process of rank " + std::to_string(rank)));
  // Rank 0's host ends last: the critical path begins with the rank that it waited for.
  const auto ends = [](const json& span) { return span["ts"].get<double>() + span["dur"].get<double>(); };
  const auto last = std::ranges::max_element(shown.spans, {}, [&](const json& span) { return ends(span); });
  CHECK((*last)["name"] == "wait for ranks");
  CHECK((*last)["pid"] == 0);
  const auto last_rank = std::ranges::find_if(shown.arrows, [](const Arrow& arrow) {
    return arrow.from["name"] == "last rank" && arrow.to["pid"] == 0;
  });
  CHECK(last_rank != shown.arrows.end());
}

TEST_CASE("a run over processes of mpirun that fails leaves a whole trace of all of them") {
  BOTH_WAYS
  Shown shown;
  CHECK(contains(trace_of(stuck_host, "stuck", shown), "deadlock"));
  if (mpi::own_rank() != 0) return;
  const std::vector<json> waits = shown.named("pld::wait");
  CHECK(waits.size() == static_cast<std::size_t>(mpi::processes()));
  for (const json& wait : waits) CHECK(wait["args"]["ended_by"] == "failure of the run");
}
