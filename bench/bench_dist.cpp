// bench/bench_dist.cpp -- what communication between simulated ranks costs, beside memcpy and Open MPI.
//
// Rows: the way of a signal to a waiting rank and back, remote_store, remote_load, put and get of one rank beside
// memcpy of as many bytes, collectives beside Open MPI's on as many processes (bench_dist_mpi, started by mpirun,
// in turn with ours), and a dispatch. Every program runs rounds inside one kernel; the time of one without rounds is taken
// off. Both sides check their results first.
#include "dist_rounds.hpp"
#include "process.hpp"
#include "report.hpp"

#include <pl/pl.hpp>
#include <pl/pld.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
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

std::string transport = "threads";

pl::RunConfig ranks(int count) {
  pl::RunConfig config;
  config.distributed.transport = transport;
  config.distributed.device_ids.resize(static_cast<std::size_t>(count));
  std::iota(config.distributed.device_ids.begin(), config.distributed.device_ids.end(), 0);
  return config;
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

class Table {
 public:
  Table(const std::string& file, int turns)
      : report_(file, transport + " transport; peers: memcpy, Open MPI over shared memory"), turns_(turns) {
    std::printf("%s, %u cores, ranks are %s\n%-34s %6s %10s %10s %9s %9s %s\n", bench::machine().c_str(),
                std::thread::hardware_concurrency(), transport.c_str(), "what", "ranks", "median", "min",
                "spread", "GB/s", "of peer");
  }
  [[nodiscard]] int turns() const { return turns_; }
  void add(const std::string& name, int count, std::size_t bytes, const bench::Samples& samples,
           const bench::Samples* peer = nullptr) {
    const double median = samples.median();
    const double speed = bytes == 0 ? 0 : static_cast<double>(bytes) / median / 1e9;
    const double ratio = peer == nullptr ? 0 : peer->median() / median;
    std::printf("%-34s %6d %10s %10s %7.1f %% %9.2f", name.c_str(), count, bench::human(median).c_str(),
                bench::human(samples.min()).c_str(), 100 * samples.spread(), speed);
    if (peer != nullptr) std::printf(" %.2f", ratio);
    std::printf("\n");
    std::fflush(stdout);
    nlohmann::ordered_json more{{"ranks", count}, {"bytes", bytes}, {"gigabytes_per_s", speed}};
    if (peer != nullptr) more["times_faster_than_peer"] = ratio;
    report_.add(name, samples, more);
  }

 private:
  bench::Report report_;
  const int turns_;
};

void measure_signal(Table& table) {
  auto host = pl::jit.host([](Rounds rounds) {
    auto signal = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({2}), {2});
    for (auto r : pl::range(pld::world_size())) ping_pong_device(signal, rounds, pld::device = r);
  });
  const pl::RunConfig config = ranks(2);
  const auto program = host.compile(0, config);
  bench::Samples there_and_back = per_round(2000, table.turns(), [&](int rounds) { program(rounds); });
  for (double& seconds : there_and_back.seconds) seconds /= 2;
  table.add("notify_to_wait", 2, 0, there_and_back);
  bench::Samples dispatch;
  for (int turn = 0; turn < 20 * table.turns(); ++turn) {
    const auto begin = bench::Clock::now();
    program(0);
    dispatch.seconds.push_back(bench::seconds_since(begin) / 2);
  }
  table.add("dispatch_a_rank", 2, 0, dispatch);
}

