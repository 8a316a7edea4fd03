// Programs that misuse signals; signal_test.cpp says what is told of each, wrong_programs_test.cpp puts them into the
// table.
#pragma once

#include "check.hpp"

namespace wrong {

using windows::Cells;
using windows::Data;

inline constexpr const char* signal_file = __FILE__;

namespace {

constexpr int many_set = __LINE__;
auto several_set_one_cell = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> cell) {
  const int me = pld::rank(data);
  if (me != 0)
    pld::notify(signal, {.peer = 0, .offsets = {cell}, .value = me, .op = pld::NotifyOp::Set});
  else
    pld::wait(signal, {.offsets = {cell}});
});

constexpr int set_and_add = __LINE__;
auto one_sets_and_one_adds = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> cell) {
  const int me = pld::rank(data);
  if (me == 1) pld::notify(signal, {.peer = 0, .offsets = {cell}, .value = 5, .op = pld::NotifyOp::Set});
  if (me == 2) pld::notify(signal, {.peer = 0, .offsets = {cell}});
  if (me == 0) pld::wait(signal, {.offsets = {cell}});
});

constexpr int own_store = __LINE__;
auto stores_into_its_signal = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> cell) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  pld::notify(signal, {.peer = next, .offsets = {cell}});
  pld::wait(signal, {.offsets = {cell}});
  signal = pl::store(pl::zeros<std::int32_t>({1}), {cell}, signal);
});

constexpr int plain_flag = __LINE__;
auto signals_by_a_store = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> cell) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  pld::remote_store(pl::full<std::int32_t>({1}, 1), signal, {.peer = next, .offsets = {cell}});
  pld::wait(signal, {.offsets = {cell}});
});

constexpr int in_collective = __LINE__;
auto signals_in_a_collectives_data = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> cell) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  pld::notify(signal, {.peer = next, .offsets = {cell}, .op = pld::NotifyOp::Set});
  pld::wait(signal, {.offsets = {cell}});
  pld::allreduce(signal);
});

constexpr int reset_first = __LINE__;
auto resets_at_the_start = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> cell) {
  const int me = pld::rank(data), next = (me + 1) % pld::nranks(data);
  pld::notify(signal, {.peer = me, .offsets = {cell}, .value = 0, .op = pld::NotifyOp::Set});
  pld::notify(signal, {.peer = next, .offsets = {cell}});
  pld::wait(signal, {.offsets = {cell}});
});

constexpr int reset_between = __LINE__;
auto resets_after_each_round = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> cell) {
  const int me = pld::rank(data), next = (me + 1) % pld::nranks(data);
  for (int round = 0; round < 3; ++round) {
    pld::notify(signal, {.peer = next, .offsets = {cell}});
    pld::wait(signal, {.offsets = {cell}});
    pld::notify(signal, {.peer = me, .offsets = {cell}, .value = 0, .op = pld::NotifyOp::Set});
  }
});

constexpr int exact_value = __LINE__;
auto waits_for_exactly_one_of_two = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> cell) {
  if (pld::rank(data) == 1) {
    pld::notify(signal, {.peer = 0, .offsets = {cell}});
    if (pld::nranks(data) > 2) pld::wait(signal, {.offsets = {9}});
    pld::notify(signal, {.peer = 0, .offsets = {cell}});
  }
  if (pld::rank(data) == 0) pld::wait(signal, {.offsets = {cell}, .expected = 1, .cmp = pld::WaitCmp::Eq});
  if (pld::rank(data) == 2) pld::notify(signal, {.peer = 1, .offsets = {9}});
});

constexpr int same_value = __LINE__;
auto waits_for_one_in_every_round = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> cell) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  for (int round = 0; round < 3; ++round) {
    pld::notify(signal, {.peer = next, .offsets = {cell}});
    pld::wait(signal, {.offsets = {cell}});
  }
});

constexpr int same_set = __LINE__;
auto sets_one_in_every_round = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> cell) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  for (int round = 0; round < 2; ++round) {
    pld::notify(signal, {.peer = next, .offsets = {cell}, .value = 1, .op = pld::NotifyOp::Set});
    pld::wait(signal, {.offsets = {cell}, .expected = 1, .cmp = pld::WaitCmp::Eq});
  }
});

constexpr int silent_store = __LINE__;
auto stores_and_tells_nobody = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> size) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  pld::notify(signal, {.peer = next});
  pld::wait(signal);
  pld::remote_store(pl::full<std::int32_t>({size}, 1), data, {.peer = next});
});

constexpr int silent_put = __LINE__;
auto puts_and_tells_another = pl::jit.incore([](Data data, Cells signal, pl::Scalar<int> size) {
  if (pld::rank(data) == 0) {
    pld::put(data, {.peer = 1, .src = data, .dst_offsets = {0}, .src_offsets = {1}, .shape = {size}});
    pld::notify(signal, {.peer = 2});
  }
  if (pld::rank(data) == 2) pld::wait(signal);
});

}  // namespace
}  // namespace wrong
