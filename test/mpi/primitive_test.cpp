// Windows, signals and one-sided memory over MPI: the same bits as between threads.
#include "mpi.hpp"

#include <algorithm>

namespace {

constexpr auto NR = pl::dynamic("NR");
using Rows = pl::Tensor<float, NR, 6>;
using Row = pl::Tensor<float, 6>;
using Data = pld::DistributedTensor<float, 6>;
using Table = pld::DistributedTensor<float, 4, 6>;
using Cells = pld::DistributedTensor<std::int32_t, 4>;

/// By store, load, put and get, dense and strided, there and back.
auto around = pl::jit.incore([](Row x, pl::Out<Row> y, Data data, Table table, Cells signal) {
  const int n = pld::nranks(data), me = pld::rank(data);
  const int next = (me + 1) % n, last = (me + n - 1) % n;
  pld::put(data, {.peer = next, .src = x});
  pld::remote_store(pl::reshape(pl::load(x), {1, 6}), table, {.peer = next, .offsets = {2, 0}});
  pld::notify(signal, {.peer = next});
  pld::wait(signal);
  // A column of the table at the peer: strided.
  pld::remote_store(pl::reshape(pl::load(data, {0}, {2}), {2, 1}), table, {.peer = last, .offsets = {0, 5}});
  pld::notify(signal, {.peer = last, .offsets = {1}, .value = 7, .op = pld::NotifyOp::Set});
  pld::wait(signal, {.offsets = {1}, .expected = 7, .cmp = pld::WaitCmp::Eq});
  auto column = pld::remote_load(table, {.peer = last, .offsets = {0, 5}, .shape = {2, 1}});
  auto row = pld::remote_load(table, {.peer = me, .offsets = {2, 0}, .shape = {1, 6}});
  pld::barrier(data);
  pld::get(y, data, {.peer = last});
  y = pl::store(
      pl::load(y) + pl::reshape(row, {6}) + pl::reshape(pl::row_sum(pl::reshape(column, {1, 2})), {1}), y);
});
auto around_device =
    pl::jit([](auto x, auto y, auto data, auto table, auto signal) { around(x, y, data, table, signal); });
auto around_host = pl::jit.host([](Rows x, pl::Out<Rows> y) {
  auto data = pld::window<float>(pld::alloc_window_buffer<float>({6}), {6});
  auto table = pld::window<float>(pld::alloc_window_buffer<float>({4, 6}), {4, 6});
  auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
  for (auto r : pl::range(pld::world_size())) around_device(x[r], y[r], data, table, signal, pld::device = r);
});

}  // namespace

TEST_CASE("stores, loads, puts, gets and signals over MPI carry the bits that they carry between threads") {
  BOTH_WAYS
  CHECK(mpi::same_bits([] {
    const auto x = windows::numbers({mpi::processes(), 6});
    pl::Array<float> y({mpi::processes(), 6});
    around_host(x, y, windows::config(mpi::processes()));
    return y;
  }));
}

namespace {

template <class T>
auto make_add() {
  return pl::jit.incore([](pl::Out<pl::Tensor<T, 3>> y, pld::DistributedTensor<T, 3> w) {
    // The owner adds to its own part as well, by its kernel.
    for (int round = 0; round < 20; ++round) {
      pld::remote_store(pl::full<T>({3}, T(1)), w, {.peer = 0, .atomic = pl::Atomic::Add});
      w = pl::store(pl::full<T>({3}, T(1)), {0}, w, {.atomic = pl::Atomic::Add});
    }
    pld::barrier(w);
    y = pl::store(pl::load(w), y);
  });
}

}  // namespace

TEST_CASE_TEMPLATE("atomic additions over MPI all count, beside those of the owner's kernel", T, float,
                   double, pl::half, pl::bfloat16, std::int8_t, std::int32_t, std::uint64_t) {
  windows::natively = true;
  auto kernel = make_add<T>();
  auto device = pl::jit([&](auto y, auto w) { kernel(y, w); });
  auto host = pl::jit.host([&](pl::Out<pl::Tensor<T, NR, 3>> y) {
    auto w = pld::window<T>(pld::alloc_window_buffer<T>({3}), {3});
    for (auto r : pl::range(pld::world_size())) device(y[r], w, pld::device = r);
  });
  const int ranks = mpi::processes();
  pl::Array<T> y({ranks, 3});
  host(y, mpi::config());
  for (int r = 0; r < ranks; ++r)
    for (int i = 0; i < 3; ++i)
      CHECK(static_cast<float>(y(r, i)) == static_cast<float>(20 + (r == 0 ? 20 * ranks : 0)));
}

