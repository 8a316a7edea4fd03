// The checker's table: for each fault wrong programs, run with random sizes and numbers of ranks in the order of 20 seeds.
// `test_checker --success -tc="*table*"` prints it.
#include "native_programs.hpp"
#include "race_programs.hpp"
#include "signal_programs.hpp"

#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>

using support::contains;
using windows::at;
using windows::outcome;
using namespace wrong;

namespace {

constexpr int unanswered = __LINE__;
auto waits_for_a_signal_that_goes_elsewhere = pl::jit.incore([](Data, Cells signal, pl::Scalar<int> cell) {
  const int next = (pld::rank(signal) + 1) % pld::nranks(signal);
  pld::notify(signal, {.peer = next, .offsets = {cell}});
  pld::wait(signal, {.offsets = {cell + 1}});
});

constexpr int cycle = __LINE__;
auto waits_before_it_notifies = pl::jit.incore([](Data, Cells signal, pl::Scalar<int> cell) {
  const int next = (pld::rank(signal) + 1) % pld::nranks(signal);
  pld::wait(signal, {.offsets = {cell}});
  pld::notify(signal, {.peer = next, .offsets = {cell}});
});

constexpr int zero = __LINE__;
auto notifies_by_zero = pl::jit.incore([](Data, Cells signal, pl::Scalar<int> cell) {
  const int next = (pld::rank(signal) + 1) % pld::nranks(signal);
  pld::notify(signal, {.peer = next, .offsets = {cell}, .value = 0});
  pld::wait(signal, {.offsets = {cell}});
});

constexpr int far_peer = __LINE__;
auto stores_to_a_peer_that_is_none = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> size) {
  if (pld::rank(data) == 0)
    pld::remote_store(pl::full<std::int32_t>({size}, 1), data, {.peer = pld::nranks(data)});
  pld::barrier(signal);
});

constexpr int far_offset = __LINE__;
auto notifies_a_cell_that_is_none = pl::jit.incore([](Data, Cells signal, pl::Scalar<int> size) {
  if (pld::rank(signal) == 0) pld::notify(signal, {.peer = 1, .offsets = {15 + size}});
  pld::wait(signal);
});

constexpr int far_shape = __LINE__;
auto loads_more_than_there_is = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> size) {
  if (pld::rank(data) == 1) (void)pld::remote_load(data, {.peer = 0, .offsets = {60}, .shape = {4 + size}});
  pld::barrier(signal);
});

constexpr int fewer = __LINE__;
auto leaves_a_collective_out = pl::jit.incore([](Data data, Cells, pl::Scalar<int>) {
  pld::allreduce(data);
  if (pld::rank(data) != 1) pld::barrier(data);
});

constexpr int order = __LINE__;
auto calls_in_another_order = pl::jit.incore([](Data data, Cells, pl::Scalar<int>) {
  if (pld::rank(data) == 1) pld::broadcast(data, {.root = 0});
  pld::allreduce(data);
  if (pld::rank(data) != 1) pld::broadcast(data, {.root = 0});
});

constexpr int size_of = __LINE__;
auto reduces_another_size = pl::jit.incore([](Data data, Cells, pl::Scalar<int> size) {
  pld::allreduce(data.slice({0}, {pld::rank(data) == 1 ? size : size + 1}));
});

constexpr int op_of = __LINE__;
auto reduces_by_another_operation = pl::jit.incore([](Data data, Cells, pl::Scalar<int>) {
  if (pld::rank(data) == 1)
    pld::allreduce(data, {.op = pld::ReduceOp::Max});
  else
    pld::allreduce(data);
});

constexpr int throws_beside = __LINE__;
auto throws_beside_a_collective = pl::jit.incore([](Data data, Cells, pl::Scalar<int> size) {
  if (pld::rank(data) == 1) (void)pl::load(data, {0}, {64 + size});
  pld::allreduce(data);
});

