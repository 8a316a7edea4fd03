// The tables of samples/distributed/*.md: each row's mistake, and what its user is told.
#include "windows.hpp"

#include <functional>

using support::contains;
using windows::config;

namespace {

constexpr int WIDTH = 8;
constexpr auto NR = pl::dynamic("NR");
using Data = pld::DistributedTensor<float, WIDTH>;
using Rows = pld::DistributedTensor<float, NR, WIDTH>;
using Cells = pld::DistributedTensor<std::int32_t, NR>;
using Out = pl::Out<pl::Tensor<float, NR, WIDTH>>;
using Sources = pl::Tensor<float, NR, WIDTH>;

/// What `ranks` ranks that run `kernel(data, rows, cells)` end with: the message of an error of class E, or nothing.
template <class E, class Kernel>
std::string failure(const Kernel& kernel, int ranks = 3) {
  auto device = pl::jit([&](auto data, auto rows, auto cells) { kernel(data, rows, cells); });
  auto host = pl::jit.host([&](Out) {
    const int n = pld::world_size();
    auto data = pld::window<float>(pld::alloc_window_buffer<float>({WIDTH}), {WIDTH});
    auto rows = pld::window<float>(pld::alloc_window_buffer<float>({n, WIDTH}), {n, WIDTH});
    auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({n}), {n});
    for (auto r : pl::range(pld::world_size())) device(data, rows, cells, pld::device = r);
  });
  pl::Array<float> y({ranks, WIDTH});
  std::string message;
  for (const bool natively : {true, false}) {
    windows::natively = natively;
    message = support::message_of<E>([&] { host(y, config(ranks)); });
    if (message.empty()) return message;
  }
  return message;
}

/// What `orchestrate`, the body of a host orchestrator, ends with.
template <class E, class Orchestrate>
std::string host_failure(const Orchestrate& orchestrate, int ranks = 3) {
  auto host = pl::jit.host([&](Out) { orchestrate(); });
  pl::Array<float> y({ranks, WIDTH});
  return support::message_of<E>([&] { host(y, config(ranks)); });
}

}  // namespace

TEST_CASE("03: a buffer of as many bytes as elements is too small, and the error gives both sizes") {
  const auto message =
      host_failure<pl::ShapeError>([] { (void)pld::window<float>(pld::alloc_window_buffer(2 * 4), {2, 4}); });
  CHECK(
      contains(message, "float[2, 4] needs 32 bytes and the buffer has 8, which is its number of elements"));
  CHECK(contains(message, "pld::alloc_window_buffer<T>({…})"));
  CHECK(contains(message, "samples_test.cpp:"));
}

TEST_CASE("03: a kernel that expects another shape than the view has is refused with both") {
  auto kernel = pl::jit.incore([](Data data) { data = pl::store(pl::zeros<float>({WIDTH}), data); });
  auto device = pl::jit([&](auto data) { kernel(data); });
  const auto message = host_failure<pl::ShapeError>([&] {
    auto data = pld::window<float>(pld::alloc_window_buffer<float>({2, 4}), {2, 4});
    for (auto r : pl::range(pld::world_size())) device(data, pld::device = r);
  });
  CHECK(contains(message, "float[2, 4]"));
  CHECK(contains(message, "[8]"));
}

TEST_CASE("03: a buffer that is made in a device orchestration is a LevelError") {
  auto device = pl::jit([](auto) { (void)pld::alloc_window_buffer<float>({WIDTH}); });
  const auto message = host_failure<pl::LevelError>([&] {
    for (auto r : pl::range(pld::world_size())) device(r, pld::device = r);
  });
  CHECK(contains(message, "allocate windows in pl::jit.host, before the loop over ranks"));
}

