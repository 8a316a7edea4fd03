// Operations of all ranks that share a window, called on the host and in kernels.
#include "collective_programs.hpp"
#include "through_window.hpp"

#include <cmath>
#include <limits>

using pld::Algorithm;
using pld::ReduceOp;
using support::contains;
using windows::config;
using windows::message_of;
using windows::reduced;
using windows::through_rows;
using windows::through_window;
using windows::value_at;

namespace {

constexpr auto NR = pl::dynamic("NR");
template <class T>
using Rows = windows::Rows<T>;
constexpr std::int64_t sizes[] = {0, 1, 17, 257, 4097, 8193, 65537};

}  // namespace

TEST_CASE("an allreduce gives every rank the reduction of all, by mesh and by ring") {
  BOTH_WAYS
  for (const auto algorithm : {Algorithm::Auto, Algorithm::Mesh, Algorithm::Ring})
    for (const int ranks : {1, 2, 3, 4, 8, 16})
      for (const std::int64_t size : sizes) {
        if (ranks > 4 && size > 4097) continue;
        const auto op = static_cast<ReduceOp>((size + ranks) % 4);
        const auto y = through_window<std::int32_t>(
            ranks, size, [&](auto& w) { pld::allreduce(w, {.op = op, .algorithm = algorithm}); });
        for (int r = 0; r < ranks; ++r)
          for (std::int64_t i = 0; i < size; ++i)
            if (y(r, i) != reduced<std::int32_t>(op, ranks, i)) {
              FAIL_CHECK("ranks ", ranks, " size ", size, " rank ", r, " element ", i);
              break;
            }
      }
}

TEST_CASE_TEMPLATE("an allreduce of every dtype and operation is exact on small numbers", T, float, double,
                   std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                   std::uint32_t, std::uint64_t, pl::half, pl::bfloat16) {
  BOTH_WAYS
  for (const auto op : {ReduceOp::Sum, ReduceOp::Max, ReduceOp::Min, ReduceOp::Prod})
    for (const auto algorithm : {Algorithm::Mesh, Algorithm::Ring}) {
      const auto y =
          through_window<T>(3, 65, [&](auto& w) { pld::allreduce(w, {.op = op, .algorithm = algorithm}); });
      for (int r = 0; r < 3; ++r)
        for (int i = 0; i < 65; ++i) CHECK(y(r, i) == reduced<T>(op, 3, i));
    }
}

TEST_CASE("a broadcast gives every rank the root's part") {
  BOTH_WAYS
  for (const int ranks : {1, 2, 5})
    for (int root = 0; root < ranks; root += 2) {
      const auto y = through_window<float>(ranks, 33, [&](auto& w) { pld::broadcast(w, {.root = root}); });
      for (int r = 0; r < ranks; ++r)
        for (int i = 0; i < 33; ++i) CHECK(y(r, i) == value_at<float>(root, i));
    }
}

TEST_CASE("an allgather, a reduce-scatter and an all-to-all move the rows that their names say") {
  BOTH_WAYS
  for (const int ranks : {1, 2, 3, 8})
    for (const std::int64_t row : {0, 1, 5, 100}) {
      auto y = through_rows(ranks, row, [](const auto& w) { pld::allgather(w); });
      for (int r = 0; r < ranks; ++r)
        for (int i = 0; i < ranks * row; ++i) CHECK(y(r, i) == value_at<float>(static_cast<int>(i / row), i));
      y = through_rows(ranks, row, [](const auto& w) { pld::reduce_scatter(w); });
      for (int r = 0; r < ranks; ++r)
        for (std::int64_t i = r * row; i < (r + 1) * row; ++i)
          CHECK(y(r, i) == reduced<float>(ReduceOp::Sum, ranks, i));
      y = through_rows(ranks, row, [](const auto& w) { pld::all_to_all(w); });
      for (int r = 0; r < ranks; ++r)
        for (std::int64_t i = 0; i < ranks * row; ++i)
          CHECK(y(r, i) == value_at<float>(static_cast<int>(i / row), r * row + i % row));
    }
}

TEST_CASE("a thousand collectives on one window, called in a kernel, are each complete") {
  BOTH_WAYS
  for (const int ranks : {2, 3})
    for (const std::int64_t wrong : windows::incomplete_rounds<1000>(config(ranks))) CHECK(wrong == 0);
}

TEST_CASE("ranks that make different collective calls are told which") {
  BOTH_WAYS
  auto kernel = pl::jit.incore([](pld::DistributedTensor<float, 4> w) {
    if (pld::rank(w) == 1)
      pld::allreduce(w, {.op = pld::ReduceOp::Max});
    else
      pld::allreduce(w);
  });
  auto device = pl::jit([&](auto w) { kernel(w); });
  auto host = pl::jit.host([&](pl::Out<Rows<float>>) {
    auto w = pld::window<float>(pld::alloc_window_buffer<float>({4}), {4});
    for (auto r : pl::range(pld::world_size())) device(w, pld::device = r);
  });
  pl::Array<float> y({2, 1});
  const std::string message = message_of([&] { host(y, config(2)); });
  CHECK(contains(message, "ranks make different collective calls"));
  CHECK(contains(message, "pld::allreduce of 4 float by Sum"));
  CHECK(contains(message, "pld::allreduce of 4 float by Max"));
}

