// Collectives with a root, between two ranks and with counts; signal cells of the user's.
#include "through_window.hpp"

#include <vector>

using pld::Algorithm;
using pld::ReduceOp;
using support::contains;
using windows::message_of;
using windows::reduced;
using windows::through_rows;
using windows::through_window;
using windows::value_at;

namespace {

using Row = pl::Tensor<float, windows::N>;
using Rows = windows::Rows<float>;
constexpr auto M = pl::dynamic("M");
using CellRows = pl::Tensor<std::int32_t, windows::NR, M>;

pl::RunConfig native(int ranks) {
  pl::RunConfig result = windows::config(ranks);
  result.eager = true;
  return result;
}

constexpr int rank_counts[] = {1, 2, 3, 4, 8, 16};
constexpr std::int64_t sizes[] = {0, 1, 17, 257, 4097, 8193, 65537};

}  // namespace

TEST_CASE("a reduce gives the root the reduction of all and leaves the others alone") {
  for (const int ranks : rank_counts)
    for (const std::int64_t size : sizes) {
      if (ranks > 4 && size > 4097) continue;
      const auto op = static_cast<ReduceOp>((size + ranks) % 4);
      const int root = ranks - 1;
      const auto y = through_window<std::int32_t>(ranks, size,
                                                  [&](auto& w) { pld::reduce(w, {.root = root, .op = op}); });
      std::int64_t wrong = 0;
      for (int r = 0; r < ranks; ++r)
        for (std::int64_t i = 0; i < size; ++i)
          wrong +=
              y(r, i) != (r == root ? reduced<std::int32_t>(op, ranks, i) : value_at<std::int32_t>(r, i));
      CHECK(wrong == 0);
    }
}

TEST_CASE("a reduce rounds as an allreduce by mesh does") {
  // Sums that depend on their order.
  const auto all = through_window<pl::half>(5, 300, [](auto& w) {
    pld::allreduce(w, {.op = ReduceOp::Prod, .algorithm = Algorithm::Mesh});
    pld::allreduce(w, {.algorithm = Algorithm::Mesh});
  });
  const auto one = through_window<pl::half>(5, 300, [](auto& w) {
    pld::allreduce(w, {.op = ReduceOp::Prod, .algorithm = Algorithm::Mesh});
    pld::reduce(w, {.root = 3});
  });
  for (int i = 0; i < 300; ++i) CHECK(one(3, i).bits == all(3, i).bits);
}

TEST_CASE("a scatter and a gather move rows from and to their root") {
  for (const int ranks : rank_counts)
    for (const std::int64_t row : {0, 1, 5, 257}) {
      const int root = ranks / 2;
      auto y = through_rows(ranks, row, [&](const auto& w) { pld::scatter(w, {.root = root}); });
      std::int64_t wrong = 0;
      for (int r = 0; r < ranks; ++r)
        for (std::int64_t i = 0; i < ranks * row; ++i)
          wrong += y(r, i) != value_at<float>(i / row == r ? root : r, i);
      CHECK(wrong == 0);
      y = through_rows(ranks, row, [&](const auto& w) { pld::gather(w, {.root = root}); });
      for (int r = 0; r < ranks; ++r)
        for (std::int64_t i = 0; i < ranks * row; ++i)
          wrong += y(r, i) != value_at<float>(r == root ? static_cast<int>(i / row) : r, i);
      CHECK(wrong == 0);
    }
}

TEST_CASE("a send_recv copies one rank's part to another") {
  for (const int ranks : rank_counts)
    for (const std::int64_t size : {0, 1, 4097}) {
      const int from = ranks - 1, to = ranks / 3;
      const auto y =
          through_window<float>(ranks, size, [&](auto& w) { pld::send_recv(w, {.from = from, .to = to}); });
      std::int64_t wrong = 0;
      for (int r = 0; r < ranks; ++r)
        for (std::int64_t i = 0; i < size; ++i) wrong += y(r, i) != value_at<float>(r == to ? from : r, i);
      CHECK(wrong == 0);
    }
}

TEST_CASE("a root or a rank that is none is refused at the call") {
  const auto refusal = [](const auto& collective) {
    return message_of([&] { (void)through_rows(2, 4, collective); });
  };
  std::string message = refusal([](const auto& w) { pld::reduce(w, {.root = 2}); });
  CHECK(contains(message, "rooted_collective_test.cpp"));
  CHECK(contains(message, "pld::reduce: root 2 of a window that 2 ranks share; ranks are 0 to 1"));
  CHECK(contains(refusal([](const auto& w) { pld::scatter(w, {.root = -1}); }), "pld::scatter: root -1"));
  CHECK(contains(refusal([](const auto& w) { pld::gather(w, {.root = 7}); }), "pld::gather: root 7"));
  CHECK(contains(refusal([](const auto& w) { pld::send_recv(w, {.from = 2, .to = 0}); }),
                 "pld::send_recv: from 2 of a window"));
  CHECK(contains(refusal([](const auto& w) { pld::send_recv(w, {.from = 0, .to = std::int64_t{1} << 40}); }),
                 "pld::send_recv: to 2147483647 of a window"));
  message = message_of([] { (void)through_window<float>(2, 5, [](auto& w) { pld::scatter(w); }); });
  CHECK(contains(message, "pld::scatter of float[5] among 2 ranks; its first extent is the number of ranks"));
}

