// What a trace shows of ranks that signal each other: spans, and arrows from a notify to the wait it satisfied.
#include "trace/shown.hpp"
#include "windows/windows.hpp"

#include <algorithm>
#include <set>

using nlohmann::json;
using shown::Arrow;
using shown::read_trace;
using shown::Shown;
using support::contains;
using windows::config;

namespace {

constexpr auto NR = pl::dynamic("NR");
using Cells = pld::DistributedTensor<std::int32_t, 4>;
using Data = pld::DistributedTensor<float, 64>;
using Out = pl::Out<pl::Tensor<std::int32_t, NR>>;

constexpr int notify_line = __LINE__ + 3, wait_line = __LINE__ + 5;
auto around = pl::jit.incore([](Cells signal) {
  const int next = (pld::rank(signal) + 1) % pld::nranks(signal);
  pld::notify(signal, {.peer = next, .offsets = {3}});
  if (pld::rank(signal) >= 0) {
    pld::wait(signal, {.offsets = {3}, .expected = 1});
  }
});
auto around_device = pl::jit([](auto signal) { around(signal); });
auto around_host = pl::jit.host([](Out) {
  auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
  for (auto r : pl::range(pld::world_size())) around_device(signal, pld::device = r);
});

auto deferred = pl::jit.incore([](Cells signal) {
  pld::defer_wait(signal);
  pld::notify(signal, {.peer = (pld::rank(signal) + 1) % pld::nranks(signal)});
});
auto deferred_device = pl::jit([](auto signal) { deferred(signal); });
auto deferred_host = pl::jit.host([](Out) {
  auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
  for (auto r : pl::range(pld::world_size())) deferred_device(signal, pld::device = r);
});

/// Three signals arrive before the wait for the second one looks.
auto overtaken = pl::jit.incore([](Cells signal) {
  if (pld::rank(signal) == 0) {
    for (int round = 0; round < 3; ++round) pld::notify(signal, {.peer = 1});
    pld::notify(signal, {.peer = 1, .offsets = {1}});
  } else {
    pld::wait(signal, {.offsets = {1}});
    pld::wait(signal, {.expected = 2});
  }
});
auto overtaken_device = pl::jit([](auto signal) { overtaken(signal); });
auto overtaken_host = pl::jit.host([](Out) {
  auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
  for (auto r : pl::range(pld::world_size())) overtaken_device(signal, pld::device = r);
});

auto reduce = pl::jit.incore([](Data data) { pld::allreduce(data); });
auto reduce_device = pl::jit([](auto data) { reduce(data); });
auto reduce_host = pl::jit.host([](Out) {
  auto data = pld::window<float>(pld::alloc_window_buffer<float>({64}), {64});
  for (auto r : pl::range(pld::world_size())) reduce_device(data, pld::device = r);
  pld::barrier(data);
});

auto stuck = pl::jit.incore([](Cells signal) { pld::wait(signal, {.offsets = {2}, .expected = 9}); });
auto stuck_device = pl::jit([](auto signal) { stuck(signal); });
auto stuck_host = pl::jit.host([](Out) {
  auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
  for (auto r : pl::range(pld::world_size())) stuck_device(signal, pld::device = r);
});

template <class Host>
Shown trace_of(const Host& host, int ranks, bool checked = false) {
  const support::TemporaryFolder folder;
  pl::RunConfig with = config(ranks);
  with.trace = folder.path() + "/trace.json";
  with.check = checked;
  pl::Array<std::int32_t> y({ranks});
  const std::string message = windows::message_of([&] { host(y, with); });
  CHECK_MESSAGE((message.empty() || contains(message, "deadlock")), message);
  return read_trace(with.trace);
}

}  // namespace

