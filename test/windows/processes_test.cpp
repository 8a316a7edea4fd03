// The transport "processes": what its ranks share with their host, what they do not, and how they end.
#include "windows.hpp"

#include "runtime/child.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <stdexcept>
#include <thread>

using support::contains;
using windows::message_of;

namespace {

constexpr auto NR = pl::dynamic("NR");
constexpr auto D = pl::dynamic("D");
using Rows = pl::Tensor<float, NR, 8>;
using Cells = pld::DistributedTensor<std::int32_t, 4>;

pl::RunConfig processes(int ranks) {
  pl::RunConfig result = windows::config(ranks);
  result.distributed.transport = "processes";
  return result;
}

/// Are there children of this process that ended and were not waited for, or that still run?
bool has_children() { return waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD; }

auto scale = pl::jit.incore([](pl::Tensor<float, D> x, pl::Out<pl::Tensor<float, D>> y,
                               pl::Scalar<float> by) { pl::store(pl::load(x) * by, y); });
auto scale_device = pl::jit([](auto x, auto y, auto by) { scale(x, y, by); });

auto meet = pl::jit.incore([](Cells cells) { pld::barrier(cells); });

/// Every rank meets the others; `before` runs first on each, as ordinary C++ in the rank's process.
template <class Before>
auto meeting(const Before& before) {
  auto device = pl::jit([before](auto cells, auto r) {
    if (!pl::recording()) before(static_cast<int>(r));
    meet(cells);
  });
  return pl::jit.host([device](Rows) {
    auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    for (auto r : pl::range(pld::world_size())) device(cells, r, pld::device = r);
  });
}

template <class Before>
std::string failure_of(const Before& before, int ranks = 3) {
  const auto host = meeting(before);
  pl::Array<float> x({ranks, 8});
  const std::string message = message_of([&] { host(x, processes(ranks)); });
  CHECK_FALSE(has_children());
  return message;
}

}  // namespace

TEST_CASE("a rank's process is another process, and its writes to ordinary memory are its own") {
  BOTH_WAYS
  static int seen = 0;
  auto* const shared =
      static_cast<pid_t*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  CHECK(failure_of([shared](int r) {
          ++seen;
          shared[r] = getpid();
        }) == "");
  CHECK(seen == 0);
  for (int r = 0; r < 3; ++r) {
    CHECK(shared[r] != 0);
    CHECK(shared[r] != getpid());
    CHECK(shared[r] != shared[(r + 1) % 3]);
  }
  munmap(shared, 4096);
}

TEST_CASE(
    "what ranks write to ordinary memory is there when the program returns, strided or dense, and nothing "
    "else") {
  BOTH_WAYS
  constexpr int ranks = 3;
  std::vector<float> x(ranks * 8), y(ranks * 8, -1), columns(8 * 2 * ranks, -1);
  std::iota(x.begin(), x.end(), 1.0F);
  auto host = pl::jit.host([&](Rows from, pl::Out<Rows> to, pl::Tensor<float, 8, 2 * ranks> all) {
    for (auto r : pl::range(pld::world_size())) {
      scale_device(from[r], to[r], 2.0F, pld::device = r);
      // Every second column, each rank its own.
      const auto column = pl::tensor(columns.data() + 2 * static_cast<int>(r), {8}, {2 * ranks});
      scale_device(from[r], column, 3.0F, pld::device = r);
    }
    (void)all;
  });
  host(pl::tensor(x.data(), {ranks, 8}), pl::tensor(y.data(), {ranks, 8}),
       pl::tensor(columns.data(), {8, 2 * ranks}), processes(ranks));
  for (int r = 0; r < ranks; ++r)
    for (int i = 0; i < 8; ++i) {
      CHECK(y[static_cast<std::size_t>(r * 8 + i)] == 2 * x[static_cast<std::size_t>(r * 8 + i)]);
      CHECK(columns[static_cast<std::size_t>(i * 2 * ranks + 2 * r)] ==
            3 * x[static_cast<std::size_t>(r * 8 + i)]);
      CHECK(columns[static_cast<std::size_t>(i * 2 * ranks + 2 * r + 1)] == -1);
    }
  CHECK_FALSE(has_children());
}

