// bench/bench_dist.cpp -- what communication between simulated ranks costs, beside memcpy and Open MPI.
//
// Rows: the way of a signal to a waiting rank and back, remote_store, remote_load, put and get of one rank beside
// memcpy of as many bytes, collectives on each transport beside Open MPI's on as many processes (bench_dist_mpi), and a
// dispatch. mpirun starts Open MPI's side, and this program again (--rows) for the transport mpi; all take turns.
// Every program runs rounds inside one kernel; the time of one without rounds is taken off. Windows live from call to
// call and are touched first, as Open MPI's buffers are: pages cost no side anything in a timed round.
#include "dist_rounds.hpp"
#include "process.hpp"
#include "report.hpp"

#include <pl/pl.hpp>
#include <pl/pld.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

constexpr auto N = pl::dynamic("N"), R = pl::dynamic("R");
using Data = pld::DistributedTensor<float, N>;
using Cells = pld::DistributedTensor<std::int32_t, 2>;
using Rounds = pl::Scalar<int>;

auto ping_pong = pl::jit.incore([](Cells signal, Rounds rounds) {
  const int me = pld::rank(signal);
  for (int round = 1; round <= rounds; ++round) {
    if (me == 0) {
      pld::notify(signal, {.peer = 1});
      pld::wait(signal, {.expected = round});
    } else {
      pld::wait(signal, {.expected = round});
      pld::notify(signal, {.peer = 0});
    }
  }
});
auto store_remotely = pl::jit.incore([](pl::Tensor<float, N> x, Data data, Rounds rounds) {
  if (pld::rank(data) == 0)
    for (int round = 0; round < rounds; ++round) pld::remote_store(pl::load(x), data, {.peer = 1});
});
auto load_remotely = pl::jit.incore([](pl::Out<pl::Tensor<float, N>> y, Data data, Rounds rounds) {
  if (pld::rank(data) == 0)
    for (int round = 0; round < rounds; ++round) y = pl::store(pld::remote_load(data, {.peer = 1}), y);
});
auto put_remotely = pl::jit.incore([](pl::Tensor<float, N> x, Data data, Rounds rounds) {
  if (pld::rank(data) == 0)
    for (int round = 0; round < rounds; ++round) pld::put(data, {.peer = 1, .src = x});
});
auto get_remotely = pl::jit.incore([](pl::Out<pl::Tensor<float, N>> y, Data data, Rounds rounds) {
  if (pld::rank(data) == 0)
    for (int round = 0; round < rounds; ++round) pld::get(y, data, {.peer = 1});
});
auto all_reduce = pl::jit.incore([](Data data, Rounds rounds) {
  for (int round = 0; round < rounds; ++round) pld::allreduce(data);
});
auto all_gather = pl::jit.incore([](pld::DistributedTensor<float, R, N> data, Rounds rounds) {
  for (int round = 0; round < rounds; ++round) pld::allgather(data);
});
auto all_to_all = pl::jit.incore([](pld::DistributedTensor<float, R, N> data, Rounds rounds) {
  for (int round = 0; round < rounds; ++round) pld::all_to_all(data);
});

auto ping_pong_device = pl::jit([](auto s, auto n) { ping_pong(s, n); });
auto store_device = pl::jit([](auto x, auto w, auto n) { store_remotely(x, w, n); });
auto load_device = pl::jit([](auto y, auto w, auto n) { load_remotely(y, w, n); });
auto put_device = pl::jit([](auto x, auto w, auto n) { put_remotely(x, w, n); });
auto get_device = pl::jit([](auto y, auto w, auto n) { get_remotely(y, w, n); });
auto reduce_device = pl::jit([](auto w, auto n) { all_reduce(w, n); });
auto gather_device = pl::jit([](auto w, auto n) { all_gather(w, n); });
auto exchange_device = pl::jit([](auto w, auto n) { all_to_all(w, n); });

pl::RunConfig ranks(int count, const std::string& transport = "threads") {
  pl::RunConfig config;
  config.distributed.transport = transport;
  config.distributed.device_ids.resize(static_cast<std::size_t>(count));
  std::iota(config.distributed.device_ids.begin(), config.distributed.device_ids.end(), 0);
  return config;
}

/// Instead of so many between threads. A step over MPI takes tens of microseconds, where processes share cores some
/// milliseconds.
int rounds_of(const pl::RunConfig& config, int rounds) {
  return config.distributed.transport == "mpi" ? std::max(rounds / 1000, 5) : rounds;
}