namespace {

auto set_counts = pl::jit.incore(
    [](pl::Tensor<std::int32_t, windows::N> x, pld::DistributedTensor<std::int32_t, windows::N> w) {
      w = pl::store(pl::load(x), {0}, w);
    });
auto get_counts = pl::jit.incore(
    [](pl::Out<pl::Tensor<std::int32_t, windows::N>> y, pld::DistributedTensor<std::int32_t, windows::N> w) {
      y = pl::store(pl::load(w), {0}, y);
    });
auto set_device = pl::jit([](auto x, auto w, auto c, auto cells) {
  windows::fill<float>(x, w);
  set_counts(c, cells);
});
auto get_device = pl::jit([](auto y, auto w, auto c, auto cells) {
  windows::read_back<float>(y, w);
  get_counts(c, cells);
});

}  // namespace

TEST_CASE("an all_to_all_v exchanges as many items as the counts say, and the counts") {
  constexpr std::int64_t room = 6, width = 3;
  for (const int ranks : rank_counts) {
    const std::int64_t size = ranks * room * width;
    pl::Array<float> x({ranks, size}), y({ranks, size});
    pl::Array<std::int32_t> counts({ranks, ranks}), received({ranks, ranks});
    for (int r = 0; r < ranks; ++r)
      for (int p = 0; p < ranks; ++p) {
        counts(r, p) = static_cast<std::int32_t>((r * 5 + p * 3) % (room + 1));
        for (std::int64_t i = 0; i < room * width; ++i)
          x(r, p * room * width + i) = static_cast<float>(r * 10000 + p * 100 + i);
      }
    auto host = pl::jit.host([&](Rows in, pl::Out<Rows> out, CellRows given, pl::Out<CellRows> back) {
      const pld::Window buffer = pld::alloc_window_buffer<float>({size});
      auto flat = pld::window<float>(buffer, {size});
      auto w = pld::window<float>(buffer, {ranks, room, width});
      auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({ranks}), {ranks});
      for (auto r : pl::range(pld::world_size())) set_device(in[r], flat, given[r], cells, pld::device = r);
      pld::all_to_all_v(w, cells);
      for (auto r : pl::range(pld::world_size())) get_device(out[r], flat, back[r], cells, pld::device = r);
    });
    host(x, y, counts, received, native(ranks));
    std::int64_t wrong = 0;
    for (int r = 0; r < ranks; ++r)
      for (int p = 0; p < ranks; ++p) {
        CHECK(received(r, p) == counts(p, r));
        for (std::int64_t i = 0; i < counts(p, r) * width; ++i)
          wrong += y(r, p * room * width + i) != static_cast<float>(p * 10000 + r * 100 + i);
      }
    CHECK(wrong == 0);
    if (ranks != 2) continue;
    counts(1, 0) = 7;
    CHECK(contains(
        message_of([&] { host(x, y, counts, received, native(ranks)); }),
        "pld::all_to_all_v: 7 items for rank 0 from rank 1, and a row of float[2, 6, 3] has room for 6"));
  }
}

TEST_CASE("given signal cells are zero again after each of a thousand collectives") {
  BOTH_WAYS
  using Count = pl::Tensor<std::int64_t, 1>;
  using Cells = pld::DistributedTensor<std::int32_t, windows::N>;
  auto rounds = pl::jit.incore([](pl::Out<Count> y, pld::DistributedTensor<std::int64_t, 1> w, Cells cells) {
    const int n = pld::nranks(w);
    std::int64_t wrong = 0;
    for (int round = 0; round < 1000; ++round) {
      w = pl::store(pl::full<std::int64_t>({1}, pl::cast<std::int64_t>(pld::rank(w) + round)), {0}, w);
      if (round % 2 == 0)
        pld::allreduce(w, {.algorithm = pld::Algorithm::Mesh, .signal = cells});
      else
        pld::allreduce(w, {.algorithm = pld::Algorithm::Ring, .signal = cells});
      const std::int64_t sum = pl::read(pl::load(w), {0});
      if (sum != n * (n - 1) / 2 + n * round) wrong = wrong + 1;
      pld::barrier(w, {.signal = cells});
    }
    // Behind a barrier with signals of Trilith's own no rank adds to the cells any more.
    pld::barrier(w);
    const pl::Tile<std::int32_t> left = pl::load(cells);
    for (int i = 0; i < n; ++i)
      if (pl::read(left, {i}) != 0) wrong = wrong + 1;
    y = pl::store(pl::full<std::int64_t>({1}, wrong), {0}, y);
  });
  auto device = pl::jit([&](auto y, auto w, auto cells) { rounds(y, w, cells); });
  auto host = pl::jit.host([&](pl::Out<pl::Tensor<std::int64_t, windows::NR, 1>> y) {
    const int n = pld::world_size();
    auto w = pld::window<std::int64_t>(pld::alloc_window_buffer<std::int64_t>({1}), {1});
    auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({n}), {n});
    for (auto r : pl::range(pld::world_size())) device(y[r], w, cells, pld::device = r);
  });
  for (const int ranks : {1, 2, 3, 4}) {
    pl::Array<std::int64_t> y({ranks, 1}, -1);
    host(y, windows::config(ranks));
    for (const std::int64_t wrong : y) CHECK(wrong == 0);
  }
}

