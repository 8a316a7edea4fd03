// Operations on windows: what a compiled kernel asks of the host, field by field, and that no access to memory moves
// across a request. The host here is a recorder that changes the window's memory while the kernel is in its call.
#include "emitter/ranks.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

using namespace emitter_test;

TEST_CASE("remote: rank and size are asked of the host and are int32 scalars") {
  KernelBuilder k("ranks");
  const Expr y = k.tensor("y", Access::Out, DType::Int32, shape({3}));
  const Expr w = k.window("w", DType::Float32, shape({8}));
  const Expr rank = k.let("rank", remote(Op::CommRank, {w}));
  const Expr size = k.let("size", remote(Op::CommSize, {w}));
  k.store(full(DType::Int32, {3}, rank * literal(10) + size), {0}, y);
  const Call call(k.take(), {TensorSpec{{3}, DType::Int32}, TensorSpec{{8}}});
  Ranks ranks;
  std::vector<std::int32_t> out(3);
  std::vector<float> window(8);
  CHECK(call.run(ranks, {out.data(), window.data()}) == 0);
  CHECK(out == std::vector<std::int32_t>{25, 25, 25});
  REQUIRE(ranks.asked.size() == 2);
  for (const Asked& asked : ranks.asked) {
    CHECK(asked.request.window == 1);
    CHECK(asked.request.other == -1);
    CHECK(asked.file == "kernel.cpp");
    CHECK(asked.request.line > 0);
  }
  CHECK(ranks.asked[0].request.operation == pl::abi::remote_rank);
  CHECK(ranks.asked[1].request.operation == pl::abi::remote_size);
}

TEST_CASE("remote: a store names its tile, region, peer and mode; a view's dropped axes have extent 1") {
  for (const Atomic atomic : {Atomic::None, Atomic::Add}) {
    KernelBuilder k("stores");
    const Expr x = k.tensor("x", Access::In, DType::Float32, shape({2, 5}));
    const Expr w = k.window("w", DType::Float32, shape({3, 4, 9}));
    const Expr p = k.scalar("p", DType::Int32);
    const Expr t = k.let("t", load(x));
    Attributes attributes;
    attributes.atomic = atomic;
    k.remote(Op::RemoteStore, {t + t, index(w, p), p + literal(1), list({1, 3})}, attributes);
    const Call call(k.take(), {TensorSpec{{2, 5}}, TensorSpec{{3, 4, 9}}, Value::scalar(std::int32_t{0})});
    Ranks ranks;
    std::vector<float> in(10), window(108), seen(10);
    for (int i = 0; i < 10; ++i) in[static_cast<std::size_t>(i)] = static_cast<float>(i);
    ranks.answer = [&](pl::abi::Remote& request) {
      std::copy_n(static_cast<const float*>(request.data), 10, seen.begin());
      return 0;
    };
    CHECK(call.run(ranks, {in.data(), window.data()}, {2}) == 0);
    REQUIRE(ranks.asked.size() == 1);
    const Asked& asked = ranks.asked[0];
    CHECK(asked.request.operation == pl::abi::remote_store);
    CHECK(asked.request.window == 1);
    CHECK(asked.request.other == -1);
    CHECK(asked.request.mode == (atomic == Atomic::Add ? 1 : 0));
    CHECK(asked.request.rank == 3);
    CHECK(asked.request.peer == 3);
    CHECK(asked.offsets == List{2, 1, 3});
    CHECK(asked.shape == List{1, 2, 5});
    for (std::size_t i = 0; i < 10; ++i) CHECK(seen[i] == in[i] * 2);
  }
}

