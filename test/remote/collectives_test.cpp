// Collectives in a kernel, on the model as on the simulator: the same bits.
#include "on_model.hpp"
#include "slow.hpp"

using pld::Algorithm;
using pld::ReduceOp;
using remote::config;
using remote::NR;

namespace {

constexpr int RESULTS = 6, MOVES = 6;

/// Six reductions one behind the other, on windows of the same numbers.
template <class T, int WIDTH>
pl::Array<T> reductions(const char* platform, int ranks) {
  auto kernel = pl::jit.incore([](pl::Tensor<T, WIDTH> x, pl::Out<pl::Tensor<T, RESULTS, WIDTH>> y,
                                  pld::DistributedTensor<T, WIDTH> w) {
    w = pl::store(pl::load(x), w);
    pld::allreduce(w);
    (void)pl::store(pl::load(w), y[0]);
    w = pl::store(pl::load(x), w);
    pld::allreduce(w, {.algorithm = Algorithm::Ring});
    (void)pl::store(pl::load(w), y[1]);
    w = pl::store(pl::load(x), w);
    pld::allreduce(w, {.op = ReduceOp::Max});
    (void)pl::store(pl::load(w), y[2]);
    w = pl::store(pl::load(x), w);
    pld::allreduce(w, {.op = ReduceOp::Min, .algorithm = Algorithm::Mesh});
    (void)pl::store(pl::load(w), y[3]);
    w = pl::store(pl::load(x), w);
    pld::allreduce(w, {.op = ReduceOp::Prod, .algorithm = Algorithm::Ring});
    (void)pl::store(pl::load(w), y[4]);
    w = pl::store(pl::load(x), w);
    pld::reduce(w, {.root = pld::nranks(w) - 1});
    (void)pl::store(pl::load(w), y[5]);
  });
  auto device = pl::jit([&](auto x, auto y, auto w) { kernel(x, y, w); });
  auto host = pl::jit.host([&](pl::Tensor<T, NR, WIDTH> x, pl::Out<pl::Tensor<T, NR, RESULTS, WIDTH>> y) {
    auto w = pld::window<T>(pld::alloc_window_buffer<T>({WIDTH}), {WIDTH});
    for (auto r : pl::range(pld::world_size())) device(x[r], y[r], w, pld::device = r);
  });
  const auto x = remote::small_numbers<T>({ranks, WIDTH});
  pl::Array<T> y({ranks, RESULTS, WIDTH});
  host(x, y, config(platform, ranks));
  return y;
}

template <class T, int WIDTH>
void reduce_on_all(const char* name) {
  INFO(name);
  for (const int ranks : {1, 2, 3, 4})
    CHECK(remote::differences(reductions<T, WIDTH>("a2a3sim", ranks),
                              reductions<T, WIDTH>("a2a3model", ranks)) == 0);
}

/// Everything that moves rows, with cells of the user's and with Trilith's own.
template <class T, int ROW = 5>
pl::Array<T> moves(const char* platform, int ranks) {
  auto kernel = pl::jit.incore([](pl::Tensor<T, NR, ROW> x, pl::Out<pl::Tensor<T, MOVES, NR, ROW>> y,
                                  pld::DistributedTensor<T, NR, ROW> w,
                                  pld::DistributedTensor<std::int32_t, NR> cells) {
    const int n = pld::nranks(w);
    w = pl::store(pl::load(x), w);
    pld::barrier(w);
    pld::allgather(w, {.signal = cells});
    (void)pl::store(pl::load(w), y[0]);
    w = pl::store(pl::load(x), w);
    pld::all_to_all(w, {.signal = cells});
    (void)pl::store(pl::load(w), y[1]);
    w = pl::store(pl::load(x), w);
    pld::broadcast(w, {.root = n - 1});
    (void)pl::store(pl::load(w), y[2]);
    w = pl::store(pl::load(x), w);
    pld::scatter(w, {.root = n - 1});
    (void)pl::store(pl::load(w), y[3]);
    w = pl::store(pl::load(x), w);
    pld::gather(w, {.root = n / 2, .signal = cells});
    (void)pl::store(pl::load(w), y[4]);
    w = pl::store(pl::load(x), w);
    pld::send_recv(w, {.from = 0, .to = n - 1});
    pld::barrier(w, {.signal = cells});
    (void)pl::store(pl::load(w), y[5]);
  });
  auto device = pl::jit([&](auto x, auto y, auto w, auto cells) { kernel(x, y, w, cells); });
  auto host = pl::jit.host([&](pl::Tensor<T, NR, NR, ROW> x, pl::Out<pl::Tensor<T, NR, MOVES, NR, ROW>> y) {
    const int n = pld::world_size();
    auto w = pld::window<T>(pld::alloc_window_buffer<T>({n, ROW}), {n, ROW});
    auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({n}), {n});
    for (auto r : pl::range(pld::world_size())) device(x[r], y[r], w, cells, pld::device = r);
  });
  const auto x = remote::small_numbers<T>({ranks, ranks, ROW}, 100);
  pl::Array<T> y({ranks, MOVES, ranks, ROW});
  host(x, y, config(platform, ranks));
  return y;
}