/// Two ranks are given rows of one tensor that overlap.
std::string overlapping(bool one_tensor, int ranks, std::uint64_t seed) {
  using Rows = pl::Tensor<std::int32_t, windows::NR>;
  auto write = pl::jit.incore(
      [](pl::Out<pl::Tensor<std::int32_t>> y) { y = pl::store(pl::full<std::int32_t>({2}, 1), {0}, y); });
  auto device = pl::jit([&](auto y) { write(y); });
  auto host = pl::jit.host([&](pl::Out<Rows> y) {
    for (auto r : pl::range(pld::world_size()))
      device(one_tensor ? y.slice({0}, {2}) : y.slice({r}, {2}), pld::device = r);
  });
  pl::Array<std::int32_t> y({ranks + 1});
  return windows::message_of([&] { host(y, windows::checked(ranks, seed)); });
}

/// A window that its program has released is used by the next one: given to a dispatch, or `viewed` again.
std::string released(bool viewed, int ranks, std::uint64_t seed) {
  std::optional<pld::Window> kept_buffer;
  std::optional<Data> kept;
  auto touch = pl::jit.incore([](Data data) { data = pl::store(pl::zeros<std::int32_t>({64}), {0}, data); });
  auto device = pl::jit([&](auto data) { touch(data); });
  auto host = pl::jit.host([&](pl::Out<pl::Tensor<std::int32_t, windows::NR>>) {
    const bool late = kept.has_value();
    if (!late) {
      kept_buffer.emplace(pld::alloc_window_buffer<std::int32_t>({64}));
      kept.emplace(pld::window<std::int32_t>(*kept_buffer, {64}));
    }
    const Data data = late && viewed ? Data(pld::window<std::int32_t>(*kept_buffer, {64})) : *kept;
    for (auto r : pl::range(pld::world_size())) device(data, pld::device = r);
  });
  pl::Array<std::int32_t> y({ranks});
  return windows::message_of([&] { host(y, windows::checked(ranks, seed)); });
}

struct Program {
  const char* fault;
  const char* name;
  const char* report;  ///< words of it
  std::vector<std::string> places;
  int least_ranks, most_ranks, least_number, most_number;
  std::function<std::string(int ranks, int number, std::uint64_t seed)> run;
};

template <class Kernel>
auto on(Kernel& kernel) {
  return
      [&kernel](int ranks, int number, std::uint64_t seed) { return outcome(kernel, ranks, number, seed); };
}