TEST_CASE("remote: a load fills a dense tile, of the whole part or of a region with run-time extents") {
  KernelBuilder k("loads");
  const Expr y = k.tensor("y", Access::Out, DType::Float32);
  const Expr w = k.window("w", DType::Float32, shape({4, 6}));
  const Expr n = k.scalar("n", DType::Int64);
  const Expr whole = k.let("whole", remote(Op::RemoteLoad, {w, number(1), list({}), list({})}));
  const Expr part = k.let("part", remote(Op::RemoteLoad, {w, n, list({1, n}), list({1, n})}));
  k.store(call(Op::RowSum, {whole}), {0, 0}, y);
  k.store(part * part, {0, 1}, y);
  const Call call(k.take(), {TensorSpec{{4, 8}}, TensorSpec{{4, 6}}, Value::scalar(std::int64_t{0})});
  Ranks ranks;
  ranks.answer = [&](pl::abi::Remote& request) {
    const std::int64_t count = request.shape[0] * request.shape[1];
    std::fill_n(static_cast<float*>(request.data), count, static_cast<float>(request.peer));
    return 0;
  };
  std::vector<float> out(32, -1), window(24);
  CHECK(call.run(ranks, {out.data(), window.data()}, {3}) == 0);
  REQUIRE(ranks.asked.size() == 2);
  CHECK(ranks.asked[0].offsets == List{0, 0});
  CHECK(ranks.asked[0].shape == List{4, 6});
  CHECK(ranks.asked[1].offsets == List{1, 3});
  CHECK(ranks.asked[1].shape == List{1, 3});
  CHECK(ranks.asked[1].request.peer == 3);
  CHECK(std::vector<float>(out.begin(), out.begin() + 5) == std::vector<float>{6, 9, 9, 9, -1});
  CHECK(out[8] == 6);
}

TEST_CASE("remote: put and get name both tensors, each with offsets of its own rank") {
  KernelBuilder k("copies");
  const Expr x = k.tensor("x", Access::In, DType::Int32, shape({2, 4}));
  const Expr y = k.tensor("y", Access::InOut, DType::Int32, shape({4}));
  const Expr w = k.window("w", DType::Int32, shape({4}));
  const Expr p = k.scalar("p", DType::Int32);
  Attributes add;
  add.atomic = Atomic::Add;
  k.remote(Op::RemotePut, {w, p, index(x, number(1)), list({}), list({}), list({})}, add);
  k.remote(Op::RemoteGet, {y, w, p, list({1}), list({2}), list({2})});
  k.remote(Op::RemotePut, {w, p, w, list({0}), list({3}), list({1})});
  const Call call(k.take(), {TensorSpec{{2, 4}, DType::Int32}, cells, cells, Value::scalar(std::int32_t{0})});
  Ranks ranks;
  std::vector<std::int32_t> in(8), out(4), window(4);
  CHECK(call.run(ranks, {in.data(), out.data(), window.data()}, {3}) == 0);
  REQUIRE(ranks.asked.size() == 3);
  const Asked &put = ranks.asked[0], &get = ranks.asked[1], &own = ranks.asked[2];
  CHECK(put.request.operation == pl::abi::remote_put);
  CHECK(put.request.window == 2);
  CHECK(put.request.other == 0);
  CHECK(put.request.mode == 1);
  CHECK(put.request.rank == 1);
  CHECK(put.request.other_rank == 2);
  CHECK(put.offsets == List{0});
  CHECK(put.other_offsets == List{1, 0});
  CHECK(put.shape == List{4});
  CHECK(get.request.operation == pl::abi::remote_get);
  CHECK(get.request.window == 2);
  CHECK(get.request.other == 1);
  CHECK(get.request.mode == 0);
  CHECK(get.request.peer == 3);
  CHECK(get.offsets == List{1});
  CHECK(get.other_offsets == List{2});
  CHECK(get.shape == List{2});
  CHECK(own.request.other == 2);
  CHECK(own.other_offsets == List{3});
}