/// Rank r sends (2 r + 3 i) % 6 items of 3 elements to rank i, and tells what it holds afterwards and what it has got.
template <class T>
std::pair<pl::Array<T>, pl::Array<std::int32_t>> counted_moves(const char* platform, int ranks, int bad = 0) {
  constexpr int ITEMS = 5, ITEM = 3;
  auto kernel = pl::jit.incore(
      [](pl::Tensor<T, NR, ITEMS, ITEM> x, pl::Tensor<std::int32_t, NR> counts,
         pl::Out<pl::Tensor<T, NR, ITEMS, ITEM>> y, pl::Out<pl::Tensor<std::int32_t, NR>> got,
         pld::DistributedTensor<T, NR, ITEMS, ITEM> w, pld::DistributedTensor<std::int32_t, NR> cells) {
        w = pl::store(pl::load(x), w);
        cells = pl::store(pl::load(counts), cells);
        pld::all_to_all_v(w, cells);
        y = pl::store(pl::load(w), y);
        got = pl::store(pl::load(cells), got);
      });
  auto device = pl::jit([&](auto x, auto counts, auto y, auto got, auto w, auto cells) {
    kernel(x, counts, y, got, w, cells);
  });
  auto host = pl::jit.host([&](pl::Tensor<T, NR, NR, ITEMS, ITEM> x, pl::Tensor<std::int32_t, NR, NR> counts,
                               pl::Out<pl::Tensor<T, NR, NR, ITEMS, ITEM>> y,
                               pl::Out<pl::Tensor<std::int32_t, NR, NR>> got) {
    const int n = pld::world_size();
    auto w = pld::window<T>(pld::alloc_window_buffer<T>({n, ITEMS, ITEM}), {n, ITEMS, ITEM});
    auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({n}), {n});
    for (auto r : pl::range(pld::world_size()))
      device(x[r], counts[r], y[r], got[r], w, cells, pld::device = r);
  });
  const auto x = remote::small_numbers<T>({ranks, ranks, ITEMS, ITEM}, 100);
  pl::Array<std::int32_t> counts({ranks, ranks}), got({ranks, ranks});
  for (int r = 0; r < ranks; ++r)
    for (int i = 0; i < ranks; ++i) counts(r, i) = (2 * r + 3 * i) % (ITEMS + 1);
  counts(ranks - 1, 0) += bad;
  pl::Array<T> y({ranks, ranks, ITEMS, ITEM});
  host(x, counts, y, got, config(platform, ranks));
  return {std::move(y), std::move(got)};
}

}  // namespace

TEST_CASE("rows of counted items give what the simulator gives, and the counts too") {
  const auto same = [](const auto& a, const auto& b) {
    CHECK(remote::differences(a.first, b.first) == 0);
    CHECK(remote::differences(a.second, b.second) == 0);
  };
  for (const int ranks : {1, 2, 4}) {
    same(counted_moves<float>("a2a3sim", ranks), counted_moves<float>("a2a3model", ranks));
    same(counted_moves<std::uint8_t>("a2a3sim", ranks), counted_moves<std::uint8_t>("a2a3model", ranks));
  }
}