std::vector<Program> programs() {
  const auto race = [](int line) { return at(race_file, line); };
  const auto cell = [](int line) { return at(signal_file, line); };
  const auto here = [](int line) { return at(__FILE__, line); };
  constexpr const char *deadlock = "no notify satisfies a wait", *unordered = "race",
                       *misuse = "misuse of a cell", *lost = "stale or lost signal",
                       *silent = "never signalled", *range = "out of range",
                       *divergent = "rank-divergent collectives", *overlap = "overlapping outputs",
                       *lifetime = "lifetime of a window", *thrown = "a kernel throws";
  return {
      {deadlock,
       "the signal goes to another cell",
       "deadlock: ",
       {here(unanswered + 4)},
       1,
       9,
       0,
       14,
       on(waits_for_a_signal_that_goes_elsewhere)},
      {deadlock,
       "each waits before it notifies",
       "deadlock: ",
       {here(cycle + 3)},
       1,
       9,
       0,
       15,
       on(waits_before_it_notifies)},
      {deadlock,
       "a notify of 0 awaited with Ge 1",
       "deadlock: ",
       {here(zero + 4)},
       1,
       9,
       0,
       15,
       on(notifies_by_zero)},
      {unordered,
       "reads its own part without a wait",
       "race: ",
       {race(no_wait + 3), race(no_wait + 5)},
       2,
       9,
       1,
       64,
       on(reads_own_part_without_waiting)},
      {unordered,
       "loads from a peer without a wait",
       "race: ",
       {race(no_notify + 3), race(no_notify + 4)},
       2,
       9,
       2,
       61,
       on(loads_from_a_peer_without_waiting)},
      {unordered,
       "all write to one rank",
       "race: ",
       {race(two_writers + 2)},
       2,
       9,
       1,
       59,
       on(all_write_to_rank_zero)},
      {unordered,
       "announced to a third rank without a fence",
       "race: ",
       {race(relayed + 4), race(relayed + 13)},
       3,
       9,
       1,
       64,
       on(relays_without_a_fence)},
      {unordered,
       "waits for too few",
       "race: ",
       {race(too_few + 4), race(too_few + 8)},
       3,
       8,
       1,
       8,
       on(waits_for_too_few)},
      {misuse,
       "several ranks Set one cell",
       "misuse of a signal cell: several writers Set",
       {cell(many_set + 4)},
       3,
       9,
       0,
       15,
       on(several_set_one_cell)},
      {misuse,
       "one Sets and one adds",
       "misuse of a signal cell: one rank Sets",
       {cell(set_and_add + 3), cell(set_and_add + 4)},
       3,
       9,
       0,
       15,
       on(one_sets_and_one_adds)},
      {misuse, "Set on a cell of a collective", "is used by a collective and Set by hand",
       native::sets_a_cell_of_its_collective().places, 2, 9, 0, 15,
       native::sets_a_cell_of_its_collective().run},
      {misuse,
       "a signal in a collective's data",
       "misuse of a signal cell: cell ",
       {cell(in_collective + 5)},
       2,
       9,
       0,
       15,
       on(signals_in_a_collectives_data)},
      {misuse,
       "stores into its signal cell",
       "is used as a signal and written as data",
       {cell(own_store + 5)},
       2,
       9,
       0,
       15,
       on(stores_into_its_signal)},
      {misuse,
       "signals by a store",
       "is used as a signal and written as data",
       {cell(plain_flag + 3)},
       2,
       9,
       0,
       15,
       on(signals_by_a_store)},
      {lost,
       "resets at the start",
       "lost signal: a reset",
       {cell(reset_first + 3), cell(reset_first + 4)},
       2,
       9,
       0,
       15,
       on(resets_at_the_start)},
      {lost,
       "resets behind each round",
       "lost signal: a reset",
       {cell(reset_between + 4), cell(reset_between + 6)},
       2,
       9,
       0,
       15,
       on(resets_after_each_round)},
      {lost,
       "waits for the same value in each round",
       "stale signal: ",
       {cell(same_value + 4), cell(same_value + 5)},
       2,
       9,
       0,
       15,
       on(waits_for_one_in_every_round)},
      {silent,
       "stores and tells nobody",
       "published but never signalled",
       {cell(silent_store + 5)},
       2,
       9,
       1,
       64,
       on(stores_and_tells_nobody)},
      {silent,
       "puts and tells another rank",
       "published but never signalled",
       {cell(silent_put + 3)},
       3,
       9,
       1,
       60,
       on(puts_and_tells_another)},
      {range,
       "a peer that is none",
       "peers are 0 to ",
       {here(far_peer + 3)},
       2,
       9,
       1,
       64,
       on(stores_to_a_peer_that_is_none)},
      {range,
       "a cell that is none",
       "pld::notify",
       {here(far_offset + 2)},
       2,
       9,
       1,
       99,
       on(notifies_a_cell_that_is_none)},
      {range,
       "more than there is",
       "pld::remote_load",
       {here(far_shape + 2)},
       2,
       9,
       1,
       60,
       on(loads_more_than_there_is)},
      {divergent, "leaves one out", "deadlock: ", {here(fewer + 3)}, 2, 9, 0, 0, on(leaves_a_collective_out)},
      {divergent,
       "another order",
       "ranks make different collective calls",
       {here(order + 2), here(order + 3)},
       2,
       9,
       0,
       0,
       on(calls_in_another_order)},
      {divergent,
       "another size",
       "ranks make different collective calls",
       {here(size_of + 2)},
       2,
       9,
       1,
       60,
       on(reduces_another_size)},
      {divergent,
       "another operation",
       "ranks make different collective calls",
       {here(op_of + 3), here(op_of + 5)},
       2,
       9,
       0,
       0,
       on(reduces_by_another_operation)},
      {overlap,
       "one tensor for all ranks",
       "write the same output region",
       {"wrong_programs_test.cpp:"},
       2,
       9,
       0,
       0,
       [](int ranks, int, std::uint64_t seed) { return overlapping(true, ranks, seed); }},
      {overlap,
       "slices that share an element",
       "write the same output region",
       {"wrong_programs_test.cpp:"},
       2,
       9,
       0,
       0,
       [](int ranks, int, std::uint64_t seed) { return overlapping(false, ranks, seed); }},
      {lifetime,
       "a kept view",
       "was kept too long",
       {"wrong_programs_test.cpp:"},
       1,
       9,
       0,
       0,
       [](int ranks, int, std::uint64_t seed) { return released(false, ranks, seed); }},
      {lifetime,
       "a kept buffer",
       "was kept too long",
       {"wrong_programs_test.cpp:"},
       1,
       9,
       0,
       0,
       [](int ranks, int, std::uint64_t seed) { return released(true, ranks, seed); }},
      {thrown,
       "an error while others wait",
       "out of luck",
       {"on rank 1"},
       2,
       9,
       0,
       0,
       native::throws_while_others_wait().run},
      {thrown,
       "a wrong load beside a collective",
       "load",
       {here(throws_beside + 2)},
       2,
       9,
       1,
       60,
       on(throws_beside_a_collective)},
  };
}

}  // namespace