/// A program whose windows keep their memory from call to call.
template <class Program>
auto keep(const Program& program) {
  return program.prepare({.persistent = true});
}

/// Runs `once(rounds)` and the same without rounds, in turn; gives the seconds a round.
template <class Once>
bench::Samples per_round(int rounds, int turns, const Once& once) {
  const auto time = [&](int count) {
    const auto begin = bench::Clock::now();
    once(count);
    return bench::seconds_since(begin);
  };
  once(rounds);  // compiles, and touches the memory
  bench::Samples result;
  for (int turn = 0; turn < turns; ++turn) {
    const double empty = time(0);
    result.seconds.push_back(std::max(time(rounds) - empty, 0.0) / rounds);
  }
  return result;
}

using Rows = std::map<std::string, bench::Samples>;  ///< by Step::row()

/// One thing to measure.
struct Step {
  std::string name;
  std::size_t bytes;  ///< 0: none are moved
  std::function<bench::Samples(const pl::RunConfig& config, std::size_t bytes, int turns)> measure;
  [[nodiscard]] std::string row() const { return bytes == 0 ? name : name + "." + std::to_string(bytes); }
};

class Table {
 public:
  explicit Table(const std::string& file) : report_(file, "peers: memcpy, Open MPI over shared memory") {
    std::printf("%s, %u cores\n%-22s %-10s %5s %9s %9s %9s %8s  %s\n", bench::machine().c_str(),
                std::thread::hardware_concurrency(), "what", "transport", "ranks", "median", "min", "spread",
                "GB/s", "times faster than the peer");
  }
  void add(const Step& step, const std::string& transport, int count, const bench::Samples& samples,
           const bench::Samples* peer = nullptr) {
    const double median = samples.median();
    const double speed = step.bytes == 0 ? 0 : static_cast<double>(step.bytes) / median / 1e9;
    std::printf("%-22s %-10s %5d %9s %9s %7.1f %% %8.2f", step.row().c_str(), transport.c_str(), count,
                bench::human(median).c_str(), bench::human(samples.min()).c_str(), 100 * samples.spread(),
                speed);
    nlohmann::ordered_json more{
        {"transport", transport}, {"ranks", count}, {"bytes", step.bytes}, {"gigabytes_per_s", speed}};
    if (peer != nullptr) {
      std::printf("  %.2f", peer->median() / median);
      more["times_faster_than_peer"] = peer->median() / median;
    }
    std::printf("\n");
    std::fflush(stdout);
    report_.add(step.row(), samples, more);
  }

 private:
  bench::Report report_;
};

auto make_ping_pong() {
  return pl::jit.host([](Rounds rounds) {
    auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({2}), {2});
    for (auto r : pl::range(pld::world_size())) ping_pong_device(signal, rounds, pld::device = r);
  });
}

bench::Samples measure_signal(const pl::RunConfig& config, std::size_t, int turns) {
  const auto program = make_ping_pong().compile(0, config);
  bench::Samples result = per_round(rounds_of(config, 20000), turns, [&](int rounds) { program(rounds); });
  for (double& seconds : result.seconds) seconds /= 2;  // there and back
  return result;
}

bench::Samples measure_dispatch(const pl::RunConfig& config, std::size_t, int turns) {
  const auto program = make_ping_pong().compile(0, config);
  program(0);
  bench::Samples result;
  for (int turn = 0; turn < 20 * turns; ++turn) {
    const auto begin = bench::Clock::now();
    program(0);
    result.seconds.push_back(bench::seconds_since(begin) / 2);
  }
  return result;
}

bench::Samples measure_memcpy(std::size_t bytes, int turns) {
  // Memory that lies as that of our rows does: where it lies off a cache line memcpy can be ten times slower.
  const pl::Array<std::int8_t> from({static_cast<std::int64_t>(bytes)}, 1);
  pl::Array<std::int8_t> to({static_cast<std::int64_t>(bytes)});
  const int rounds = bench::rounds_for(bytes, 2);
  bench::Samples result;
  for (int turn = 0; turn <= turns; ++turn) {
    const auto begin = bench::Clock::now();
    for (int round = 0; round < rounds; ++round) {
      std::memcpy(to.data(), from.data(), bytes);
      asm volatile("" : : "r"(to.data()) : "memory");  // made every time
    }
    if (turn != 0) result.seconds.push_back(bench::seconds_since(begin) / rounds);
  }
  return result;
}

