// Programs with windows that run at once on the same devices.
#include "windows.hpp"

#include <latch>
#include <thread>

using windows::config;

namespace {

constexpr auto NR = pl::dynamic("NR");
using Cells = pld::DistributedTensor<std::int32_t, 1>;
using Out = pl::Out<pl::Tensor<std::int32_t, NR>>;

/// Each rank waits for a signal of every other one.
auto meet = pl::jit.incore([](Cells cells) {
  for (int peer = 0; peer < pld::nranks(cells); ++peer) pld::notify(cells, {.peer = peer});
  pld::wait(cells, {.expected = pld::nranks(cells)});
});
auto meet_device = pl::jit([](auto cells) { meet(cells); });

}  // namespace

TEST_CASE("two programs whose dispatches reach the devices in opposite order both end") {
  BOTH_WAYS
  std::latch half(2);
  const auto program = [&](bool backwards) {
    return pl::jit.host([&half, backwards](Out) {
      auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({1}), {1});
      meet_device(cells, pld::device = backwards ? 1 : 0);
      // The other program has dispatched to the other device, and both kernels wait there.
      if (!pl::recording()) half.arrive_and_wait();
      meet_device(cells, pld::device = backwards ? 0 : 1);
    });
  };
  const pl::RunConfig settings = config(2);
  auto first = program(false), second = program(true);
  pl::Array<std::int32_t> y({2}), z({2});
  const auto one = first.compile(y, settings), other = second.compile(z, settings);
  std::thread beside([&] { CHECK_NOTHROW(one(y, settings)); });
  CHECK_NOTHROW(other(z, settings));
  beside.join();
}

TEST_CASE("eight threads run programs with windows on the same devices, again and again") {
  BOTH_WAYS
  const pl::RunConfig settings = config(2);
  auto host = pl::jit.host([](Out) {
    auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({1}), {1});
    for (auto r : pl::range(pld::world_size())) meet_device(cells, pld::device = r);
  });
  pl::Array<std::int32_t> y({2});
  const auto compiled = host.compile(y, settings);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      pl::Array<std::int32_t> own({2});
      for (int round = 0; round < 10; ++round) CHECK_NOTHROW(compiled(own, settings));
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_CASE("a deadlock of one program is told while another one runs on its devices") {
  BOTH_WAYS
  auto stuck = pl::jit.incore([](Cells cells) { pld::wait(cells, {.expected = 99}); });
  auto stuck_device = pl::jit([&](auto cells) { stuck(cells); });
  auto bad = pl::jit.host([&](Out) {
    auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({1}), {1});
    for (auto r : pl::range(pld::world_size())) stuck_device(cells, pld::device = r);
  });
  auto good = pl::jit.host([](Out) {
    auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({1}), {1});
    for (int round = 1; round <= 5; ++round)
      for (auto r : pl::range(pld::world_size())) meet_device(cells, pld::device = r);
  });
  const pl::RunConfig settings = config(2);
  pl::Array<std::int32_t> y({2}), z({2});
  std::thread beside(
      [&] { CHECK(support::contains(windows::message_of([&] { bad(y, settings); }), "deadlock: 2 waits")); });
  CHECK_NOTHROW(good(z, settings));
  beside.join();
}