TEST_CASE(
    "the table: each wrong program is named with rank and line, at random sizes, in the order of 20 seeds") {
  BOTH_WAYS
  constexpr std::uint64_t seeds = 20;
  const bool prints = doctest::getContextOptions()->success;
  if (prints)
    std::printf("\n%s\n\n| fault | program | report | ranks | named rightly |\n|---|---|---|---|---|\n",
                windows::natively ? "natively" : "compiled");
  std::map<std::string, int> of_fault;
  for (const Program& program : programs()) {
    ++of_fault[program.fault];
    int named = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      std::mt19937_64 random(seed);
      const auto draw = [&](int least, int most) {
        return least + static_cast<int>(random() % static_cast<std::uint64_t>(most - least + 1));
      };
      const int ranks = draw(program.least_ranks, program.most_ranks);
      const int number = draw(program.least_number, program.most_number);
      const std::string message = program.run(ranks, number, seed);
      bool right = contains(message, program.report) && contains(message, "rank");
      for (const std::string& place : program.places) right &= contains(message, place);
      CAPTURE(program.name);
      CAPTURE(ranks);
      CAPTURE(number);
      CAPTURE(seed);
      CAPTURE(message);
      if (!right) CHECK_MESSAGE(right, "not named rightly");
      named += right ? 1 : 0;
    }
    CHECK(named == seeds);
    if (prints)
      std::printf("| %s | %s | %s… | %d to %d | %d of %d seeds |\n", program.fault, program.name,
                  program.report, program.least_ranks, program.most_ranks, named, static_cast<int>(seeds));
  }
  CHECK(of_fault.size() == 10);
  for (const auto& [fault, count] : of_fault) {
    CAPTURE(fault);
    CHECK(count >= 2);
  }
}

TEST_CASE("the table on the model of AscendC: each wrong program is named with rank and line") {
  windows::natively = false;
  const windows::OnModel on_model;
  // Their loads are of tiles that nobody uses: the emitted text has no such load.
  const std::set<std::string> not_loaded{"reads its own part without a wait",
                                         "loads from a peer without a wait",
                                         "announced to a third rank without a fence", "waits for too few"};
  int refused = 0;
  for (const Program& program : programs()) {
    if (not_loaded.contains(program.name)) continue;
    const int ranks = std::max(program.least_ranks, 3),
              number = std::min(program.least_number + 4, program.most_number);
    const std::string message = program.run(ranks, number, 0);
    if (windows::needs_constants(message)) {
      ++refused;
      continue;
    }
    bool right = contains(message, program.report) && contains(message, "rank");
    for (const std::string& place : program.places) right &= contains(message, place);
    CAPTURE(std::string(program.name));
    CHECK_MESSAGE(right, message);
  }
  MESSAGE(refused, " programs have extents that only the run knows");
}
