// Checked runs on the model of AscendC: what the checker tells there, in the words of the simulator.
#include "check.hpp"

using support::contains;
using windows::at;
using windows::Cells;
using windows::Data;
using windows::outcome;

namespace {

/// What a checked run says, on the simulator and on the model.
template <class Kernel>
std::pair<std::string, std::string> both(Kernel& kernel, int ranks) {
  windows::natively = false;
  const std::string simulated = outcome(kernel, ranks);
  const windows::OnModel on_model;
  return {simulated, outcome(kernel, ranks)};
}

template <class Kernel>
void told(Kernel& kernel, int ranks, const char* report, std::initializer_list<int> lines) {
  const auto [simulated, modelled] = both(kernel, ranks);
  CAPTURE(simulated);
  CAPTURE(modelled);
  for (const std::string* message : {&simulated, &modelled}) {
    CHECK(contains(*message, report));
    for (const int line : lines) CHECK(contains(*message, at(__FILE__, line)));
  }
}

constexpr int own_part = __LINE__;
auto reads_own_part_before_its_wait = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int>) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  pld::remote_store(pl::full<std::int32_t>({8}, 7), data, {.peer = next});
  pld::notify(signal, {.peer = next});
  data = pl::store(pl::load(data, {0}, {8}) + 1, {32}, data);
  pld::wait(signal);
});

constexpr int peers_part = __LINE__;
auto loads_from_a_peer_without_a_wait = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int>) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  data = pl::store(pl::full<std::int32_t>({8}, 7), {0}, data);
  auto tile = pld::remote_load(data, {.peer = next, .offsets = {0}, .shape = {8}});
  data = pl::store(tile, {32}, data);
  pld::barrier(signal);
});

constexpr int relayed = __LINE__;
auto relays_without_a_fence = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int>) {
  const int me = pld::rank(data);
  if (me == 0) {
    pld::put(data, {.peer = 2, .src = data, .dst_offsets = {0}, .src_offsets = {32}, .shape = {8}});
    pld::notify(signal, {.peer = 1});
  }
  if (me == 1) {
    pld::wait(signal);
    pld::notify(signal, {.peer = 2});
  }
  if (me == 2) {
    pld::wait(signal);
    data = pl::store(pl::load(data, {0}, {8}) + 1, {32}, data);
  }
});

auto relays_behind_a_fence = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int>) {
  const int me = pld::rank(data);
  if (me == 0) {
    pld::put(data, {.peer = 2, .src = data, .dst_offsets = {0}, .src_offsets = {32}, .shape = {8}});
    pld::fence();
    pld::notify(signal, {.peer = 1});
  }
  if (me == 1) {
    pld::wait(signal);
    pld::notify(signal, {.peer = 2});
  }
  if (me == 2) {
    pld::wait(signal);
    data = pl::store(pl::load(data, {0}, {8}) + 1, {32}, data);
  }
});

constexpr int silent = __LINE__;
auto stores_and_tells_nobody = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int>) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  pld::notify(signal, {.peer = next});
  pld::wait(signal);
  pld::remote_store(pl::full<std::int32_t>({8}, 1), data, {.peer = next});
});

constexpr int beside = __LINE__;
auto stores_beside_a_collective = pl::jit.incore([](Data data, Cells, pl::Scalar<int>) {
  pld::allreduce(data.slice({0}, {16}));
  pld::remote_store(pl::full<std::int32_t>({8}, 1), data, {.peer = 0});
  pld::barrier(data);
});

constexpr int atomic = __LINE__;
auto adds_beside_a_store = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int>) {
  if (pld::rank(data) == 0) data = pl::store(pl::full<std::int32_t>({8}, 1), {0}, data);
  pld::remote_store(pl::full<std::int32_t>({8}, 1), data, {.peer = 0, .atomic = pl::Atomic::Add});
  pld::barrier(signal);
});

constexpr int by_hand = __LINE__;
auto notifies_a_cell_of_its_collective = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int>) {
  pld::allreduce(data, {.signal = signal});
  pld::notify(signal, {.peer = 0, .offsets = {1}});
});

}  // namespace

TEST_CASE("a read of the own part in front of the wait is told on the model as on the simulator") {
  told(reads_own_part_before_its_wait, 2, "race: nothing orders two accesses to rank ",
       {own_part + 3, own_part + 5});
}
TEST_CASE("a load from a peer that nothing orders is told on the model as on the simulator") {
  told(loads_from_a_peer_without_a_wait, 2, ": pld::remote_load reads bytes 0 to 31 at ",
       {peers_part + 3, peers_part + 4});
}
TEST_CASE(
    "data that a third rank is told of are told on the model, though there a signal is behind all stores") {
  told(relays_without_a_fence, 3, ": pld::put writes bytes 0 to 31 at ", {relayed + 4, relayed + 13});
  const auto [simulated, modelled] = both(relays_behind_a_fence, 3);
  CHECK(simulated == "");
  CHECK(modelled == "");
}
TEST_CASE("a store that nothing follows is told on the model at the end of the run") {
  told(stores_and_tells_nobody, 2, "published but never signalled: no notify to rank ", {silent + 5});
}
TEST_CASE("stores behind a collective, and beside others, are told on the model") {
  told(stores_beside_a_collective, 2, ": pld::remote_store writes bytes 0 to 31 at ", {beside + 3});
  told(adds_beside_a_store, 2, "race: nothing orders two accesses to rank 0's part of ",
       {atomic + 2, atomic + 3});
}
TEST_CASE("a notify to a cell of a collective is told on the model") {
  told(notifies_a_cell_of_its_collective, 2, "is used by a collective and added to by hand",
       {by_hand + 2, by_hand + 3});
}