TEST_CASE("every collective gives the same bits with signal cells of the user's") {
  const auto with_cells = [](int ranks, const auto& collective) {
    return through_window<float>(ranks, ranks * 9, [&](auto&, const pld::Window& buffer) {
      auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({ranks}), {ranks});
      collective(pld::window<float>(buffer, {ranks, 9}), pld::Signal(cells));
    });
  };
  const auto both = [&](const auto& collective) {
    for (const int ranks : {1, 2, 3, 8}) {
      const auto own =
          with_cells(ranks, [&](const auto& w, const pld::Signal&) { collective(w, pld::Signal()); });
      const auto given = with_cells(ranks, [&](const auto& w, const pld::Signal& cells) {
        collective(w, cells);
        pld::barrier(w, {.signal = cells});
      });
      CHECK(std::equal(own.begin(), own.end(), given.begin()));
    }
  };
  both([](const auto& w, const pld::Signal& s) { pld::allreduce(w, {.signal = s}); });
  both([](const auto& w, const pld::Signal& s) {
    pld::allreduce(w, {.op = ReduceOp::Prod, .algorithm = Algorithm::Ring, .signal = s});
  });
  both([](const auto& w, const pld::Signal& s) { pld::broadcast(w, {.root = 0, .signal = s}); });
  both([](const auto& w, const pld::Signal& s) { pld::allgather(w, {.signal = s}); });
  both([](const auto& w, const pld::Signal& s) { pld::reduce_scatter(w, {.signal = s}); });
  both([](const auto& w, const pld::Signal& s) { pld::all_to_all(w, {.signal = s}); });
  both([](const auto& w, const pld::Signal& s) { pld::reduce(w, {.root = 0, .signal = s}); });
  both([](const auto& w, const pld::Signal& s) { pld::scatter(w, {.root = 0, .signal = s}); });
  both([](const auto& w, const pld::Signal& s) { pld::gather(w, {.root = 0, .signal = s}); });
  both([](const auto& w, const pld::Signal& s) { pld::send_recv(w, {.from = 0, .to = 0, .signal = s}); });
}

TEST_CASE("signal cells that do not do are refused") {
  BOTH_WAYS
  const auto refusal = [](const auto& cells_of) {
    return message_of([&] {
      (void)through_window<float>(3, 4, [&](auto& w) { pld::allreduce(w, {.signal = cells_of()}); });
    });
  };
  CHECK(contains(
      refusal([] { return pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({2}), {2}); }),
      "pld::allreduce: .signal is int32[2] among 3 ranks; give one cell for each rank"));
  // A cell that was notified by hand.
  auto disturb =
      pl::jit.incore([](pld::DistributedTensor<float, 4> w, pld::DistributedTensor<std::int32_t, 2> cells) {
        pld::notify(cells, {.peer = pld::rank(cells), .offsets = {0}, .value = 5});
        pld::allreduce(w, {.signal = cells});
      });
  auto device = pl::jit([&](auto w, auto cells) { disturb(w, cells); });
  auto host = pl::jit.host([&](pl::Out<Rows>) {
    auto w = pld::window<float>(pld::alloc_window_buffer<float>({4}), {4});
    auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({2}), {2});
    for (auto r : pl::range(pld::world_size())) device(w, cells, pld::device = r);
  });
  pl::Array<float> y({2, 1});
  CHECK(contains(message_of([&] { host(y, windows::config(2)); }), " of .signal is "));
}

TEST_CASE("two groups of ranks use collectives at once") {
  auto rounds =
      pl::jit.incore([](pl::Out<pl::Tensor<std::int32_t, 1>> y, pld::DistributedTensor<std::int32_t, 1> w) {
        for (int round = 0; round < 200; ++round) {
          w = pl::store(pl::full<std::int32_t>({1}, pld::rank(w) + 1), {0}, w);
          pld::allreduce(w);
        }
        y = pl::store(pl::load(w), {0}, y);
      });
  auto device = pl::jit([&](auto y, auto w) { rounds(y, w); });
  auto host = pl::jit.host([&](pl::Out<pl::Tensor<std::int32_t, windows::NR, 1>> y) {
    auto even = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({1}), {1});
    auto odd = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({1}), {1});
    for (auto r : pl::range(pld::world_size())) device(y[r], r % 2 == 0 ? even : odd, pld::device = r);
  });
  pl::Array<std::int32_t> y({5, 1});
  host(y, native(5));
  for (int r = 0; r < 5; ++r) CHECK(y(r, 0) == (r % 2 == 0 ? 1 + 2 + 3 : 1 + 2));
}
