// The cells that a collective was given belong to it: a notify, wait or store of the user's on one of them is named,
// whichever comes first, in collectives of kernels and of the host.
#include "check.hpp"

using support::contains;
using windows::at;
using windows::Cells;
using windows::Data;
using windows::outcome;

namespace {

constexpr int sets_before = __LINE__;
auto sets_a_cell_before = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> cell) {
  const int me = pld::rank(data), n = pld::nranks(data);
  if (me == n - 1) pld::notify(signal, {.peer = 0, .offsets = {cell}, .value = 1, .op = pld::NotifyOp::Set});
  pld::allreduce(data, {.signal = signal});
});

constexpr int sets_after = __LINE__;
auto sets_a_cell_after = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> cell) {
  const int me = pld::rank(data), n = pld::nranks(data);
  pld::broadcast(data, {.root = n - 1, .signal = signal});
  if (me == 0) pld::notify(signal, {.peer = n - 1, .offsets = {cell}, .value = 0, .op = pld::NotifyOp::Set});
});

constexpr int adds_between = __LINE__;
auto adds_and_waits_between = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> cell) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  pld::barrier(data, {.signal = signal});
  pld::notify(signal, {.peer = next, .offsets = {cell}});
  pld::wait(signal, {.offsets = {cell}});
  pld::barrier(data, {.signal = signal});
});

constexpr int waits_for = __LINE__;
auto waits_for_the_collective = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> cell) {
  if (pld::rank(data) == 0) pld::wait(signal, {.offsets = {cell}});
  pld::barrier(data, {.signal = signal});
});

constexpr int defers_for = __LINE__;
auto defers_for_the_collective = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> cell) {
  if (pld::rank(data) == 0) pld::defer_wait(signal, {.offsets = {cell}});
  pld::barrier(data, {.signal = signal});
});

constexpr int stores_into = __LINE__;
auto clears_by_a_store = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> cell) {
  pld::barrier(data, {.signal = signal});
  if (pld::rank(data) == 0) signal = pl::store(pl::zeros<std::int32_t>({1}), {cell}, signal);
});

constexpr int stores_before = __LINE__;
auto clears_before_by_a_store = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> cell) {
  if (pld::rank(data) == 1)
    pld::remote_store(pl::zeros<std::int32_t>({1}), signal, {.peer = 0, .offsets = {cell}});
  pld::barrier(data, {.signal = signal});
});

auto cells_of_its_own = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> rounds) {
  const int n = pld::nranks(data), next = (pld::rank(data) + 1) % n;
  for (int round = 1; round <= rounds; ++round) {
    data = pl::store(pl::full<std::int32_t>({64}, round), {0}, data);
    pld::allreduce(data, {.signal = signal});
    if (pl::read(data, {5}) != n * round) throw pl::UserError("wrong data");
    pld::notify(signal, {.peer = next, .offsets = {15}});
    pld::wait(signal, {.offsets = {15}, .expected = round});
    pld::barrier(data, {.signal = signal});
  }
});

void check_named(const std::string& message, int collective, int other) {
  CAPTURE(message);
  CHECK(contains(message, "misuse of a signal cell: cell "));
  CHECK(contains(message, at(__FILE__, collective)));
  CHECK(contains(message, at(__FILE__, other)));
  CHECK(contains(message, "\n  rank "));
}

}  // namespace

TEST_CASE("a Set on a cell of a collective is named, before it and after it, in every order of the ranks") {
  for (const int ranks : {2, 3, 9})
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      CAPTURE(seed);
      const std::string before = outcome(sets_a_cell_before, ranks, ranks - 1, seed);
      check_named(before, sets_before + 4, sets_before + 3);
      CHECK(contains(before, "is used by a collective and Set by hand"));
      check_named(outcome(sets_a_cell_after, ranks, 0, seed), sets_after + 3, sets_after + 4);
    }
}

TEST_CASE("an addition to a cell of a collective, and a wait for one, are named") {
  for (const int ranks : {2, 4})
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      CAPTURE(seed);
      const std::string added = outcome(adds_and_waits_between, ranks, 1, seed);
      check_named(added, adds_between + 3, adds_between + 4);
      CHECK(contains(added, "is used by a collective and added to by hand"));
      const std::string awaited = outcome(waits_for_the_collective, ranks, 1, seed);
      check_named(awaited, waits_for + 3, waits_for + 2);
      CHECK(contains(awaited, "is used by a collective and waited for by hand"));
      const std::string deferred = outcome(defers_for_the_collective, ranks, 1, seed);
      check_named(deferred, defers_for + 3, defers_for + 2);
      CHECK(contains(deferred, "is used by a collective and waited for by hand"));
    }
}

TEST_CASE("a store to a cell of a collective is named, before it and after it") {
  for (const int ranks : {2, 5})
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      check_named(outcome(clears_by_a_store, ranks, 1, seed), stores_into + 2, stores_into + 3);
      check_named(outcome(clears_before_by_a_store, ranks, 1, seed), stores_before + 4, stores_before + 3);
    }
}

TEST_CASE("cells beside those of a collective are free") {
  for (const int ranks : {1, 2, 4})
    for (std::uint64_t seed = 0; seed < 20; ++seed) CHECK(outcome(cells_of_its_own, ranks, 5, seed) == "");
}

TEST_CASE("a cell of a host's collective that a kernel Sets or adds to is named") {
  auto touch = pl::jit.incore([](Cells signal, pl::Scalar<int> add) {
    const int n = pld::nranks(signal);
    if (pld::rank(signal) != n - 1) return;
    if (add != 0)
      pld::notify(signal, {.peer = 0, .offsets = {1}});
    else
      pld::notify(signal, {.peer = 0, .offsets = {1}, .value = 0, .op = pld::NotifyOp::Set});
  });
  auto device = pl::jit([&](auto signal, auto add) { touch(signal, add); });
  for (const int ranks : {2, 3})
    for (const int add : {0, 1})
      for (const bool first : {true, false})
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
          int line = 0;
          auto host = pl::jit.host([&](pl::Out<pl::Tensor<std::int32_t, windows::NR>>) {
            auto data = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({64}), {64});
            auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({16}), {16});
            line = __LINE__ + 1;
            if (!first) pld::allreduce(data, {.signal = signal});
            for (auto r : pl::range(pld::world_size())) device(signal, add, pld::device = r);
            if (first) pld::allreduce(data, {.signal = signal});
          });
          pl::Array<std::int32_t> y({ranks});
          const std::string message = windows::message_of([&] { host(y, windows::checked(ranks, seed)); });
          CAPTURE(message);
          CHECK(contains(message, add != 0 ? "is used by a collective and added to by hand"
                                           : "is used by a collective and Set by hand"));
          CHECK(contains(message, "pld::allreduce at "));
          CHECK(contains(message, at(__FILE__, first ? line + 2 : line)));
        }
}