TEST_CASE("remote: collectives carry their ranks, counts and the cells of their signal") {
  KernelBuilder k("rooted");
  const Expr w = k.window("w", DType::Float32, shape({2, 4}));
  const Expr c = k.window("c", DType::Int32, shape({3, 4}));
  const Expr v = k.scalar("v", DType::Int64);
  const Expr none = list({});
  Attributes minimum;
  minimum.reduce = ReduceOp::Min;
  k.remote(Op::CommReduce, {w, none, none, v}, minimum);
  k.remote(Op::CommScatter, {w, none, none, number(1), index(c, v), none, none});
  k.remote(Op::CommGather, {w, none, none, v});
  k.remote(Op::SendRecv, {w, none, none, number(1), v});
  k.remote(Op::AllToAllV,
           {w, none, none, index(c, number(2)), none, none, slice(c, {0, 1}, {1, 3}), none, none});
  const Call call(k.take(), {TensorSpec{{2, 4}, DType::Float32}, TensorSpec{{3, 4}, DType::Int32},
                             Value::scalar(std::int64_t{0})});
  Ranks ranks;
  struct Region {
    int window;
    List offsets, shape;
    bool operator==(const Region&) const = default;
  };
  std::vector<std::optional<Region>> counts, signals;
  ranks.answer = [&](pl::abi::Remote& request) {
    const auto copy = [](const pl::abi::Cells* cells) -> std::optional<Region> {
      if (cells == nullptr) return std::nullopt;
      return Region{cells->window,
                    {cells->offsets, cells->offsets + cells->rank},
                    {cells->shape, cells->shape + cells->rank}};
    };
    counts.push_back(copy(request.counts));
    signals.push_back(copy(request.signal));
    return 0;
  };
  std::vector<float> window(8);
  std::vector<std::int32_t> memory(12);
  CHECK(call.run(ranks, {window.data(), memory.data()}, {1}) == 0);
  using namespace pl::abi;
  const struct {
    RemoteOperation operation;
    int mode;
    std::int64_t peer, to;
  } expected[] = {{remote_reduce, 2, 1, 0},
                  {remote_scatter, 0, 1, 0},
                  {remote_gather, 0, 1, 0},
                  {remote_send_recv, 0, 1, 1},
                  {remote_all_to_all_v, 0, 0, 0}};
  REQUIRE(ranks.asked.size() == std::size(expected));
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    CAPTURE(i);
    const Remote& asked = ranks.asked[i].request;
    CHECK(asked.operation == expected[i].operation);
    CHECK(asked.mode == expected[i].mode);
    CHECK(asked.peer == expected[i].peer);
    CHECK(asked.to == expected[i].to);
    CHECK(asked.window == 0);
    CHECK(ranks.asked[i].shape == List{2, 4});
    CHECK((counts[i] == std::nullopt) == (i != 4));
  }
  const std::optional<Region> none_given;
  CHECK(counts[4] == Region{1, {2, 0}, {1, 4}});
  CHECK(signals == std::vector<std::optional<Region>>{none_given, Region{1, {1, 0}, {1, 4}}, none_given,
                                                      none_given, Region{1, {0, 1}, {1, 3}}});
}