TEST_CASE("04: a barrier that waits for the own cell, too, is a deadlock that names the cell") {
  const auto message = failure<pl::UserError>(pl::jit.incore([](Data, Rows, Cells cells) {
    const int me = pld::rank(cells), n = pld::nranks(cells);
    for (int peer = 0; peer < n; ++peer)
      if (peer != me) pld::notify(cells, {.peer = peer, .offsets = {me}});
    for (int peer = 0; peer < n; ++peer) pld::wait(cells, {.offsets = {peer}});
  }));
  CHECK(contains(message, "deadlock: 3 waits"));
  CHECK(contains(message, "pld::wait for cell 2 of window 2"));
  CHECK(contains(message, "to be >= 1; it is 0, and no rank has notified it"));
}

TEST_CASE("04: a barrier that only tells the next rank is a deadlock") {
  const auto message = failure<pl::UserError>(pl::jit.incore([](Data, Rows, Cells cells) {
    const int me = pld::rank(cells), n = pld::nranks(cells);
    pld::notify(cells, {.peer = (me + 1) % n, .offsets = {me}});
    for (int peer = 0; peer < n; ++peer)
      if (peer != me) pld::wait(cells, {.offsets = {peer}});
  }));
  CHECK(contains(message, "deadlock: 3 waits"));
  CHECK(contains(message, "and no rank has notified it"));
}

TEST_CASE("04: a barrier that one rank does not call is a deadlock that names who has finished") {
  const auto message = failure<pl::UserError>(pl::jit.incore([](Data data, Rows, Cells) {
    if (pld::rank(data) != 1) pld::barrier(data);
  }));
  CHECK(contains(message, "deadlock: 2 waits"));
  CHECK(contains(message, "other ranks have not called it"));
  CHECK(contains(message, "finished: rank 1"));
}

TEST_CASE("05: a signal to the wrong peer is a deadlock of those that it does not reach") {
  const auto message = failure<pl::UserError>(pl::jit.incore([](Data data, Rows, Cells cells) {
    const int next = (pld::rank(data) + 1) % pld::nranks(data);
    pld::remote_store(pl::zeros<float>({WIDTH}), data, {.peer = next});
    pld::notify(cells, {.peer = 0});
    pld::wait(cells);
  }));
  CHECK(contains(message, "deadlock: 2 waits"));
  CHECK(contains(message, "\n  rank 1 at "));
  CHECK(contains(message, "\n  rank 2 at "));
  CHECK(contains(message, "finished: rank 0"));
}

TEST_CASE("05: a next rank that is not taken modulo the number of ranks is an error of the last") {
  const auto message = failure<pl::CommError>(pl::jit.incore([](Data data, Rows, Cells cells) {
    const int next = pld::rank(data) + 1;
    pld::remote_store(pl::zeros<float>({WIDTH}), data, {.peer = next});
    pld::notify(cells, {.peer = next});
    pld::wait(cells);
  }));
  CHECK(contains(message, "pld::remote_store: peer 3 of a window that 3 ranks share; peers are 0 to 2"));
  CHECK(contains(message, "on rank 2"));
}

TEST_CASE("05: a tile larger than the window is an error that gives both extents") {
  const auto message = failure<pl::ShapeError>(pl::jit.incore(
      [](Data data, Rows, Cells) { pld::remote_store(pl::zeros<float>({2 * WIDTH}), data, {.peer = 0}); }));
  CHECK(contains(message,
                 "remote_store: offset 0 with extent 16 on axis 0 is not inside the tensor, whose "
                 "extent is 8"));
}

TEST_CASE("06: an offset without a shape moves the whole tensor and runs out of the window") {
  const auto message = failure<pl::ShapeError>(pl::jit.incore(
      [](Data data, Rows rows, Cells) { pld::get(rows[0], data, {.peer = 0, .src_offsets = {4}}); }));
  CHECK(contains(message, "dst_offsets, src_offsets and shape belong together; give all of them or none"));
}

TEST_CASE("06: a put between two dtypes is refused with both") {
  const auto message = failure<pl::DtypeError>(
      pl::jit.incore([](Data data, Rows, Cells cells) { pld::put(data, {.peer = 0, .src = cells}); }));
  CHECK(contains(message, "both must have one dtype"));
}