TEST_CASE(
    "what a kernel in place and a replayed graph write to ordinary memory is there, and device memory stays "
    "away") {
  BOTH_WAYS
  auto in_place = pl::jit([](pl::Tensor<float, D> x, pl::Out<pl::Tensor<float, D>> y) {
    auto twice = pl::create_tensor<float>({x.dim(0)});
    scale(x, twice, 2.0F);
    pl::at(pl::Level::core_group, [&] { y = pl::store(pl::load(twice) + 1.0F, y); });
  });
  pl::Graph graph(scale_device);
  std::vector<float> x(32, 3), y(32, -1), z(32, -1);
  auto host = pl::jit.host([&](Rows from, pl::Out<Rows> to, pl::Out<Rows> replayed) {
    for (auto r : pl::range(pld::world_size())) {
      in_place(from[r], to[r], pld::device = r);
      graph(from[r], replayed[r], 5.0F, pld::device = r);
      graph(from[r], replayed[r], 4.0F, pld::device = r);
    }
  });
  host(pl::tensor(x.data(), {4, 8}), pl::tensor(y.data(), {4, 8}), pl::tensor(z.data(), {4, 8}),
       processes(4));
  CHECK(y == std::vector<float>(32, 7));
  CHECK(z == std::vector<float>(32, 12));
}

TEST_CASE("a run that fails leaves ordinary memory as it was") {
  BOTH_WAYS
  std::vector<float> x(16, 1), y(16, -1);
  auto device = pl::jit([](auto from, auto to, auto r) {
    scale(from, to, 2.0F);
    if (!pl::recording() && r == 1) throw pl::ShapeError("no such rank");
  });
  auto host = pl::jit.host([&](Rows from, pl::Out<Rows> to) {
    for (auto r : pl::range(pld::world_size())) device(from[r], to[r], r, pld::device = r);
  });
  CHECK(contains(
      message_of([&] { host(pl::tensor(x.data(), {2, 8}), pl::tensor(y.data(), {2, 8}), processes(2)); }),
      "no such rank; on rank 1"));
  CHECK(y == std::vector<float>(16, -1));
}

TEST_CASE("a pl::Array is written in place: ranks can hand each other parts of it") {
  BOTH_WAYS { const pl::Context uses_processes(processes(2)); }
  pl::Array<float> x({2, 8}, 1), y({2, 8});
  auto first = pl::jit([](auto from, auto to, auto cells) {
    scale(from, to, 2.0F);
    pl::wait(to);
    meet(cells);
  });
  auto second = pl::jit([](auto from, auto to, auto cells) {
    meet(cells);
    pl::wait(pl::TaskId{});
    (void)from, (void)to;
  });
  auto read = pl::jit([](auto from, auto to) { scale(from, to, 5.0F); });
  auto host = pl::jit.host([&](Rows from, pl::Out<Rows> to) {
    auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    first(from[0], to[0], cells, pld::device = 0);
    second(from[1], to[1], cells, pld::device = 1);
    read(to[0], to[1], pld::device = 1);
  });
  host(x, y, processes(2));
  CHECK(y(0, 3) == 2);
  CHECK(y(1, 3) == 10);
  // The same in ordinary memory: rank 1 would read what its process was forked with.
  std::vector<float> plain(16, -1);
  const std::string message = message_of([&] { host(x, pl::tensor(plain.data(), {2, 8}), processes(2)); });
  CHECK(contains(message, "rank 0 wrote float[8] in ordinary memory, and rank 1 read float[8]"));
  CHECK(contains(message, "let ranks meet in a window"));
  CHECK_FALSE(has_children());
}

