// The checker and the whole program: divergent collectives, windows that are kept too long, ranges, and what stays
// usable.
#include "check.hpp"

#include <optional>

using support::contains;
using windows::at;
using windows::Cells;
using windows::Data;
using windows::outcome;

namespace {

constexpr int other_order = __LINE__;
auto other_order_of_collectives = pl::jit.incore([](Data data, Cells, pl::Scalar<int> odd) {
  pld::barrier(data);
  if (pld::rank(data) == odd) pld::broadcast(data, {.root = 0});
  pld::allgather(data.slice({0}, {pld::nranks(data)}));
  if (pld::rank(data) != odd) pld::broadcast(data, {.root = 0});
});

constexpr int other_size = __LINE__;
auto other_size_of_collectives = pl::jit.incore([](Data data, Cells, pl::Scalar<int> odd) {
  pld::allreduce(data);
  pld::allreduce(data.slice({0}, {pld::rank(data) == odd ? 8 : 16}));
});

constexpr int fewer = __LINE__;
auto fewer_collectives = pl::jit.incore([](Data data, Cells, pl::Scalar<int> odd) {
  pld::allreduce(data);
  if (pld::rank(data) != odd) pld::barrier(data);
});

constexpr int range = __LINE__;
auto out_of_range = pl::jit.incore([](Data, Cells signal, pl::Scalar<int> offset) {
  pld::notify(signal, {.peer = 0, .offsets = {offset}});
});

auto use = pl::jit.incore(
    [](Data data, Cells, pl::Scalar<int>) { data = pl::store(pl::zeros<std::int32_t>({64}), {0}, data); });

}  // namespace

TEST_CASE("ranks that call other collectives are told with the trace of each and the first difference") {
  BOTH_WAYS
  for (const int ranks : {2, 3, 20})
    for (const int odd : {0, 1}) {
      const std::string message = outcome(other_order_of_collectives, ranks, odd);
      CAPTURE(message);
      CHECK(contains(message, "ranks make different collective calls"));
      CHECK(contains(message, "the first difference marked by >"));
      CHECK(contains(message, "rank " + std::to_string(odd) + ":\n      1. pld::barrier at "));
      CHECK(contains(message, "    > 2. pld::broadcast of 64 int32 from root 0 at "));
      CHECK(contains(message, "    > 2. pld::allgather of " + std::to_string(ranks) + " int32 at "));
      CHECK(contains(message, at(__FILE__, other_order + 3)));
      CHECK(contains(message, at(__FILE__, other_order + 4)));
      const std::string size = outcome(other_size_of_collectives, ranks, odd);
      CHECK(contains(size, "    > 2. pld::allreduce of 8 int32 by Sum at "));
      CHECK(contains(size, "    > 2. pld::allreduce of 16 int32 by Sum at "));
      CHECK(contains(size, at(__FILE__, other_size + 3)));
    }
}

TEST_CASE("a rank that leaves a collective out is shown beside the others") {
  BOTH_WAYS
  for (const int ranks : {2, 5}) {
    const std::string message = outcome(fewer_collectives, ranks, 1);
    CAPTURE(message);
    CHECK(contains(message, "deadlock: "));
    CHECK(contains(message, "    > 2. none"));
    CHECK(contains(message, at(__FILE__, fewer + 3)));
  }
}

TEST_CASE("a cell out of range is an error at its line") {
  BOTH_WAYS
  for (const int ranks : {1, 4})
    for (const int offset : {-1, 16}) {
      const std::string message = outcome(out_of_range, ranks, offset);
      CHECK(contains(message, at(__FILE__, range + 2)));
    }
}

TEST_CASE("a window that is kept beyond its run is told from a new one, by a dispatch and by a kernel call") {
  BOTH_WAYS
  std::optional<Data> kept;
  auto idle = pl::jit([](auto) {});
  auto keep = pl::jit.host([&](pl::Out<pl::Tensor<std::int32_t, windows::NR>>) {
    kept.emplace(pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({64}), {64}));
    for (auto r : pl::range(pld::world_size())) idle(r, pld::device = r);
  });
  auto device = pl::jit([&](auto data, auto signal, auto n) { use(data, signal, n); });
  auto late = pl::jit([&](auto signal, auto n) { use(*kept, signal, n); });
  for (const bool check : {false, true})
    for (const bool by_dispatch : {true, false}) {
      auto host = pl::jit.host([&](pl::Out<pl::Tensor<std::int32_t, windows::NR>>) {
        auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({16}), {16});
        for (auto r : pl::range(pld::world_size()))
          if (by_dispatch)
            device(*kept, signal, 0, pld::device = r);
          else
            late(signal, 0, pld::device = r);
      });
      pl::RunConfig config = windows::checked(2);
      config.check = check;
      pl::Array<std::int32_t> y({2});
      keep(y, config);
      const std::string message = windows::message_of([&] { host(y, config); });
      CAPTURE(message);
      CHECK(contains(message, "kept too long: window 0 (256 bytes a rank, allocated at "));
      CHECK(contains(message, by_dispatch ? "a dispatch on" : "a kernel call on"));
    }
}

TEST_CASE("a program is usable again after a report, and its cells are zero again") {
  BOTH_WAYS
  int wrong = 1;
  auto kernel = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> fails) {
    const int next = (pld::rank(data) + 1) % pld::nranks(data);
    pld::remote_store(pl::full<std::int32_t>({4}, 1), data, {.peer = next});
    pld::notify(signal, {.peer = next});
    if (fails == 0) pld::wait(signal);
    (void)pl::load(data);
  });
  auto device = pl::jit([&](auto data, auto signal, auto n) { kernel(data, signal, n); });
  auto host = pl::jit.host([&](pl::Out<pl::Tensor<std::int32_t, windows::NR>>) {
    auto data = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({64}), {64});
    auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({16}), {16});
    for (auto r : pl::range(pld::world_size())) device(data, signal, wrong, pld::device = r);
  });
  pl::Array<std::int32_t> y({3});
  auto program = host.compile(y, windows::checked(3));
  for (int round = 0; round < 3; ++round) {
    wrong = 1;
    CHECK(contains(windows::message_of([&] { program(y); }), "race: "));
    wrong = 0;
    CHECK(windows::message_of([&] { program(y); }) == "");
  }
}

TEST_CASE("tasks of one rank that only seem ordered are checked too") {
  BOTH_WAYS
  auto fill = pl::jit.incore([](Data data, pl::Scalar<int> value) {
    data = pl::store(pl::full<std::int32_t>({8}, value), {0}, data);
  });
  for (const bool ordered : {false, true}) {
    auto device = pl::jit([&](auto data, auto value) {
      pl::manual_scope([&] {
        auto first = pl::submit(fill, data, value);
        if (ordered)
          (void)pl::submit(fill, data, value, pl::deps = {first});
        else
          (void)pl::submit(fill, data, value);
      });
    });
    auto host = pl::jit.host([&](pl::Out<pl::Tensor<std::int32_t, windows::NR>>) {
      auto data = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({64}), {64});
      for (auto r : pl::range(pld::world_size())) device(data, 3, pld::device = r);
    });
    pl::Array<std::int32_t> y({2});
    const std::string message = windows::message_of([&] { host(y, windows::checked(2)); });
    CHECK(contains(message, "race: nothing orders") == !ordered);
    if (ordered) CHECK(message == "");
  }
}
