// bench/bench_kernels.cpp -- is a compiled kernel as fast as what one would write without Trilith?
//
//   build/release/bin/bench_kernels [--json FILE] [--rounds N]
//
// x*s+x at three sizes and a row softmax, one thread: a bare call, a bound call and a held handle of ours, a plain loop
// (clang 19), Eigen, and a copy of the same bytes through and around the cache, all in turn in one run. Every result is
// checked against a double reference before anything is timed.
#include <pl/pl.hpp>

#include "contest.hpp"
#include "plain_loops.hpp"
#include "report.hpp"

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace {

auto scale_add = pl::jit.incore([](pl::Tensor<float> x, pl::Out<pl::Tensor<float>> y, pl::Scalar<float> s) {
  auto tile = pl::load(x);
  y = pl::store(tile * s + tile, y);
});

auto softmax = pl::jit.incore([](pl::Tensor<float> x, pl::Out<pl::Tensor<float>> y) {
  auto tile = pl::load(x);
  auto shifted = pl::exp(tile - pl::row_max(tile));
  y = pl::store(shifted / pl::row_sum(shifted), y);
});

constexpr float factor = 1.25f;

/// One row of the table: a workload and everybody who can do it; ours first: `trilith` is a bare call, as the peers are
/// calls of a function with nothing to check in the caller's floating-point environment, `trilith_bound` sets and restores
/// that environment, `trilith_handle` checks its arguments, too.
struct Workload {
  std::string name;
  std::vector<bench::Contender> contenders;
};

void expect_scale(const std::string& who, const pl::Array<float>& x, const pl::Array<float>& y) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = static_cast<double>(x.data()[i]) * factor + x.data()[i];
    if (!(std::abs(y.data()[i] - expected) <= 3e-7 * std::abs(expected)))
      throw std::runtime_error(who + ": wrong at element " + std::to_string(i) + ": got " +
                               std::to_string(y.data()[i]) + ", expected " + std::to_string(expected));
  }
}

void expect_softmax(const std::string& who, const pl::Array<float>& x, const pl::Array<float>& y) {
  const std::int64_t columns = x.dim(1);
  for (std::int64_t row = 0; row < x.dim(0); ++row) {
    const float* in = x.data() + row * columns;
    double maximum = in[0], sum = 0;
    for (std::int64_t i = 1; i < columns; ++i) maximum = std::max<double>(maximum, in[i]);
    for (std::int64_t i = 0; i < columns; ++i) sum += std::exp(in[i] - maximum);
    for (std::int64_t i = 0; i < columns; ++i) {
      const double expected = std::exp(in[i] - maximum) / sum;
      if (!(std::abs(y(row, i) - expected) <= 1e-12 + 2e-5 * expected))
        throw std::runtime_error(who + ": wrong at row " + std::to_string(row) + ", column " +
                                 std::to_string(i) + ": got " + std::to_string(y(row, i)) + ", expected " +
                                 std::to_string(expected));
    }
  }
}

/// Adds the two copies, which are the limit of whatever reads each byte once and writes each byte once.
void add_copies(Workload& workload, const pl::Array<float>& x, pl::Array<float>& y) {
  const std::pair<const char*, bench::CopyFunction> copies[] = {
      {"copy", bench::copy_plain}, {"copy_nontemporal", bench::copy_nontemporal}};
  for (const auto& [name, copy] : copies)
    workload.contenders.push_back({name, [&x, &y, copy](std::size_t calls) {
                                     for (std::size_t i = 0; i < calls; ++i)
                                       copy(x.data(), y.data(), x.size());
                                   }});
}

void add_ours(Workload& workload, const pl::Bound& bound) {
  workload.contenders.push_back(
      {"trilith", [bare = std::make_shared<pl::BareCall>(bound.bare())](std::size_t calls) {
         for (std::size_t i = 0; i < calls; ++i) (*bare)();
       }});
  workload.contenders.push_back({"trilith_bound", [bound](std::size_t calls) {
                                   for (std::size_t i = 0; i < calls; ++i) bound();
                                 }});
}