TEST_CASE("remote: signals, fences and collectives carry value, mode and region") {
  KernelBuilder k("signals");
  const Expr w = k.window("w", DType::Int32, shape({2, 4}));
  const Expr v = k.scalar("v", DType::Int64);
  Attributes set, equal, ring, maximum;
  set.notify = NotifyOp::Set;
  equal.compare = WaitCmp::Eq;
  ring.reduce = ReduceOp::Prod;
  ring.algorithm = Algorithm::Ring;
  maximum.reduce = ReduceOp::Max;
  k.remote(Op::Notify, {w, v, list({1, v}), number(1)});
  k.remote(Op::Notify, {w, number(0), list({}), v}, set);
  k.remote(Op::Wait, {w, list({0, 2}), v + v});
  k.remote(Op::Wait, {index(w, number(1)), list({3}), number(7)}, equal);
  k.remote(Op::DeferWait, {w, list({1, 3}), number(9)});
  k.remote(Op::Fence, {});
  k.remote(Op::Barrier, {w, list({}), list({})});
  k.remote(Op::Allreduce, {index(w, number(1)), list({}), list({})}, ring);
  k.remote(Op::ReduceScatter, {index(w, v), list({}), list({})}, maximum);
  k.remote(Op::Broadcast, {slice(w, {0, 1}, {2, 2}), list({}), list({}), v});
  k.remote(Op::Allgather, {w, list({}), list({})});
  k.remote(Op::AllToAll, {w, list({}), list({})});
  const Kernel kernel = k.take();
  CHECK(uses_windows(kernel));
  CHECK(may_wait(kernel));
  const Call call(kernel, {TensorSpec{{2, 4}, DType::Int32}, Value::scalar(std::int64_t{0})});
  Ranks ranks;
  std::vector<std::int32_t> window(8);
  CHECK(call.run(ranks, {window.data()}, {1}) == 0);
  REQUIRE(ranks.asked.size() == 12);
  using namespace pl::abi;
  const struct {
    RemoteOperation operation;
    int mode;
    std::int64_t peer, value;
    List offsets, shape;
  } expected[] = {{remote_notify, 1, 1, 1, {1, 1}, {}},
                  {remote_notify, 0, 0, 1, {0, 0}, {}},
                  {remote_wait, 1, 0, 2, {0, 2}, {}},
                  {remote_wait, 0, 0, 7, {1, 3}, {}},
                  {remote_defer_wait, 0, 0, 9, {1, 3}, {}},
                  {remote_fence, 0, 0, 0, {}, {}},
                  {remote_barrier, 0, 0, 0, {0, 0}, {2, 4}},
                  {remote_allreduce, 3 + 4 * 2, 0, 1, {1, 0}, {1, 4}},
                  {remote_reduce_scatter, 1, 0, 1, {1, 0}, {1, 4}},
                  {remote_broadcast, 0, 1, 0, {0, 1}, {2, 2}},
                  {remote_allgather, 0, 0, 0, {0, 0}, {2, 4}},
                  {remote_all_to_all, 0, 0, 0, {0, 0}, {2, 4}}};
  for (std::size_t i = 0; i < ranks.asked.size(); ++i) {
    CAPTURE(i);
    const Asked& asked = ranks.asked[i];
    CHECK(asked.request.operation == expected[i].operation);
    CHECK(asked.request.mode == expected[i].mode);
    CHECK(asked.request.peer == expected[i].peer);
    CHECK(asked.request.value == expected[i].value);
    CHECK(asked.offsets == expected[i].offsets);
    CHECK(asked.shape == expected[i].shape);
    CHECK(asked.request.window == (expected[i].operation == remote_fence ? -1 : 0));
    CHECK(asked.request.other == -1);
    if (i > 0) CHECK(asked.request.line > ranks.asked[i - 1].request.line);
  }
}

TEST_CASE("remote: the first request that fails ends the kernel with its code") {
  KernelBuilder k("fails");
  const Expr y = k.tensor("y", Access::InOut, DType::Int32, shape({4}));
  const Expr w = k.window("w", DType::Int32, shape({4}));
  k.remote(Op::Wait, {w, list({0}), number(1)});
  k.store(full(DType::Int32, {4}, literal(1)), {0}, y);
  const Call call(k.take(), {cells, cells});
  Ranks ranks;
  ranks.answer = [](pl::abi::Remote&) { return std::int32_t{pl::abi::fault_remote}; };
  std::vector<std::int32_t> out(4), window(4);
  CHECK(call.run(ranks, {out.data(), window.data()}) == pl::abi::fault_remote);
  CHECK(out == std::vector<std::int32_t>(4, 0));
}

