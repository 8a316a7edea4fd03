// What a program is told that uses windows wrongly, in native runs.
#include "support.hpp"

#include <numeric>

using support::contains;

namespace {

using Data = pld::DistributedTensor<float>;
using Cells = pld::DistributedTensor<std::int32_t>;

/// Runs `kernel(data, cells, n)` on two ranks, with windows float[2, 3] and int32[4]; gives what it fails with.
template <class Kernel>
std::string failure_of(const Kernel& kernel, int n = 0) {
  auto device = pl::jit([&](auto data, auto cells, auto number) { kernel(data, cells, number); });
  auto host = pl::jit.host([&](pl::Scalar<int> number) {
    auto data = pld::window<float>(pld::alloc_window_buffer<float>({2, 3}), {2, 3});
    auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    for (auto r : pl::range(pld::world_size())) device(data, cells, number, pld::device = r);
  });
  pl::RunConfig config{.eager = true};
  config.distributed.device_ids = {0, 1};
  return support::message_of<pl::UserError>([&] { host(n, config); });
}

}  // namespace

TEST_CASE("regions outside a window are refused with what was given") {
  auto load = pl::jit.incore([](Data data, Cells, pl::Scalar<int> n) {
    (void)pld::remote_load(data, {.peer = 0, .offsets = {0, 0}, .shape = {n, 1}});
  });
  CHECK(
      contains(failure_of(load, 3), "pld::remote_load of extent 3 on axis 0 of float[2, 3]; keep it inside"));
  auto flat = pl::jit.incore([](Data data, Cells, pl::Scalar<int> n) {
    (void)pld::remote_load(data, {.peer = 0, .offsets = {0, 0}, .shape = {n}});
  });
  CHECK(contains(failure_of(flat, 1),
                 "pld::remote_load with a shape of 1 extents from float[2, 3]; give one for"));
  auto store = pl::jit.incore([](Data data, Cells, pl::Scalar<int> n) {
    pld::remote_store(pl::zeros<float>({1, 3}), data, {.peer = 1, .offsets = {n, 0}});
  });
  CHECK(contains(failure_of(store, 2), "pld::remote_store"));
  CHECK(failure_of(store, 1) == "");
  auto deep = pl::jit.incore([](Data data, Cells, pl::Scalar<int> n) {
    pld::remote_store(pl::zeros<float>({1, 1, n}), data, {.peer = 1});
  });
  CHECK(contains(failure_of(deep, 1), "pld::remote_store of a tile of rank 3 into float[2, 3]"));
  auto offsets = pl::jit.incore(
      [](Data, Cells cells, pl::Scalar<int> n) { pld::notify(cells, {.peer = 0, .offsets = {0, n}}); });
  CHECK(contains(failure_of(offsets), "pld::notify with 2 offsets for int32[4]; give one for each axis"));
}

TEST_CASE("a put and a get between things that do not fit are refused") {
  auto other_dtype = pl::jit.incore(
      [](Data data, Cells cells, pl::Scalar<int>) { pld::put(data, {.peer = 0, .src = cells}); });
  CHECK(contains(failure_of(other_dtype),
                 "pld::put between float[2, 3] and int32[4]; both must have one dtype"));
  auto other_rank =
      pl::jit.incore([](Data data, Cells, pl::Scalar<int>) { pld::get(data[0], data, {.peer = 1}); });
  CHECK(failure_of(other_rank) == "");
  auto wide =
      pl::jit.incore([](Data data, Cells, pl::Scalar<int>) { pld::put(data[0], {.peer = 1, .src = data}); });
  CHECK(contains(failure_of(wide), "both must have one rank: take a part with x[i]"));
  auto shape = pl::jit.incore([](Data data, Cells, pl::Scalar<int> n) {
    pld::put(data, {.peer = 1, .src = data, .dst_offsets = {0, 0}, .src_offsets = {0, 0}, .shape = {n}});
  });
  CHECK(contains(failure_of(shape, 2), "pld::put with a shape of 1 extents for float[2, 3]"));
}

TEST_CASE("a put in chunks of a negative size or without buffers is refused") {
  auto chunk = pl::jit.incore(
      [](Data data, Cells, pl::Scalar<int> n) { pld::put(data, {.peer = 0, .src = data, .chunk = n}); });
  CHECK(contains(failure_of(chunk, -1), ".chunk is -1; give a number of elements, or 0 for as many as fit"));
  CHECK(failure_of(chunk, 2) == "");
  auto pipeline = pl::jit.incore(
      [](Data data, Cells, pl::Scalar<int> n) { pld::get(data, data, {.peer = 1, .pipeline = n}); });
  CHECK(contains(failure_of(pipeline, 0), ".pipeline is 0; give a number of buffers, 1 or more"));
  CHECK(failure_of(pipeline, 1) == "");
}

