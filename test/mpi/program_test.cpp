// A program whose ranks are the processes of mpirun: results, host callbacks, workers, and what goes wrong.
#include "mpi.hpp"

#include <chrono>
#include <ctime>
#include <stdexcept>
#include <thread>

using support::contains;
using windows::message_of;

namespace {

constexpr auto NR = pl::dynamic("NR");
using Rows = pl::Tensor<float, NR, 4>;
using Row = pl::Tensor<float, 4>;
using Cells = pld::DistributedTensor<std::int32_t, 4>;

auto add = pl::jit.incore(
    [](Row x, pl::Out<Row> y, pl::Scalar<float> a) { y = pl::store(pl::load(x) + a, {0}, y); });
auto add_device = pl::jit([](auto x, auto y, auto a) { add(x, y, a); });
/// Row r of y is row r of x and r + 1.
auto add_host = pl::jit.host([](Rows x, pl::Out<Rows> y) {
  for (auto r : pl::range(pld::world_size()))
    add_device(x[r], y[r], static_cast<float>(static_cast<int>(r) + 1), pld::device = r);
});

bool is_right(const pl::Array<float>& x, const pl::Array<float>& y, int r) {
  for (int i = 0; i < 4; ++i)
    if (y(r, i) != x(r, i) + static_cast<float>(r + 1)) return false;
  return true;
}

/// A program on MPI still works.
void check_usable() {
  const auto x = windows::numbers({mpi::processes(), 4});
  pl::Array<float> y({mpi::processes(), 4});
  add_host(x, y, mpi::config());
  for (int r = 0; r < mpi::processes(); ++r) CHECK(is_right(x, y, r));
}

}  // namespace

TEST_CASE("every process holds the whole result") {
  BOTH_WAYS
  check_usable();
}

TEST_CASE("every process holds what the body of a pl::at has written, by whatever operation") {
  BOTH_WAYS
  auto device = pl::jit([](pl::Out<Row> stored, pl::Out<Row> written, pl::Out<Row> got,
                           pld::DistributedTensor<float, 4> w, Cells cells) {
    pl::at(pl::Level::core_group, [&] {
      const int me = pld::rank(w), next = (me + 1) % pld::nranks(w);
      const auto tile = pl::full<float>({4}, pl::cast<float>(me + 1));
      stored = pl::store(tile, {0}, stored);
      for (int i = 0; i < 4; ++i) written = pl::write(written, {i}, pl::cast<float>(10 * me + i));
      w = pl::store(tile, {0}, w);
      pld::barrier(w, {.signal = cells});
      pld::get(got, w, {.peer = next});
    });
  });
  auto host = pl::jit.host([&](pl::Out<Rows> stored, pl::Out<Rows> written, pl::Out<Rows> got) {
    const int n = pld::world_size();
    auto w = pld::window<float>(pld::alloc_window_buffer<float>({4}), {4});
    auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    for (auto r : pl::range(n)) device(stored[r], written[r], got[r], w, cells, pld::device = r);
  });
  const int n = mpi::processes();
  pl::Array<float> stored({n, 4}), written({n, 4}), got({n, 4});
  host(stored, written, got, mpi::config());
  for (int r = 0; r < n; ++r)
    for (int i = 0; i < 4; ++i) {
      CHECK(stored(r, i) == static_cast<float>(r + 1));
      CHECK(written(r, i) == static_cast<float>(10 * r + i));
      CHECK(got(r, i) == static_cast<float>((r + 1) % n + 1));
    }
}

TEST_CASE("with .results = \"local\" a process holds the result of its own rank alone") {
  windows::natively = true;
  const auto x = windows::numbers({mpi::processes(), 4});
  pl::Array<float> y({mpi::processes(), 4}, -1.0f);
  pl::RunConfig config = mpi::config();
  config.distributed.results = "local";
  add_host(x, y, config);
  for (int r = 0; r < mpi::processes(); ++r) {
    if (r == mpi::own_rank())
      CHECK(is_right(x, y, r));
    else
      CHECK(y(r, 0) == -1.0f);
  }
}

