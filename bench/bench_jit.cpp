// bench/bench_jit.cpp -- what a user waits for: first calls, cached calls, repeated calls.
//
//   build/release/bin/bench_jit [--json FILE] [--runs N] [--rows first disk load hit threads shapes]
//
//   cold.*          first call in a fresh process; the precompiled header is ready, loading the compiler is included
//   next.*          first call of a further kernel in that process
//   disk.*          a fresh process that answers from the disk cache: its whole time less an empty program's
//   header.build    first call in a fresh process without the precompiled header, less cold.scale_by_rank
//   load.*          the machine's measure: what it costs a process to open the shared libraries of Clang and LLVM as
//                   Debian builds them, and ours. First calls touch thousands of fresh pages, whose price differs
//                   several times between machines: compare the rows above as multiples of load.clang_shared
//   hit.*           a repeated call at 8x8: kernel object, held handle, bound call, bare call, the same C++ function
//                   through a pointer and directly; threads8: eight threads call the kernel object, core time a call
//   throughput.*    one kernel for 200 shapes in one process; memory.kernel: resident bytes each of them keeps
#include <pl/pl.hpp>

#include "contest.hpp"
#include "jit_kernels.hpp"
#include "plain_loops.hpp"
#include "process.hpp"
#include "report.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <thread>

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// A cache directory of this run alone, with the precompiled header in it, that can be put back to that
/// state.
class HeaderOnlyCache {
 public:
  HeaderOnlyCache() : folder_(fs::temp_directory_path() / ("bench_jit." + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
    fs::permissions(folder_, fs::perms::owner_all);
    ::setenv("TRILITH_CACHE_DIR", folder_.c_str(), 1);
  }
  ~HeaderOnlyCache() { fs::remove_all(folder_); }
  HeaderOnlyCache(const HeaderOnlyCache&) = delete;
  HeaderOnlyCache& operator=(const HeaderOnlyCache&) = delete;

  /// What is in the folder now stays at every `reset`, but for compiled kernels.
  void keep() {
    kept_ = files();
    std::erase_if(kept_, [](const fs::path& file) { return file.extension() == ".entry"; });
  }
  void reset() const {
    for (const fs::path& file : files())
      if (!kept_.contains(file)) fs::remove(file);
  }

 private:
  [[nodiscard]] std::set<fs::path> files() const {
    std::set<fs::path> result;
    for (const auto& entry : fs::recursive_directory_iterator(folder_))
      if (entry.is_regular_file()) result.insert(entry.path());
    return result;
  }
  fs::path folder_;
  std::set<fs::path> kept_;
};

class JitBench {
 public:
  JitBench(int runs, bench::Report& report)
      : runs_(runs), report_(report), child_(bench::own_folder() / "bench_jit_child") {
    std::printf("%s\n%-28s %10s %10s %9s %6s\n", bench::machine().c_str(), "name", "median", "min", "spread",
                "runs");
  }

  void first_calls() {
    // Without the header first: the header it leaves behind serves all that follows.
    std::vector<double> without_header;
    for (int i = 0; i < 3; ++i) {
      cache_.reset();
      without_header.push_back(child({"first", "negate"})["seconds"]);
    }
    cache_.keep();
    std::map<std::string, Series> series;
    const std::vector<std::pair<std::string, std::vector<std::string>>> rows = {
        {"cold.scale_by_rank", {"first", "scale_by_rank"}},
        {"cold.softmax", {"first", "softmax"}},
        {"next.scale_by_rank", {"next"}}};
    for (int i = 0; i < runs_; ++i)
      for (const auto& [name, arguments] : rows) {
        cache_.reset();
        series[name].add(child(arguments));
      }
    for (const auto& [name, arguments] : rows)
      add(name, series[name].samples, {{"phases", series[name].phases()}});
    bench::Samples header;
    const double cold = series["cold.scale_by_rank"].samples.median();
    for (const double seconds : without_header) header.seconds.push_back(seconds - cold);
    add("header.build", header);
  }