TEST_CASE("additions of bools over MPI are refused where they are called") {
  windows::natively = true;
  auto kernel = pl::jit.incore([](pld::DistributedTensor<bool, 3> w) {
    pld::remote_store(pl::full<bool>({3}, true), w, {.peer = 0, .atomic = pl::Atomic::Add});
  });
  auto device = pl::jit([&](auto w) { kernel(w); });
  auto host = pl::jit.host([&](pl::Out<Rows>) {
    auto w = pld::window<bool>(pld::alloc_window_buffer<bool>({3}), {3});
    for (auto r : pl::range(pld::world_size())) device(w, pld::device = r);
  });
  pl::Array<float> y({mpi::processes(), 6});
  CHECK_THROWS_AS(host(y, mpi::config()), pl::DtypeError);
}

TEST_CASE("what was put is there when the signal is, round after round over MPI") {
  windows::natively = false;
  auto kernel = pl::jit.incore([](pl::Out<pl::Tensor<std::int32_t, 1>> y,
                                  pld::DistributedTensor<std::int32_t, 8> data, Cells signal) {
    const int n = pld::nranks(data), next = (pld::rank(data) + 1) % n, last = (pld::rank(data) + n - 1) % n;
    std::int32_t wrong = 0;
    for (int round = 1; round <= 200; ++round) {
      pld::remote_store(pl::full<std::int32_t>({8}, round), data, {.peer = next});
      pld::notify(signal, {.peer = next});
      pld::wait(signal, {.expected = round});
      if (pl::read(pl::load(data), {7}) != round) wrong = wrong + 1;
      // The neighbour has read it.
      pld::notify(signal, {.peer = last, .offsets = {1}});
      pld::wait(signal, {.offsets = {1}, .expected = round});
    }
    y = pl::store(pl::full<std::int32_t>({1}, wrong), {0}, y);
  });
  auto device = pl::jit([&](auto y, auto data, auto signal) { kernel(y, data, signal); });
  auto host = pl::jit.host([&](pl::Out<pl::Tensor<std::int32_t, NR, 1>> y) {
    auto data = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({8}), {8});
    auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    for (auto r : pl::range(pld::world_size())) device(y[r], data, signal, pld::device = r);
  });
  pl::Array<std::int32_t> y({mpi::processes(), 1}, -1);
  host(y, mpi::config());
  for (const std::int32_t wrong : y) CHECK(wrong == 0);
}

TEST_CASE("windows over MPI are zero at first, in every run, and larger than those before") {
  windows::natively = true;
  auto kernel =
      pl::jit.incore([](pl::Out<pl::Tensor<std::int64_t, 1>> y, pld::DistributedTensor<std::int64_t> w) {
        const std::int64_t before = pl::read(pl::load(w), {w.dim(0) - 1});
        pld::barrier(w);
        pld::remote_store(pl::full<std::int64_t>({1}, std::int64_t{5}), w,
                          {.peer = (pld::rank(w) + 1) % pld::nranks(w), .offsets = {w.dim(0) - 1}});
        y = pl::store(pl::full<std::int64_t>({1}, before), {0}, y);
      });
  auto device = pl::jit([&](auto y, auto w) { kernel(y, w); });
  for (const std::int64_t elements : {10, 10, 3'000'000, 3'000'000, 10}) {
    auto host = pl::jit.host([&](pl::Out<pl::Tensor<std::int64_t, NR, 1>> y) {
      auto w = pld::window<std::int64_t>(pld::alloc_window_buffer<std::int64_t>({elements}), {elements});
      for (auto r : pl::range(pld::world_size())) device(y[r], w, pld::device = r);
    });
    pl::Array<std::int64_t> y({mpi::processes(), 1}, -1);
    host(y, mpi::config());
    for (const std::int64_t element : y) CHECK(element == 0);
  }
}

TEST_CASE("windows over MPI of a subset of the devices have ranks of their own") {
  windows::natively = true;
  auto who = pl::jit.incore([](pl::Out<pl::Tensor<std::int32_t, 3>> y, Cells signal) {
    pld::notify(signal, {.peer = (pld::rank(signal) + 1) % pld::nranks(signal)});
    pld::wait(signal);
    pld::allreduce(signal);
    y = pl::store(pl::full<std::int32_t>({1}, pld::rank(signal)), {0}, y);
    y = pl::store(pl::full<std::int32_t>({1}, pld::nranks(signal)), {1}, y);
    y = pl::store(pl::full<std::int32_t>({1}, pl::read(pl::load(signal), {0})), {2}, y);
  });
  auto device = pl::jit([&](auto y, auto signal) { who(y, signal); });
  auto host = pl::jit.host([&](pl::Out<pl::Tensor<std::int32_t, NR, 3>> y) {
    auto even = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    auto odd = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    for (auto r : pl::range(pld::world_size())) device(y[r], r % 2 == 0 ? even : odd, pld::device = r);
  });
  const int ranks = mpi::processes();
  pl::Array<std::int32_t> y({ranks, 3});
  host(y, mpi::config());
  for (int r = 0; r < ranks; ++r) {
    const int size = (ranks + 1 - r % 2) / 2;
    CHECK(y(r, 0) == r / 2);
    CHECK(y(r, 1) == size);
    CHECK(y(r, 2) == size);
  }
}