TEST_CASE("a count of items that a row has no room for is told with both ranks") {
  for (const char* platform : {"a2a3sim", "a2a3model"}) {
    CAPTURE(platform);
    const std::string message =
        support::message_of<pl::CommError>([&] { counted_moves<float>(platform, 2, 4); });
    CAPTURE(message);
    CHECK(support::contains(
        message,
        "pld::all_to_all_v: 6 items for rank 0 from rank 1, and a row of float[2, 5, 3] has room for 5"));
  }
}

TEST_CASE("reductions over ranks give the bits of the simulator, by mesh and by ring") {
  reduce_on_all<float, 37>("float");
  reduce_on_all<pl::half, 37>("half");
  reduce_on_all<pl::bfloat16, 37>("bfloat16");
  reduce_on_all<std::int32_t, 37>("int32");
}

TEST_CASE("reductions of more elements than the unified buffer takes at a time") {
  for (const int ranks : {2, 3})
    CHECK(remote::differences(reductions<float, 30011>("a2a3sim", ranks),
                              reductions<float, 30011>("a2a3model", ranks)) == 0);
}

TEST_CASE("collectives that move rows give what the simulator gives") {
  for (const int ranks : {1, 2, 3, 4}) {
    CHECK(remote::differences(moves<float>("a2a3sim", ranks), moves<float>("a2a3model", ranks)) == 0);
    CHECK(remote::differences(moves<pl::half>("a2a3sim", ranks), moves<pl::half>("a2a3model", ranks)) == 0);
    CHECK(remote::differences(moves<std::int64_t>("a2a3sim", ranks),
                              moves<std::int64_t>("a2a3model", ranks)) == 0);
    CHECK(remote::differences(moves<std::uint8_t>("a2a3sim", ranks),
                              moves<std::uint8_t>("a2a3model", ranks)) == 0);
  }
}

template <class T, int WIDTH>
void agree_at() {
  INFO(WIDTH);
  CHECK(remote::differences(reductions<T, WIDTH>("a2a3sim", 3), reductions<T, WIDTH>("a2a3model", 3)) == 0);
  CHECK(remote::differences(moves<T, WIDTH>("a2a3sim", 3), moves<T, WIDTH>("a2a3model", 3)) == 0);
}

TEST_CASE("collectives of one element, and of lengths beside whole blocks, give the bits of the simulator") {
  agree_at<float, 1>();
  agree_at<pl::bfloat16, 17>();
  agree_at<std::int32_t, 257>();
  agree_at<pl::half, 4097>();
  if (support::slow_rounds(0, 1) == 0) return;
  agree_at<pl::bfloat16, 1>();
  agree_at<std::int32_t, 1>();
  agree_at<float, 257>();
  agree_at<float, 4097>();
  agree_at<pl::bfloat16, 4097>();
}

TEST_CASE("a reduce_scatter leaves each rank the sum of its row") {
  constexpr int ROW = 5;
  auto kernel = pl::jit.incore([](pl::Tensor<float, NR, ROW> x, pl::Out<pl::Tensor<float, NR, ROW>> y,
                                  pld::DistributedTensor<float, NR, ROW> w) {
    w = pl::store(pl::load(x), w);
    pld::reduce_scatter(w);
    y = pl::store(pl::load(w), y);
  });
  auto device = pl::jit([&](auto x, auto y, auto w) { kernel(x, y, w); });
  auto host = pl::jit.host([&](pl::Tensor<float, NR, NR, ROW> x, pl::Out<pl::Tensor<float, NR, NR, ROW>> y) {
    const int n = pld::world_size();
    auto w = pld::window<float>(pld::alloc_window_buffer<float>({n, ROW}), {n, ROW});
    for (auto r : pl::range(pld::world_size())) device(x[r], y[r], w, pld::device = r);
  });
  for (const int ranks : {1, 2, 3, 4}) {
    const auto x = remote::small_numbers<float>({ranks, ranks, ROW});
    pl::Array<float> on_simulator({ranks, ranks, ROW}), on_model({ranks, ranks, ROW});
    host(x, on_simulator, config("a2a3sim", ranks));
    host(x, on_model, config("a2a3model", ranks));
    CHECK(remote::differences(on_simulator, on_model) == 0);
  }
}