void measure(Workload& workload, const pl::Array<float>& x, pl::Array<float>& y, int rounds,
             void (*check)(const std::string&, const pl::Array<float>&, const pl::Array<float>&),
             bench::Report& report) {
  for (bench::Contender& contender : workload.contenders) {
    y.fill(-1.0f);
    contender.run(1);
    check(workload.name + "." + contender.name, x, y);
  }
  add_copies(workload, x, y);
  bench::run_contest(workload.contenders, rounds);

  const double bytes = 2.0 * sizeof(float) * static_cast<double>(x.size());
  const auto copies = workload.contenders.end() - 2;
  const double limit = std::min(copies[0].samples.median(), copies[1].samples.median());
  for (const bench::Contender& contender : workload.contenders) {
    const double median = contender.samples.median();
    std::printf("%-22s %-17s %10s %10s %7.1f %% %9.1f %9.2f %9.2f\n", workload.name.c_str(),
                contender.name.c_str(), bench::human(median).c_str(),
                bench::human(contender.samples.min()).c_str(), 100 * contender.samples.spread(),
                bytes / median / 1e9, limit / median, copies[1].samples.median() / median);
    report.add(workload.name + "." + contender.name, contender.samples,
               {{"bytes", bytes},
                {"gigabytes_per_s", bytes / median / 1e9},
                {"ratio_to_copy", limit / median},
                {"ratio_to_nontemporal_copy", copies[1].samples.median() / median}});
  }
}

void measure_scale(std::int64_t rows, std::int64_t columns, bench::ScaleFunction plain,
                   bench::ScaleFunction eigen, int rounds, bench::Report& report) {
  pl::Array<float> x({rows, columns});
  pl::Array<float> y({rows, columns});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = std::sin(static_cast<float>(i % 1013));
  const auto held = scale_add.compile(x, y, factor);
  const auto call = [&](bench::ScaleFunction function) {
    return [&x, &y, function](std::size_t calls) {
      for (std::size_t i = 0; i < calls; ++i) function(x.data(), factor, y.data());
    };
  };
  Workload workload{"scale_add." + std::to_string(rows) + "x" + std::to_string(columns), {}};
  const pl::Bound bound = held.bind(x, y, factor);
  add_ours(workload, bound);
  workload.contenders.push_back({"trilith_handle", [&](std::size_t calls) {
                                   const auto from = x.view();
                                   const auto to = y.view();
                                   for (std::size_t i = 0; i < calls; ++i) held(from, to, factor);
                                 }});
  workload.contenders.push_back({"clang19", call(plain)});
  workload.contenders.push_back({"eigen", call(eigen)});
  measure(workload, x, y, rounds, expect_scale, report);
}

void measure_softmax(int rounds, bench::Report& report) {
  pl::Array<float> x({1024, 1024});
  pl::Array<float> y({1024, 1024});
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = 8 * std::sin(static_cast<float>(i % 10007));
  const auto call = [&](bench::SoftmaxFunction function) {
    return [&x, &y, function](std::size_t calls) {
      for (std::size_t i = 0; i < calls; ++i) function(x.data(), y.data());
    };
  };
  Workload workload{"softmax.1024x1024", {}};
  const pl::Bound bound = softmax.compile(x, y).bind(x, y);
  add_ours(workload, bound);
  workload.contenders.push_back({"clang19", call(bench::plain_softmax_1024x1024)});
  workload.contenders.push_back({"eigen", call(bench::eigen_softmax_1024x1024)});
  measure(workload, x, y, rounds, expect_softmax, report);
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("Compiled kernels against plain loops, Eigen and the copy bandwidth, one thread");
  std::string file;
  int rounds = 101;
  app.add_option("--json", file, "write one JSON object a line to this file");
  app.add_option("--rounds", rounds, "turns of each contender")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);

  bench::Report report(file, "peers: clang 19 -O3 -march=native; one thread");
  std::printf("%s\n%-22s %-17s %10s %10s %9s %9s %9s %9s\n", bench::machine().c_str(), "workload",
              "contender", "median", "min", "spread", "GB/s", "of copy", "of nt");
  measure_scale(8, 8, bench::plain_scale_8x8, bench::eigen_scale_8x8, rounds, report);
  measure_scale(128, 128, bench::plain_scale_128x128, bench::eigen_scale_128x128, rounds, report);
  measure_scale(4096, 4096, bench::plain_scale_4096x4096, bench::eigen_scale_4096x4096, rounds, report);
  measure_softmax(rounds, report);
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_kernels: %s\n", error.what());
  return 1;
}