TEST_CASE("a host callback runs on rank 0, sees what all ranks have written, and changes it for all") {
  windows::natively = true;
  int calls = 0;
  auto host = pl::jit.host([&](Rows x, pl::Out<Rows> y, pl::Out<Rows> z) {
    for (auto r : pl::range(pld::world_size())) add_device(x[r], y[r], 1.0f, pld::device = r);
    pl::host_callback(
        [&](pl::Tensor<float> now) {
          ++calls;
          for (int r = 0; r < mpi::processes(); ++r) now.data()[4 * r] *= 10.0f;
        },
        y);
    for (auto r : pl::range(pld::world_size())) add_device(y[r], z[r], 1.0f, pld::device = r);
  });
  const auto x = windows::numbers({mpi::processes(), 4});
  pl::Array<float> y({mpi::processes(), 4}), z({mpi::processes(), 4});
  host(x, y, z, mpi::config());
  CHECK(calls == (mpi::own_rank() == 0 ? 1 : 0));
  for (int r = 0; r < mpi::processes(); ++r) {
    CHECK(y(r, 0) == (x(r, 0) + 1) * 10);
    CHECK(z(r, 0) == (x(r, 0) + 1) * 10 + 1);
    CHECK(z(r, 3) == x(r, 3) + 2);
  }
}

TEST_CASE("an error of one rank is thrown in every process, and the program stays usable") {
  windows::natively = true;
  const int last = mpi::processes() - 1;
  auto kernel = pl::jit.incore([last](Cells signal) {
    if (pld::rank(signal) == last) pld::notify(signal, {.peer = 100});
    pld::wait(signal);
  });
  auto device = pl::jit([&](auto signal) { kernel(signal); });
  auto host = pl::jit.host([&](pl::Out<Rows>) {
    auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    for (auto r : pl::range(pld::world_size())) device(signal, pld::device = r);
  });
  pl::Array<float> y({mpi::processes(), 4});
  for (int round = 0; round < 3; ++round) {
    const auto message = support::message_of<pl::CommError>([&] { host(y, mpi::config()); });
    CHECK(contains(message, "pld::notify: peer 100 of a window that"));
    CHECK(contains(message, "program_test.cpp:"));
    CHECK(contains(message, "; on rank " + std::to_string(last)));
    check_usable();
  }
}

TEST_CASE("an exception of the user's in a host callback is thrown in every process") {
  windows::natively = true;
  auto host = pl::jit.host([&](Rows x, pl::Out<Rows> y) {
    for (auto r : pl::range(pld::world_size())) add_device(x[r], y[r], 1.0f, pld::device = r);
    pl::host_callback([](pl::Tensor<float>) { throw std::out_of_range("no such token"); }, y);
  });
  const auto x = windows::numbers({mpi::processes(), 4});
  pl::Array<float> y({mpi::processes(), 4});
  CHECK_THROWS_WITH_AS(host(x, y, mpi::config()), "no such token", std::out_of_range);
  check_usable();
}

TEST_CASE("a program in a host callback on MPI is refused, since the callback runs on rank 0 alone") {
  windows::natively = true;
  const auto x = windows::numbers({mpi::processes(), 4});
  pl::Array<float> y({mpi::processes(), 4});
  auto host = pl::jit.host([&](Rows in, pl::Out<Rows> out) {
    for (auto r : pl::range(pld::world_size())) add_device(in[r], out[r], 1.0f, pld::device = r);
    pl::host_callback([&](pl::Tensor<float>) { add_host(x, y, mpi::config()); }, out);
  });
  const auto message = support::message_of<pl::LevelError>([&] { host(x, y, mpi::config()); });
  CHECK(contains(message,
                 "was called in a host callback, which runs on rank 0 alone where the transport is \"mpi\""));
  CHECK(contains(message, "call it behind the program that calls back"));
  check_usable();
}

