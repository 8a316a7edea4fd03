// Collectives that the ranks do not make alike, on the model of AscendC: told as on the simulator.
#include "on_model.hpp"

using pld::Algorithm;
using pld::ReduceOp;
using remote::NR;
using support::contains;

namespace {

constexpr int WIDTH = 16;
using Data = pld::DistributedTensor<float, WIDTH>;
using Cells = pld::DistributedTensor<std::int32_t, WIDTH>;
using Out = pl::Out<pl::Tensor<float, NR, WIDTH>>;

/// What two ranks that run `call(data, cells)` end with.
template <class Call>
std::string failure(const Call& call, const char* platform = "a2a3model", const char* transport = "threads") {
  auto device = pl::jit([&](auto data, auto cells) { call(data, cells); });
  auto host = pl::jit.host([&](Out) {
    auto data = pld::window<float>(pld::alloc_window_buffer<float>({WIDTH}), {WIDTH});
    auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({WIDTH}), {WIDTH});
    for (auto r : pl::range(pld::world_size())) device(data, cells, pld::device = r);
  });
  pl::Array<float> y({2, WIDTH});
  pl::RunConfig config = remote::config(platform, 2);
  config.distributed.transport = transport;
  return support::message_of<pl::UserError>([&] { host(y, config); });
}

/// Both calls are named with their place, whichever rank comes first; the other line of the two: `line`.
void names_both(const std::string& message, const std::string& one, const std::string& other) {
  CAPTURE(message);
  CHECK(contains(message, "ranks make different collective calls, of window 0 (64 bytes a rank, "));
  CHECK(contains(message, " of rank 0 "));
  CHECK(contains(message, " of rank 1 "));
  CHECK(contains(message, one + " at "));
  CHECK(contains(message, other + " at "));
  CHECK(contains(message, "different_collectives_test.cpp:"));
  CHECK(contains(message,
                 "every rank makes the same calls in the same order, with the same shape and options"));
}

template <class Call>
void differ(const Call& call, const std::string& one, const std::string& other) {
  names_both(failure(call, "a2a3sim"), one, other);
  names_both(failure(call), one, other);
}

}  // namespace

TEST_CASE("another operation, algorithm or reduction of one rank is told with both calls") {
  differ(pl::jit.incore([](Data w, Cells) {
    if (pld::rank(w) == 1) pld::broadcast(w, {.root = 0});
    pld::allreduce(w);
  }),
         "pld::allreduce of 16 float by Sum", "pld::broadcast of 16 float from root 0");
  differ(pl::jit.incore([](Data w, Cells) {
    if (pld::rank(w) == 1)
      pld::allreduce(w, {.op = ReduceOp::Max});
    else
      pld::allreduce(w, {.algorithm = Algorithm::Ring});
  }),
         "pld::allreduce of 16 float by Max", "pld::allreduce of 16 float by Sum (ring)");
  differ(pl::jit.incore([](Data w, Cells) {
    pld::barrier(w);
    if (pld::rank(w) == 0)
      pld::send_recv(w, {.from = 0, .to = 1});
    else
      pld::send_recv(w, {.from = 1, .to = 0});
  }),
         "pld::send_recv of 16 float from rank 0 to rank 1",
         "pld::send_recv of 16 float from rank 1 to rank 0");
}

TEST_CASE("another size or root of one rank is told with both calls") {
  differ(pl::jit.incore([](Data w, Cells) {
    if (pld::rank(w) == 1)
      pld::allreduce(w.slice({0}, {8}));
    else
      pld::allreduce(w.slice({0}, {9}));
  }),
         "pld::allreduce of 8 float by Sum", "pld::allreduce of 9 float by Sum");
  differ(pl::jit.incore([](Data w, Cells) {
    if (pld::rank(w) == 1)
      pld::reduce(w, {.root = 0});
    else
      pld::reduce(w, {.root = 1});
  }),
         "pld::reduce of 16 float to root 0 by Sum", "pld::reduce of 16 float to root 1 by Sum");
}

TEST_CASE("a signal that one rank alone gives makes it another call") {
  differ(pl::jit.incore([](Data w, Cells cells) {
    if (pld::rank(w) == 1)
      pld::barrier(w, {.signal = cells});
    else
      pld::barrier(w);
  }),
         "pld::barrier", "pld::barrier with .signal");
}

TEST_CASE("ranks that are processes are told, too") {
  auto kernel = pl::jit.incore([](Data w, Cells) {
    if (pld::rank(w) == 1) pld::barrier(w);
    pld::allreduce(w);
  });
  CHECK(contains(failure(kernel, "a2a3model", "processes"),
                 "ranks make different collective calls, of window 0"));
}

TEST_CASE("a signal in the memory of the data is told at the call") {
  auto kernel = pl::jit.incore([](Data, Cells cells) {
    pld::barrier(cells, {.signal = cells});
    pld::allreduce(cells.slice({1}, {4}), {.signal = cells.slice({4}, {2})});
  });
  const std::string message = failure(kernel);
  CHECK(contains(
      message,
      "pld::allreduce: .signal is int32[2] in the memory of the data or the counts of the same call"));
  CHECK(contains(message, "different_collectives_test.cpp:"));
  // Which rank comes first is left to chance.
  const auto of_any_rank = [](const std::string& text) { return text.substr(0, text.rfind("; on rank ")); };
  CHECK(of_any_rank(message) == of_any_rank(failure(kernel, "a2a3sim")));
  CHECK(failure(pl::jit.incore([](Data, Cells cells) {
          pld::allreduce(cells.slice({0}, {4}), {.signal = cells.slice({4}, {2})});
        })) == "");
}

TEST_CASE("a cell of a signal that is not clear is told at the call") {
  auto kernel = pl::jit.incore([](Data w, Cells cells) {
    pld::notify(cells, {.peer = pld::rank(cells), .offsets = {0}, .value = 5});
    pld::allreduce(w, {.signal = cells});
  });
  for (const char* platform : {"a2a3sim", "a2a3model"}) {
    const std::string message = failure(kernel, platform);
    CHECK(contains(message, "pld::allreduce: cell 0 of .signal is "));
    CHECK(contains(message, "the cells of a collective's signal are its own"));
  }
}

TEST_CASE("a collective of a rank that is in another one of that window is told") {
  // The first block never gets out of its barrier.
  auto kernel = pl::jit.incore([](Data w, pl::Out<pl::Tensor<float, WIDTH>> y) {
    if (pld::rank(w) == 0) pld::barrier(w);
    y = pl::store(pl::load(w), y);
  });
  auto device = pl::jit([&](auto w, auto y) { pl::spmd(2, kernel, w, y); });
  auto host = pl::jit.host([&](Out y) {
    auto w = pld::window<float>(pld::alloc_window_buffer<float>({WIDTH}), {WIDTH});
    for (auto r : pl::range(pld::world_size())) device(w, y[r], pld::device = r);
  });
  pl::Array<float> y({2, WIDTH});
  const std::string message =
      support::message_of<pl::UserError>([&] { host(y, remote::config("a2a3model", 2)); });
  CHECK(contains(message, "pld::barrier of window 0"));
  CHECK(contains(message, "while rank 0 is in another collective of that window, in another block or task"));
}