TEST_CASE("06: a put of rows into a row is refused with both") {
  const auto message = failure<pl::ShapeError>(
      pl::jit.incore([](Data data, Rows rows, Cells) { pld::put(data, {.peer = 0, .src = rows}); }));
  CHECK(contains(message, "both must have one rank: take a part with x[i]"));
}

TEST_CASE("07: a window with a fixed number of rows is too small for more ranks") {
  auto kernel = pl::jit.incore([](Rows rows, Cells cells) {
    for (auto step : pl::range(pld::nranks(cells)))
      pld::remote_store(pl::zeros<float>({WIDTH}), rows[step], {.peer = 0});
  });
  auto device = pl::jit([&](auto rows, auto cells) { kernel(rows, cells); });
  const auto message = host_failure<pl::ShapeError>([&] {
    const int n = pld::world_size();
    auto rows = pld::window<float>(pld::alloc_window_buffer<float>({2, WIDTH}), {2, WIDTH});
    auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({n}), {n});
    for (auto r : pl::range(pld::world_size())) device(rows, cells, pld::device = r);
  });
  CHECK(contains(message, "NR"));
  CHECK(contains(message, "2"));
  CHECK(contains(message, "3"));
}

TEST_CASE("07: a signature with a constant number of ranks refuses another one") {
  auto host = pl::jit.host([](pl::Tensor<float, 4, WIDTH>) {});
  pl::Array<float> x({3, WIDTH});
  const auto message = support::message_of<pl::ShapeError>([&] { host(x, config(3)); });
  CHECK(contains(message, "float[3, 8]"));
  CHECK(contains(message, "[4, 8]"));
}

TEST_CASE("08: waiting for all where only the others are told is a deadlock one short") {
  const auto message = failure<pl::UserError>(pl::jit.incore([](Data data, Rows, Cells cells) {
    const int me = pld::rank(data), n = pld::nranks(data);
    for (int peer = 0; peer < n; ++peer)
      if (peer != me) pld::notify(cells, {.peer = peer});
    pld::wait(cells, {.expected = n});
  }));
  CHECK(contains(message, "to be >= 3; it is 2, last written by rank"));
}

TEST_CASE("08: a signal of value 0 is none") {
  const auto message = failure<pl::UserError>(pl::jit.incore([](Data data, Rows, Cells cells) {
    const int n = pld::nranks(data);
    for (int peer = 0; peer < n; ++peer) pld::notify(cells, {.peer = peer, .value = 0});
    pld::wait(cells, {.expected = n});
  }));
  CHECK(contains(message, "to be >= 3; it is 0, last written by rank"));
}

TEST_CASE("09: a cell that the window does not have is an error with the offset") {
  const auto message = failure<pl::ShapeError>(pl::jit.incore(
      [](Data, Rows, Cells cells) { pld::notify(cells, {.peer = 0, .offsets = {pld::nranks(cells)}}); }));
  CHECK(contains(
      message, "pld::notify: offset 3 with extent 1 on axis 0 is not inside the tensor, whose extent is 3"));
}

TEST_CASE("10: a ring in which each rank waits before it sends is a deadlock of all") {
  const auto message = failure<pl::UserError>(pl::jit.incore([](Data, Rows rows, Cells cells) {
    const int n = pld::nranks(rows), next = (pld::rank(rows) + 1) % n;
    for (int step = 0; step < n - 1; ++step) {
      pld::wait(cells, {.offsets = {step}});
      pld::remote_store(pl::load(rows[step]), rows[step + 1], {.peer = next});
      pld::notify(cells, {.peer = next, .offsets = {step}});
    }
  }));
  CHECK(contains(message, "deadlock: 3 waits"));
  CHECK(contains(message, "before the notifier itself waits"));
}

TEST_CASE("10: a piece number below 0, since % keeps the sign, is an error with the index") {
  const auto message = failure<pl::ShapeError>(pl::jit.incore([](Data, Rows rows, Cells) {
    const int piece = (pld::rank(rows) - 1) % pld::nranks(rows);
    pld::remote_store(pl::zeros<float>({WIDTH}), rows[piece], {.peer = 0});
  }));
  CHECK(contains(message, "-1"));
}

