// Programs with accesses that nothing orders; race_test.cpp says what is told of each, wrong_programs_test.cpp puts
// them into the table.
#pragma once

#include "check.hpp"

namespace wrong {

using windows::Cells;
using windows::Data;

inline constexpr const char* race_file = __FILE__;

namespace {

// Each kernel stands behind the line that its test counts from.

constexpr int no_wait = __LINE__;
auto reads_own_part_without_waiting = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> size) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  pld::remote_store(pl::full<std::int32_t>({size}, 7), data, {.peer = next});
  pld::notify(signal, {.peer = next});
  (void)pl::load(data, {0}, {size});
  pld::wait(signal);
});

constexpr int no_notify = __LINE__;
auto loads_from_a_peer_without_waiting = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> size) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  data = pl::store(pl::full<std::int32_t>({size}, 7), {3}, data);
  (void)pld::remote_load(data, {.peer = next, .offsets = {2}, .shape = {size}});
  pld::barrier(signal);
});

constexpr int two_writers = __LINE__;
auto all_write_to_rank_zero = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> size) {
  pld::remote_store(pl::full<std::int32_t>({size}, 7), data, {.peer = 0, .offsets = {5}});
  pld::notify(signal, {.peer = 0});
  if (pld::rank(data) == 0) pld::wait(signal, {.expected = pld::nranks(data)});
});

constexpr int too_early = __LINE__;
auto writes_before_the_last_round_is_read = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> size) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  for (int round = 1; round <= 3; ++round) {
    pld::put(data, {.peer = next, .src = data.slice({32}, {size})});
    pld::notify(signal, {.peer = next});
    pld::wait(signal, {.expected = round});
    (void)pl::load(data, {0}, {size});
  }
});

constexpr int too_few = __LINE__;
auto waits_for_too_few = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> size) {
  const int me = pld::rank(data);
  if (me != 0) {
    pld::remote_store(pl::full<std::int32_t>({size}, me), data, {.peer = 0, .offsets = {8 * me}});
    pld::notify(signal, {.peer = 0});
  } else {
    pld::wait(signal, {.expected = pld::nranks(data) - 2});
    (void)pl::load(data);
  }
});

constexpr int other_cell = __LINE__;
auto waits_on_another_cell = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> size) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  pld::notify(signal, {.peer = next, .offsets = {1}});
  pld::remote_store(pl::full<std::int32_t>({size}, 7), data, {.peer = next});
  pld::notify(signal, {.peer = next, .offsets = {2}});
  pld::wait(signal, {.offsets = {1}});
  (void)pl::read(data, {size - 1});
});

constexpr int relayed = __LINE__;
auto relays_without_a_fence = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> size) {
  const int me = pld::rank(data);
  if (me == 0) {
    pld::remote_store(pl::full<std::int32_t>({size}, 7), data, {.peer = 2});
    pld::notify(signal, {.peer = 1});
  }
  if (me == 1) {
    pld::wait(signal);
    pld::notify(signal, {.peer = 2});
  }
  if (me == 2) {
    pld::wait(signal);
    (void)pl::load(data, {0}, {size});
  }
});

constexpr int overtaking = __LINE__;
auto writes_twice_without_a_fence = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> size) {
  if (pld::rank(data) == 0) {
    pld::remote_store(pl::full<std::int32_t>({size}, 1), data, {.peer = 1});
    pld::remote_store(pl::full<std::int32_t>({size}, 2), data, {.peer = 1});
    pld::notify(signal, {.peer = 1});
  }
  if (pld::rank(data) == 1) pld::wait(signal);
});

constexpr int against_collective = __LINE__;
auto writes_beside_a_collective = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> size) {
  if (pld::rank(data) == 1) pld::remote_store(pl::full<std::int32_t>({size}, 1), data, {.peer = 0});
  if (pld::rank(data) == 1) pld::notify(signal, {.peer = 0});
  pld::allreduce(data.slice({size - 1}, {4}));
  pld::remote_store(pl::full<std::int32_t>({size}, 1), data, {.peer = 0});
  pld::barrier(signal);
});

}  // namespace
}  // namespace wrong
