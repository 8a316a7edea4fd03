// What goes wrong between ranks on the model is told as on the simulator.
#include "on_model.hpp"

using remote::NR;
using support::contains;

namespace {

constexpr int WIDTH = 16;
using Data = pld::DistributedTensor<float, WIDTH>;
using Rows = pld::DistributedTensor<float, NR, WIDTH>;
using Cells = pld::DistributedTensor<std::int32_t, NR>;
using Out = pl::Out<pl::Tensor<float, NR, WIDTH>>;

/// What ranks that run `kernel(data, rows, cells)` end with.
template <class Kernel>
std::string failure(const Kernel& kernel, int ranks = 3, const char* platform = "a2a3model") {
  auto device = pl::jit([&](auto data, auto rows, auto cells) { kernel(data, rows, cells); });
  auto host = pl::jit.host([&](Out) {
    const int n = pld::world_size();
    auto data = pld::window<float>(pld::alloc_window_buffer<float>({WIDTH}), {WIDTH});
    auto rows = pld::window<float>(pld::alloc_window_buffer<float>({n, WIDTH}), {n, WIDTH});
    auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({n}), {n});
    for (auto r : pl::range(pld::world_size())) device(data, rows, cells, pld::device = r);
  });
  pl::Array<float> y({ranks, WIDTH});
  return support::message_of<pl::UserError>([&] { host(y, remote::config(platform, ranks)); });
}

}  // namespace

TEST_CASE("a notify that is missing is a deadlock, in the words of the simulator") {
  auto kernel = pl::jit.incore([](Data, Rows, Cells cells) {
    const int me = pld::rank(cells);
    if (me != 1) pld::notify(cells, {.peer = (me + 1) % pld::nranks(cells)});
    pld::wait(cells);
  });
  const std::string message = failure(kernel);
  CHECK(contains(message, "deadlock: 1 wait that nothing can end"));
  CHECK(contains(message, "rank 2 at "));
  CHECK(contains(message, "mistakes_test.cpp:"));
  CHECK(contains(message, "pld::wait for cell 0 of window 2"));
  CHECK(contains(message, "to be >= 1; it is 0, and no rank has notified it"));
  CHECK(contains(message, "finished: rank 0, 1"));
  CHECK(message == failure(kernel, 3, "a2a3sim"));
}

TEST_CASE("a wait for more signals than ranks is a deadlock with the last writer of the cell") {
  const std::string message = failure(pl::jit.incore([](Data, Rows, Cells cells) {
    const int n = pld::nranks(cells);
    if (pld::rank(cells) == 0) pld::notify(cells, {.peer = 1, .offsets = {1}});
    if (pld::rank(cells) == 1) pld::wait(cells, {.offsets = {1}, .expected = n});
  }));
  CHECK(contains(message, "pld::wait for cell 1 of window 2"));
  CHECK(contains(message, "to be >= 3; it is 1, last written by rank 0 at "));
}

TEST_CASE(
    "a wait for a value that only the run knows is told with that value, in the words of the simulator") {
  auto kernel = pl::jit.incore([](Data, Rows, Cells cells) {
    const int me = pld::rank(cells), n = pld::nranks(cells);
    pld::notify(cells, {.peer = (me + 1) % n, .value = 2});
    pld::barrier(cells);
    pld::wait(cells, {.expected = me + 3});
  });
  const std::string message = failure(kernel);
  CHECK(contains(message, "to be >= 3; it is 2, last written by rank 2 at "));
  CHECK(contains(message, "to be >= 5; it is 2, last written by rank 1 at "));
  CHECK(message == failure(kernel, 3, "a2a3sim"));
  auto exactly = pl::jit.incore([](Data, Rows, Cells cells) {
    const int me = pld::rank(cells);
    pld::wait(cells, {.offsets = {1}, .expected = 7 - me, .cmp = pld::WaitCmp::Eq});
  });
  CHECK(contains(failure(exactly), "to be == 5; it is 0, and no rank has notified it"));
  CHECK(failure(exactly) == failure(exactly, 3, "a2a3sim"));
}