TEST_CASE("an error of a rank is raised on the host with its class, message and place") {
  BOTH_WAYS
  const auto throws = [](auto what) {
    return [what](int r) {
      if (r == 1) throw what();
    };
  };
  const auto host = [](const auto& before) {
    const auto program = meeting(before);
    pl::Array<float> x({3, 8});
    program(x, processes(3));
  };
  CHECK_THROWS_AS(host(throws([] { return pl::DtypeError("of rank 1", {"f.cpp", 7, 3}); })), pl::DtypeError);
  CHECK_THROWS_AS(host(throws([] { return pl::InternalError("of rank 1"); })), pl::InternalError);
  CHECK_THROWS_AS(host(throws([] { return std::out_of_range("of rank 1"); })), std::out_of_range);
  CHECK_THROWS_AS(host(throws([] { return std::bad_alloc(); })), std::bad_alloc);
  struct Own : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  try {
    host(throws([] { return Own("of my own"); }));
    FAIL("no error");
  } catch (const std::runtime_error& error) {
    CHECK(contains(error.what(), "of my own (a "));
    CHECK(contains(error.what(), "Own"));
  }
  try {
    host(throws([] { return 17; }));
    FAIL("no error");
  } catch (const std::runtime_error& error) {
    CHECK(contains(error.what(), "an exception of type int"));
  }
  try {
    host(throws([] { return pl::DtypeError("of rank 1", {"f.cpp", 7, 3}); }));
  } catch (const pl::DtypeError& error) {
    CHECK(error.location().str() == "f.cpp:7:3");
    CHECK(std::string(error.what()) == "f.cpp:7:3: of rank 1; on rank 1");
  }
  CHECK_FALSE(has_children());
}

TEST_CASE("a rank that crashes or is killed is named with device and signal, and the others stop") {
  BOTH_WAYS
  const auto dies = [](int signal) {
    return [signal](int r) {
      if (r != 1) return;
      std::signal(signal, SIG_DFL);
      const rlimit no_core{0, 0};
      setrlimit(RLIMIT_CORE, &no_core);
      raise(signal);
    };
  };
  // The others are in the barrier, or on their way.
  for (const int signal : {SIGKILL, SIGSEGV, SIGABRT, SIGTERM}) {
    const std::string message = failure_of(dies(signal));
    CAPTURE(message);
    CHECK(contains(message, "the process of rank 1 (device 1) ended by signal " + std::to_string(signal)));
    CHECK(contains(message, "the other ranks were stopped"));
  }
  CHECK(contains(failure_of([](int r) {
                   if (r == 2) _exit(3);
                 }),
                 "the process of rank 2 (device 2) ended with exit code 3"));
}

TEST_CASE(
    "a rank that is killed at any moment of its work leaves an error or a whole result, and no process") {
  windows::natively = false;
  constexpr std::int64_t width = 1 << 16;
  auto exchange = pl::jit.incore([](pld::DistributedTensor<float, width> data, pl::Tensor<float, width> x,
                                    pl::Out<pl::Tensor<float, width>> y) {
    pl::store(pl::load(x), data);
    for (int round = 0; round < 3; ++round) pld::allreduce(data);
    pl::store(pl::load(data), y);
  });
  auto device = pl::jit([&](auto data, auto x, auto y, auto r, auto after) {
    if (!pl::recording() && r == 1)
      std::thread([microseconds = static_cast<int>(after)] {
        std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
        raise(SIGKILL);
      }).detach();
    exchange(data, x, y);
  });
  auto host = pl::jit.host(
      [&](pl::Tensor<float, NR, width> x, pl::Out<pl::Tensor<float, NR, width>> y, pl::Scalar<int> after) {
        auto data = pld::window<float>(pld::alloc_window_buffer<float>({width}), {width});
        for (auto r : pl::range(pld::world_size())) device(data, x[r], y[r], r, after, pld::device = r);
      });
  std::vector<float> x(3 * width, 1), y(3 * width, -1);
  const auto in = pl::tensor(x.data(), {3, width}), out = pl::tensor(y.data(), {3, width});
  const auto program = host.compile(in, out, 0, processes(3));
  int failed = 0;
  for (int round = 0; round < 30; ++round) {
    std::fill(y.begin(), y.end(), -1.0F);
    const std::string message = message_of([&] { program(in, out, 400 * round); });
    CAPTURE(message);
    failed += message.empty() ? 0 : 1;
    if (message.empty())
      CHECK(std::count(y.begin(), y.end(), 27.0F) == 3 * width);
    else
      CHECK(contains(message, "the process of rank 1 (device 1) ended by signal 9"));
    CHECK_FALSE(has_children());
  }
  CHECK(failed > 0);
}