TEST_CASE("a wait that nothing can end is reported in every process, in the words of threads") {
  windows::natively = true;
  if (mpi::processes() < 2) return;
  auto kernel = pl::jit.incore([](Cells signal) {
    if (pld::rank(signal) == 0)
      pld::wait(signal, {.offsets = {2}, .expected = 100});
    else
      pld::notify(signal, {.peer = 0, .offsets = {2}});
  });
  auto device = pl::jit([&](auto signal) { kernel(signal); });
  auto host = pl::jit.host([&](pl::Out<Rows>) {
    auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    for (auto r : pl::range(pld::world_size())) device(signal, pld::device = r);
  });
  pl::Array<float> y({mpi::processes(), 4});
  const auto message = support::message_of<pl::CommError>([&] { host(y, mpi::config()); });
  CHECK(contains(message, "deadlock: 1 wait "));
  CHECK(contains(message, "pld::wait for cell 2 of window 0"));
  CHECK(contains(message,
                 "to be >= 100; it is " + std::to_string(mpi::processes() - 1) + ", last written by rank "));
  CHECK(contains(message, "program_test.cpp:"));
  CHECK(contains(message, "finished: rank 1"));
  check_usable();
}

TEST_CASE("a rank that waits over MPI uses little CPU time, and a signal wakes it") {
  windows::natively = true;
  if (mpi::processes() < 2) return;
  auto kernel = pl::jit.incore([](Cells signal) {
    if (pld::rank(signal) == 0)
      for (int peer = 1; peer < pld::nranks(signal); ++peer) pld::notify(signal, {.peer = peer});
    else
      pld::wait(signal);
  });
  bool recorded = false;
  auto device = pl::jit([&](auto signal) {
    if (recorded && mpi::own_rank() == 0) std::this_thread::sleep_for(std::chrono::seconds(2));
    kernel(signal);
  });
  auto host = pl::jit.host([&](pl::Out<Rows>) {
    auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    for (auto r : pl::range(pld::world_size())) device(signal, pld::device = r);
  });
  pl::Array<float> y({mpi::processes(), 4});
  const auto program = host.compile(y, mpi::config());
  recorded = true;
  const std::clock_t before = std::clock();
  program(y);
  const double used = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  MESSAGE("CPU seconds in two of waiting: ", used);
  CHECK(used < 0.5);
}

TEST_CASE("ranks that make different collective calls over MPI are told which") {
  windows::natively = true;
  if (mpi::processes() < 2) return;
  auto kernel = pl::jit.incore([](pld::DistributedTensor<float, 4> w) {
    if (pld::rank(w) == 1)
      pld::allreduce(w, {.op = pld::ReduceOp::Max});
    else
      pld::allreduce(w);
  });
  auto device = pl::jit([&](auto w) { kernel(w); });
  auto host = pl::jit.host([&](pl::Out<Rows>) {
    auto w = pld::window<float>(pld::alloc_window_buffer<float>({4}), {4});
    for (auto r : pl::range(pld::world_size())) device(w, pld::device = r);
  });
  pl::Array<float> y({mpi::processes(), 4});
  const auto message = support::message_of<pl::CommError>([&] { host(y, mpi::config()); });
  CHECK(contains(message, "ranks make different collective calls"));
  CHECK(contains(message, "pld::allreduce of 4 float by Sum at "));
  CHECK(contains(message, "pld::allreduce of 4 float by Max at "));
  CHECK(contains(message, "program_test.cpp:"));
  check_usable();
}

TEST_CASE(
    "ranks that give different .signal cells to one collective over MPI are told which rank gave which") {
  BOTH_WAYS
  if (mpi::processes() == 1) return;
  using Signals = pld::DistributedTensor<std::int32_t, NR>;
  auto kernel = pl::jit.incore([](pld::DistributedTensor<float, 4> w, Signals one, Signals other) {
    if (pld::rank(w) == 1)
      pld::allreduce(w, {.signal = other});
    else
      pld::allreduce(w, {.signal = one});
  });
  auto device = pl::jit([&](auto w, auto one, auto other) { kernel(w, one, other); });
  auto host = pl::jit.host([&](pl::Out<Rows>) {
    const int ranks = mpi::processes();
    const auto cells = [&] {
      return pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({ranks}), {ranks});
    };
    auto w = pld::window<float>(pld::alloc_window_buffer<float>({4}), {4});
    auto one = cells(), other = cells();
    for (auto r : pl::range(pld::world_size())) device(w, one, other, pld::device = r);
  });
  pl::Array<float> y({mpi::processes(), 4});
  const std::string message = message_of([&] { host(y, mpi::config()); });
  CHECK(contains(message, "ranks make different collective calls, of window 0 ("));
  CHECK(contains(message,
                 "call 1 of rank 1 is pld::allreduce of 4 float by Sum with .signal = the cells from 0 of "
                 "window 2 ("));
  CHECK(contains(message, ".signal = the cells from 0 of window 1 ("));
  check_usable();
}

