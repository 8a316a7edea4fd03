// Random right programs of any size and number of ranks: the checker is silent, in the order of every seed, and their
// results are those that the steps have one after another.
#include "random_programs.hpp"
#include "slow.hpp"

using namespace right;
using windows::Cells;
using windows::Data;

namespace {

constexpr auto STEPS = pl::dynamic("STEPS");
using Steps = pl::Tensor<std::int32_t, STEPS, step_fields>;

auto run_steps = pl::jit.incore([](Steps steps, Data data, Cells signal, pl::Scalar<int> count) {
  const int me = pld::rank(data), n = pld::nranks(data);
  for (int i = 0; i < count; ++i) {
    const int kind = pl::read(steps, {i, 0}), from = pl::read(steps, {i, 1}), to = pl::read(steps, {i, 2});
    const int size = pl::read(steps, {i, 3}), distance = pl::read(steps, {i, 4});
    const int cell = pl::read(steps, {i, 5}), value = pl::read(steps, {i, 6}), who = pl::read(steps, {i, 7});
    if (who >= 0 && who != me) continue;
    if (who < -1 && me == -2 - who) continue;
    const int peer = (me + distance) % n;
    if (kind == fill) data = pl::store(pl::full<std::int32_t>({size}, value + 10 * me), {to}, data);
    if (kind == add) data = pl::store(pl::load(data, {from}, {size}) + value, {to}, data);
    if (kind == remote_store)
      pld::remote_store(pl::load(data, {from}, {size}), data, {.peer = peer, .offsets = {to}});
    if (kind == put)
      pld::put(data,
               {.peer = peer, .src = data, .dst_offsets = {to}, .src_offsets = {from}, .shape = {size}});
    if (kind == remote_load)
      data =
          pl::store(pld::remote_load(data, {.peer = peer, .offsets = {from}, .shape = {size}}), {to}, data);
    if (kind == get)
      pld::get(data, data, {.peer = peer, .src_offsets = {from}, .dst_offsets = {to}, .shape = {size}});
    if (kind == remote_add)
      pld::remote_store(pl::load(data, {from}, {size}), data,
                        {.peer = peer, .offsets = {to}, .atomic = pl::Atomic::Add});
    if (kind == notify_add) pld::notify(signal, {.peer = peer, .offsets = {cell}, .value = value});
    if (kind == notify_set)
      pld::notify(signal, {.peer = peer, .offsets = {cell}, .value = value, .op = pld::NotifyOp::Set});
    if (kind == wait_at_least) pld::wait(signal, {.offsets = {cell}, .expected = value});
    if (kind == wait_equal)
      pld::wait(signal, {.offsets = {cell}, .expected = value, .cmp = pld::WaitCmp::Eq});
    if (kind == fence) pld::fence();
    if (kind == barrier) pld::barrier(data);
    if (kind == allreduce_sum) pld::allreduce(data.slice({to}, {size}));
    if (kind == allreduce_max)
      pld::allreduce(data.slice({to}, {size}), {.op = pld::ReduceOp::Max, .algorithm = pld::Algorithm::Ring});
    if (kind == broadcast) pld::broadcast(data.slice({to}, {size}), {.root = distance});
    if (kind == allgather) pld::allgather(data.slice({to}, {n}));
    if (kind == reduce_scatter) pld::reduce_scatter(data.slice({to}, {n}));
    if (kind == all_to_all) pld::all_to_all(data.slice({to}, {n}));
  }
});

auto collect = pl::jit.incore(
    [](pl::Out<pl::Tensor<std::int32_t, 64>> y, Data data) { y = pl::store(pl::load(data), y); });

pl::Array<std::int32_t> table_of(const std::vector<Step>& steps) {
  pl::Array<std::int32_t> table({static_cast<std::int64_t>(steps.size()), step_fields});
  std::int64_t row = 0;
  for (const Step& step : steps) {
    const int fields[step_fields] = {step.kind,     step.from, step.to,    step.size,
                                     step.distance, step.cell, step.value, step.who};
    for (std::int64_t i = 0; i < step_fields; ++i) table(row, i) = fields[i];
    ++row;
  }
  return table;
}

/// The report, "wrong data", or nothing.
std::string outcome_of(const RandomProgram& program, std::uint64_t seed) {
  std::vector<pl::Array<std::int32_t>> tables;
  for (const auto& steps : program.dispatches) tables.push_back(table_of(steps));
  auto device =
      pl::jit([&](auto steps, auto data, auto signal, auto n) { run_steps(steps, data, signal, n); });
  auto collector = pl::jit([&](auto y, auto data) { collect(y, data); });
  auto host = pl::jit.host([&](pl::Out<pl::Tensor<std::int32_t, windows::NR, 64>> y) {
    auto data = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({64}), {64});
    auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({16}), {16});
    for (std::size_t i = 0; i < tables.size(); ++i) {
      const int count = static_cast<int>(program.dispatches[i].size());
      if (count != 0)
        for (auto r : pl::range(pld::world_size())) device(tables[i], data, signal, count, pld::device = r);
      if (program.host_barrier[i]) pld::barrier(data);
    }
    for (auto r : pl::range(pld::world_size())) collector(y[r], data, pld::device = r);
  });
  pl::Array<std::int32_t> y({program.ranks, 64});
  const std::string message = windows::message_of([&] { host(y, windows::checked(program.ranks, seed)); });
  if (!message.empty()) return message;
  for (int rank = 0; rank < program.ranks; ++rank)
    for (int i = 0; i < 64; ++i)
      if (y(rank, i) != program.expected[static_cast<std::size_t>(rank)][static_cast<std::size_t>(i)])
        return "wrong data: element " + std::to_string(i) + " of rank " + std::to_string(rank);
  return {};
}

}  // namespace

TEST_CASE("random right programs are silent, in the order of every seed") {
  BOTH_WAYS
  const auto programs = static_cast<std::uint64_t>(support::slow_rounds(60, 2000));
  for (std::uint64_t seed = 1; seed <= programs; ++seed) {
    const int ranks = 1 + static_cast<int>(seed % 7), patterns = 3 + static_cast<int>(seed * 7 % 23);
    const RandomProgram program = ProgramMaker(seed, ranks).make(patterns);
    CAPTURE(seed);
    CAPTURE(ranks);
    CAPTURE(patterns);
    for (const std::uint64_t order : {std::uint64_t{0}, seed}) CHECK(outcome_of(program, order) == "");
  }
}