TEST_CASE("11: ranks that reduce by different operations are told both calls") {
  const auto message = failure<pl::CommError>(pl::jit.incore([](Data data, Rows, Cells) {
    if (pld::rank(data) == 0)
      pld::allreduce(data, {.op = pld::ReduceOp::Max});
    else
      pld::allreduce(data);
  }));
  CHECK(contains(message, "ranks make different collective calls"));
  CHECK(contains(message, "pld::allreduce of 8 float by Max"));
  CHECK(contains(message, "pld::allreduce of 8 float by Sum"));
}

TEST_CASE("11: an allreduce of some columns of a window is refused as not dense") {
  const auto message = failure<pl::ShapeError>(pl::jit.incore(
      [](Data, Rows rows, Cells) { pld::allreduce(rows.slice({0, 0}, {pld::nranks(rows), 4})); }));
  CHECK(contains(message, "a part of a window that is not dense; give the window or whole rows of it"));
}

TEST_CASE("12: a root that is another one on each rank is named") {
  const auto message = failure<pl::CommError>(
      pl::jit.incore([](Data data, Rows, Cells) { pld::broadcast(data, {.root = pld::rank(data)}); }));
  CHECK(contains(message, "ranks make different collective calls"));
  CHECK(contains(message, "pld::broadcast of 8 float from root "));
}

TEST_CASE("12: a root that is no rank is an error with the ranks that there are") {
  const auto message = failure<pl::CommError>(
      pl::jit.incore([](Data data, Rows, Cells) { pld::broadcast(data, {.root = pld::nranks(data)}); }));
  CHECK(contains(message, "pld::broadcast: root 3 of a window that 3 ranks share; ranks are 0 to 2"));
}

TEST_CASE("12: a root that waits and did not tell itself is left alone in a deadlock") {
  const auto message = failure<pl::UserError>(pl::jit.incore([](Data data, Rows, Cells cells) {
    const int n = pld::nranks(data);
    if (pld::rank(data) == n - 1)
      for (int peer = 0; peer < n - 1; ++peer) {
        pld::remote_store(pl::zeros<float>({WIDTH}), data, {.peer = peer});
        pld::notify(cells, {.peer = peer});
      }
    pld::wait(cells);
  }));
  CHECK(contains(message, "deadlock: 1 wait "));
  CHECK(contains(message, "\n  rank 2 at "));
  CHECK(contains(message, "finished: rank 0, 1"));
}

TEST_CASE("13: an allgather of a window without a row for each rank is refused") {
  const auto message =
      failure<pl::ShapeError>(pl::jit.incore([](Data data, Rows, Cells) { pld::allgather(data); }));
  CHECK(
      contains(message, "pld::allgather of float[8] among 3 ranks; its first extent is the number of ranks"));
}

TEST_CASE("14: a reduction of bools is refused, and told what to convert to") {
  auto kernel = pl::jit.incore([](pld::DistributedTensor<bool, 3, 4> w) { pld::reduce_scatter(w); });
  auto device = pl::jit([&](auto w) { kernel(w); });
  const auto message = host_failure<pl::DtypeError>([&] {
    auto w = pld::window<bool>(pld::alloc_window_buffer<bool>({3, 4}), {3, 4});
    for (auto r : pl::range(pld::world_size())) device(w, pld::device = r);
  });
  CHECK(contains(message, "bool"));
}

TEST_CASE("15: an all-to-all on the host of a window without a row for each rank is refused") {
  auto device = pl::jit([](auto, auto) {});
  const auto message = host_failure<pl::ShapeError>([&] {
    auto w = pld::window<float>(pld::alloc_window_buffer<float>({4, WIDTH}), {4, WIDTH});
    for (auto r : pl::range(pld::world_size())) device(w, r, pld::device = r);
    pld::all_to_all(w);
  });
  CHECK(contains(message,
                 "pld::all_to_all of float[4, 8] among 3 ranks; its first extent is the number of ranks"));
}

