// Programs that look suspicious and are right: the checker is silent, in the order of every seed.
#include "check.hpp"

using windows::Cells;
using windows::Data;
using windows::outcome;

namespace {

constexpr std::uint64_t seeds = 20;

template <class Kernel>
void check_silent(Kernel& kernel, std::initializer_list<int> rank_counts, int number = 1, int rounds = 1) {
  for (const int ranks : rank_counts)
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      CAPTURE(ranks);
      CAPTURE(seed);
      CHECK(outcome(kernel, ranks, number, seed, rounds) == "");
    }
}

/// Raises an error in the run: what was read was not what was written.
void require(bool condition) {
  if (!condition) throw pl::UserError("wrong data");
}

auto double_buffering = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> rounds) {
  const int n = pld::nranks(data), next = (pld::rank(data) + 1) % n, last = (pld::rank(data) + n - 1) % n;
  for (int round = 0; round < rounds; ++round) {
    const int half = round % 2 * 32;
    if (round >= 2) pld::wait(signal, {.offsets = {1}, .expected = round - 1});
    pld::remote_store(pl::full<std::int32_t>({32}, round), data, {.peer = next, .offsets = {half}});
    pld::notify(signal, {.peer = next});
    pld::wait(signal, {.expected = round + 1});
    require(pl::read(data, {half + 31}) == round);
    pld::notify(signal, {.peer = last, .offsets = {1}});
  }
});

auto chain_through_a_third = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> fenced) {
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
    require(pl::read(data, {7}) == 9);
    require(pl::read(pld::remote_load(data, {.peer = 1, .offsets = {8}, .shape = {4}}), {3}) == 3);
  }
});

auto all_add_to_one = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> size) {
  const int n = pld::nranks(data);
  for (int round = 0; round < 3; ++round)
    pld::remote_store(pl::full<std::int32_t>({size}, 1), data, {.peer = 0, .atomic = pl::Atomic::Add});
  pld::notify(signal, {.peer = 0});
  if (pld::rank(data) != 0) return;
  pld::wait(signal, {.expected = n});
  require(pl::read(data, {size - 1}) == 3 * n);
});

auto collectives_back_to_back = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> rounds) {
  const int n = pld::nranks(data);
  for (int round = 0; round < rounds; ++round) {
    data = pl::store(pl::full<std::int32_t>({64}, 1), {0}, data);
    pld::allreduce(data);
    require(pl::read(data, {63}) == n);
    pld::broadcast(data, {.root = round % n});
    pld::allreduce(data, {.op = pld::ReduceOp::Max, .algorithm = pld::Algorithm::Ring});
    pld::barrier(signal);
    require(pl::read(pld::remote_load(data, {.peer = round % n, .shape = {64}}), {5}) == n);
    pld::barrier(data);
  }
});

auto rows_by_collectives = pl::jit.incore([](Data data, Cells, pl::Scalar<int>) {
  const int n = pld::nranks(data);
  auto rows = data.slice({0}, {n});
  data = pl::store(pl::full<std::int32_t>({1}, pld::rank(data)), {pld::rank(data)}, data);
  pld::allgather(rows);
  require(pl::read(data, {n - 1}) == n - 1);
  pld::all_to_all(rows);
  pld::reduce_scatter(rows);
  data = pl::store(pl::load(data, {0}, {n}) * 2, {0}, data);
});

auto notifies_itself = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> rounds) {
  const int me = pld::rank(data);
  for (int round = 1; round <= rounds; ++round) {
    pld::remote_store(pl::full<std::int32_t>({64}, round), data, {.peer = me});
    pld::notify(signal, {.peer = me, .offsets = {3}});
    pld::wait(signal, {.offsets = {3}, .expected = round});
    require(pl::read(pl::load(data), {1}) == round);
  }
});

auto counts_a_hundred_rounds = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int>) {
  const int n = pld::nranks(data), next = (pld::rank(data) + 1) % n;
  for (int round = 1; round <= 100; ++round) {
    pld::notify(signal, {.peer = next, .offsets = {7}});
    pld::wait(signal, {.offsets = {7}, .expected = round});
  }
});

auto runs_free = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int>) {
  // Rank 0 sends all its signals at once; the others take them one by one.
  for (int round = 1; round <= 8; ++round)
    if (pld::rank(data) == 0)
      for (int peer = 1; peer < pld::nranks(data); ++peer) {
        pld::remote_store(pl::full<std::int32_t>({4}, round), data, {.peer = peer, .offsets = {4 * round}});
        pld::notify(signal, {.peer = peer});
      }
    else {
      pld::wait(signal, {.expected = round});
      require(pl::read(data, {4 * round + 3}) == round);
    }
});

auto sets_growing_values = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int>) {
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

auto resets_with_an_acknowledgement = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int>) {
  const int me = pld::rank(data), n = pld::nranks(data), next = (me + 1) % n, last = (me + n - 1) % n;
  for (int round = 1; round <= 4; ++round) {
    pld::notify(signal, {.peer = next});
    pld::wait(signal);
    pld::notify(signal, {.peer = me, .value = 0, .op = pld::NotifyOp::Set});
    pld::notify(signal, {.peer = last, .offsets = {1}});
    pld::wait(signal, {.offsets = {1}, .expected = round});
  }
});

auto takes_turns_to_set = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int>) {
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
    require(pl::read(data, {9}) == n - 1);
    require(pl::read(signal, {4}) == n - 1);
  }
});

