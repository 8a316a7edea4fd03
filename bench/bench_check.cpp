// bench/bench_check.cpp -- what RunConfig.check costs: the same compiled programs with and without it, in turn.
//
// Rows: one put and its signal to the neighbour and back, an allreduce, rows that are normalised between two
// allreduces, a product of matrices beside a signal, blocks of columns, single elements and whole parts that a kernel
// loads and stores itself, an allreduce by a ring of signals. The target is at most 20 times. Last: what windows cost where nothing is
// checked, against the same kernel on tensors.
#include "report.hpp"

#include <pl/pl.hpp>
#include <pl/pld.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
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
using Cells = pld::DistributedTensor<std::int32_t, 16>;
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

/// One multiplication and one addition an element, stored where they came from.
auto scale_and_add = pl::jit.incore([](Rows data, Rows other, Cells, Rounds rounds) {
  for (int round = 0; round < rounds; ++round)
    data = pl::store(pl::load(data) * 0.5f + pl::load(other), {0, 0}, data);
});
auto scale_and_add_tensors = pl::jit.incore(
    [](pl::InOut<pl::Tensor<float, 16, 1024>> data, pl::Tensor<float, 16, 1024> other, Rounds rounds) {
      for (int round = 0; round < rounds; ++round)
        data = pl::store(pl::load(data) * 0.5f + pl::load(other), {0, 0}, data);
    });
/// The same, element by element.
auto one_by_one = pl::jit.incore([](Data data, Data other, Cells, Rounds rounds) {
  for (int round = 0; round < rounds; ++round)
    for (int i = 0; i < 1024; ++i) pl::write(data, {i}, pl::read(data, {i}) * 0.5f + pl::read(other, {i}));
});
/// Eight columns at a time: of each row a piece.
auto column_blocks = pl::jit.incore([](SharedSquare data, SharedSquare other, Cells, Rounds rounds) {
  for (int round = 0; round < rounds; ++round)
    for (int first = 0; first < 128; first += 8) {
      const auto block = pl::load(data, {0, first}, {128, 8}) + pl::load(other, {0, first}, {128, 8});
      data = pl::store(block, {0, first}, data);
    }
});
/// Every piece goes round twice: it is added up, then handed to all.
constexpr int piece = 4096;
auto ring_by_hand = pl::jit.incore([](Data partial, Data total, Cells arrived, Rounds rounds) {
  const int me = pld::rank(partial), n = pld::nranks(partial), next = (me + 1) % n;
  for (int round = 1; round <= rounds; ++round) {
    auto sum = pl::full<float>({piece}, 1.0f);
    for (int step = 0; step < n - 1; ++step) {
      const int out = (me - step + n) % n, in = (me - step - 1 + n) % n;
      pld::remote_store(sum, partial, {.peer = next, .offsets = {piece * out}});
      pld::notify(arrived, {.peer = next, .offsets = {out}});
      pld::wait(arrived, {.offsets = {in}, .expected = round});
      sum = pl::load(partial, {piece * in}, {piece}) + 1.0f;
    }
    for (int step = 0; step < n - 1; ++step) {
      const int out = (me + 1 - step + n) % n, in = (me - step + n) % n;
      pld::remote_store(sum, total, {.peer = next, .offsets = {piece * out}});
      pld::notify(arrived, {.peer = next, .offsets = {8 + out}});
      pld::wait(arrived, {.offsets = {8 + in}, .expected = round});
      sum = pl::load(total, {piece * in}, {piece});
    }
  }
});

pl::RunConfig config_of(bool check, int ranks) {
  pl::RunConfig config;
  config.check = check;
  config.distributed.device_ids.resize(static_cast<std::size_t>(ranks));
  std::iota(config.distributed.device_ids.begin(), config.distributed.device_ids.end(), 0);
  return config;
}