TEST_CASE("a barrier that one rank does not call is a deadlock that names who has finished") {
  const std::string message = failure(pl::jit.incore([](Data data, Rows, Cells) {
    if (pld::rank(data) != 1) pld::barrier(data);
  }));
  CHECK(contains(message, "deadlock: 2 waits"));
  CHECK(contains(message, "pld::barrier of window 0"));
  CHECK(contains(message, "other ranks have not called it"));
  CHECK(contains(message, "finished: rank 1"));
}

TEST_CASE("a wait that is missing is a race between ranks") {
  // The second pair of signals makes the two kernels run at the same time.
  const std::string message = failure(pl::jit.incore([](Data data, Rows rows, Cells cells) {
    const int me = pld::rank(data), n = pld::nranks(data);
    pld::notify(cells, {.peer = (me + 1) % n, .offsets = {0}});
    pld::wait(cells, {.offsets = {0}});
    pld::remote_store(pl::full<float>({WIDTH}, 1), data, {.peer = (me + 1) % n});
    (void)pl::store(pl::load(data), rows[me]);
    pld::notify(cells, {.peer = (me + 1) % n, .offsets = {1}});
    pld::wait(cells, {.offsets = {1}});
  }),
                                      2);
  CHECK(contains(message, "race between ranks: "));
  CHECK(contains(
      message,
      "nothing orders the two ranks: pld::notify behind the one and pld::wait in front of the other"));
  CHECK(contains(message, "mistakes_test.cpp:"));
}

TEST_CASE("a kernel that fails ends the waits of the others") {
  const std::string message = failure(pl::jit.incore([](Data data, Rows, Cells cells) {
    const int next = pld::rank(data) + 1;
    pld::remote_store(pl::zeros<float>({WIDTH}), data, {.peer = next});
    pld::notify(cells, {.peer = next});
    pld::wait(cells, {.expected = 2});
  }));
  CHECK(contains(message, "pld::remote_store: peer 3 of a window that 3 ranks share; peers are 0 to 2"));
  CHECK(contains(message, "on rank 2"));
}

TEST_CASE("roots, rows and cells out of range are told by kernels of the model, too") {
  CHECK(contains(failure(pl::jit.incore(
                     [](Data data, Rows, Cells) { pld::broadcast(data, {.root = pld::nranks(data)}); })),
                 "pld::broadcast: root 3 of a window that 3 ranks share; ranks are 0 to 2"));
  CHECK(contains(
      failure(pl::jit.incore([](Data data, Rows, Cells) { pld::allgather(data); })),
      "pld::allgather of float[16] among 3 ranks; its first extent is the number of ranks, one row each"));
  CHECK(
      contains(failure(pl::jit.incore([](Data, Rows, Cells cells) {
                 pld::notify(cells, {.peer = 0, .offsets = {pld::nranks(cells)}});
               })),
               "pld::notify: offset 3 with extent 1 on axis 0 is not inside the tensor, whose extent is 3"));
}

TEST_CASE("what has no lowering is refused by name") {
  CHECK(contains(failure(pl::jit.incore([](Data data, Rows, Cells cells) {
                   for (auto i : pl::range(pld::nranks(data)))
                     if (i > 0) pld::defer_wait(cells, {.expected = 1});
                 })),
                 "it stands in control flow, and this target looks at the cell at the end of the kernel"));
  CHECK(contains(failure(pl::jit.incore([](Data data, Rows, Cells cells) {
                   if (pl::block_idx() == 0) pld::wait(cells);
                   data = pl::store(pl::zeros<float>({WIDTH}), data);
                 })),
                 "waits for other ranks and asks for its block (pl::block_idx)"));
}

TEST_CASE("a window of more ranks than a context holds is refused") {
  auto kernel = pl::jit.incore([](Data data, Rows, Cells) {
    if (pld::rank(data) == 0) pld::fence();
  });
  CHECK(contains(failure(kernel, 65),
                 "AscendC kernels reach windows of up to 64 ranks, and 65 share window 0"));
}