/// Rank 0 moves `bytes` to rank 1 (`sends`) or from there; the other does nothing.
template <bool sends, class Device>
bench::Samples measure_transfer(const Device& device, const pl::RunConfig& config, std::size_t bytes,
                                int turns) {
  const auto size = static_cast<std::int64_t>(bytes / sizeof(float));
  constexpr auto NR = pl::dynamic("NR");
  using Own = std::conditional_t<sends, pl::Tensor<float, NR, N>, pl::Out<pl::Tensor<float, NR, N>>>;
  pl::Array<float> own({2, size}, 1.5f);
  auto host = pl::jit.host([&device, size](Own x, Rounds rounds) {
    auto data = pld::window<float>(pld::alloc_window_buffer<float>({size}), {size});
    for (auto r : pl::range(pld::world_size())) device(x[r], data, rounds, pld::device = r);
  });
  const auto program = host.compile(own, 0, config);
  auto worker = keep(program);
  const bench::Samples result = per_round(rounds_of(config, bench::rounds_for(bytes, 2)), turns,
                                          [&](int rounds) { worker(own, rounds); });
  // Windows begin as zeros.
  if (!sends && (own(0, size / 2) != 0.0f || own(1, 0) != 1.5f))
    throw std::runtime_error("a transfer of " + std::to_string(bytes) + " bytes has a wrong result");
  return result;
}

template <bool rows, class Device>
bench::Samples measure_collective(const Device& device, const pl::RunConfig& config, std::size_t bytes,
                                  int turns) {
  const auto size = static_cast<std::int64_t>(bytes / sizeof(float));
  auto host = pl::jit.host([&](Rounds rounds) {
    const int count = pld::world_size();
    const pld::Window buffer = pld::alloc_window_buffer<float>({size});
    const auto data = [&] {
      if constexpr (rows)
        return pld::window<float>(buffer, {count, size / count});
      else
        return pld::window<float>(buffer, {size});
    }();
    for (auto r : pl::range(count)) device(data, rounds, pld::device = r);
  });
  const auto program = host.compile(0, config);
  auto worker = keep(program);
  const int count = static_cast<int>(config.distributed.device_ids.size());
  return per_round(rounds_of(config, bench::rounds_for(bytes, count)), turns,
                   [&](int rounds) { worker(rounds); });
}

/// Between two ranks.
std::vector<Step> one_sided_steps(std::size_t largest) {
  std::vector<Step> steps{{"notify_to_wait", 0, measure_signal}, {"dispatch_a_rank", 0, measure_dispatch}};
  for (std::size_t bytes = 4096; bytes <= largest; bytes *= 16) {
    steps.push_back(
        {"remote_store", bytes, [](const auto&... a) { return measure_transfer<true>(store_device, a...); }});
    steps.push_back(
        {"remote_load", bytes, [](const auto&... a) { return measure_transfer<false>(load_device, a...); }});
    steps.push_back(
        {"put", bytes, [](const auto&... a) { return measure_transfer<true>(put_device, a...); }});
    steps.push_back(
        {"get", bytes, [](const auto&... a) { return measure_transfer<false>(get_device, a...); }});
  }
  return steps;
}

std::vector<Step> collective_steps(int count, std::size_t largest) {
  std::vector<Step> steps;
  for (const std::size_t bytes : bench::collective_sizes(largest))
    steps.push_back({"allreduce", bytes,
                     [](const auto&... a) { return measure_collective<false>(reduce_device, a...); }});
  for (const bool gathers : {true, false})
    for (const std::size_t bytes : bench::collective_sizes(largest)) {
      if (bytes < sizeof(float) * static_cast<std::size_t>(count)) continue;
      if (gathers)
        steps.push_back({"allgather", bytes,
                         [](const auto&... a) { return measure_collective<true>(gather_device, a...); }});
      else
        steps.push_back({"all_to_all", bytes,
                         [](const auto&... a) { return measure_collective<true>(exchange_device, a...); }});
    }
  return steps;
}

Rows measure(const std::vector<Step>& steps, const pl::RunConfig& config, int turns) {
  Rows rows;
  for (const Step& step : steps) rows[step.row()] = step.measure(config, step.bytes, turns);
  return rows;
}