TEST_CASE("15: ranks that exchange rows of different length are told both calls") {
  auto kernel = pl::jit.incore([](pld::DistributedTensor<float> w) { pld::all_to_all(w); });
  auto device = pl::jit([&](auto w) { kernel(w); });
  const auto message = host_failure<pl::CommError>([&] {
    const pld::Window buffer = pld::alloc_window_buffer<float>({3, WIDTH});
    for (auto r : pl::range(pld::world_size()))
      device(pld::window<float>(buffer, {3, r == 1 ? 4 : WIDTH}), pld::device = r);
  });
  CHECK(contains(message, "ranks make different collective calls"));
  CHECK(contains(message, "pld::all_to_all of 24 float"));
  CHECK(contains(message, "pld::all_to_all of 12 float"));
}

TEST_CASE("16: a collective in a device orchestration is a LevelError") {
  auto device = pl::jit([](auto w) { pld::allreduce(w); });
  const auto message = host_failure<pl::LevelError>([&] {
    auto w = pld::window<float>(pld::alloc_window_buffer<float>({WIDTH}), {WIDTH});
    for (auto r : pl::range(pld::world_size())) device(w, pld::device = r);
  });
  CHECK(contains(message, "pld::allreduce was called in a device orchestration"));
}

TEST_CASE("16: a rank that has nothing to add and returns early leaves the others in a deadlock") {
  const auto message = failure<pl::UserError>(pl::jit.incore([](Data data, Rows, Cells) {
    if (pld::rank(data) == 2) return;
    pld::allreduce(data);
  }));
  CHECK(contains(message, "pld::allreduce of window 0"));
  CHECK(contains(message, "finished: rank 2"));
}

namespace {

auto biased_sum = pl::jit.incore([](pl::Out<pl::Tensor<float, WIDTH>> y, Data data, pl::Scalar<bool> before) {
  auto bias = pl::full<float>({WIDTH}, 10.0f);
  auto part = pl::full<float>({WIDTH}, 1.0f);
  data = pl::store(before ? part + bias : part, data);
  pld::allreduce(data);
  y = pl::store(before ? pl::load(data) : pl::load(data) + bias, y);
});

}  // namespace

TEST_CASE("17: a bias that is added before the sum counts once a rank") {
  for (const bool before : {true, false}) {
    auto device = pl::jit([](auto y, auto data, auto at) { biased_sum(y, data, at); });
    auto host = pl::jit.host([&](Out y) {
      auto data = pld::window<float>(pld::alloc_window_buffer<float>({WIDTH}), {WIDTH});
      for (auto r : pl::range(pld::world_size())) device(y[r], data, before, pld::device = r);
    });
    pl::Array<float> y({3, WIDTH});
    host(y, config(3));
    for (const float element : y) CHECK(element == (before ? 33.0f : 13.0f));
  }
}

TEST_CASE("17: shares of the two layers that do not fit are an error that names both") {
  static constexpr auto SHARE = pl::dynamic("SHARE");
  auto host = pl::jit.host([](pl::Tensor<float, NR, WIDTH, SHARE>, pl::Tensor<float, NR, SHARE, WIDTH>) {});
  pl::Array<float> up({3, WIDTH, 6}), down({3, 5, WIDTH});
  const auto message = support::message_of<pl::ShapeError>([&] { host(up, down, config(3)); });
  CHECK(contains(message, "SHARE"));
  CHECK(contains(message, "6"));
  CHECK(contains(message, "5"));
}