TEST_CASE("signals are int32 and their values fit") {
  auto large = pl::jit.incore([](Data, Cells cells, pl::Scalar<int>) {
    pld::notify(cells, {.peer = 0, .value = std::int64_t{1} << 40});
  });
  CHECK(contains(failure_of(large),
                 "pld::notify: the value 1099511627776 does not fit a signal cell, which is an int32"));
}

TEST_CASE("collectives of parts that they cannot move are refused") {
  auto root = pl::jit.incore([](Data data, Cells, pl::Scalar<int> n) { pld::broadcast(data, {.root = n}); });
  CHECK(contains(failure_of(root, 2),
                 "pld::broadcast: root 2 of a window that 2 ranks share; ranks are 0 to 1"));
  auto rows = pl::jit.incore([](Data, Cells cells, pl::Scalar<int>) { pld::allgather(cells); });
  CHECK(contains(failure_of(rows),
                 "pld::allgather of int32[4] among 2 ranks; its first extent is the number of ranks"));
  auto strided =
      pl::jit.incore([](Data data, Cells, pl::Scalar<int>) { pld::allreduce(data.slice({0, 0}, {2, 2})); });
  CHECK(contains(failure_of(strided), "pld::allreduce of float[2, 2], a part of a window that is not dense"));
}

TEST_CASE("a reduction of bools is refused") {
  auto kernel = pl::jit.incore([](pld::DistributedTensor<bool> flags) { pld::allreduce(flags); });
  auto device = pl::jit([&](auto flags) { kernel(flags); });
  auto host = pl::jit.host([&] {
    auto flags = pld::window<bool>(pld::alloc_window_buffer<bool>({2}), {2});
    for (auto r : pl::range(pld::world_size())) device(flags, pld::device = r);
  });
  const std::string message =
      support::message_of<pl::DtypeError>([&] { host(pl::RunConfig{.eager = true}); });
  CHECK(contains(message, "a reduction of bool; convert it with pl::cast<std::int32_t>"));
}

TEST_CASE("operations between ranks outside of a kernel say where they belong") {
  auto host = pl::jit.host([] {
    auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({1}), {1});
    pld::notify(cells, {.peer = 0});
  });
  CHECK(contains(support::message_of<pl::LevelError>([&] { host(pl::RunConfig{.eager = true}); }),
                 "pld::notify was called in a host orchestrator; ranks meet in pl::jit.incore kernels"));
  auto asks = pl::jit.incore([](Data, Cells, pl::Scalar<int>) { (void)pld::rank(); });
  CHECK(contains(failure_of(asks), "pld::rank() was called without a window; write pld::rank(window)"));
  CHECK(contains(support::message_of<pl::LevelError>([] { pld::fence(); }),
                 "pld::fence was called in ordinary C++"));
  CHECK(contains(support::message_of<pl::LevelError>([] { (void)pld::alloc_window_buffer(8); }),
                 "pld::alloc_window_buffer was called outside a host orchestrator"));
}

TEST_CASE("a buffer of a negative size, and a dispatch without a window, are refused") {
  auto negative = pl::jit.host([] { (void)pld::alloc_window_buffer(-4); });
  CHECK(contains(support::message_of<pl::ShapeError>([&] { negative(pl::RunConfig{.eager = true}); }),
                 "a window buffer of -4 bytes; its size is 0 or more"));
  auto kernel = pl::jit.incore([](Data data) { pld::barrier(data); });
  auto device = pl::jit([&](auto data) { kernel(data); });
  auto empty = pl::jit.host([&] { device(Data(), pld::device = 0); });
  CHECK(contains(support::message_of<pl::PlanError>([&] { empty(pl::RunConfig{.eager = true}); }),
                 "a dispatch was given a pld::DistributedTensor without a window"));
}

TEST_CASE("a window that goes to a rank it was not compiled for is refused") {
  auto kernel = pl::jit.incore([](Cells cells) { pld::barrier(cells); });
  auto device = pl::jit([&](auto cells) { kernel(cells); });
  auto host = pl::jit.host([&] {
    auto all = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({1}), {1});
    auto first = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({1}), {1});
    for (auto r : pl::range(pld::world_size())) device(all, pld::device = r);
    device(first, pld::device = pl::recording() ? 0 : 1);
  });
  pl::RunConfig config{.eager = true};
  config.distributed.device_ids = {0, 1};
  CHECK(contains(support::message_of<pl::PlanError>([&] { host(config); }),
                 "is not shared by rank 1: when the program was compiled it was not dispatched there"));
}
