// Right programs with one notify, wait, fence or barrier taken out: each is reported, whatever the order of the ranks.
#include "check.hpp"

using support::contains;
using windows::Cells;
using windows::Data;
using windows::outcome;

namespace {

auto ring_of_two_buffers = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> out) {
  const int n = pld::nranks(data), next = (pld::rank(data) + 1) % n, last = (pld::rank(data) + n - 1) % n;
  for (int round = 0; round < 5; ++round) {
    const int half = round % 2 * 32;
    if (round >= 2 && out != 0) pld::wait(signal, {.offsets = {1}, .expected = round - 1});
    pld::remote_store(pl::full<std::int32_t>({32}, round), data, {.peer = next, .offsets = {half}});
    if (out != 1) pld::notify(signal, {.peer = next});
    if (out != 2) pld::wait(signal, {.expected = round + 1});
    (void)pl::load(data, {half}, {32});
    if (out != 3) pld::notify(signal, {.peer = last, .offsets = {1}});
  }
});

auto relay = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> out) {
  const int me = pld::rank(data), n = pld::nranks(data);
  if (me == 0) {
    pld::put(data, {.peer = n - 1, .src = data, .dst_offsets = {0}, .src_offsets = {16}, .shape = {9}});
    if (out != 0) pld::fence();
    if (out != 1) pld::notify(signal, {.peer = 1});
  } else {
    if (out != 2) pld::wait(signal);
    if (me + 1 < n && out != 3) pld::notify(signal, {.peer = me + 1});
    if (me + 1 == n) (void)pl::read(data, {8});
  }
});

auto gather_then_publish = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> out) {
  const int me = pld::rank(data), n = pld::nranks(data);
  pld::remote_store(pl::full<std::int32_t>({4}, me), data, {.peer = 0, .offsets = {4 * me}});
  if (out != 0) pld::notify(signal, {.peer = 0});
  if (me == 0) {
    if (out != 1) pld::wait(signal, {.expected = n});
    const auto sum = pl::load(data, {0}, {16});
    for (int peer = 0; peer < n; ++peer) {
      pld::remote_store(sum, data, {.peer = peer, .offsets = {32}});
      if (out != 2) pld::notify(signal, {.peer = peer, .offsets = {1}});
    }
  }
  if (out != 3) pld::wait(signal, {.offsets = {1}});
  (void)pl::load(data, {32}, {16});
});

auto barriers_between_phases = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> out) {
  const int n = pld::nranks(data), next = (pld::rank(data) + 1) % n;
  for (int round = 0; round < 2; ++round) {
    data = pl::store(pl::full<std::int32_t>({8}, round), {0}, data);
    if (out != 0) pld::barrier(signal);
    (void)pld::remote_load(data, {.peer = next, .shape = {8}});
    if (out != 1) pld::barrier(signal);
  }
});

auto request_and_answer = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> out) {
  const int me = pld::rank(data), n = pld::nranks(data);
  for (int round = 1; round <= 3; ++round)
    if (me != 0) {
      pld::put(data, {.peer = 0, .src = data, .dst_offsets = {8 * me}, .src_offsets = {60}, .shape = {4}});
      if (out != 0) pld::notify(signal, {.peer = 0, .offsets = {me}});
      if (out != 1) pld::wait(signal, {.offsets = {0}, .expected = round});
      (void)pl::read(data, {2});
    } else {
      for (int peer = 1; peer < n; ++peer) {
        if (out != 2) pld::wait(signal, {.offsets = {peer}, .expected = round});
        const auto question = pl::load(data, {8 * peer}, {4});
        pld::remote_store(question + 1, data, {.peer = peer});
        if (out != 3) pld::notify(signal, {.peer = peer, .offsets = {0}});
      }
    }
});

template <class Kernel>
void check_mutations(Kernel& kernel, int switches, std::initializer_list<int> rank_counts) {
  for (const int ranks : rank_counts)
    for (const std::uint64_t seed : {0, 1, 2}) {
      CAPTURE(ranks);
      CAPTURE(seed);
      CHECK(outcome(kernel, ranks, -1, seed) == "");
      for (int out = 0; out < switches; ++out) {
        const std::string message = outcome(kernel, ranks, out, seed);
        CAPTURE(out);
        CAPTURE(message);
        CHECK((contains(message, "race: ") || contains(message, "deadlock: ") ||
               contains(message, "signal: ") || contains(message, "never signalled")));
        CHECK(contains(message, "mutation_test.cpp:"));
      }
    }
}

}  // namespace

TEST_CASE("a ring of two buffers needs each of its signals") {
  BOTH_WAYS
  check_mutations(ring_of_two_buffers, 4, {3, 4});
}
TEST_CASE("a relay needs its fence and each of its signals") {
  BOTH_WAYS
  check_mutations(relay, 4, {3, 4});
}
TEST_CASE("a gather and a broadcast by hand need each of their signals") {
  BOTH_WAYS
  check_mutations(gather_then_publish, 4, {2, 4});
}
TEST_CASE("phases need both barriers") {
  BOTH_WAYS
  check_mutations(barriers_between_phases, 2, {2, 3});
}
TEST_CASE("requests and answers need each of their signals") {
  BOTH_WAYS
  check_mutations(request_and_answer, 4, {2, 4});
}
