// pld::defer_wait: a task that is done when a signal has come, while its kernel has long returned.
#include "ring.hpp"

using support::contains;
using windows::config;
using windows::message_of;

namespace {

using ring::Cells;
using ring::Data;
using ring::Row;
using ring::Rows;

auto send = pl::jit.incore([](Row x, Data data, Cells signal) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  // Before the data have gone: a wait here would be for ever.
  pld::defer_wait(signal, {.offsets = {2}});
  for (int i = 1; i <= 3; ++i) pld::defer_wait(signal, {.offsets = {1}, .expected = i});
  pld::remote_store(pl::load(x), data, {.peer = next});
  for (int i = 0; i < 3; ++i) pld::notify(signal, {.peer = next, .offsets = {1}});
  pld::notify(signal, {.peer = next, .offsets = {2}, .value = 5, .op = pld::NotifyOp::Set});
});
auto receive = pl::jit.incore([](Data data, pl::Out<Row> y) { y = pl::store(pl::load(data), y); });
auto ring_device = pl::jit([](auto x, auto y, auto data, auto signal) {
  send(x, data, signal);
  receive(data, y);
});
auto ring_host = ring::make_host(ring_device);

auto expect = pl::jit.incore([](Cells signal, pl::Out<Row> y) {
  pld::defer_wait(signal, {.offsets = {3}, .expected = 2});
  y = pl::store(pl::full<float>({5}, 1.0f), y);
});
auto signal_itself =
    pl::jit.incore([](pld::DistributedTensor<float, 1> ranks, Cells signal, pl::Scalar<std::int32_t> value) {
      pld::notify(signal, {.peer = pld::rank(ranks), .offsets = {3}, .value = value});
    });
auto expecting_device = pl::jit([](auto y, auto ranks, auto signal, pl::Scalar<std::int32_t> value) {
  expect(signal, y);
  signal_itself(ranks, pl::no_dep(signal), value);
});
auto expecting_host = pl::jit.host([](pl::Out<Rows> y, pl::Scalar<std::int32_t> value) {
  auto ranks = pld::window<float>(pld::alloc_window_buffer<float>({1}), {1});
  auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
  for (auto r : pl::range(pld::world_size())) expecting_device(y[r], ranks, signal, value, pld::device = r);
});

}  // namespace

TEST_CASE("what depends on a task with a deferred wait begins when the signal has come") {
  BOTH_WAYS
  for (const int ranks : {1, 2, 5}) {
    const auto x = windows::numbers({ranks, 5});
    pl::Array<float> y({ranks, 5});
    auto program = ring_host.compile(x, y, config(ranks));
    for (int round = 0; round < 20; ++round) {
      std::fill(y.begin(), y.end(), -1.0f);
      program(x, y);
      ring::check_shifted(x, y, ranks);
    }
  }
}

TEST_CASE("a deferred wait holds no core of its device") {
  BOTH_WAYS
  pl::RunConfig one_core = config(2);
  one_core.cores = 1;
  pl::Array<float> y({2, 5});
  expecting_host(y, std::int32_t{2}, one_core);
  for (const float element : y) CHECK(element == 1.0f);
}

TEST_CASE("a deferred wait that no signal can satisfy is reported as a deadlock, with its line") {
  BOTH_WAYS
  pl::Array<float> y({2, 5});
  const std::string message = message_of([&] { expecting_host(y, std::int32_t{1}, config(2)); });
  CHECK(contains(message, "defer_wait_test.cpp:32"));
  CHECK(contains(message, "pld::defer_wait"));
  CHECK(contains(message, "deadlock"));
}
