// What the host waits for is an order of all ranks, too: a callback between two dispatches, the end of a worker's call.
#include "check.hpp"

using support::contains;
using windows::Data;

namespace {

auto write_to_next = pl::jit.incore([](Data data, pl::Scalar<int> value) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  pld::remote_store(pl::full<std::int32_t>({64}, value), data, {.peer = next});
});
auto take = pl::jit.incore(
    [](pl::Out<pl::Tensor<std::int32_t, 64>> y, Data data) { y = pl::store(pl::load(data), y); });

/// All write, the host waits for that or does not, all read.
std::string write_and_read(bool called_back, bool read, int ranks, std::uint64_t seed) {
  auto writer = pl::jit([&](auto data, auto value) { write_to_next(data, value); });
  auto reader = pl::jit([&](auto y, auto data) { take(y, data); });
  auto host = pl::jit.host([&](pl::Out<pl::Tensor<std::int32_t, windows::NR, 64>> y) {
    auto data = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({64}), {64});
    for (int round = 1; round <= 2; ++round) {
      for (auto r : pl::range(pld::world_size())) writer(data, round, pld::device = r);
      if (called_back) pl::host_callback([] {});
      if (read)
        for (auto r : pl::range(pld::world_size())) reader(y[r], data, pld::device = r);
      if (called_back) pl::host_callback([] {});
    }
  });
  pl::Array<std::int32_t> y({ranks, 64});
  const std::string message = windows::message_of([&] { host(y, windows::checked(ranks, seed)); });
  if (message.empty() && read)
    for (int rank = 0; rank < ranks; ++rank) CHECK(y(rank, 63) == 2);
  return message;
}

}  // namespace

TEST_CASE("a host callback orders what was dispatched before it and after it, on all ranks") {
  BOTH_WAYS
  for (const int ranks : {1, 2, 4})
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      CHECK(write_and_read(true, true, ranks, seed) == "");
      CHECK(write_and_read(true, false, ranks, seed) == "");
    }
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    CHECK(contains(write_and_read(false, true, 3, seed), "race: "));
    CHECK(contains(write_and_read(false, false, 3, seed), "never signalled"));
  }
}

TEST_CASE("what a worker's call leaves in windows that are kept is for the next call, and else for nobody") {
  BOTH_WAYS
  for (const bool persistent : {true, false}) {
    bool writes = true;
    auto writer = pl::jit([&](auto data, auto value) { write_to_next(data, value); });
    auto reader = pl::jit([&](auto y, auto data) { take(y, data); });
    auto host = pl::jit.host([&](pl::Out<pl::Tensor<std::int32_t, windows::NR, 64>> y) {
      auto data = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({64}), {64});
      for (auto r : pl::range(pld::world_size()))
        if (writes)
          writer(data, 7, pld::device = r);
        else
          reader(y[r], data, pld::device = r);
    });
    pl::Array<std::int32_t> y({2, 64});
    auto compiled = host.compile(y, windows::checked(2));
    auto worker = compiled.prepare({.persistent = persistent});
    const std::string message = windows::message_of([&] { worker(y); });
    if (!persistent) {
      CHECK(contains(message, "published but never signalled"));
      continue;
    }
    CHECK(message == "");
    writes = false;
    CHECK(windows::message_of([&] { worker(y); }) == "");
    CHECK(y(0, 0) == 7);
    CHECK(y(1, 63) == 7);
  }
}
