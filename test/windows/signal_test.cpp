// Windows, signals and one-sided memory between ranks.
#include "ring.hpp"

#include <algorithm>

using support::contains;
using windows::config;
using windows::message_of;

namespace {

using ring::Cells;
using ring::Data;
using ring::NR;
using ring::Row;
using ring::Rows;

/// The data go to the right neighbour.
auto ring_shift = pl::jit.incore([](Row x, pl::Out<Row> y, Data data, Cells signal) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  pld::remote_store(pl::load(x), data, {.peer = next});
  pld::notify(signal, {.peer = next});
  pld::wait(signal, {.expected = 1});
  y = pl::store(pl::load(data), y);
});
auto ring_device = pl::jit([](auto x, auto y, auto data, auto signal) { ring_shift(x, y, data, signal); });
auto ring_host = ring::make_host(ring_device);

/// The same by put and get, twice, with one context for both.
auto put_and_get = pl::jit.incore([](Row x, pl::Out<Row> y, Data data, Data back, Cells signal) {
  auto ctx = pld::get_comm_ctx(data);
  const int n = pld::nranks(ctx), me = pld::rank(ctx);
  const int next = (me + 1) % n, last = (me + n - 1) % n;
  pld::put(data, {.peer = next, .src = x, .chunk = 2, .pipeline = 3});
  pld::notify(signal, {.peer = next, .offsets = {1}, .value = 7, .op = pld::NotifyOp::Set});
  pld::wait(signal, {.offsets = {1}, .expected = 7, .cmp = pld::WaitCmp::Eq});
  back = pl::store(pl::load(data) * 2, {0}, back);
  pld::notify(signal, {.peer = last, .offsets = {2}});
  pld::wait(signal, {.offsets = {2}});
  pld::get(y, back, {.peer = next});
});
auto put_device =
    pl::jit([](auto x, auto y, auto data, auto back, auto signal) { put_and_get(x, y, data, back, signal); });
auto put_host = pl::jit.host([](Rows x, pl::Out<Rows> y) {
  auto data = pld::window<float>(pld::alloc_window_buffer(20), {5});
  auto back = pld::window<float>(pld::alloc_window_buffer(20), {5});
  auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
  for (auto r : pl::range(pld::world_size())) put_device(x[r], y[r], data, back, signal, pld::device = r);
});

}  // namespace

TEST_CASE("data and signals go round a ring of any number of ranks") {
  BOTH_WAYS
  for (const int ranks : {1, 2, 3, 8, 32}) {
    const auto x = windows::numbers({ranks, 5});
    pl::Array<float> y({ranks, 5});
    ring_host(x, y, config(ranks));
    ring::check_shifted(x, y, ranks);
  }
}

TEST_CASE("a put and a get between neighbours carry the data there and back") {
  BOTH_WAYS
  for (const int ranks : {1, 2, 5}) {
    const auto x = windows::numbers({ranks, 5});
    pl::Array<float> y({ranks, 5});
    auto program = put_host.compile(x, y, config(ranks));
    for (int round = 0; round < 3; ++round) {
      std::fill(y.begin(), y.end(), -1.0f);
      program(x, y);
      for (int r = 0; r < ranks; ++r)
        for (int i = 0; i < 5; ++i) CHECK(y(r, i) == 2 * x(r, i));
    }
  }
}

namespace {

auto read_peer = pl::jit.incore([](pl::Out<Row> y, Data data, pl::Scalar<int> peer) {
  y = pl::store(pld::remote_load(data, {.peer = peer}), y);
});
auto read_device = pl::jit([](auto y, auto data, auto peer) { read_peer(y, data, peer); });

/// Each rank reads from `peer`.
template <class Y>
void read_from(int peer, int ranks, Y& y) {
  auto host = pl::jit.host([peer](pl::Out<Rows> out) {
    auto data = pld::window<float>(pld::alloc_window_buffer<float>({5}), {5});
    for (auto r : pl::range(pld::world_size())) read_device(out[r], data, peer, pld::device = r);
  });
  host(y, config(ranks));
}

}  // namespace

TEST_CASE("a window is zero at first, on every rank and in every run") {
  BOTH_WAYS
  for (int round = 0; round < 2; ++round) {
    pl::Array<float> y({2, 5}, 3.0f);
    read_from(1, 2, y);
    for (const float element : y) CHECK(element == 0.0f);
  }
}

