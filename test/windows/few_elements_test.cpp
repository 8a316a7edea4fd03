// Collectives of few elements return when the own part is complete (runtime/windows/README.md): nobody must notice.
#include "through_window.hpp"

using windows::config;
using windows::reduced;
using windows::through_rows;
using windows::through_window;
using windows::value_at;

namespace {

constexpr int LENGTH = 768;
constexpr int ROUNDS = 400;
using Data = pld::DistributedTensor<std::int32_t, LENGTH>;
using Wrong = pl::Tensor<std::int32_t, 1>;
using AllWrong = pl::Tensor<std::int32_t, pl::dynamic("NR"), 1>;

/// The next rank's sums, right behind its own.
auto look_at_peer = pl::jit.incore([](pl::Out<Wrong> y, Data data) {
  const int n = pld::nranks(data), next = (pld::rank(data) + 1) % n;
  int wrong = 0;
  for (int round = 1; round <= ROUNDS; ++round) {
    data = pl::store(pl::full<std::int32_t>({LENGTH}, round), {0}, data);
    pld::allreduce(data);
    const auto sums = pld::remote_load(data, {.peer = next, .offsets = {0}, .shape = {LENGTH}});
    if (pl::read(sums, {0}) != n * round) wrong += 1;
    if (pl::read(sums, {LENGTH - 1}) != n * round) wrong += 1;
    pld::barrier(data);
  }
  y = pl::store(pl::full<std::int32_t>({1}, wrong), {0}, y);
});

/// Something else in their place, right behind the sums.
auto write_to_peer = pl::jit.incore([](pl::Out<Wrong> y, Data data) {
  const int n = pld::nranks(data), next = (pld::rank(data) + 1) % n;
  int wrong = 0;
  for (int round = 1; round <= ROUNDS; ++round) {
    data = pl::store(pl::full<std::int32_t>({LENGTH}, round), {0}, data);
    pld::allreduce(data);
    pld::remote_store(pl::full<std::int32_t>({LENGTH}, -round), data, {.peer = next});
    pld::barrier(data);
    if (pl::read(data, {0}) != -round) wrong += 1;
    if (pl::read(data, {LENGTH - 1}) != -round) wrong += 1;
  }
  y = pl::store(pl::full<std::int32_t>({1}, wrong), {0}, y);
});

/// Few, then many elements of one window, over and over: the places of the few take turns.
auto take_turns = pl::jit.incore([](pl::Out<Wrong> y, pld::DistributedTensor<std::int32_t, 4, 1024> data) {
  const int n = pld::nranks(data);
  int wrong = 0;
  for (int round = 1; round <= ROUNDS; ++round) {
    data = pl::store(pl::full<std::int32_t>({4, 1024}, round), {0, 0}, data);
    pld::allreduce(data[round % 4].slice({0}, {8}));
    if (round % 3 == 0) pld::allreduce(data);
    const int sum = round % 3 == 0 ? n * n * round : n * round;
    if (pl::read(data, {round % 4, 7}) != sum) wrong += 1;
    if (pl::read(data, {round % 4, 8}) != (round % 3 == 0 ? n * round : round)) wrong += 1;
  }
  y = pl::store(pl::full<std::int32_t>({1}, wrong), {0}, y);
});

auto look_device = pl::jit([](auto y, auto w) { look_at_peer(y, w); });
auto write_device = pl::jit([](auto y, auto w) { write_to_peer(y, w); });
auto turns_device = pl::jit([](auto y, auto w) { take_turns(y, w); });

template <class Device>
void require_none_wrong(const Device& device, std::vector<std::int64_t> extents) {
  for (const int ranks : {2, 3}) {
    auto host = pl::jit.host([&](pl::Out<AllWrong> y) {
      auto w = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>(pl::Index(extents)),
                                         pl::Index(extents));
      for (auto r : pl::range(pld::world_size())) device(y[r], w, pld::device = r);
    });
    pl::Array<std::int32_t> y({ranks, 1}, -1);
    host(y, config(ranks));
    for (const std::int32_t wrong : y) CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("a peer's result of a collective is complete for whoever looks at it behind the collective") {
  BOTH_WAYS
  require_none_wrong(look_device, {LENGTH});
}

TEST_CASE("what is written to a peer behind a collective stays") {
  BOTH_WAYS
  require_none_wrong(write_device, {LENGTH});
}

TEST_CASE("collectives of few and of many elements take turns on one window") {
  BOTH_WAYS
  require_none_wrong(turns_device, {4, 1024});
}

TEST_CASE("every collective is right at the last size that is few and at the first that is not") {
  BOTH_WAYS
  for (const int ranks : {2, 3})
    for (const std::int64_t row : {1012 / ranks, 1012 / ranks + 1, 1012, 1013}) {
      const auto reduces = [&](pld::ReduceOp op, auto y, int rank, std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i)
          if (y(rank, i) != reduced<float>(op, ranks, i)) return false;
        return true;
      };
      auto y = through_window<float>(ranks, row, [](auto& w) { pld::allreduce(w); });
      for (int r = 0; r < ranks; ++r) CHECK(reduces(pld::ReduceOp::Sum, y, r, 0, row));
      y = through_window<float>(ranks, row,
                                [](auto& w) { pld::reduce(w, {.root = 1, .op = pld::ReduceOp::Max}); });
      CHECK(reduces(pld::ReduceOp::Max, y, 1, 0, row));
      y = through_window<float>(ranks, row, [](auto& w) { pld::broadcast(w, {.root = 1}); });
      for (int r = 0; r < ranks; ++r)
        for (std::int64_t i = 0; i < row; ++i)
          if (y(r, i) != value_at<float>(1, i)) FAIL_CHECK("broadcast: rank ", r, " element ", i);
      y = through_rows(ranks, row, [](const auto& w) { pld::reduce_scatter(w); });
      for (int r = 0; r < ranks; ++r) CHECK(reduces(pld::ReduceOp::Sum, y, r, r * row, (r + 1) * row));
      y = through_rows(ranks, row, [](const auto& w) { pld::allgather(w); });
      for (int r = 0; r < ranks; ++r)
        for (std::int64_t i = 0; i < ranks * row; ++i)
          if (y(r, i) != value_at<float>(static_cast<int>(i / row), i)) FAIL_CHECK("allgather: rank ", r);
      y = through_rows(ranks, row, [](const auto& w) { pld::all_to_all(w); });
      for (int r = 0; r < ranks; ++r)
        for (std::int64_t i = 0; i < ranks * row; ++i)
          if (y(r, i) != value_at<float>(static_cast<int>(i / row), r * row + i % row))
            FAIL_CHECK("all_to_all: rank ", r);
    }
}
