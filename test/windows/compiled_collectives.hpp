// Every collective in one kernel, so that the same bits can be asked of native and of compiled kernels, on any transport.
#pragma once

#include "through_window.hpp"

#include <cstring>

namespace windows {

/// What a run of the kernels below does.
struct Choice {
  int which = 0;  ///< of the collectives
  int op = 0;     ///< of pld::ReduceOp
  int root = 0;
  int to = 0;          ///< of send_recv
  bool given = false;  ///< the signals are cells of the user's
};

using Any = pl::Tensor<>;
using AnyWindow = pld::DistributedTensor<void>;
using Left = pl::Out<pl::Tensor<std::int32_t, 1>>;

/// All ops of the reductions, in one kernel for every dtype. `left`: how many cells of the user's are not zero again.
inline const auto reductions = pl::jit.incore(
    [](Any x, pl::Out<Any> y, Left left, AnyWindow w, pld::DistributedTensor<std::int32_t, 2, NR> cells,
       pl::Scalar<int> which, pl::Scalar<int> op, pl::Scalar<int> root, pl::Scalar<int> given) {
      using pld::Algorithm;
      using pld::ReduceOp;
      pl::store(pl::load(x), w);
      const auto s = cells[1];
      if (which == 0 && given == 0) {
        if (op == 0) pld::reduce(w, {.root = root});
        if (op == 1) pld::reduce(w, {.root = root, .op = ReduceOp::Max});
        if (op == 2) pld::reduce(w, {.root = root, .op = ReduceOp::Min});
        if (op == 3) pld::reduce(w, {.root = root, .op = ReduceOp::Prod});
      } else if (which == 0) {
        if (op == 0) pld::reduce(w, {.root = root, .signal = s});
        if (op == 1) pld::reduce(w, {.root = root, .op = ReduceOp::Max, .signal = s});
        if (op == 2) pld::reduce(w, {.root = root, .op = ReduceOp::Min, .signal = s});
        if (op == 3) pld::reduce(w, {.root = root, .op = ReduceOp::Prod, .signal = s});
      } else if (given == 0) {
        if (op == 0) pld::allreduce(w, {.algorithm = Algorithm::Ring});
        if (op == 1) pld::allreduce(w, {.op = ReduceOp::Max});
        if (op == 2) pld::allreduce(w, {.op = ReduceOp::Min, .algorithm = Algorithm::Mesh});
        if (op == 3) pld::allreduce(w, {.op = ReduceOp::Prod, .algorithm = Algorithm::Ring});
      } else {
        if (op == 0) pld::allreduce(w, {.algorithm = Algorithm::Ring, .signal = s});
        if (op == 1) pld::allreduce(w, {.op = ReduceOp::Max, .signal = s});
        if (op == 2) pld::allreduce(w, {.op = ReduceOp::Min, .algorithm = Algorithm::Mesh, .signal = s});
        if (op == 3) pld::allreduce(w, {.op = ReduceOp::Prod, .algorithm = Algorithm::Ring, .signal = s});
      }
      // Nobody adds to the cells any more.
      pld::barrier(w);
      pl::store(pl::load(w), y);
      const auto all = pl::load(cells);
      int wrong = 0;
      for (int i = 0; i < pld::nranks(cells); ++i) {
        if (pl::read(all, {0, i}) != 0) wrong = wrong + 1;
        if (pl::read(all, {1, i}) != 0) wrong = wrong + 1;
      }
      pl::store(pl::full<std::int32_t>({1}, wrong), {0}, left);
    });
inline auto reductions_device =
    pl::jit([](auto x, auto y, auto left, AnyWindow w, auto cells, int which, int op, int root, int given) {
      reductions(x, y, left, w, cells, which, op, root, given);
    });

/// Those that move rows, of a window {ranks, items, 2}, where each row has counts of 0 to 3 items.
inline const auto moves =
    pl::jit.incore([](Any x, pl::Out<Any> y, pl::Out<pl::Tensor<std::int32_t, NR>> received, Left left,
                      AnyWindow w, pld::DistributedTensor<std::int32_t, 3, NR> cells, pl::Scalar<int> which,
                      pl::Scalar<int> root, pl::Scalar<int> to, pl::Scalar<int> given) {
      pl::store(pl::load(x), w);
      const auto counts = cells[0];
      const auto s = cells.slice({1, 0}, {1, pld::nranks(w)});
      const int me = pld::rank(w);
      for (int i = 0; i < pld::nranks(w); ++i)
        pl::store(pl::full<std::int32_t>({1, 1}, (me * 5 + i * 3) % 4), {0, i}, cells);
      if (which == 0) {
        if (given == 0) pld::scatter(w, {.root = root});
        if (given != 0) pld::scatter(w, {.root = root, .signal = s});
      } else if (which == 1) {
        if (given == 0) pld::gather(w, {.root = root});
        if (given != 0) pld::gather(w, {.root = root, .signal = s});
      } else if (which == 2) {
        if (given == 0) pld::send_recv(w, {.from = root, .to = to});
        if (given != 0) pld::send_recv(w, {.from = root, .to = to, .signal = s});
      } else if (which == 3) {
        if (given == 0) pld::all_to_all_v(w, counts);
        if (given != 0) pld::all_to_all_v(w, counts, {.signal = s});
      } else if (which == 4) {
        if (given == 0) pld::broadcast(w, {.root = root});
        if (given != 0) pld::broadcast(w, {.root = root, .signal = s});
      } else if (which == 5) {
        if (given == 0) pld::allgather(w);
        if (given != 0) pld::allgather(w, {.signal = s});
      } else {
        if (given == 0) pld::all_to_all(w);
        if (given != 0) pld::all_to_all(w, {.signal = s});
      }
      pld::barrier(w);
      pl::store(pl::load(w), y);
      pl::store(pl::load(counts), {0}, received);
      const auto all = pl::load(cells);
      int wrong = 0;
      for (int i = 0; i < pld::nranks(cells); ++i) {
        if (pl::read(all, {1, i}) != 0) wrong = wrong + 1;
        if (pl::read(all, {2, i}) != 0) wrong = wrong + 1;
      }
      pl::store(pl::full<std::int32_t>({1}, wrong), {0}, left);
    });
inline auto moves_device =
    pl::jit([](auto x, auto y, auto received, auto left, AnyWindow w, auto cells, int which, int root, int to,
               int given) { moves(x, y, received, left, w, cells, which, root, to, given); });

/// A window of any dtype.
using WindowOf = AnyWindow (*)(const pl::Index& dims);
template <class T>
AnyWindow window_of(const pl::Index& dims) {
  return pld::window<T>(pld::alloc_window_buffer<T>(dims), dims);
}

inline void reduce_with(const pl::RunConfig& config, const Any& x, const Any& y, WindowOf window,
                        Choice choice) {
  const std::int64_t ranks = x.dim(0);
  pl::Array<std::int32_t> left({ranks, 1}, -1);
  auto host =
      pl::jit.host([&](Any in, pl::Out<Any> out, pl::Out<pl::Tensor<std::int32_t, NR, 1>> cells_left) {
        auto w = window({in.dim(1)});
        auto cells =
            pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({2, ranks}), {2, ranks});
        for (auto r : pl::range(pld::world_size()))
          reductions_device(in[r], out[r], cells_left[r], w, cells, choice.which, choice.op, choice.root,
                            static_cast<int>(choice.given), pld::device = r);
      });
  host(x, pl::Out<Any>(y), left, config);
  for (const std::int32_t wrong : left) CHECK(wrong == 0);
}
/// x: a row of each rank. `choice.which`: 0 reduce, 1 allreduce.
template <class T>
pl::Array<T> reduce_with(const pl::RunConfig& config, const pl::Array<T>& x, Choice choice) {
  pl::Array<T> y({x.dim(0), x.dim(1)});
  reduce_with(config, x.view(), y.view(), window_of<T>, choice);
  return y;
}