  void disk() {
    cache_.reset();
    (void)child({"first", "scale_by_rank"});
    if (child({"first", "scale_by_rank"})["disk_hits"] != 1)
      throw std::runtime_error("the disk cache did not answer");
    bench::Samples empty, hit, difference;
    for (int i = 0; i < 5 * runs_; ++i) {
      empty.seconds.push_back(bench::run(bench::own_folder() / "bench_jit_empty").seconds);
      hit.seconds.push_back(bench::run(child_, {"quiet"}).seconds);
    }
    for (const double seconds : hit.seconds) difference.seconds.push_back(seconds - empty.median());
    add("disk.scale_by_rank", difference, {{"process_s", hit.median()}, {"empty_process_s", empty.median()}});
  }

  void loads() {
    const fs::path ours = bench::own_folder() / ".." / "lib" / "libtrilith-compiler.so";
    std::vector<std::pair<std::string, std::vector<std::string>>> rows = {{"load.compiler", {ours.string()}}};
    if (fs::exists(CLANG_SHARED_LIBRARY))
      rows.push_back({"load.clang_shared", {CLANG_SHARED_LIBRARY}});
    else
      std::printf("%-28s not measured: there is no %s\n", "load.clang_shared", CLANG_SHARED_LIBRARY);
    bench::Samples empty;
    std::map<std::string, bench::Samples> samples;
    for (int i = 0; i < runs_; ++i) {
      empty.seconds.push_back(bench::run(bench::own_folder() / "bench_jit_empty").seconds);
      for (const auto& [name, arguments] : rows)
        samples[name].seconds.push_back(
            bench::run(bench::own_folder() / "bench_jit_empty", arguments).seconds);
    }
    for (const auto& [name, arguments] : rows) {
      for (double& seconds : samples[name].seconds) seconds -= empty.median();
      add(name, samples[name]);
    }
  }

  void hits() {
    const pl::Array<float> from({8, 8}, 2.0f);
    pl::Array<float> to({8, 8});
    const auto x = from.view();
    const auto y = to.view();
    const auto held = bench::scale_by_rank.compile(x, y, 3);
    // Read through volatile, so that the compiler does not know what it points to.
    static bench::ScaleFunction volatile pointer = bench::plain_scale_8x8;
    std::vector<bench::Contender> contenders;
    contenders.push_back({"hit.kernel", [&](std::size_t calls) {
                            for (std::size_t i = 0; i < calls; ++i) bench::scale_by_rank(x, y, 3);
                          }});
    contenders.push_back({"hit.handle", [&](std::size_t calls) {
                            for (std::size_t i = 0; i < calls; ++i) held(x, y, 3);
                          }});
    const pl::Bound bound = held.bind(x, y, 3);
    contenders.push_back({"hit.bound", [&](std::size_t calls) {
                            for (std::size_t i = 0; i < calls; ++i) bound();
                          }});
    const pl::BareCall bare = bound.bare();
    contenders.push_back({"hit.bare", [&](std::size_t calls) {
                            for (std::size_t i = 0; i < calls; ++i) bare();
                          }});
    contenders.push_back({"hit.pointer", [&](std::size_t calls) {
                            for (std::size_t i = 0; i < calls; ++i) pointer(from.data(), 3.0f, to.data());
                          }});
    contenders.push_back({"hit.direct", [&](std::size_t calls) {
                            for (std::size_t i = 0; i < calls; ++i)
                              bench::plain_scale_8x8(from.data(), 3.0f, to.data());
                          }});
    bench::run_contest(contenders, 10 * runs_);
    const double through_pointer = contenders[4].samples.median();
    for (const bench::Contender& contender : contenders)
      add(contender.name, contender.samples,
          {{"over_pointer_s", contender.samples.median() - through_pointer}});
  }

