// bench/bench_matmul.cpp -- how much of the FMA peak, or of the memory's bandwidth, does a matrix product reach?
//
//   build/release/bin/bench_matmul [--json FILE] [--rounds N]
//
// Five shapes, float, one thread: ours and Eigen, with the FMA peak and the time to read the operands once measured in
// turn in the same run. Every result is checked against sums in double before anything is timed.
#include <pl/pl.hpp>

#include "contest.hpp"
#include "products.hpp"
#include "report.hpp"

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

namespace {

auto product = pl::jit.incore([](pl::Tensor<float> a, pl::Tensor<float> b, pl::Out<pl::Tensor<float>> c) {
  c = pl::store(pl::matmul(pl::load(a), pl::load(b)), c);
});

struct Shape {
  std::int64_t m, n, k;
};

void check(const std::string& who, const pl::Array<float>& a, const pl::Array<float>& b,
           const pl::Array<float>& c) {
  const std::int64_t k = a.dim(1);
  // Rows far apart and every column of them: 1024^3 in double would take longer than the bench.
  for (std::int64_t i = 0; i < c.dim(0); i += 1 + c.dim(0) / 8)
    for (std::int64_t j = 0; j < c.dim(1); j += 1 + c.dim(1) / 200) {
      double sum = 0, size = 0;
      for (std::int64_t at = 0; at < k; ++at) {
        const double term = static_cast<double>(a(i, at)) * b(at, j);
        sum += term;
        size += std::abs(term);
      }
      if (!(std::abs(c(i, j) - sum) <= 6e-8 * static_cast<double>(k + 1) * size))
        throw std::runtime_error(who + ": wrong at row " + std::to_string(i) + ", column " +
                                 std::to_string(j) + ": got " + std::to_string(c(i, j)) + ", expected " +
                                 std::to_string(sum));
    }
}

void measure(const Shape& shape, int rounds, bench::Report& report) {
  pl::Array<float> a({shape.m, shape.k}), b({shape.k, shape.n}), c({shape.m, shape.n});
  for (std::size_t i = 0; i < a.size(); ++i) a.data()[i] = std::sin(static_cast<float>(i % 1013));
  for (std::size_t i = 0; i < b.size(); ++i) b.data()[i] = std::sin(static_cast<float>(i % 977));
  const pl::Bound bound = product.compile(a, b, c).bind(a, b, c);
  std::vector<bench::Contender> contenders;
  contenders.push_back({"trilith", [&](std::size_t calls) {
                          for (std::size_t i = 0; i < calls; ++i) bound();
                        }});
  contenders.push_back({"eigen", [&](std::size_t calls) {
                          for (std::size_t i = 0; i < calls; ++i)
                            bench::eigen_product(a.data(), b.data(), c.data(), shape.m, shape.n, shape.k);
                        }});
  const std::string name =
      std::to_string(shape.m) + "x" + std::to_string(shape.n) + "x" + std::to_string(shape.k);
  for (bench::Contender& contender : contenders) {
    c.fill(-1.0f);
    contender.run(1);
    check(name + "." + contender.name, a, b, c);
  }
  bench::Samples peak;
  contenders.push_back({"fma_peak", [&](std::size_t calls) {
                          constexpr long turns = 2000;
                          for (std::size_t i = 0; i < calls; ++i)
                            peak.seconds.push_back(1 / bench::fma_flops(turns));
                        }});
  volatile float sink = 0;
  contenders.push_back({"read_operands", [&](std::size_t calls) {
                          for (std::size_t i = 0; i < calls; ++i) {
                            // Sixteen sums, so that none waits for another: the loop is as fast as the memory.
                            float sums[16] = {};
                            for (std::size_t at = 0; at + 16 <= b.size(); at += 16)
                              for (std::size_t lane = 0; lane < 16; ++lane) sums[lane] += b.data()[at + lane];
                            sink = sink + std::accumulate(sums, sums + 16, 0.0f);
                          }
                        }});
  bench::run_contest(contenders, rounds);

  const double flops = 2.0 * static_cast<double>(shape.m * shape.n * shape.k);
  const double limit_seconds = flops * peak.quantile(0.1);
  for (const bench::Contender& contender : contenders) {
    if (contender.name == "fma_peak") continue;
    const bool reads = contender.name == "read_operands";
    const double median = contender.samples.median();
    const double least = contender.samples.min();
    std::printf("%-16s %-14s %10s %10s %7.1f %% %9.1f %9.2f %9.2f %9.1f\n", name.c_str(),
                contender.name.c_str(), bench::human(median).c_str(), bench::human(least).c_str(),
                100 * contender.samples.spread(), reads ? 0 : flops / median / 1e9,
                reads ? 0 : limit_seconds / median, reads ? 0 : limit_seconds / least,
                4e-9 * static_cast<double>(b.size()) / median);
    report.add("matmul." + name + "." + contender.name, contender.samples,
               {{"flops", flops},
                {"gflops", flops / median / 1e9},
                {"of_fma_peak", limit_seconds / median},
                {"of_fma_peak_best", limit_seconds / least},
                {"fma_peak_gflops", 1e-9 / peak.quantile(0.1)},
                {"right_operand_gigabytes_per_s", 4e-9 * static_cast<double>(b.size()) / median}});
  }
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("Matrix products against Eigen, the FMA peak and the memory, one thread");
  std::string file;
  int rounds = 31;
  app.add_option("--json", file, "write one JSON object a line to this file");
  app.add_option("--rounds", rounds, "turns of each contender")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);

  bench::Report report(file, "peers: clang 19 -O3 -march=native; one thread");
  std::printf("%s\n%-16s %-14s %10s %10s %9s %9s %9s %9s %9s\n", bench::machine().c_str(), "m x n x k",
              "contender", "median", "min", "spread", "GFLOP/s", "of peak", "best", "GB/s of b");
  for (const Shape& shape :
       {Shape{64, 64, 64}, {256, 256, 256}, {1024, 1024, 1024}, {1, 4096, 4096}, {16, 4096, 4096}})
    measure(shape, rounds, report);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
