// bench/bench_check.cpp -- what RunConfig.check costs: the same compiled programs with and without it, in turn.
//
// Rows: one put and its signal to the neighbour and back, an allreduce, rows that are normalised between two
// allreduces, a product of matrices beside a signal. The target is at most 20 times.
#include "report.hpp"

#include <pl/pl.hpp>
#include <pl/pld.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string>
#include <thread>

namespace {

constexpr auto N = pl::dynamic("N");
using Data = pld::DistributedTensor<float, N>;
using Rows = pld::DistributedTensor<float, 16, 1024>;
using Square = pl::Tensor<float, 128, 128>;
using SharedSquare = pld::DistributedTensor<float, 128, 128>;
using Cells = pld::DistributedTensor<std::int32_t, 2>;
using Rounds = pl::Scalar<int>;

auto put_notify = pl::jit.incore([](Data data, Data from, Cells signal, Rounds rounds) {
  const int me = pld::rank(data);
  for (int round = 1; round <= rounds; ++round) {
    if (me != 0) pld::wait(signal, {.expected = round});
    pld::put(data, {.peer = 1 - me, .src = from});
    pld::notify(signal, {.peer = 1 - me});
    if (me == 0) pld::wait(signal, {.expected = round});
  }
});
auto all_reduce = pl::jit.incore([](Data data, Data, Cells, Rounds rounds) {
  for (int round = 0; round < rounds; ++round) pld::allreduce(data);
});
auto normalise = pl::jit.incore([](Rows data, Rows, Cells, Rounds rounds) {
  for (int round = 0; round < rounds; ++round) {
    pld::allreduce(data);
    const auto x = pl::load(data);
    const auto mean = pl::row_sum(x * x) * (1.0f / 1024.0f);
    data = pl::store(pl::row_expand_mul(x, pl::rsqrt(mean + 1e-5f)), {0, 0}, data);
  }
});
auto multiply = pl::jit.incore([](SharedSquare data, SharedSquare weight, Cells signal, Rounds rounds) {
  const int next = (pld::rank(data) + 1) % pld::nranks(data);
  for (int round = 1; round <= rounds; ++round) {
    const auto product = pl::matmul(pl::load(data), pl::load(weight));
    data = pl::store(product, {0, 0}, data);
    pld::notify(signal, {.peer = next});
    pld::wait(signal, {.expected = round});
  }
});

pl::RunConfig config_of(bool check) {
  pl::RunConfig config;
  config.check = check;
  config.distributed.device_ids = {0, 1};
  return config;
}

/// Seconds a round, with check and without in turn, and their ratio.
template <class Make, class Kernel>
void measure(bench::Report& report, const std::string& name, int turns, int rounds, const Kernel& kernel,
             const Make& window) {
  auto device = pl::jit([&](auto data, auto other, auto signal, auto n) { kernel(data, other, signal, n); });
  auto host = pl::jit.host([&](Rounds count) {
    auto data = window(), other = window();
    auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({2}), {2});
    for (auto r : pl::range(pld::world_size())) device(data, other, signal, count, pld::device = r);
  });
  const auto plain = host.compile(0, config_of(false)), checked = host.compile(0, config_of(true));
  const auto time = [&](const auto& program, int count) {
    const auto begin = bench::Clock::now();
    program(count);
    return bench::seconds_since(begin);
  };
  (void)time(plain, rounds);
  (void)time(checked, 1);
  const int checked_rounds = std::max(1, rounds / 20);
  bench::Samples without, with;
  for (int turn = 0; turn < turns; ++turn) {
    const double empty = time(plain, 0);
    without.seconds.push_back(std::max(time(plain, rounds) - empty, 1e-9) / rounds);
    const double checked_empty = time(checked, 0);
    with.seconds.push_back(std::max(time(checked, checked_rounds) - checked_empty, 1e-9) / checked_rounds);
  }
  const double ratio = with.median() / without.median();
  std::printf("%-28s %10s %10s %8.1f times\n", name.c_str(), bench::human(without.median()).c_str(),
              bench::human(with.median()).c_str(), ratio);
  std::fflush(stdout);
  report.add("plain." + name, without, {{"ranks", 2}});
  report.add("check." + name, with, {{"ranks", 2}, {"times_slower", ratio}});
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("What RunConfig.check costs");
  std::string file;
  int turns = 5;
  app.add_option("--json", file, "write one JSON object a line to this file");
  app.add_option("--turns", turns, "timings of each row")->capture_default_str()->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);

  bench::Report report(file, "two ranks as threads; the same programs with and without check");
  std::printf("%s, %u cores\n%-28s %10s %10s\n", bench::machine().c_str(),
              std::thread::hardware_concurrency(), "what", "without", "with");
  const auto vector_of = [](std::int64_t size) {
    return [size] { return pld::window<float>(pld::alloc_window_buffer<float>({size}), {size}); };
  };
  for (const std::int64_t size : {16, 1024, 65536}) {
    const std::string bytes = "." + std::to_string(size * 4);
    measure(report, "put_notify" + bytes, turns, 400, put_notify, vector_of(size));
    measure(report, "allreduce" + bytes, turns, 400, all_reduce, vector_of(size));
  }
  measure(report, "normalise.16x1024", turns, 200, normalise,
          [] { return pld::window<float>(pld::alloc_window_buffer<float>({16, 1024}), {16, 1024}); });
  measure(report, "multiply.128x128", turns, 200, multiply,
          [] { return pld::window<float>(pld::alloc_window_buffer<float>({128, 128}), {128, 128}); });
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
