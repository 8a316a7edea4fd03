// Programs that look suspicious and are right: the checker is silent, in the order of every seed.
#include "quiet_programs.hpp"

using windows::Cells;
using windows::counted;
using windows::Data;
using namespace right;

namespace {

constexpr std::uint64_t seeds = 20;

/// Once more on the model of AscendC.
template <class Kernel>
void check_silent_on_model(Kernel& kernel, int ranks, int number, int rounds) {
  const windows::OnModel on_model;
  const std::string message = counted(kernel, ranks, number, 0, rounds);
  CAPTURE(ranks);
  CHECK_MESSAGE((message.empty() || windows::needs_constants(message)), "on the model: ", message);
}

template <class Kernel>
void check_silent(Kernel& kernel, std::initializer_list<int> rank_counts, int number = 1, int rounds = 1) {
  for (const int ranks : rank_counts)
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      CAPTURE(ranks);
      CAPTURE(seed);
      CHECK(counted(kernel, ranks, number, seed, rounds) == "");
    }
  if (!windows::natively)
    for (const int ranks : rank_counts) check_silent_on_model(kernel, ranks, number, rounds);
}

}  // namespace

TEST_CASE("two buffers in turn with acknowledgements are silent") {
  BOTH_WAYS
  check_silent(double_buffering, {1, 2, 3}, 7);
}
TEST_CASE("a chain of signals through a third rank is silent") {
  BOTH_WAYS
  check_silent(chain_through_a_third, {3, 4}, 0);
  check_silent(chain_through_a_third, {3}, 1);
}
TEST_CASE("additions of all ranks to one place are silent") {
  BOTH_WAYS
  check_silent(all_add_to_one, {2, 5}, 9);
}
TEST_CASE("collectives back to back are silent") {
  BOTH_WAYS
  check_silent(collectives_back_to_back, {1, 2, 3}, 3);
}
TEST_CASE("collectives of rows are silent") {
  BOTH_WAYS
  check_silent(rows_by_collectives, {2, 4});
}
TEST_CASE("a rank that notifies itself is silent") {
  BOTH_WAYS
  check_silent(notifies_itself, {1, 2}, 6);
}
TEST_CASE("a hundred rounds on one cell are silent") {
  BOTH_WAYS
  check_silent(counts_a_hundred_rounds, {2, 3});
}
TEST_CASE("signals that come faster than they are awaited are silent") {
  BOTH_WAYS
  check_silent(runs_free, {2, 3});
}
TEST_CASE("growing values that are Set and acknowledged are silent") {
  BOTH_WAYS
  check_silent(sets_growing_values, {2, 3});
}
TEST_CASE("a reset that is acknowledged is silent") {
  BOTH_WAYS
  check_silent(resets_with_an_acknowledgement, {2, 3});
}
TEST_CASE("ranks that Set one cell in turn are silent") {
  BOTH_WAYS
  check_silent(takes_turns_to_set, {2, 4});
}
TEST_CASE("a second wait for one signal is silent") {
  BOTH_WAYS
  check_silent(waits_again_for_what_is_there, {2, 3});
}
TEST_CASE("a second wait for one signal while the next one comes is silent") {
  BOTH_WAYS
  check_silent(looks_again_while_the_next_comes, {2, 3});
}
TEST_CASE("data and signals side by side are silent") {
  BOTH_WAYS
  check_silent(neighbours_in_one_line, {3, 4});
}
TEST_CASE("a gather by get is silent") {
  BOTH_WAYS
  check_silent(gathers_by_get, {2, 5}, 8);
}
TEST_CASE("a barrier on the host between two dispatches, and tasks in their order, are silent") {
  BOTH_WAYS
  auto write = pl::jit.incore([](Data data, pl::Scalar<int> value) {
    const int next = (pld::rank(data) + 1) % pld::nranks(data);
    pld::remote_store(pl::full<std::int32_t>({64}, value), data, {.peer = next});
  });
  auto read = pl::jit.incore([](Wrong wrong, Data data, pl::Scalar<int> value) {
    const int bad = pl::read(data, {63}) == value ? 0 : 1;
    wrong = pl::store(pl::full<std::int32_t>({1}, bad), {0}, wrong, {.atomic = pl::Atomic::Add});
  });
  auto writer = pl::jit([&](auto data, auto value) { write(data, value); });
  auto reader = pl::jit([&](auto wrong, auto data, auto value) { read(wrong, data, value); });
  auto host = pl::jit.host([&](pl::Out<pl::Tensor<std::int32_t, windows::NR, 1>> wrong) {
    auto data = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({64}), {64});
    for (int round = 1; round <= 3; ++round) {
      for (auto r : pl::range(pld::world_size())) writer(data, round, pld::device = r);
      pld::barrier(data);
      for (auto r : pl::range(pld::world_size())) reader(wrong[r], data, round, pld::device = r);
      pld::barrier(data);
    }
  });
  for (const int ranks : {2, 3})
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      pl::Array<std::int32_t> wrong({ranks, 1});
      CHECK(windows::message_of([&] { host(wrong, windows::checked(ranks, seed)); }) == "");
      for (const std::int32_t count : wrong) CHECK(count == 0);
    }
}
TEST_CASE("two groups of ranks with windows of their own are silent") {
  BOTH_WAYS
  auto device =
      pl::jit([&](auto wrong, auto data, auto signal, auto n) { double_buffering(wrong, data, signal, n); });
  auto host = pl::jit.host([&](pl::Out<pl::Tensor<std::int32_t, windows::NR, 1>> wrong) {
    std::vector<Data> data;
    std::vector<Cells> signal;
    for (int group = 0; group < 2; ++group) {
      data.emplace_back(pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({64}), {64}));
      signal.emplace_back(pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({16}), {16}));
    }
    for (auto r : pl::range(pld::world_size()))
      device(wrong[r], data[static_cast<std::size_t>(r % 2)], signal[static_cast<std::size_t>(r % 2)], 5,
             pld::device = r);
  });
  for (const int ranks : {4, 5})
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      pl::Array<std::int32_t> wrong({ranks, 1});
      CHECK(windows::message_of([&] { host(wrong, windows::checked(ranks, seed)); }) == "");
      for (const std::int32_t count : wrong) CHECK(count == 0);
    }
}