TEST_CASE("a .signal that only one rank gives makes it another collective call") {
  BOTH_WAYS
  for (const int with : {0, 1}) {
    auto kernel = pl::jit.incore([](pld::DistributedTensor<float, 4> w,
                                    pld::DistributedTensor<std::int32_t, 2> cells, pl::Scalar<int> who) {
      if (pld::rank(w) == who)
        pld::allreduce(w, {.signal = cells});
      else
        pld::allreduce(w);
    });
    auto device = pl::jit([&](auto w, auto cells) { kernel(w, cells, with); });
    auto host = pl::jit.host([&](pl::Out<Rows<float>>) {
      auto w = pld::window<float>(pld::alloc_window_buffer<float>({4}), {4});
      auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({2}), {2});
      for (auto r : pl::range(pld::world_size())) device(w, cells, pld::device = r);
    });
    pl::Array<float> y({2, 1});
    const std::string message = message_of([&] { host(y, config(2)); });
    CHECK(contains(message, "ranks make different collective calls"));
    CHECK(contains(message,
                   "of rank " + std::to_string(1 - with) + " is pld::allreduce of 4 float by Sum at "));
    CHECK(contains(
        message, ", of rank " + std::to_string(with) + " pld::allreduce of 4 float by Sum with .signal at "));
  }
}

TEST_CASE("ranks that give different .signal cells to one collective are told which rank gave which") {
  BOTH_WAYS
  using Signals = pld::DistributedTensor<std::int32_t, NR>;
  auto kernel = pl::jit.incore([](pld::DistributedTensor<float, 64> w, Signals one, Signals other) {
    if (pld::rank(w) == 1)
      pld::allreduce(w, {.signal = other});
    else
      pld::allreduce(w, {.signal = one});
  });
  auto device = pl::jit([&](auto w, auto one, auto other) { kernel(w, one, other); });
  const auto told = [&](int ranks, bool one_buffer) {
    auto host = pl::jit.host([&](pl::Out<Rows<float>>) {
      auto w = pld::window<float>(pld::alloc_window_buffer<float>({64}), {64});
      const auto buffer = pld::alloc_window_buffer<std::int32_t>({2 * ranks});
      auto both = pld::window<std::int32_t>(buffer, {2 * ranks});
      auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({ranks}), {ranks});
      for (auto r : pl::range(pld::world_size()))
        device(w, both.slice({0}, {ranks}), one_buffer ? both.slice({ranks}, {ranks}) : cells,
               pld::device = r);
    });
    pl::Array<float> y({ranks, 1});
    return message_of([&] { host(y, config(ranks)); });
  };
  const std::string call = " is pld::allreduce of 64 float by Sum with .signal = the cells from ";
  // More ranks do not see each other in a collective.
  for (const int ranks : {3, 18}) {
    const std::string message = told(ranks, false);
    CHECK(contains(message, "ranks make different collective calls, of window 0 (256 bytes a rank"));
    CHECK(contains(
        message, std::string("call 1 of rank 0") +
                     (ranks == 3 ? " and 2" : ", 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 and 17") +
                     call + "0 of window 1 ("));
    CHECK(contains(message, "call 1 of rank 1" + call + "0 of window 2 ("));
    CHECK(contains(message, "collective_test.cpp:"));
    CHECK(contains(message, "every rank makes the same calls in the same order"));
  }
  CHECK(contains(told(3, true), "call 1 of rank 1" + call + "3 of window 1 ("));
}

TEST_CASE("among many ranks a .signal that only some give is told as another call") {
  BOTH_WAYS
  constexpr int ranks = 18;
  auto kernel = pl::jit.incore(
      [](pld::DistributedTensor<float, 4> w, pld::DistributedTensor<std::int32_t, ranks> cells) {
        if (pld::rank(w) < 2)
          pld::allreduce(w);
        else
          pld::allreduce(w, {.signal = cells});
      });
  auto device = pl::jit([&](auto w, auto cells) { kernel(w, cells); });
  auto host = pl::jit.host([&](pl::Out<Rows<float>>) {
    auto w = pld::window<float>(pld::alloc_window_buffer<float>({4}), {4});
    auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({ranks}), {ranks});
    for (auto r : pl::range(pld::world_size())) device(w, cells, pld::device = r);
  });
  pl::Array<float> y({ranks, 1});
  const std::string message = message_of([&] { host(y, config(ranks)); });
  CHECK(contains(message, "call 1 of rank 0 and 1 is pld::allreduce of 4 float by Sum at "));
  CHECK(contains(message,
                 " is pld::allreduce of 4 float by Sum with .signal = the cells from 0 of window 1 ("));
}

TEST_CASE("a rank that leaves a collective out is found as a deadlock") {
  BOTH_WAYS
  auto kernel = pl::jit.incore([](pld::DistributedTensor<float, 4> w) {
    if (pld::rank(w) != 1) pld::barrier(w);
  });
  auto device = pl::jit([&](auto w) { kernel(w); });
  auto host = pl::jit.host([&](pl::Out<Rows<float>>) {
    auto w = pld::window<float>(pld::alloc_window_buffer<float>({4}), {4});
    for (auto r : pl::range(pld::world_size())) device(w, pld::device = r);
  });
  pl::Array<float> y({3, 1});
  const std::string message = message_of([&] { host(y, config(3)); });
  CHECK(contains(message, "deadlock: "));
  CHECK(contains(message, "pld::barrier of window 0"));
  CHECK(contains(message, "finished: rank 1"));
}