inline void move_with(const pl::RunConfig& config, const Any& x, const Any& y,
                      pl::Array<std::int32_t>& received, WindowOf window, Choice choice) {
  const std::int64_t ranks = x.dim(0), room = x.dim(2);
  pl::Array<std::int32_t> left({ranks, 1}, -1);
  auto host = pl::jit.host([&](Any in, pl::Out<Any> out, pl::Out<pl::Tensor<std::int32_t, NR, NR>> counts,
                               pl::Out<pl::Tensor<std::int32_t, NR, 1>> cells_left) {
    auto w = window({ranks, room, 2});
    auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({3, ranks}), {3, ranks});
    for (auto r : pl::range(pld::world_size()))
      moves_device(in[r], out[r], counts[r], cells_left[r], w, cells, choice.which, choice.root, choice.to,
                   static_cast<int>(choice.given), pld::device = r);
  });
  host(x, pl::Out<Any>(y), received, left, config);
  for (const std::int32_t wrong : left) CHECK(wrong == 0);
}
/// The window of each rank and its counts, as bytes.
template <class T>
pl::Array<std::int32_t> move_with(const pl::RunConfig& config, int ranks, Choice choice) {
  constexpr std::int64_t room = 3;
  pl::Array<T> x({ranks, ranks, room, 2}), y({ranks, ranks, room, 2});
  pl::Array<std::int32_t> received({ranks, ranks});
  std::int64_t next = 0;
  for (T& element : x) element = static_cast<T>(static_cast<float>(next++ % 101));
  move_with(config, x.view(), y.view(), received, window_of<T>, choice);
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
