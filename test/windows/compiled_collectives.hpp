// Every collective in one kernel, so that the same bits can be asked of native and of compiled kernels, on any transport.
#pragma once

#include "through_window.hpp"

#include <cstring>

namespace windows {

inline constexpr auto ROOM = pl::dynamic("ROOM");

/// What a run of the kernels below does.
struct Choice {
  int which = 0;  ///< of the collectives
  int op = 0;     ///< of pld::ReduceOp
  int root = 0;
  int to = 0;          ///< of send_recv
  bool given = false;  ///< the signals are cells of the user's
};

/// All ops of the reductions.
template <class T>
auto make_reductions() {
  using pld::Algorithm;
  using pld::ReduceOp;
  return pl::jit.incore([](Row<T> x, pl::Out<Row<T>> y, pld::DistributedTensor<T, N> w,
                           pld::DistributedTensor<std::int32_t, 2, NR> cells, pl::Scalar<int> which,
                           pl::Scalar<int> op, pl::Scalar<int> root, pl::Scalar<bool> given) {
    w = pl::store(pl::load(x), {0}, w);
    const auto s = cells[1];
    if (which == 0) {
      if (!given && op == 0) pld::reduce(w, {.root = root});
      if (!given && op == 1) pld::reduce(w, {.root = root, .op = ReduceOp::Max});
      if (!given && op == 2) pld::reduce(w, {.root = root, .op = ReduceOp::Min});
      if (!given && op == 3) pld::reduce(w, {.root = root, .op = ReduceOp::Prod});
      if (given && op == 0) pld::reduce(w, {.root = root, .signal = s});
      if (given && op == 1) pld::reduce(w, {.root = root, .op = ReduceOp::Max, .signal = s});
      if (given && op == 2) pld::reduce(w, {.root = root, .op = ReduceOp::Min, .signal = s});
      if (given && op == 3) pld::reduce(w, {.root = root, .op = ReduceOp::Prod, .signal = s});
    } else if (which == 1) {
      if (!given && op == 0) pld::allreduce(w, {.algorithm = Algorithm::Ring});
      if (!given && op == 1) pld::allreduce(w, {.op = ReduceOp::Max});
      if (!given && op == 2) pld::allreduce(w, {.op = ReduceOp::Min, .algorithm = Algorithm::Mesh});
      if (!given && op == 3) pld::allreduce(w, {.op = ReduceOp::Prod, .algorithm = Algorithm::Ring});
      if (given && op == 0) pld::allreduce(w, {.algorithm = Algorithm::Ring, .signal = s});
      if (given && op == 1) pld::allreduce(w, {.op = ReduceOp::Max, .signal = s});
      if (given && op == 2)
        pld::allreduce(w, {.op = ReduceOp::Min, .algorithm = Algorithm::Mesh, .signal = s});
      if (given && op == 3)
        pld::allreduce(w, {.op = ReduceOp::Prod, .algorithm = Algorithm::Ring, .signal = s});
    }
    // Nobody adds to the cells any more, and they are zero again.
    pld::barrier(w);
    y = pl::store(pl::load(w), y);
    const auto left = pl::load(cells);
    for (int i = 0; i < pld::nranks(cells); ++i)
      if (pl::read(left, {0, i}) != 0 || pl::read(left, {1, i}) != 0)
        y = pl::store(pl::full<T>({1}, 77), {0}, y);
  });
}
template <class T>
inline const auto reductions = make_reductions<T>();
template <class T>
inline auto reductions_device =
    pl::jit([](auto x, auto y, auto w, auto cells, int which, int op, int root, bool given) {
      reductions<T>(x, y, w, cells, which, op, root, given);
    });

/// x: a row of each rank. `choice.which`: 0 reduce, 1 allreduce.
template <class T>
pl::Array<T> reduce_with(const pl::RunConfig& config, const pl::Array<T>& x, Choice choice) {
  const std::int64_t ranks = x.dim(0), size = x.dim(1);
  pl::Array<T> y({ranks, size});
  auto host = pl::jit.host([&](Rows<T> in, pl::Out<Rows<T>> out) {
    auto w = pld::window<T>(pld::alloc_window_buffer<T>({size}), {size});
    auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({2, ranks}), {2, ranks});
    for (auto r : pl::range(pld::world_size()))
      reductions_device<T>(in[r], out[r], w, cells, choice.which, choice.op, choice.root, choice.given,
                           pld::device = r);
  });
  host(x, y, config);
  return y;
}

