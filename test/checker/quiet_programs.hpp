// Right programs that look suspicious: quiet_test.cpp runs them in the order of many seeds, removal_test.cpp with one
// operation less.
#pragma once

#include "check.hpp"

namespace right {
namespace {

using windows::Cells;
using windows::Data;

/// How many elements a rank has read that were not what was written.
using Wrong = pl::Out<pl::Tensor<std::int32_t, 1>>;

auto double_buffering = pl::jit.incore([](Wrong wrong, Data data, Cells signal, pl::Scalar<int> rounds) {
  int bad = 0;
  const int n = pld::nranks(data), next = (pld::rank(data) + 1) % n, last = (pld::rank(data) + n - 1) % n;
  for (int round = 0; round < rounds; ++round) {
    const int half = round % 2 * 32;
    if (round >= 2) pld::wait(signal, {.offsets = {1}, .expected = round - 1});
    pld::remote_store(pl::full<std::int32_t>({32}, round), data, {.peer = next, .offsets = {half}});
    pld::notify(signal, {.peer = next});
    pld::wait(signal, {.expected = round + 1});
    if (pl::read(data, {half + 31}) != round) ++bad;
    pld::notify(signal, {.peer = last, .offsets = {1}});
  }
  wrong = pl::store(pl::full<std::int32_t>({1}, bad), wrong);
});

auto chain_through_a_third = pl::jit.incore([](Wrong wrong, Data data, Cells signal, pl::Scalar<int> fenced) {
  int bad = 0;
  const int me = pld::rank(data);
  if (me == 0) {
    pld::remote_store(pl::full<std::int32_t>({8}, 9), data, {.peer = 2});
    pld::put(data, {.peer = 1, .src = data, .dst_offsets = {8}, .src_offsets = {40}, .shape = {4}});
    if (fenced == 1) pld::fence();
    if (fenced == 0) pld::notify(signal, {.peer = 2, .offsets = {5}});
    pld::notify(signal, {.peer = 1});
  }
  if (me == 1) {
    pld::wait(signal);
    data = pl::store(pl::load(data, {8}, {4}) + 3, {8}, data);
    pld::notify(signal, {.peer = 2});
  }
  if (me == 2) {
    pld::wait(signal);
    if (pl::read(data, {7}) != 9) ++bad;
    if (pl::read(pld::remote_load(data, {.peer = 1, .offsets = {8}, .shape = {4}}), {3}) != 3) ++bad;
  }
  wrong = pl::store(pl::full<std::int32_t>({1}, bad), wrong);
});

auto all_add_to_one = pl::jit.incore([](Wrong wrong, Data data, Cells signal, pl::Scalar<int> size) {
  int bad = 0;
  const int n = pld::nranks(data);
  for (int round = 0; round < 3; ++round)
    pld::remote_store(pl::full<std::int32_t>({size}, 1), data, {.peer = 0, .atomic = pl::Atomic::Add});
  pld::notify(signal, {.peer = 0});
  if (pld::rank(data) == 0) {
    pld::wait(signal, {.expected = n});
    if (pl::read(data, {size - 1}) != 3 * n) ++bad;
  }
  wrong = pl::store(pl::full<std::int32_t>({1}, bad), wrong);
});

auto collectives_back_to_back =
    pl::jit.incore([](Wrong wrong, Data data, Cells signal, pl::Scalar<int> rounds) {
      int bad = 0;
      const int n = pld::nranks(data);
      for (int round = 0; round < rounds; ++round) {
        data = pl::store(pl::full<std::int32_t>({64}, 1), {0}, data);
        pld::allreduce(data);
        if (pl::read(data, {63}) != n) ++bad;
        pld::broadcast(data, {.root = round % n});
        pld::allreduce(data, {.op = pld::ReduceOp::Max, .algorithm = pld::Algorithm::Ring});
        pld::barrier(signal);
        if (pl::read(pld::remote_load(data, {.peer = round % n, .shape = {64}}), {5}) != n) ++bad;
        pld::barrier(data);
      }
      wrong = pl::store(pl::full<std::int32_t>({1}, bad), wrong);
    });

auto rows_by_collectives = pl::jit.incore([](Wrong wrong, Data data, Cells, pl::Scalar<int>) {
  int bad = 0;
  const int n = pld::nranks(data);
  auto rows = data.slice({0}, {n});
  data = pl::store(pl::full<std::int32_t>({1}, pld::rank(data)), {pld::rank(data)}, data);
  pld::allgather(rows);
  if (pl::read(data, {n - 1}) != n - 1) ++bad;
  pld::all_to_all(rows);
  pld::reduce_scatter(rows);
  data = pl::store(pl::load(data, {0}, {n}) * 2, {0}, data);
  wrong = pl::store(pl::full<std::int32_t>({1}, bad), wrong);
});

auto notifies_itself = pl::jit.incore([](Wrong wrong, Data data, Cells signal, pl::Scalar<int> rounds) {
  int bad = 0;
  const int me = pld::rank(data);
  for (int round = 1; round <= rounds; ++round) {
    pld::remote_store(pl::full<std::int32_t>({64}, round), data, {.peer = me});
    pld::notify(signal, {.peer = me, .offsets = {3}});
    pld::wait(signal, {.offsets = {3}, .expected = round});
    if (pl::read(pl::load(data), {1}) != round) ++bad;
  }
  wrong = pl::store(pl::full<std::int32_t>({1}, bad), wrong);
});

auto counts_a_hundred_rounds = pl::jit.incore([](Wrong, Data data, Cells signal, pl::Scalar<int>) {
  const int n = pld::nranks(data), next = (pld::rank(data) + 1) % n;
  for (int round = 1; round <= 100; ++round) {
    pld::notify(signal, {.peer = next, .offsets = {7}});
    pld::wait(signal, {.offsets = {7}, .expected = round});
  }
});

auto runs_free = pl::jit.incore([](Wrong wrong, Data data, Cells signal, pl::Scalar<int>) {
  int bad = 0;
  // Rank 0 sends all its signals at once; the others take them one by one.
  for (int round = 1; round <= 8; ++round)
    if (pld::rank(data) == 0)
      for (int peer = 1; peer < pld::nranks(data); ++peer) {
        pld::remote_store(pl::full<std::int32_t>({4}, round), data, {.peer = peer, .offsets = {4 * round}});
        pld::notify(signal, {.peer = peer});
      }
    else {
      pld::wait(signal, {.expected = round});
      if (pl::read(data, {4 * round + 3}) != round) ++bad;
    }
  wrong = pl::store(pl::full<std::int32_t>({1}, bad), wrong);
});

auto sets_growing_values = pl::jit.incore([](Wrong, Data data, Cells signal, pl::Scalar<int>) {
  const int n = pld::nranks(data), next = (pld::rank(data) + 1) % n, last = (pld::rank(data) + n - 1) % n;
  for (int round = 1; round <= 5; ++round) {
    pld::put(data, {.peer = next, .src = data, .dst_offsets = {0}, .src_offsets = {32}, .shape = {8}});
    pld::notify(signal, {.peer = next, .value = round, .op = pld::NotifyOp::Set});
    pld::wait(signal, {.expected = round, .cmp = pld::WaitCmp::Eq});
    (void)pl::load(data, {0}, {8});
    pld::notify(signal, {.peer = last, .offsets = {1}});
    pld::wait(signal, {.offsets = {1}, .expected = round});
  }
});

auto resets_with_an_acknowledgement = pl::jit.incore([](Wrong, Data data, Cells signal, pl::Scalar<int>) {
  const int me = pld::rank(data), n = pld::nranks(data), next = (me + 1) % n, last = (me + n - 1) % n;
  for (int round = 1; round <= 4; ++round) {
    pld::notify(signal, {.peer = next});
    pld::wait(signal);
    pld::notify(signal, {.peer = me, .value = 0, .op = pld::NotifyOp::Set});
    pld::notify(signal, {.peer = last, .offsets = {1}});
    pld::wait(signal, {.offsets = {1}, .expected = round});
  }
});

auto takes_turns_to_set = pl::jit.incore([](Wrong wrong, Data data, Cells signal, pl::Scalar<int>) {
  int bad = 0;
  // Each rank Sets the cell of rank 0 once the one before it has told it to.
  const int me = pld::rank(data), n = pld::nranks(data);
  if (me != 0) {
    if (me != 1) pld::wait(signal);
    pld::notify(signal, {.peer = 0, .offsets = {4}, .value = me, .op = pld::NotifyOp::Set});
    pld::remote_store(pl::full<std::int32_t>({64}, me), data, {.peer = 0});
    if (me + 1 < n) pld::fence();
    pld::notify(signal, {.peer = (me + 1) % n, .offsets = {0}});
  } else {
    pld::wait(signal);
    if (pl::read(data, {9}) != n - 1) ++bad;
    if (pl::read(signal, {4}) != n - 1) ++bad;
  }
  wrong = pl::store(pl::full<std::int32_t>({1}, bad), wrong);
});

auto waits_again_for_what_is_there =
    pl::jit.incore([](Wrong wrong, Data data, Cells signal, pl::Scalar<int>) {
      int bad = 0;
      const int next = (pld::rank(data) + 1) % pld::nranks(data);
      pld::remote_store(pl::full<std::int32_t>({64}, 4), data, {.peer = next});
      pld::notify(signal, {.peer = next});
      for (int part = 0; part < 4; ++part) {
        pld::wait(signal);
        if (pl::read(data, {part}) != 4) ++bad;
      }
      wrong = pl::store(pl::full<std::int32_t>({1}, bad), wrong);
    });

auto looks_again_while_the_next_comes = pl::jit.incore([](Wrong wrong, Data data, Cells signal,
                                                          pl::Scalar<int>) {
  // The second signal may be there while the first is awaited once more: it is awaited later.
  int bad = 0;
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  for (int half = 0; half < 2; ++half) {
    pld::remote_store(pl::full<std::int32_t>({32}, half + 1), data, {.peer = next, .offsets = {32 * half}});
    pld::notify(signal, {.peer = next});
  }
  for (int part = 0; part < 4; ++part) {
    pld::wait(signal);
    if (pl::read(data, {8 * part}) != 1) ++bad;
  }
  pld::wait(signal, {.expected = 2});
  if (pl::read(data, {63}) != 2) ++bad;
  wrong = pl::store(pl::full<std::int32_t>({1}, bad), wrong);
});

auto neighbours_in_one_line = pl::jit.incore([](Wrong wrong, Data data, Cells signal, pl::Scalar<int>) {
  int bad = 0;
  // Bytes of two writers side by side, and cells beside data in one window.
  const int me = pld::rank(data), n = pld::nranks(data), next = (me + 1) % n, last = (me + n - 1) % n;
  pld::remote_store(pl::full<std::int32_t>({1}, me), signal, {.peer = next, .offsets = {2}});
  pld::remote_store(pl::full<std::int32_t>({1}, me), signal, {.peer = last, .offsets = {3}});
  pld::notify(signal, {.peer = next, .offsets = {0}});
  pld::notify(signal, {.peer = last, .offsets = {1}});
  pld::wait(signal, {.offsets = {0}});
  pld::wait(signal, {.offsets = {1}});
  if (pl::read(pl::load(signal, {2}, {2}), {0}) != last) ++bad;
  (void)pl::load(signal);
  wrong = pl::store(pl::full<std::int32_t>({1}, bad), wrong);
});

auto gathers_by_get = pl::jit.incore([](Wrong wrong, Data data, Cells signal, pl::Scalar<int> size) {
  int bad = 0;
  const int n = pld::nranks(data);
  data = pl::store(pl::full<std::int32_t>({size}, pld::rank(data)), {0}, data);
  for (int peer = 0; peer < n; ++peer) pld::notify(signal, {.peer = peer});
  pld::wait(signal, {.expected = n});
  for (int peer = 0; peer < n; ++peer)
    pld::get(data, data, {.peer = peer, .src_offsets = {0}, .dst_offsets = {8 + 8 * peer}, .shape = {size}});
  if (pl::read(data, {8 * n}) != n - 1) ++bad;
  wrong = pl::store(pl::full<std::int32_t>({1}, bad), wrong);
});

}  // namespace
}  // namespace right
