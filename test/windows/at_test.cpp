// Windows in the bodies of pl::at.
#include "windows.hpp"

using support::contains;
using windows::config;
using windows::message_of;

namespace {

constexpr auto NR = pl::dynamic("NR");
constexpr int N = 8;
using Data = pld::DistributedTensor<float, N>;
using Cells = pld::DistributedTensor<std::int32_t, 4>;
using Out = pl::Out<pl::Tensor<float, N>>;

/// Calls host(data, cells, y of a rank) on each rank; gives what all have written.
template <class Device>
pl::Array<float> run(int ranks, const Device& device) {
  auto host = pl::jit.host([&](pl::Out<pl::Tensor<float, NR, N>> y) {
    auto data = pld::window<float>(pld::alloc_window_buffer<float>({N}), {N});
    auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    for (auto r : pl::range(pld::world_size())) device(data, cells, y[r], pld::device = r);
  });
  pl::Array<float> y({ranks, N});
  host(y, config(ranks));
  return y;
}

}  // namespace

TEST_CASE("the body of a pl::at shifts its window around the ranks") {
  BOTH_WAYS
  auto device = pl::jit([](pld::DistributedTensor<float> data, Cells cells, Out y) {
    pl::at(pl::Level::core_group, [&] {
      const int me = pld::rank(data), next = (me + 1) % pld::nranks(data);
      const auto tile = pl::full<float>({N}, pl::cast<float>(me + 1));
      pld::remote_store(tile, data, {.peer = next});
      pld::notify(cells, {.peer = next});
    });
    pl::at(pl::Level::core_group, [&] {
      pld::wait(cells);
      y = pl::store(pl::load(data), y);
    });
  });
  for (const int ranks : {1, 2, 3}) {
    const auto y = run(ranks, device);
    for (int r = 0; r < ranks; ++r)
      for (int i = 0; i < N; ++i) CHECK(y(r, i) == static_cast<float>((r + ranks - 1) % ranks + 1));
  }
}

TEST_CASE(
    "a pl::at names a window by value, calls collectives, and kernels before and behind it see its writes") {
  BOTH_WAYS
  auto fill = pl::jit.incore(
      [](Data data, pl::Scalar<float> value) { data = pl::store(pl::full<float>({N}, value), {0}, data); });
  auto read = pl::jit.incore([](Data data, Out y) { y = pl::store(pl::load(data), y); });
  auto device = pl::jit([&](Data data, Cells cells, Out y) {
    fill(data, 3.0f);
    pl::at(pl::Level::core_group, [data, cells] {
      pld::allreduce(data, {.signal = cells});
      pl::store(pl::load(data) + pl::cast<float>(pld::rank(data)), {0}, data);
    });
    read(data, y);
  });
  const auto y = run(3, device);
  for (int r = 0; r < 3; ++r)
    for (int i = 0; i < N; ++i) CHECK(y(r, i) == static_cast<float>(9 + r));
}

TEST_CASE("a wait in a pl::at that nothing can end is a deadlock at its line") {
  BOTH_WAYS
  auto device = pl::jit([](Data, Cells cells, Out) {
    pl::at(pl::Level::core_group, [&] { pld::wait(cells, {.offsets = {1}, .expected = 2}); });
  });
  const std::string message = message_of([&] { (void)run(2, device); });
  CHECK(contains(message, "deadlock: 2 waits that nothing can end any more"));
  CHECK(contains(message, "at_test.cpp:" + std::to_string(__LINE__ - 4)));
  CHECK(contains(message, "pld::wait for cell 1 of"));
}

TEST_CASE("what depends on a pl::at that defers its end waits for the signal") {
  BOTH_WAYS
  auto late = pl::jit.incore([](Data data, Cells cells) {
    data = pl::store(pl::full<float>({N}, 5.0f), {0}, data);
    pld::put(data, {.peer = 0, .src = data});
    pld::notify(cells, {.peer = 0});
  });
  auto device = pl::jit([&](Data data, Cells cells, Out y, int rank) {
    if (rank == 0) {
      auto arrived = pl::at(pl::Level::core_group, [&] { pld::defer_wait(cells); });
      pl::at(pl::Level::core_group, [&] { y = pl::store(pl::load(data), y); }, pl::deps = {arrived});
    } else {
      late(data, cells);
    }
  });
  auto host = pl::jit.host([&](pl::Out<pl::Tensor<float, NR, N>> y) {
    auto data = pld::window<float>(pld::alloc_window_buffer<float>({N}), {N});
    auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    for (auto r : pl::range(pld::world_size())) device(data, cells, y[r], r, pld::device = r);
  });
  pl::Array<float> y({2, N});
  host(y, config(2));
  for (int i = 0; i < N; ++i) CHECK(y(0, i) == 5.0f);
}