auto waits_again_for_what_is_there = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int>) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  pld::remote_store(pl::full<std::int32_t>({64}, 4), data, {.peer = next});
  pld::notify(signal, {.peer = next});
  for (int part = 0; part < 4; ++part) {
    pld::wait(signal);
    require(pl::read(data, {part}) == 4);
  }
});

auto neighbours_in_one_line = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int>) {
  // Bytes of two writers side by side, and cells beside data in one window.
  const int me = pld::rank(data), n = pld::nranks(data), next = (me + 1) % n, last = (me + n - 1) % n;
  pld::remote_store(pl::full<std::int32_t>({1}, me), signal, {.peer = next, .offsets = {2}});
  pld::remote_store(pl::full<std::int32_t>({1}, me), signal, {.peer = last, .offsets = {3}});
  pld::notify(signal, {.peer = next, .offsets = {0}});
  pld::notify(signal, {.peer = last, .offsets = {1}});
  pld::wait(signal, {.offsets = {0}});
  pld::wait(signal, {.offsets = {1}});
  require(pl::read(pl::load(signal, {2}, {2}), {0}) == last);
  (void)pl::load(signal);
});

auto gathers_by_get = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> size) {
  const int n = pld::nranks(data);
  data = pl::store(pl::full<std::int32_t>({size}, pld::rank(data)), {0}, data);
  for (int peer = 0; peer < n; ++peer) pld::notify(signal, {.peer = peer});
  pld::wait(signal, {.expected = n});
  for (int peer = 0; peer < n; ++peer)
    pld::get(data, data, {.peer = peer, .src_offsets = {0}, .dst_offsets = {8 + 8 * peer}, .shape = {size}});
  require(pl::read(data, {8 * n}) == n - 1);
});

}  // namespace

TEST_CASE("two buffers in turn with acknowledgements are silent") {
  check_silent(double_buffering, {1, 2, 3}, 7);
}
TEST_CASE("a chain of signals through a third rank is silent") {
  check_silent(chain_through_a_third, {3, 4}, 0);
  check_silent(chain_through_a_third, {3}, 1);
}
TEST_CASE("additions of all ranks to one place are silent") { check_silent(all_add_to_one, {2, 5}, 9); }
TEST_CASE("collectives back to back are silent") { check_silent(collectives_back_to_back, {1, 2, 3}, 3); }
TEST_CASE("collectives of rows are silent") { check_silent(rows_by_collectives, {2, 4}); }
TEST_CASE("a rank that notifies itself is silent") { check_silent(notifies_itself, {1, 2}, 6); }
TEST_CASE("a hundred rounds on one cell are silent") { check_silent(counts_a_hundred_rounds, {2, 3}); }
TEST_CASE("signals that come faster than they are awaited are silent") { check_silent(runs_free, {2, 3}); }
TEST_CASE("growing values that are Set and acknowledged are silent") {
  check_silent(sets_growing_values, {2, 3});
}
TEST_CASE("a reset that is acknowledged is silent") { check_silent(resets_with_an_acknowledgement, {2, 3}); }
TEST_CASE("ranks that Set one cell in turn are silent") { check_silent(takes_turns_to_set, {2, 4}); }
TEST_CASE("a second wait for one signal is silent") { check_silent(waits_again_for_what_is_there, {2, 3}); }
TEST_CASE("data and signals side by side are silent") { check_silent(neighbours_in_one_line, {3, 4}); }
TEST_CASE("a gather by get is silent") { check_silent(gathers_by_get, {2, 5}, 8); }
TEST_CASE("a barrier on the host between two dispatches, and tasks in their order, are silent") {
  auto write = pl::jit.incore([](Data data, pl::Scalar<int> value) {
    const int next = (pld::rank(data) + 1) % pld::nranks(data);
    pld::remote_store(pl::full<std::int32_t>({64}, value), data, {.peer = next});
  });
  auto read =
      pl::jit.incore([](Data data, pl::Scalar<int> value) { require(pl::read(data, {63}) == value); });
  auto writer = pl::jit([&](auto data, auto value) { write(data, value); });
  auto reader = pl::jit([&](auto data, auto value) { read(data, value); });
  auto host = pl::jit.host([&](pl::Out<pl::Tensor<std::int32_t, windows::NR>>) {
    auto data = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({64}), {64});
    for (int round = 1; round <= 3; ++round) {
      for (auto r : pl::range(pld::world_size())) writer(data, round, pld::device = r);
      pld::barrier(data);
      for (auto r : pl::range(pld::world_size())) reader(data, round, pld::device = r);
      pld::barrier(data);
    }
  });
  for (const int ranks : {2, 3})
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      pl::Array<std::int32_t> y({ranks});
      CHECK(windows::message_of([&] { host(y, windows::checked(ranks, seed)); }) == "");
    }
}
TEST_CASE("two groups of ranks with windows of their own are silent") {
  auto device = pl::jit([&](auto data, auto signal, auto n) { double_buffering(data, signal, n); });
  auto host = pl::jit.host([&](pl::Out<pl::Tensor<std::int32_t, windows::NR>>) {
    std::vector<Data> data;
    std::vector<Cells> signal;
    for (int group = 0; group < 2; ++group) {
      data.emplace_back(pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({64}), {64}));
      signal.emplace_back(pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({16}), {16}));
    }
    for (auto r : pl::range(pld::world_size()))
      device(data[static_cast<std::size_t>(r % 2)], signal[static_cast<std::size_t>(r % 2)], 5,
             pld::device = r);
  });
  for (const int ranks : {4, 5})
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      pl::Array<std::int32_t> y({ranks});
      CHECK(windows::message_of([&] { host(y, windows::checked(ranks, seed)); }) == "");
    }
}
