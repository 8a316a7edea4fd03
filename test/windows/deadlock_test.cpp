// What cannot go on is found out by its state, soon and never wrongly.
#include "windows.hpp"

#include <chrono>

using support::contains;
using windows::config;
using windows::message_of;

namespace {

constexpr auto NR = pl::dynamic("NR");
using Cells = pld::DistributedTensor<std::int32_t, 4>;
using Out = pl::Out<pl::Tensor<std::int32_t, NR>>;

/// Rank 0 is notified with `value`, and every rank waits for `expected`.
auto meet = pl::jit.incore([](Cells signal, pl::Scalar<int> notifiers, pl::Scalar<int> expected) {
  if (pld::rank(signal) < notifiers) {
    for (int peer = 0; peer < pld::nranks(signal); ++peer)
      pld::notify(signal, {.peer = peer, .offsets = {2}});
  }
  pld::wait(signal, {.offsets = {2}, .expected = expected});
});
auto meet_device =
    pl::jit([](auto signal, auto notifiers, auto expected) { meet(signal, notifiers, expected); });

std::string failure_of(int ranks, int notifiers, int expected) {
  auto host = pl::jit.host([=](Out) {
    auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    for (auto r : pl::range(pld::world_size())) meet_device(signal, notifiers, expected, pld::device = r);
  });
  pl::Array<std::int32_t> y({ranks});
  return message_of([&] { host(y, config(ranks)); });
}

}  // namespace

TEST_CASE(
    "ranks that all wait for a signal that nobody sends are told so with cell, expected and seen value") {
  BOTH_WAYS
  for (const int ranks : {1, 2, 4, 16}) {
    const std::string message = failure_of(ranks, ranks - 1, ranks);
    CHECK(contains(message, "deadlock: " + std::to_string(ranks) + (ranks == 1 ? " wait" : " waits")));
    CHECK(contains(message, "deadlock_test.cpp:"));
    CHECK(contains(message, "pld::wait for cell 2 of window 0"));
    CHECK(contains(message, "to be >= " + std::to_string(ranks) + "; it is " + std::to_string(ranks - 1)));
    if (ranks == 1)
      CHECK(contains(message, "no rank has notified it"));
    else
      CHECK(contains(message, "last written by rank"));
  }
}

TEST_CASE("sixty-four ranks on few cores that only take long raise no alarm") {
  BOTH_WAYS
  CHECK(failure_of(64, 64, 64) == "");
}

TEST_CASE("a program is usable again after a deadlock") {
  BOTH_WAYS
  auto host = pl::jit.host([](pl::Tensor<std::int32_t, NR> expected) {
    auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    for (auto r : pl::range(pld::world_size()))
      meet_device(signal, 2, pl::recording() ? 0 : expected.data()[0], pld::device = r);
  });
  pl::Array<std::int32_t> expected({2}, 3);
  auto program = host.compile(expected, config(2));
  CHECK(contains(message_of([&] { program(expected); }), "deadlock"));
  expected(0) = 2;
  CHECK(message_of([&] { program(expected); }) == "");
}

TEST_CASE("a rank that fails ends the waits of the others with its own error") {
  BOTH_WAYS
  auto kernel = pl::jit.incore([](Cells signal, pl::Scalar<int> peer) {
    if (pld::rank(signal) == 1) pld::notify(signal, {.peer = peer});
    pld::wait(signal, {.expected = 5});
  });
  auto device = pl::jit([&](auto signal, auto peer) { kernel(signal, peer); });
  auto host = pl::jit.host([&](Out) {
    auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    for (auto r : pl::range(pld::world_size())) device(signal, 9, pld::device = r);
  });
  pl::Array<std::int32_t> y({3});
  const std::string message = message_of([&] { host(y, config(3)); });
  CHECK(contains(message, "pld::notify: peer 9 of a window that 3 ranks share"));
  CHECK(contains(message, "on rank 1"));
}