TEST_CASE("a collective that a rank leaves out is a deadlock over MPI, too") {
  windows::natively = true;
  if (mpi::processes() < 2) return;
  auto kernel = pl::jit.incore([](pld::DistributedTensor<float, 4> w) {
    if (pld::rank(w) != 1) pld::barrier(w);
  });
  auto device = pl::jit([&](auto w) { kernel(w); });
  auto host = pl::jit.host([&](pl::Out<Rows>) {
    auto w = pld::window<float>(pld::alloc_window_buffer<float>({4}), {4});
    for (auto r : pl::range(pld::world_size())) device(w, pld::device = r);
  });
  pl::Array<float> y({mpi::processes(), 4});
  const auto begin = std::chrono::steady_clock::now();
  const auto message = support::message_of<pl::CommError>([&] { host(y, mpi::config()); });
  CHECK(contains(message, "pld::barrier of window 0"));
  CHECK(contains(message, "other ranks have not called it"));
  CHECK(contains(message, "finished: rank 1"));
  // A hang would never end; three seconds are promised, and a loaded machine gets more.
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(60));
  check_usable();
}

TEST_CASE("processes that compile different programs are told the ranks and the first difference") {
  windows::natively = true;
  if (mpi::processes() < 2) return;
  const std::int64_t columns = mpi::own_rank() == 1 ? 5 : 4;
  auto kernel = pl::jit.incore([](pl::Out<pl::Tensor<float>> y) { y = pl::store(pl::load(y), y); });
  auto device = pl::jit([&](auto y) { kernel(y); });
  auto host = pl::jit.host([&](pl::Out<pl::Tensor<float>> y) {
    for (auto r : pl::range(pld::world_size())) device(y[r], pld::device = r);
  });
  pl::Array<float> y({mpi::processes(), columns});
  const auto message = support::message_of<pl::PlanError>([&] { host(y, mpi::config()); });
  CHECK(contains(message, "ranks 0 and 1 have compiled different programs: line "));
  CHECK(contains(message, "float[4]"));
  CHECK(contains(message, "float[5]"));
  CHECK(contains(message, "every process must call the same programs with equal arguments"));
  check_usable();
}

TEST_CASE("processes that run different programs are told what each does") {
  windows::natively = true;
  if (mpi::processes() < 2) return;
  auto other_host = pl::jit.host([](Rows x, pl::Out<Rows> y) {
    for (auto r : pl::range(pld::world_size())) add_device(x[r], y[r], 5.0f, pld::device = r);
  });
  const auto x = windows::numbers({mpi::processes(), 4});
  pl::Array<float> y({mpi::processes(), 4});
  const auto first = add_host.compile(x, y, mpi::config());
  const auto second = other_host.compile(x, y, mpi::config());
  const auto message = support::message_of<pl::CommError>([&] {
    if (mpi::own_rank() == 1)
      second(x, y);
    else
      first(x, y);
  });
  CHECK(contains(message, "the processes of a program on transport mpi do different things: rank "));
  CHECK(contains(message, " runs the program defined at "));
  CHECK(contains(message, "every process must make the same calls in the same order, with equal arguments"));
}