/// Seconds a round, with check and without in turn, and their ratio.
template <class Make, class Kernel>
void measure(bench::Report& report, const std::string& name, int turns, int rounds, const Kernel& kernel,
             const Make& window, int ranks = 2) {
  auto device = pl::jit([&](auto data, auto other, auto signal, auto n) { kernel(data, other, signal, n); });
  auto host = pl::jit.host([&](Rounds count) {
    auto data = window(), other = window();
    auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({16}), {16});
    for (auto r : pl::range(pld::world_size())) device(data, other, signal, count, pld::device = r);
  });
  const auto plain = host.compile(0, config_of(false, ranks)),
             checked = host.compile(0, config_of(true, ranks));
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
  report.add("plain." + name, without, {{"ranks", ranks}});
  report.add("check." + name, with, {{"ranks", ranks}, {"times_slower", ratio}});
}

/// The same kernel on tensors and on windows, neither checked.
void measure_unchecked(bench::Report& report, int turns, int rounds) {
  constexpr auto NR = pl::dynamic("NR");
  using All = pl::Tensor<float, NR, 16, 1024>;
  auto on_tensors = pl::jit([](auto data, auto other, auto n) { scale_and_add_tensors(data, other, n); });
  auto tensors = pl::jit.host([&](pl::InOut<All> data, All other, Rounds count) {
    for (auto r : pl::range(pld::world_size())) on_tensors(data[r], other[r], count, pld::device = r);
  });
  auto on_windows =
      pl::jit([](auto data, auto other, auto signal, auto n) { scale_and_add(data, other, signal, n); });
  auto windows = pl::jit.host([&](Rounds count) {
    auto data = pld::window<float>(pld::alloc_window_buffer<float>({16, 1024}), {16, 1024});
    auto other = pld::window<float>(pld::alloc_window_buffer<float>({16, 1024}), {16, 1024});
    auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({16}), {16});
    for (auto r : pl::range(pld::world_size())) on_windows(data, other, signal, count, pld::device = r);
  });
  const pl::RunConfig config = config_of(false, 2);
  pl::Array<float> x({2, 16, 1024}), y({2, 16, 1024});
  const auto plain = tensors.compile(x, y, 0, config);
  const auto shared = windows.compile(0, config);
  const auto seconds = [&](const auto& run) {
    const auto begin = bench::Clock::now();
    run(0);
    const auto middle = bench::Clock::now();
    run(rounds);
    return std::max(bench::seconds_since(middle) - std::chrono::duration<double>(middle - begin).count(),
                    1e-9) /
           rounds;
  };
  const auto run_plain = [&](int count) { plain(x, y, count); };
  const auto run_shared = [&](int count) { shared(count); };
  (void)seconds(run_plain);
  (void)seconds(run_shared);
  bench::Samples without, with;
  for (int turn = 0; turn < turns; ++turn) {
    without.seconds.push_back(seconds(run_plain));
    with.seconds.push_back(seconds(run_shared));
  }
  const double ratio = with.median() / without.median();
  std::printf("%-28s %10s %10s %8.2f times\n", "windows, nothing checked",
              bench::human(without.median()).c_str(), bench::human(with.median()).c_str(), ratio);
  report.add("tensors.scale_and_add", without, {{"ranks", 2}});
  report.add("windows.scale_and_add", with, {{"ranks", 2}, {"times_slower", ratio}});
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
  const auto square = [] {
    return pld::window<float>(pld::alloc_window_buffer<float>({128, 128}), {128, 128});
  };
  measure(report, "multiply.128x128", turns, 200, multiply, square);
  measure(report, "column_blocks.128x128", turns, 400, column_blocks, square);
  measure(report, "scale_and_add.16x1024", turns, 2000, scale_and_add,
          [] { return pld::window<float>(pld::alloc_window_buffer<float>({16, 1024}), {16, 1024}); });
  measure(report, "one_by_one.1024", turns, 2000, one_by_one, vector_of(1024));
  measure(report, "ring_by_hand.65536", turns, 100, ring_by_hand, vector_of(4 * piece), 4);
  measure_unchecked(report, turns, 20000);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