TEST_CASE("an arrow goes from each notify of a ring to the wait that it satisfied") {
  BOTH_WAYS
  for (const int ranks : {1, 2, 5}) {
    const Shown shown = trace_of(around_host, ranks);
    const std::vector<Arrow> arrows = shown.into("pld::wait");
    REQUIRE(arrows.size() == static_cast<std::size_t>(ranks));
    CHECK(shown.named("pld::notify").size() == arrows.size());
    CHECK(shown.named("pld::wait").size() == arrows.size());
    std::set<int> waiting;
    for (const Arrow& arrow : arrows) {
      const json &notify = *arrow.source, &wait = *arrow.target;
      CHECK(notify["name"] == "pld::notify");
      CHECK(notify["cat"] == "signal");
      CHECK(wait["cat"] == "wait");
      const int from = notify["pid"].get<int>() - 1, to = wait["pid"].get<int>() - 1;
      CHECK(to == (from + 1) % ranks);
      waiting.insert(to);
      CHECK(notify["args"]["peer"] == to);
      CHECK(notify["args"]["cell"] == 3);
      CHECK(notify["args"]["op"] == "AtomicAdd");
      CHECK(wait["args"]["peer"] == from);
      CHECK(wait["args"]["cell"] == 3);
      CHECK(wait["args"]["expected"] == 1);
      CHECK(contains(wait["args"]["window"], "window 0 (16 bytes a rank"));
      CHECK(contains(notify["args"]["at"], "arrows_test.cpp:" + std::to_string(notify_line)));
      CHECK(wait["args"]["notified_at"] == notify["args"]["at"]);
      CHECK(contains(wait["args"]["at"], "arrows_test.cpp:" + std::to_string(wait_line)));
    }
    CHECK(waiting.size() == arrows.size());
    CHECK(shown.names.contains("rank 0 (device 0)"));
    CHECK(shown.names.contains("task that may wait 0"));
    CHECK(shown.named("around").size() == arrows.size());
    // The host's dispatches, and what it waits for last.
    CHECK(std::count_if(shown.arrows.begin(), shown.arrows.end(),
                        [](const Arrow& a) { return a.from["name"] == "dispatch"; }) == ranks);
  }
}

TEST_CASE("a deferred wait is one span, where it waits, with the arrow of its signal") {
  BOTH_WAYS
  const Shown shown = trace_of(deferred_host, 3);
  const std::vector<json> waits = shown.named("pld::defer_wait");
  CHECK(waits.size() == 3);
  for (const json& wait : waits) CHECK(wait["cat"] == "wait");
  CHECK(shown.into("pld::defer_wait").size() == 3);
}

TEST_CASE("the arrow into a wait comes from the first signal that was enough, not from the last") {
  BOTH_WAYS
  const Shown shown = trace_of(overtaken_host, 2);
  std::vector<json> notifies = shown.named("pld::notify");
  REQUIRE(notifies.size() == 4);
  std::sort(notifies.begin(), notifies.end(),
            [](const json& a, const json& b) { return a["ts"].get<double>() < b["ts"].get<double>(); });
  int found = 0;
  for (const Arrow& arrow : shown.into("pld::wait"))
    if ((*arrow.target)["args"]["cell"] == 0) {
      ++found;
      CHECK((*arrow.source)["ts"] == notifies[1]["ts"]);
    }
  CHECK(found == 1);
}

TEST_CASE(
    "collectives are spans, and the signals in them arrows between ranks, called by kernels or the host") {
  BOTH_WAYS
  const Shown shown = trace_of(reduce_host, 3);
  const std::vector<json> reductions = shown.named("pld::allreduce");
  REQUIRE(reductions.size() == 3);
  for (const json& span : reductions) {
    CHECK(span["cat"] == "collective");
    CHECK(span["args"]["elements"] == 64);
  }
  CHECK(shown.named("pld::barrier").size() == 3);
  CHECK(shown.named("collective of the host").size() == 3);
  // Each of three ranks looks at the two others: once, since an allreduce of few elements is one step.
  const std::vector<Arrow> inside = shown.into("wait in pld::allreduce");
  CHECK(inside.size() == 3 * 2);
  CHECK(shown.into("wait in pld::barrier").size() == 3 * 2);
  for (const Arrow& arrow : inside) {
    CHECK((*arrow.source)["name"] == "pld::allreduce");
    CHECK(arrow.from["pid"] != arrow.to["pid"]);
    CHECK_FALSE((*arrow.target)["args"].contains("cell"));
  }
}

// The checker sees one process.
TEST_SUITE("one process") {
  TEST_CASE("a trace of a checked run has the same arrows") {
    const Shown shown = trace_of(around_host, 3, true);
    CHECK(shown.into("pld::wait").size() == 3);
  }
}

TEST_CASE("a run that fails leaves a whole trace, with the waits that it ended") {
  BOTH_WAYS
  const Shown shown = trace_of(stuck_host, 2);
  const std::vector<json> waits = shown.named("pld::wait");
  REQUIRE(waits.size() == 2);
  for (const json& wait : waits) {
    CHECK(wait["args"]["ended_by"] == "failure of the run");
    CHECK(wait["args"]["cell"] == 2);
  }
  CHECK(shown.into("pld::wait").empty());
  CHECK(shown.named("wait for ranks").size() == 1);
}