TEST_CASE("remote: loads stay on their side of a wait, a notify, a load, a barrier") {
  for (const std::int64_t columns : {1, 5, 64, 1000, 100000}) {
    KernelBuilder k("order");
    const Expr out = k.tensor("out", Access::Out, DType::Int32, shape({4, columns}));
    const Expr part = k.window("part", DType::Int32, shape({columns}));
    std::vector<Expr> tiles = {k.let("t0", load(part))};
    k.remote(Op::Wait, {part, list({0}), number(1)});
    tiles.push_back(k.let("t1", load(part)));
    k.remote(Op::Notify, {part, number(0), list({0}), number(1)});
    tiles.push_back(k.let("t2", load(part)));
    k.remote(Op::Barrier, {part, list({}), list({})});
    tiles.push_back(k.let("t3", load(part)));
    for (std::size_t i = 4; i-- > 0;) k.store(tiles[i], {0}, index(out, number(std::int64_t(i))));
    const Call call(k.take(), {TensorSpec{{4, columns}, DType::Int32}, TensorSpec{{columns}, DType::Int32}});
    std::vector<std::int32_t> rows(static_cast<std::size_t>(4 * columns)),
        window(static_cast<std::size_t>(columns), 10);
    Ranks ranks;
    ranks.answer = [&](pl::abi::Remote&) {
      for (std::int32_t& cell : window) ++cell;
      return 0;
    };
    CHECK(call.run(ranks, {rows.data(), window.data()}) == 0);
    for (std::int64_t row = 0; row < 4; ++row)
      for (std::int64_t i : {std::int64_t{0}, columns - 1})
        CHECK(rows[static_cast<std::size_t>(row * columns + i)] == 10 + row);
  }
}

TEST_CASE("remote: stores to the window are done before a notify, and only those before it") {
  KernelBuilder k("publishes");
  const Expr w = k.window("w", DType::Int32, shape({1000}));
  const Expr signal = k.window("signal", DType::Int32, shape({4}));
  const Expr x = k.let("x", load(w));
  const Expr one = k.let("one", x + literal(1));
  k.store(one, {0}, w);
  k.remote(Op::Notify, {signal, number(0), list({0}), number(1)});
  k.store(one + one, {0}, w);
  k.remote(Op::Notify, {signal, number(0), list({0}), number(1)});
  const Call call(k.take(), {TensorSpec{{1000}, DType::Int32}, cells});
  std::vector<std::int32_t> window(1000, 5), signals(4), seen;
  Ranks ranks;
  ranks.answer = [&](pl::abi::Remote&) {
    CHECK(window.front() == window.back());
    seen.push_back(window[500]);
    return 0;
  };
  CHECK(call.run(ranks, {window.data(), signals.data()}) == 0);
  CHECK(seen == std::vector<std::int32_t>{6, 12});
  CHECK(window[999] == 12);
}

TEST_CASE("remote: a window is never done in place of an input") {
  KernelBuilder k("copies");
  const Expr x = k.tensor("x", Access::In, DType::Float32, shape({64}));
  const Expr w = k.window("w", DType::Float32, shape({64}));
  k.store(load(x), {0}, w);
  const Call call(k.take(), {TensorSpec{{64}}, TensorSpec{{64}}});
  CHECK(call.emitted.in_place.empty());
}

TEST_CASE("remote: requests in loops and branches run as often as they are reached") {
  KernelBuilder k("loop");
  const Expr y = k.tensor("y", Access::InOut, DType::Float32, shape({8}));
  const Expr w = k.window("w", DType::Float32, shape({8}));
  const Expr size = k.let("size", remote(Op::CommSize, {w}));
  const Expr sum = k.let("sum", full(DType::Float32, {8}, literal(0.0)));
  k.for_("peer", 0, cast(DType::Int64, size), 1, [&](const Expr& peer) {
    const Expr theirs = k.let("theirs", remote(Op::RemoteLoad, {w, peer, list({}), list({})}));
    k.assign(sum, sum + theirs);
    k.if_(peer > number(3), [&] { k.remote(Op::Fence, {}); });
  });
  k.store(sum, {0}, y);
  const Call call(k.take(), {TensorSpec{{8}}, TensorSpec{{8}}});
  Ranks ranks;
  ranks.answer = [](pl::abi::Remote& request) {
    if (request.operation == pl::abi::remote_load)
      std::fill_n(static_cast<float*>(request.data), 8, static_cast<float>(request.peer));
    return 0;
  };
  std::vector<float> out(8), window(8);
  CHECK(call.run(ranks, {out.data(), window.data()}) == 0);
  CHECK(out == std::vector<float>(8, 10));
  CHECK(ranks.asked.size() == 7);
}