TEST_CASE("a peer out of range is an error with both numbers at the line of the call") {
  BOTH_WAYS
  for (const int peer : {-1, 2}) {
    pl::Array<float> y({2, 5});
    const std::string message = message_of([&] { read_from(peer, 2, y); });
    CHECK(contains(message, "pld::remote_load: peer " + std::to_string(peer) +
                                " of a window that 2 ranks share; peers are 0 to 1"));
    CHECK(contains(message, "signal_test.cpp:"));
  }
}

namespace {

auto read_peer_at = pl::jit.incore(
    [](pl::Out<Row> y, Data data, pl::Scalar<int> peer, pl::Scalar<int> from, pl::Scalar<int> to) {
      y = pl::store(pld::remote_load(data, {.peer = peer, .offsets = {from}, .shape = {2}}), {to}, y);
    });
auto read_at_device =
    pl::jit([](auto y, auto data, auto peer, auto from, auto to) { read_peer_at(y, data, peer, from, to); });

std::string mistake_of(int peer, int from, int to) {
  auto host = pl::jit.host([=](pl::Out<Rows> out) {
    auto data = pld::window<float>(pld::alloc_window_buffer<float>({5}), {5});
    for (auto r : pl::range(pld::world_size())) read_at_device(out[r], data, peer, from, to, pld::device = r);
  });
  pl::Array<float> y({2, 5}, 3.0f);
  const std::string message = message_of([&] { host(y, config(2)); });
  // Nothing is written in front of a check.
  CHECK(std::ranges::all_of(
      y, [&](float element) { return element == 3.0f || (message.empty() && element == 0.0f); }));
  return message;
}

}  // namespace

TEST_CASE("of a remote load and the store of its tile what is wrong with the load is told first") {
  BOTH_WAYS
  CHECK(mistake_of(1, 3, 3) == "");
  const char* const peer = "pld::remote_load: peer 2 of a window that 2 ranks share";
  CHECK(contains(mistake_of(2, 0, 0), peer));
  CHECK(contains(mistake_of(2, 0, 4), peer));
  CHECK(contains(mistake_of(2, 4, 4), peer));
  CHECK(contains(mistake_of(1, 4, 4), "pld::remote_load: offset 4 with extent 2 on axis 0"));
  CHECK(contains(mistake_of(1, 3, 4), "store: offset 4 with extent 2 on axis 0"));
}

TEST_CASE("a window larger than its buffer is refused with both sizes") {
  BOTH_WAYS
  auto host = pl::jit.host([](pl::Out<Rows>) { (void)pld::window<float>(pld::alloc_window_buffer(5), {5}); });
  pl::Array<float> y({1, 5});
  const std::string message = message_of([&] { host(y, config(1)); });
  CHECK(contains(message, "float[5] needs 20 bytes and the buffer has 5"));
  CHECK(contains(message, "which is its number of elements"));
}

TEST_CASE("a window outside a host orchestrator is a LevelError") {
  BOTH_WAYS
  CHECK_THROWS_AS((void)pld::alloc_window_buffer(8), pl::LevelError);
}

TEST_CASE("windows of a subset of the devices have ranks of their own") {
  BOTH_WAYS
  auto who = pl::jit.incore([](pl::Out<pl::Tensor<std::int32_t, 2>> y, Cells signal) {
    y = pl::store(pl::full<std::int32_t>({1}, pld::rank(signal)), {0}, y);
    y = pl::store(pl::full<std::int32_t>({1}, pld::nranks(signal)), {1}, y);
    pld::notify(signal, {.peer = (pld::rank(signal) + 1) % pld::nranks(signal)});
    pld::wait(signal);
  });
  auto device = pl::jit([&](auto y, auto signal) { who(y, signal); });
  auto host = pl::jit.host([&](pl::Out<pl::Tensor<std::int32_t, NR, 2>> y) {
    auto even = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    auto odd = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    for (auto r : pl::range(pld::world_size())) device(y[r], r % 2 == 0 ? even : odd, pld::device = r);
  });
  pl::Array<std::int32_t> y({5, 2});
  host(y, config(5));
  for (int r = 0; r < 5; ++r) {
    CHECK(y(r, 0) == r / 2);
    CHECK(y(r, 1) == (r % 2 == 0 ? 3 : 2));
  }
}