TEST_CASE("another number of device ids than of processes is an error with both") {
  windows::natively = true;
  pl::Array<float> x({mpi::processes() + 1, 4}), y({mpi::processes() + 1, 4});
  const auto message =
      support::message_of<pl::ConfigError>([&] { add_host(x, y, mpi::config(mpi::processes() + 1)); });
  const int n = mpi::processes();
  CHECK(contains(message, std::to_string(n) + (n == 1 ? " process was" : " processes were") +
                              " started and " + std::to_string(n + 1) + " device ids are given"));
  CHECK(contains(message, "start it with mpirun -n " + std::to_string(n + 1)));
}

TEST_CASE(
    "on the model kernels without windows run on MPI, and windows are refused, with where they can be used") {
  windows::natively = false;
  pl::RunConfig config = mpi::config();
  config.platform = "a2a3model";
  const auto x = windows::numbers({mpi::processes(), 4});
  pl::Array<float> y({mpi::processes(), 4});
  add_host(x, y, config);
  for (int r = 0; r < mpi::processes(); ++r) CHECK(is_right(x, y, r));
  if (mpi::processes() < 2) return;  // the own part has an address
  auto kernel = pl::jit.incore(
      [](Row a, pld::DistributedTensor<float, 4> w) { pld::put(w, {.peer = pld::rank(w), .src = a}); });
  auto device = pl::jit([&](auto a, auto w) { kernel(a, w); });
  auto host = pl::jit.host([&](Rows a, pl::Out<Rows>) {
    auto w = pld::window<float>(pld::alloc_window_buffer<float>({4}), {4});
    for (auto r : pl::range(pld::world_size())) device(a[r], w, pld::device = r);
  });
  const std::string message = message_of([&] { host(x, y, config); });
  CHECK(contains(message,
                 "on platform \"a2a3model\" a kernel reaches windows by address, which the transport \"mpi\" "
                 "does not give: window 0 "));
  CHECK(contains(message, "choose the transport \"threads\" or \"processes\", or the platform \"a2a3sim\""));
  check_usable();
}

TEST_CASE("check, schedule_seed and sub-workers are refused by name on MPI") {
  pl::RunConfig config = mpi::config();
  config.check = true;
  pl::Array<float> x({mpi::processes(), 4}), y({mpi::processes(), 4});
  CHECK(contains(message_of([&] { add_host(x, y, config); }),
                 "RunConfig.check = true with RunConfig.distributed.transport = \"mpi\""));
  config = mpi::config();
  config.schedule_seed = 7;
  CHECK(contains(message_of([&] { add_host(x, y, config); }),
                 "RunConfig.schedule_seed = 7 with RunConfig.distributed.transport = \"mpi\""));
  config = mpi::config();
  config.distributed.num_sub_workers = 2;
  CHECK(contains(message_of([&] { add_host(x, y, config); }),
                 "RunConfig.distributed.num_sub_workers = 2 with RunConfig.distributed.transport = \"mpi\""));
}

TEST_CASE("a worker keeps windows and resident tensors from call to call over MPI") {
  windows::natively = true;
  auto count = pl::jit.incore([](pl::Out<pl::Tensor<std::int32_t, 1>> y, Cells signal) {
    pld::notify(signal, {.peer = (pld::rank(signal) + 1) % pld::nranks(signal)});
    pld::barrier(signal);
    y = pl::store(pl::load(signal, {0}, {1}), y);
  });
  auto device = pl::jit([&](auto y, auto signal) { count(y, signal); });
  auto host = pl::jit.host([&](pl::Out<pl::Tensor<std::int32_t, NR, 1>> y) {
    auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    for (auto r : pl::range(pld::world_size())) device(y[r], signal, pld::device = r);
  });
  pl::Array<std::int32_t> y({mpi::processes(), 1});
  const auto program = host.compile(y, mpi::config());
  {
    auto worker = program.prepare({.persistent = true});
    for (int round = 1; round <= 3; ++round) {
      worker(y);
      for (const std::int32_t element : y) CHECK(element == round);
    }
  }
  auto worker = program.prepare({.persistent = true, .zero_windows = true});
  for (int round = 1; round <= 3; ++round) {
    worker(y);
    for (const std::int32_t element : y) CHECK(element == 1);
  }
}