bench::Samples measure_memcpy(int turns, std::size_t bytes) {
  std::vector<char> from(bytes, 1), to(bytes);
  const int rounds = bench::rounds_for(bytes);
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

void require(bool right, const std::string& what) {
  if (!right) throw std::runtime_error(what + ": wrong result");
}

/// Rank 0 moves `bytes` to rank 1 (`sends`) or from there; the other does nothing.
template <bool sends, class Device>
void measure_transfer(Table& table, const std::string& name, const Device& device, std::size_t bytes,
                      const bench::Samples& memory) {
  const auto size = static_cast<std::int64_t>(bytes / sizeof(float));
  constexpr auto NR = pl::dynamic("NR");
  using Rows = pl::Tensor<float, NR, N>;
  using Own = std::conditional_t<sends, Rows, pl::Out<Rows>>;
  pl::Array<float> own({2, size}, 1.5f);
  auto host = pl::jit.host([&device, size](Own x, Rounds rounds) {
    auto data = pld::window<float>(pld::alloc_window_buffer<float>({size}), {size});
    for (auto r : pl::range(pld::world_size())) device(x[r], data, rounds, pld::device = r);
  });
  const auto program = host.compile(own, 0, ranks(2));
  const bench::Samples samples =
      per_round(bench::rounds_for(bytes), table.turns(), [&](int rounds) { program(own, rounds); });
  // Windows begin as zeros.
  if constexpr (!sends) require(own(0, size / 2) == 0.0f && own(1, 0) == 1.5f, name);
  table.add(name + "." + std::to_string(bytes), 2, bytes, samples, &memory);
}

struct Collective {
  std::string name;
  std::function<bench::Samples(int ranks, std::size_t bytes, int turns)> measure;
};

template <bool rows, class Device>
bench::Samples measure_collective(const Device& device, int count, std::size_t bytes, int turns) {
  const auto size = static_cast<std::int64_t>(bytes / sizeof(float));
  auto host = pl::jit.host([&](Rounds rounds) {
    const pld::Window buffer = pld::alloc_window_buffer<float>({size});
    const auto data = [&] {
      if constexpr (rows)
        return pld::window<float>(buffer, {count, size / count});
      else
        return pld::window<float>(buffer, {size});
    }();
    for (auto r : pl::range(pld::world_size())) device(data, rounds, pld::device = r);
  });
  const auto program = host.compile(0, ranks(count));
  return per_round(bench::rounds_for(bytes), turns, [&](int rounds) { program(rounds); });
}

/// "allreduce 65536 1.2e-05 1.1e-05 …" a line, from the processes of Open MPI.
std::map<std::string, bench::Samples> measure_mpi(int count, int turns) {
  std::map<std::string, bench::Samples> result;
  const auto child = bench::own_folder() / "bench_dist_mpi";
  if (!std::filesystem::exists(child) || !std::filesystem::exists("/usr/bin/mpirun")) return result;
  const bench::Run run =
      bench::run("/usr/bin/mpirun", {"--allow-run-as-root", "--oversubscribe", "-n", std::to_string(count),
                                     child.string(), std::to_string(turns)});
  std::istringstream lines(run.output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, bytes;
    words >> name >> bytes;
    bench::Samples& samples = result[name + "." + bytes];
    for (double seconds = 0; words >> seconds;) samples.seconds.push_back(seconds);
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("Signals, one-sided memory and collectives between simulated ranks");
  std::string file;
  int turns = 7;
  std::vector<int> counts{2};
  std::size_t largest = 64U << 20;
  app.add_option("--json", file, "write one JSON object a line to this file");
  app.add_option("--turns", turns, "timings of each row")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--ranks", counts, "numbers of ranks of the collectives")->capture_default_str();
  app.add_option("--largest", largest, "bytes a rank of the largest collective")->capture_default_str();
  app.add_option("--transport", transport, "what ranks are: threads or processes")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  Table table(file, turns);
  measure_signal(table);
  for (const std::size_t bytes :
       {std::size_t{4096}, std::size_t{65536}, std::size_t{1} << 20, std::size_t{16} << 20}) {
    const bench::Samples memory = measure_memcpy(turns, bytes);
    table.add("memcpy." + std::to_string(bytes), 1, bytes, memory);
    measure_transfer<true>(table, "remote_store", store_device, bytes, memory);
    measure_transfer<false>(table, "remote_load", load_device, bytes, memory);
    measure_transfer<true>(table, "put", put_device, bytes, memory);
    measure_transfer<false>(table, "get", get_device, bytes, memory);
  }
  const std::vector<Collective> collectives{
      {"allreduce", [](auto... a) { return measure_collective<false>(reduce_device, a...); }},
      {"allgather", [](auto... a) { return measure_collective<true>(gather_device, a...); }},
      {"all_to_all", [](auto... a) { return measure_collective<true>(exchange_device, a...); }}};
  for (const int count : counts) {
    // In turn: ours, theirs, ours, theirs, so that a slow minute of the machine is slow for both.
    std::map<std::string, bench::Samples> ours, theirs;
    std::vector<std::pair<std::string, std::size_t>> rows;
    for (const Collective& each : collectives)
      for (std::size_t bytes = 8; bytes <= largest; bytes *= 8)
        if (&each == &collectives[0] || bytes >= 4 * static_cast<std::size_t>(count))
          rows.emplace_back(each.name + "." + std::to_string(bytes), bytes);
    for (int half = 0; half < 2; ++half) {
      for (auto& [name, samples] : measure_mpi(count, (turns + 1) / 2))
        theirs[name].seconds.insert(theirs[name].seconds.end(), samples.seconds.begin(),
                                    samples.seconds.end());
      for (const auto& [name, bytes] : rows) {
        const auto& each =
            *std::find_if(collectives.begin(), collectives.end(),
                          [&row = name](const Collective& c) { return row.starts_with(c.name + "."); });
        const bench::Samples samples = each.measure(count, bytes, (turns + 1) / 2);
        ours[name].seconds.insert(ours[name].seconds.end(), samples.seconds.begin(), samples.seconds.end());
      }
    }
    for (const auto& [name, bytes] : rows) {
      const auto peer = theirs.find(name);
      table.add(name, count, bytes, ours[name], peer == theirs.end() ? nullptr : &peer->second);
      if (peer != theirs.end()) table.add("mpi." + name, count, bytes, peer->second);
    }
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