  void threads() {
    constexpr int thread_count = 8, calls = 200'000;
    const double cores = std::min<double>(thread_count, std::thread::hardware_concurrency());
    bench::Samples samples;
    for (int i = 0; i < runs_; ++i) {
      std::atomic<int> ready = 0;
      std::atomic<bool> go = false;
      std::vector<std::thread> threads;
      for (int t = 0; t < thread_count; ++t)
        threads.emplace_back([&] {
          const pl::Array<float> from({8, 8}, 2.0f);
          pl::Array<float> to({8, 8});
          const auto x = from.view();
          const auto y = to.view();
          bench::scale_by_rank(x, y, 3);
          ++ready;
          while (!go) std::this_thread::yield();
          for (int c = 0; c < calls; ++c) bench::scale_by_rank(x, y, 3);
        });
      while (ready != thread_count) std::this_thread::yield();
      const auto begin = bench::Clock::now();
      go = true;
      for (std::thread& thread : threads) thread.join();
      samples.seconds.push_back(bench::seconds_since(begin) * cores / (thread_count * calls));
    }
    add("hit.threads8", samples, {{"threads", thread_count}, {"cores", cores}});
  }

  void shapes() {
    constexpr int count = 200;
    // Each shape is to be compiled, also those beyond the budget. The child has this process's environment.
    ::setenv("TRILITH_SPECIALISATION_BUDGET", "0", 1);
    Series series;
    bench::Samples each;
    double bytes = 0;
    for (int i = 0; i < 3; ++i) {
      cache_.reset();
      const ordered_json result = child({"shapes", std::to_string(count)});
      if (result["compiles"] != count) throw std::runtime_error("200 shapes were not 200 compiles");
      series.add(result);
      each.seconds.push_back(result["seconds"].get<double>() / count);
      bytes = result["bytes"].get<double>() / count;
    }
    add("throughput.200_shapes", each,
        {{"kernels_per_s", 1 / each.median()},
         {"total_s", series.samples.median()},
         {"phases", series.phases()}});
    bench::Samples none;
    report_.add("memory.kernel", none, {{"bytes", bytes}});
    std::printf("%-28s %7.0f bytes a kernel\n", "memory.kernel", bytes);
  }

 private:
  /// Results of one child command.
  struct Series {
    bench::Samples samples;
    std::map<std::string, bench::Samples> by_phase;
    void add(const ordered_json& result) {
      samples.seconds.push_back(result["seconds"]);
      for (const auto& [phase, seconds] : result["phases"].items())
        by_phase[phase].seconds.push_back(seconds);
    }
    [[nodiscard]] ordered_json phases() const {
      ordered_json result;
      for (const auto& [phase, values] : by_phase) result[phase] = values.median();
      return result;
    }
  };

  [[nodiscard]] ordered_json child(const std::vector<std::string>& arguments) const {
    return ordered_json::parse(bench::run(child_, arguments).output);
  }

  void add(const std::string& name, const bench::Samples& samples, const ordered_json& more = {}) {
    std::printf("%-28s %10s %10s %7.1f %% %6zu\n", name.c_str(), bench::human(samples.median()).c_str(),
                bench::human(samples.min()).c_str(), 100 * samples.spread(), samples.seconds.size());
    std::fflush(stdout);
    report_.add(name, samples, more);
  }

  int runs_;
  bench::Report& report_;
  fs::path child_;
  HeaderOnlyCache cache_;
};

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("First calls, cached calls and repeated calls");
  std::string file;
  int runs = 21;
  app.add_option("--json", file, "write one JSON object a line to this file");
  app.add_option("--runs", runs, "fresh processes a row")->capture_default_str()->check(CLI::PositiveNumber);
  std::vector<std::string> rows{"first", "disk", "load", "hit", "threads", "shapes"};
  app.add_option("--rows", rows, "which rows")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  bench::Report report(file);
  JitBench jit(runs, report);
  const auto wanted = [&](const char* row) { return std::ranges::find(rows, row) != rows.end(); };
  if (wanted("first")) jit.first_calls();
  if (wanted("disk")) jit.disk();
  if (wanted("load")) jit.loads();
  if (wanted("hit")) jit.hits();
  if (wanted("threads")) jit.threads();
  if (wanted("shapes")) jit.shapes();
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_jit: %s\n", error.what());
  return 1;
}