TEST_CASE("a task that fails ends the waits of the tasks beside it, and its error is the one that is told") {
  BOTH_WAYS
  auto waits = pl::jit.incore([](Cells signal) { pld::wait(signal, {.expected = 5}); });
  auto fails =
      pl::jit.incore([](Cells signal, pl::Scalar<int> peer) { pld::notify(signal, {.peer = peer}); });
  auto device = pl::jit([&](auto first, auto second, auto peer) {
    waits(first);
    fails(second, peer);
  });
  auto host = pl::jit.host([&](Out) {
    auto first = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    auto second = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    for (auto r : pl::range(pld::world_size())) device(first, second, 9, pld::device = r);
  });
  pl::Array<std::int32_t> y({2});
  CHECK(contains(message_of([&] { host(y, config(2)); }),
                 "pld::notify: peer 9 of a window that 2 ranks share"));
}

TEST_CASE("ranks that wait for each other in a cycle are told so") {
  BOTH_WAYS
  // Each waits for a second signal of the one before it, which has sent one.
  auto kernel = pl::jit.incore([](Cells signal, pl::Scalar<int> first) {
    const int next = (pld::rank(signal) + 1) % pld::nranks(signal);
    if (first != 0) {
      pld::notify(signal, {.peer = next});
      pld::wait(signal);
    }
    pld::wait(signal, {.expected = 2});
    pld::notify(signal, {.peer = next});
  });
  auto device = pl::jit([&](auto signal, auto first) { kernel(signal, first); });
  const auto failure = [&](int ranks, int first) {
    auto host = pl::jit.host([&](Out) {
      auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
      for (auto r : pl::range(pld::world_size())) device(signal, first, pld::device = r);
    });
    pl::Array<std::int32_t> y({ranks});
    return message_of([&] { host(y, config(ranks)); });
  };
  CHECK(contains(failure(3, 1),
                 "cycle: rank 0 waits for rank 2, which waits for rank 1, which waits for rank 0"));
  CHECK(contains(failure(2, 0), "cycle: rank 0 waits for rank 1, which waits for rank 0"));
  // Nobody has told who would notify.
  CHECK(contains(failure(3, 0),
                 "cycle: rank 0 waits for rank 1 or 2, rank 1 for rank 0 or 2, rank 2 for rank 0 or 1"));
  CHECK(contains(failure(9, 0),
                 "cycle: each of the ranks 0, 1, 2, 3, 4, 5, 6, 7, 8 waits for another one of them"));
}

TEST_CASE("a cycle is told among those that wait, and only there") {
  BOTH_WAYS
  // The last ranks have finished; the first two wait for a cell that nobody has written.
  auto kernel = pl::jit.incore([](Cells signal, pl::Scalar<int> waiting) {
    if (pld::rank(signal) < waiting) pld::wait(signal);
  });
  auto device = pl::jit([&](auto signal, auto waiting) { kernel(signal, waiting); });
  const auto failure = [&](int waiting) {
    auto host = pl::jit.host([&](Out) {
      auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
      for (auto r : pl::range(pld::world_size())) device(signal, waiting, pld::device = r);
    });
    pl::Array<std::int32_t> y({4});
    return message_of([&] { host(y, config(4)); });
  };
  CHECK(contains(failure(2), "cycle: rank 0 waits for rank 1, which waits for rank 0"));
  CHECK(!contains(failure(1), "cycle: "));
  // A rank that waits for a signal of one that waits in a collective for it.
  auto barrier = pl::jit.incore([](Cells signal) {
    if (pld::rank(signal) == 0) pld::wait(signal);
    pld::barrier(signal);
    pld::notify(signal, {.peer = 0});
  });
  auto second = pl::jit([&](auto signal) { barrier(signal); });
  auto host = pl::jit.host([&](Out) {
    auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    for (auto r : pl::range(pld::world_size())) second(signal, pld::device = r);
  });
  pl::Array<std::int32_t> y({3});
  CHECK(contains(message_of([&] { host(y, config(3)); }),
                 "cycle: rank 0 waits for rank 1 or 2, rank 1 for rank 0, rank 2 for rank 0"));
}