TEST_CASE("a program that leaves its children to the system is told of a rank's end all the same") {
  windows::natively = true;
  const auto before = std::signal(SIGCHLD, SIG_IGN);
  CHECK(failure_of([](int) {}) == "");
  CHECK(contains(failure_of([](int r) {
                   if (r == 0) raise(SIGKILL);
                 }),
                 "the process of rank 0 (device 0) ended in an unknown way"));
  std::signal(SIGCHLD, before);
}

TEST_CASE("one program may run several times at once, each run with processes of its own") {
  BOTH_WAYS
  auto host = pl::jit.host([&](Rows from, pl::Out<Rows> to) {
    auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    auto both = pl::jit([](auto x, auto y, auto window) {
      meet(window);
      scale(x, y, 3.0F);
    });
    for (auto r : pl::range(pld::world_size())) both(from[r], to[r], cells, pld::device = r);
  });
  pl::Array<float> x({2, 8}, 1), first({2, 8});
  const auto program = host.compile(x, first, processes(2));
  std::atomic<int> right{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i)
    callers.emplace_back([&] {
      for (int round = 0; round < 6; ++round) {
        std::vector<float> y(16, 0);
        program(x, pl::tensor(y.data(), {2, 8}));
        right += y == std::vector<float>(16, 3) ? 1 : 0;
      }
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(right == 18);
  CHECK_FALSE(has_children());
}

TEST_CASE("a rank that does not hear that the run has failed is ended") {
  windows::natively = true;
  const std::string message = failure_of([](int r) {
    if (r == 0) throw pl::PlanError("rank 0 gives up");
    std::this_thread::sleep_for(std::chrono::hours(1));
  });
  CHECK(contains(message, "rank 0 gives up"));
}

TEST_CASE("a host that dies takes its ranks with it") {
  windows::natively = true;
  auto* const shared = static_cast<std::atomic<int>*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const pid_t host = fork();
  if (host == 0) {
    const auto program = meeting([shared](int r) {
      shared[r] = getpid();
      std::this_thread::sleep_for(std::chrono::hours(1));
    });
    pl::Array<float> x({2, 8});
    program(x, processes(2));
    _exit(0);
  }
  while (shared[0] == 0 || shared[1] == 0) std::this_thread::yield();
  ::kill(host, SIGKILL);
  waitpid(host, nullptr, 0);
  // Another process takes them over and waits for them; until it has they are there, as zombies.
  for (int r = 0; r < 2; ++r)
    for (;;) {
      const std::string path = "/proc/" + std::to_string(shared[r].load()) + "/stat";
      std::FILE* const file = std::fopen(path.c_str(), "r");
      if (file == nullptr) break;
      char state = 0;
      const int read = std::fscanf(file, "%*d (%*[^)]) %c", &state);
      std::fclose(file);
      if (read != 1 || state == 'Z' || state == 'X') break;
      std::this_thread::yield();
    }
  munmap(shared, 4096);
}

TEST_CASE("ranks are forked while other threads of the host dispatch kernels, log and print") {
  BOTH_WAYS
  std::atomic<bool> done{false};
  std::mutex sink_mutex;
  std::size_t lines = 0;
  const pl::LogSink before = pl::set_log_sink([&](pl::LogLevel, std::string_view) {
    const std::scoped_lock lock(sink_mutex);
    ++lines;
  });
  std::vector<std::thread> busy;
  for (int i = 0; i < 2; ++i)
    busy.emplace_back([&, i] {
      for (int extent = 1; !done; extent = extent % 200 + 1) {
        // Specialises, so compiles and logs.
        auto kernel = pl::jit.incore(
            [](pl::Tensor<float> x, pl::Out<pl::Tensor<float>> y) { pl::store(pl::load(x) + 1.0F, y); });
        pl::Array<float> x({extent % 3 + 1, i + 1}), y({extent % 3 + 1, i + 1});
        kernel(x, y);
        pl::detail::log(pl::LogLevel::Error, "busy");
      }
    });
  pl::Array<float> x({2, 8}, 1), y({2, 8});
  auto host = pl::jit.host([&](Rows from, pl::Out<Rows> to) {
    for (auto r : pl::range(pld::world_size())) scale_device(from[r], to[r], 4.0F, pld::device = r);
  });
  for (int round = 0; round < 25; ++round) {
    y.fill(0);
    host(x, y, processes(2));
    CHECK(y(1, 7) == 4);
  }
  done = true;
  for (std::thread& thread : busy) thread.join();
  pl::set_log_sink(before);
  CHECK(lines > 0);
  CHECK_FALSE(has_children());
}

TEST_CASE("what ranks print and log reaches the host's sinks, each rank's in its order") {
  BOTH_WAYS
  std::string printed, logged;
  const pl::PrintSink print_before = pl::set_print_sink([&](std::string_view text) { printed += text; });
  const pl::LogSink log_before =
      pl::set_log_sink([&](pl::LogLevel, std::string_view text) { logged += std::string(text) + "\n"; });
  auto says = pl::jit.incore([](pl::Tensor<float, 8> x) { pl::print(pl::load(x)); });
  auto device = pl::jit([&](auto x) {
    if (!pl::recording()) pl::detail::log(pl::LogLevel::Error, "of a rank");
    says(x);
    says(x);
  });
  auto host = pl::jit.host([&](Rows from) {
    for (auto r : pl::range(pld::world_size())) device(from[r], pld::device = r);
  });
  pl::Array<float> x = windows::numbers({2, 8});
  host(x, processes(2));
  pl::set_print_sink(print_before);
  pl::set_log_sink(log_before);
  std::size_t count = 0;
  for (std::size_t at = 0; (at = printed.find("16", at)) != std::string::npos; ++at) ++count;
  CHECK(count == 2);
  CHECK(contains(logged, "of a rank\nof a rank\n"));
}

TEST_CASE("a host callback sees what the ranks before it wrote, and they see what it wrote") {
  BOTH_WAYS
  std::vector<float> x(16, 1), y(16, 0);
  auto host = pl::jit.host([&](Rows from, pl::Out<Rows> to) {
    for (auto r : pl::range(pld::world_size())) scale_device(from[r], to[r], 2.0F, pld::device = r);
    pl::host_callback([&] {
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = y[i] + 1;
    });
    for (auto r : pl::range(pld::world_size())) scale_device(from[r], to[r], 10.0F, pld::device = r);
  });
  host(pl::tensor(x.data(), {2, 8}), pl::tensor(y.data(), {2, 8}), processes(2));
  CHECK(y == std::vector<float>(16, 30));
}

TEST_CASE(
    "code that a rank needs and the host did not compile: other extents are compiled first, what follows a "
    "read when the rank asks for it") {
  windows::natively = false;
  std::string logged;
  const pl::LogSink before =
      pl::set_log_sink([&](pl::LogLevel, std::string_view text) { logged += std::string(text) + "\n"; });
  auto kernel = pl::jit.incore(
      [](pl::Tensor<float> x, pl::Out<pl::Tensor<float>> y) { pl::store(pl::load(x) * 2.0F, y); });
  auto device = pl::jit([&](auto x, auto y) { kernel(x, y); });
  auto host = pl::jit.host(
      [&](pl::Tensor<float, D> x, pl::Out<pl::Tensor<float, D>> y) { device(x, y, pld::device = 0); });
  pl::Array<float> small({4}, 1), small_y({4}), large({9}, 1), large_y({9});
  const auto program = host.compile(small, small_y, processes(1));
  program(small, small_y);
  program(large, large_y);
  CHECK(large_y(8) == 2);
  CHECK_FALSE(contains(logged, "natively"));

  auto late = pl::jit.incore(
      [](pl::Tensor<float> x, pl::Out<pl::Tensor<float>> y) { pl::store(pl::load(x) * 3.0F, y); });
  auto by_hand = pl::jit.incore_source("../runtime/external/scale.cpp", "scale",
                                       pl::signature<pl::Tensor<float>, pl::Out<pl::Tensor<float>>, float>);
  auto reads = pl::jit([&](auto x, auto y, bool hand) {
    const float first = pl::read(x, {0});
    if (first == 1 && !hand) late(x, y);
    if (first == 1 && hand) by_hand(x, y, 2.0F);
  });
  auto second = pl::jit.host([&](pl::Tensor<float, D, 4> x, pl::Out<pl::Tensor<float, D, 4>> y, bool hand) {
    for (auto r : pl::range(pld::world_size())) reads(x[r], y[r], hand, pld::device = r);
  });
  pl::Array<float> x({2, 4}, 1), y({2, 4});
  second(x, y, false, processes(2));
  CHECK(y(1, 3) == 3);
  second(x, y, true, processes(2));
  CHECK(y(1, 3) == 2);
  CHECK_FALSE(contains(logged, "natively"));

  // Without a cache the code does not get from the host to its ranks.
  pl::RunConfig no_cache = processes(2);
  no_cache.cache_dir = "/dev/null/none";
  second(x, y, false, no_cache);
  CHECK(y(0, 3) == 3);
  CHECK(contains(logged, "was not compiled for (float[4]"));
  CHECK(contains(logged, "so it runs natively there, slowly; let it compile into a cache"));
  const std::string message = support::message_of<pl::Error>([&] { second(x, y, true, no_cache); });
  CAPTURE(message);
  CHECK(contains(message, "is written by hand and was not compiled for (float[?]"));
  pl::set_log_sink(before);
}

TEST_CASE("what is wrong in code that ranks have loaded themselves is told with its file and line") {
  windows::natively = false;
  using Data = pld::DistributedTensor<float, 4>;
  auto waits = pl::jit.incore([](Cells cells, pl::Scalar<int> cell) {
    pld::notify(cells, {.peer = 0, .offsets = {cell}});
    pld::wait(cells, {.offsets = {cell}, .expected = 99});
  });
  auto differs = pl::jit.incore([](Data data) {
    if (pld::rank(data) == 0)
      pld::allreduce(data, {.op = pld::ReduceOp::Max});
    else
      pld::allreduce(data);
  });
  // What follows a read is not compiled beforehand.
  auto device = pl::jit([&](auto x, auto cells, auto data, bool wait) {
    const float first = pl::read(x, {0});
    if (first != 1) return;
    if (wait)
      waits(cells, 2);
    else
      differs(data);
  });
  auto host = pl::jit.host([&](Rows x, bool wait) {
    auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    auto data = pld::window<float>(pld::alloc_window_buffer<float>({4}), {4});
    for (auto r : pl::range(pld::world_size())) device(x[r], cells, data, wait, pld::device = r);
  });
  pl::Array<float> x({2, 8}, 1);
  std::string message = message_of([&] { host(x, true, processes(2)); });
  CHECK(contains(message, "deadlock: 2 waits"));
  CHECK(contains(message, "processes_test.cpp:"));
  CHECK(contains(message, ", last written by rank "));
  message = message_of([&] { host(x, false, processes(2)); });
  CHECK(contains(message, "ranks make different collective calls"));
  CHECK(contains(message, "pld::allreduce of 4 float by Max at "));
  const std::size_t first = message.find("processes_test.cpp:");
  REQUIRE(first != std::string::npos);
  CHECK(contains(message.substr(first + 1), "processes_test.cpp:"));
  CHECK_FALSE(has_children());
}

TEST_CASE("a persistent window and a resident tensor keep their contents from call to call of a worker") {
  BOTH_WAYS
  auto count =
      pl::jit.incore([](pld::DistributedTensor<float, 8> rounds, pl::InOut<pl::Tensor<float, 8>> sum) {
        pld::barrier(rounds);
        pl::store(pl::load(rounds) + 1.0F, rounds);
        pl::store(pl::load(sum) + pl::load(rounds), sum);
      });
  auto device = pl::jit([&](auto rounds, auto sum) { count(rounds, sum); });
  static int victim = -1;
  auto host = pl::jit.host([&](pl::InOut<Rows> sums) {
    auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({4}), {4});
    auto dies = pl::jit([](auto window, auto r) {
      if (!pl::recording() && static_cast<int>(r) == victim) raise(SIGKILL);
      meet(window);
    });
    auto rounds = pld::window<float>(pld::alloc_window_buffer<float>({8}), {8});
    for (auto r : pl::range(pld::world_size())) {
      dies(cells, r, pld::device = r);
      device(rounds, sums[r], pld::device = r);
    }
  });
  pl::Array<float> sums({2, 8});
  auto worker = host.compile(sums, processes(2)).prepare({.persistent = true, .zero_windows = false});
  auto resident = worker.alloc_tensor<float>({2, 8});
  worker(resident);
  worker(resident);
  worker.copy_from(resident, sums);
  CHECK(sums(1, 3) == 1 + 2);
  victim = 1;
  CHECK(
      contains(message_of([&] { worker(resident); }), "the process of rank 1 (device 1) ended by signal 9"));
  victim = -1;
  worker.copy_from(resident, sums);
  const float kept = sums(0, 0);
  // The worker is usable, with new windows.
  worker(resident);
  worker.copy_from(resident, sums);
  CHECK(sums(0, 0) == kept + 1);
  CHECK_FALSE(has_children());
}

TEST_CASE("no process for a rank is an error, and those that were started end") {
  windows::natively = true;
  CHECK(support::child_succeeds([] {
    const auto program = meeting([](int) {});
    pl::Array<float> x({8, 8});
    const auto compiled = program.compile(x, processes(8));
    // Some ranks get their pipe, and then the files are all used.
    const int free_file = dup(0);
    close(free_file);
    const rlimit few{static_cast<rlim_t>(free_file) + 4, static_cast<rlim_t>(free_file) + 4};
    setrlimit(RLIMIT_NOFILE, &few);
    const std::string message = support::message_of<pl::Error>([&] { compiled(x); });
    return contains(message, "no process for rank") && contains(message, "Too many open files") &&
           !has_children();
  }));
}

TEST_CASE("the checker is refused by name, and a seed works") {
  windows::natively = true;
  pl::RunConfig config = processes(2);
  config.check = true;
  const auto program = meeting([](int) {});
  pl::Array<float> x({2, 8});
  CHECK(contains(message_of([&] { program(x, config); }),
                 "RunConfig.check = true with RunConfig.distributed.transport = \"processes\""));
  config.check = false;
  config.schedule_seed = 7;
  CHECK(message_of([&] { program(x, config); }) == "");
}

TEST_CASE("a benchmark has the times of ranks in processes") {
  BOTH_WAYS
  pl::Array<float> x({3, 8}, 1), y({3, 8});
  auto host = pl::jit.host([&](Rows from, pl::Out<Rows> to) {
    for (auto r : pl::range(pld::world_size())) scale_device(from[r], to[r], 4.0F, pld::device = r);
  });
  const auto report = pl::benchmark(host.compile(x, y, processes(3)), x, y);
  REQUIRE(report.ranks.size() == 3);
  for (const auto& rank : report.ranks) CHECK(rank.tasks == 1);
}