/// Those that move rows. Of a window {ranks, ROOM, 2}.
template <class T>
auto make_moves() {
  return pl::jit.incore([](pl::Tensor<T, NR, ROOM, 2> x, pl::Out<pl::Tensor<T, NR, ROOM, 2>> y,
                           pl::Out<pl::Tensor<std::int32_t, NR>> received,
                           pld::DistributedTensor<T, NR, ROOM, 2> w,
                           pld::DistributedTensor<std::int32_t, 3, NR> cells, pl::Scalar<int> which,
                           pl::Scalar<int> root, pl::Scalar<int> to, pl::Scalar<bool> given) {
    w = pl::store(pl::load(x), {0, 0, 0}, w);
    const auto counts = cells[0];
    const auto s = cells.slice({1, 0}, {1, pld::nranks(w)});
    const int me = pld::rank(w);
    for (int i = 0; i < pld::nranks(w); ++i)
      cells = pl::store(pl::full<std::int32_t>({1, 1}, (me * 5 + i * 3) % 4), {0, i}, cells);
    if (which == 0) {
      if (given) pld::scatter(w, {.root = root, .signal = s});
      if (!given) pld::scatter(w, {.root = root});
    } else if (which == 1) {
      if (given) pld::gather(w, {.root = root, .signal = s});
      if (!given) pld::gather(w, {.root = root});
    } else if (which == 2) {
      if (given) pld::send_recv(w, {.from = root, .to = to, .signal = s});
      if (!given) pld::send_recv(w, {.from = root, .to = to});
    } else if (which == 3) {
      if (given) pld::all_to_all_v(w, counts, {.signal = s});
      if (!given) pld::all_to_all_v(w, counts);
    } else if (which == 4) {
      if (given) pld::broadcast(w, {.root = root, .signal = s});
      if (!given) pld::broadcast(w, {.root = root});
    } else if (which == 5) {
      if (given) pld::allgather(w, {.signal = s});
      if (!given) pld::allgather(w);
    } else if (which == 6) {
      if (given) pld::all_to_all(w, {.signal = s});
      if (!given) pld::all_to_all(w);
    } else {
      if (given) pld::reduce_scatter(w, {.signal = s});
      if (!given) pld::reduce_scatter(w);
      // The other rows are left unspecified.
      const auto own = pl::load(w, {me, 0, 0}, {1, x.dim(1), 2});
      w = pl::store(pl::load(x), {0, 0, 0}, w);
      w = pl::store(own, {me, 0, 0}, w);
    }
    pld::barrier(w);
    y = pl::store(pl::load(w), {0, 0, 0}, y);
    received = pl::store(pl::load(counts), {0}, received);
    const auto left = pl::load(cells);
    for (int i = 0; i < pld::nranks(cells); ++i)
      if (pl::read(left, {1, i}) != 0 || pl::read(left, {2, i}) != 0)
        received = pl::store(pl::full<std::int32_t>({1}, 77), {0}, received);
  });
}
template <class T>
inline const auto moves = make_moves<T>();
template <class T>
inline auto moves_device =
    pl::jit([](auto x, auto y, auto received, auto w, auto cells, int which, int root, int to, bool given) {
      moves<T>(x, y, received, w, cells, which, root, to, given);
    });

/// The window of each rank and its counts, as bytes. Room for three items in a row, all counts are at most that.
template <class T>
pl::Array<std::int32_t> move_with(const pl::RunConfig& config, int ranks, Choice choice) {
  constexpr std::int64_t room = 3;
  pl::Array<T> x({ranks, ranks, room, 2}), y({ranks, ranks, room, 2});
  pl::Array<std::int32_t> received({ranks, ranks});
  std::int64_t next = 0;
  for (T& element : x) element = static_cast<T>(static_cast<float>(next++ % 101));
  auto host = pl::jit.host([&](pl::Tensor<T, NR, NR, ROOM, 2> in, pl::Out<pl::Tensor<T, NR, NR, ROOM, 2>> out,
                               pl::Out<pl::Tensor<std::int32_t, NR, NR>> counts) {
    const std::int64_t n = ranks;
    auto w = pld::window<T>(pld::alloc_window_buffer<T>({n, room, 2}), {n, room, 2});
    auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({3, n}), {3, n});
    for (auto r : pl::range(pld::world_size()))
      moves_device<T>(in[r], out[r], counts[r], w, cells, choice.which, choice.root, choice.to, choice.given,
                      pld::device = r);
  });
  host(x, y, received, config);
  pl::Array<std::int32_t> result({y.size() + received.size()});
  // What lies behind the items of a row is unspecified.
  std::int64_t at = 0;
  for (int rank = 0; rank < ranks; ++rank)
    for (int row = 0; row < ranks; ++row)
      for (std::int64_t item = 0; item < room; ++item)
        for (int i = 0; i < 2; ++i, ++at) {
          if (choice.which == 3 && item >= received(rank, row)) continue;
          const T element = y(rank, row, item, i);
          std::memcpy(&result(at), &element, std::min(sizeof element, sizeof(std::int32_t)));
        }
  for (const std::int32_t count : received) result(at++) = count;
  return result;
}

}  // namespace windows