namespace {

constexpr int CONTEXT = 4;

auto count_rows = pl::jit.incore([](pl::InOut<pl::Tensor<float, CONTEXT, WIDTH>> cache, pl::Scalar<int> at) {
  cache = pl::store(pl::full<float>({1, WIDTH}, 1.0f), {at, 0}, cache);
});
auto cache_device = pl::jit([](auto cache, auto at) { count_rows(cache, at); });
/// Writes row `at` of every rank's cache, then calls `sample`.
template <class Sample>
auto cache_program(const Sample& sample) {
  return pl::jit.host([sample](pl::InOut<pl::Tensor<float, NR, CONTEXT, WIDTH>> caches, int at) {
    for (auto r : pl::range(pld::world_size())) cache_device(caches[r], at, pld::device = r);
    pl::host_callback(sample);
  });
}
constexpr auto nothing = [] {};

}  // namespace

TEST_CASE("18: a program that is called without its worker refuses the worker's cache") {
  pl::Array<float> caches({3, CONTEXT, WIDTH});
  const auto program = cache_program(nothing).compile(caches, 3, config(3));
  const auto worker = program.prepare();
  const auto cache = worker.alloc_stacked_tensor<float>({3, CONTEXT, WIDTH}, "KV cache");
  const auto message = support::message_of<pl::PlanError>([&] { program(cache, 1); });
  CHECK(contains(message, "argument 1 is the resident tensor \"KV cache\" (float[3, 4, 8], allocated at "));
  CHECK(contains(message, ", and the program was called without its worker; call the worker itself"));
}

TEST_CASE("18: a worker names the list that its second program is missing in") {
  pl::Array<float> caches({3, CONTEXT, WIDTH});
  const auto one = cache_program(nothing).compile(caches, 3, config(3));
  const auto two = cache_program(nothing).compile(caches, 3, config(3));
  const auto worker = one.prepare();
  const auto message = support::message_of<pl::PlanError>([&] { worker.run(two, caches, 1); });
  CHECK(contains(message, "a worker was called with a program that it was not prepared with"));
  CHECK(contains(message, "prepare({.extra = {&other}})"));
}

TEST_CASE("18: a sampler that calls its own worker is refused and does not hang") {
  pl::Array<float> caches({3, CONTEXT, WIDTH});
  std::function<void()> next = [] {};
  const auto program = cache_program([&next] { next(); }).compile(caches, 3, config(3));
  const auto worker = program.prepare();
  next = [&] { worker(caches, 2); };
  const auto message = support::message_of<pl::LevelError>([&] { worker(caches, 1); });
  CHECK(contains(message, "a worker was asked to run a program in a host callback of its own"));
}

TEST_CASE("18: rows that are not written count in a softmax, unless they are masked") {
  auto attend = pl::jit.incore([](pl::Out<pl::Tensor<float, WIDTH>> y, pl::Scalar<bool> masked) {
    auto scores = pl::zeros<float>({1, WIDTH});
    auto seen = masked ? pl::where(pl::tri<bool>(1, WIDTH, 1), scores, -1e9f) : scores;
    auto weights = pl::exp(seen - pl::row_max(seen));
    y = pl::store(pl::reshape(weights / pl::row_sum(weights), {WIDTH}), y);
  });
  for (const bool masked : {false, true}) {
    pl::Array<float> y({WIDTH});
    attend(y, masked);
    CHECK(y(0) == (masked ? 0.5f : 1.0f / WIDTH));  // two rows of eight are written
    CHECK(y(WIDTH - 1) == (masked ? 0 : 1.0f / WIDTH));
  }
}

TEST_CASE("18: a cache that was freed is refused with the place where it was") {
  pl::Array<float> caches({3, CONTEXT, WIDTH});
  const auto program = cache_program(nothing).compile(caches, 3, config(3));
  const auto worker = program.prepare();
  const auto cache = worker.alloc_stacked_tensor<float>({3, CONTEXT, WIDTH}, "KV cache");
  worker(cache, 0);
  worker.free_tensor(cache);
  const auto message = support::message_of<pl::PlanError>([&] { worker(cache, 1); });
  CHECK(contains(message, "\"KV cache\""));
  CHECK(contains(message, "was freed at "));
  CHECK(contains(message, "samples_test.cpp:"));
}