/// What `count` processes of a program print: "allreduce.65536 1.2e-05 1.1e-05 …" a line. Nothing where it or MPI is missing.
Rows measure_under_mpirun(int count, std::vector<std::string> options, const std::string& name,
                          const std::vector<std::string>& arguments) {
  Rows rows;
  const auto child = bench::own_folder() / name;
  if (!std::filesystem::exists(child) || !std::filesystem::exists("/usr/bin/mpirun")) return rows;
  options.insert(options.end(), {"--allow-run-as-root", "--oversubscribe", "-n", std::to_string(count)});
  options.push_back(child.string());
  options.insert(options.end(), arguments.begin(), arguments.end());
  std::istringstream lines(bench::run("/usr/bin/mpirun", options).output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string row;
    words >> row;
    for (double seconds = 0; words >> seconds;) rows[row].seconds.push_back(seconds);
  }
  return rows;
}

/// As the child that mpirun starts.
void print_rows(const Rows& rows) {
  const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank != nullptr && std::string(rank) != "0") return;
  for (const auto& [row, samples] : rows) {
    std::printf("%s", row.c_str());
    for (const double seconds : samples.seconds) std::printf(" %.9g", seconds);
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("Signals, one-sided memory and collectives between simulated ranks");
  std::string file;
  int turns = 7;
  std::vector<int> counts{0, 2};
  std::vector<std::string> transports{"threads"};
  std::size_t largest = 64U << 20;
  bool only_rows = false;
  app.add_option("--json", file, "write one JSON object a line to this file");
  app.add_option("--turns", turns, "timings of each row")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--ranks", counts,
                 "numbers of ranks of the collectives; 0: no collectives, one-sided memory")
      ->capture_default_str();
  app.add_option("--largest", largest, "bytes a rank of the largest collective")->capture_default_str();
  app.add_option("--transports", transports, "what ranks are: threads, processes, mpi")
      ->capture_default_str();
  app.add_flag("--rows", only_rows, "print timings alone; under mpirun");
  CLI11_PARSE(app, argc, argv);

  const auto steps_of = [&](int count) {
    return count == 0 ? one_sided_steps(std::min<std::size_t>(largest, 16U << 20))
                      : collective_steps(count, largest);
  };
  if (only_rows) {
    const int count = counts.at(0);
    print_rows(measure(steps_of(count), ranks(count == 0 ? 2 : count, transports.at(0)), turns));
    return 0;
  }
  Table table(file);
  for (const int group : counts) {
    const int count = group == 0 ? 2 : group, half = (turns + 1) / 2;
    const std::vector<Step> steps = steps_of(group);
    std::map<std::string, Rows> all;
    const auto take = [&](const std::string& source, const Rows& rows) {
      for (const auto& [row, samples] : rows) {
        std::vector<double>& seconds = all[source][row].seconds;
        seconds.insert(seconds.end(), samples.seconds.begin(), samples.seconds.end());
      }
    };
    // In turn: theirs, ours, theirs, ours, so that a slow minute of the machine is slow for both.
    for (int turn = 0; turn < 2; ++turn) {
      if (group != 0)
        take("Open MPI", measure_under_mpirun(count, {}, "bench_dist_mpi",
                                              {std::to_string(half), std::to_string(largest)}));
      for (const std::string& transport : transports)
        if (transport != "mpi")
          take(transport, measure(steps, ranks(count, transport), half));
        else
          // Each of our processes has two threads.
          take(transport,
               measure_under_mpirun(count, {"--bind-to", "none"}, "bench_dist",
                                    {"--rows", "--transports", "mpi", "--ranks", std::to_string(group),
                                     "--turns", std::to_string(half), "--largest", std::to_string(largest)}));
      if (group == 0)
        for (const Step& step : steps)
          if (step.name == "put") take("memcpy", {{step.row(), measure_memcpy(step.bytes, half)}});
    }
    for (const Step& step : steps) {
      const Rows& peers = all[group == 0 ? "memcpy" : "Open MPI"];
      const auto peer = peers.find(group == 0 ? "put." + std::to_string(step.bytes) : step.row());
      for (const std::string& transport : transports)
        if (const auto own = all[transport].find(step.row()); own != all[transport].end())
          table.add(step, transport, count, own->second, peer == peers.end() ? nullptr : &peer->second);
      if (group != 0 && peer != peers.end()) table.add(step, "Open MPI", count, peer->second);
      if (group == 0 && step.name == "get") table.add({"memcpy", step.bytes, {}}, "none", 1, peer->second);
    }
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
