// bench/bench_jit_child.cpp -- the fresh process that bench_jit starts, again and again. Not for running by
// hand.
//
//   bench_jit_child first scale_by_rank|softmax|negate   times the first call of that kernel
//   bench_jit_child next                                 the same after another kernel was compiled before it
//   bench_jit_child shapes N                             compiles one kernel for N shapes
//   bench_jit_child quiet                                calls scale_by_rank once: the whole process is timed
//   outside
//
// Prints one JSON object. Includes little: what the process itself costs is measured too.
#include <pl/pl.hpp>

#include "jit_kernels.hpp"

#include <unistd.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

namespace {

auto softmax = pl::jit.incore([](pl::Tensor<float> x, pl::Out<pl::Tensor<float>> y) {
  auto tile = pl::load(x);
  auto shifted = pl::exp(tile - pl::row_max(tile));
  y = pl::store(shifted / pl::row_sum(shifted), y);
});

auto negate =
    pl::jit.incore([](pl::Tensor<float> x, pl::Out<pl::Tensor<float>> y) { y = pl::store(-pl::load(x), y); });

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double call(const std::string& kernel, std::int64_t rows = 8, std::int64_t columns = 8) {
  const pl::Array<float> x({rows, columns}, 2.0f);
  pl::Array<float> y({rows, columns});
  float expected = 8.0f;
  const double begin = now();
  if (kernel == "scale_by_rank") {
    bench::scale_by_rank(x, y, 3);
  } else if (kernel == "softmax") {
    softmax(x, y);
    expected = 1.0f / static_cast<float>(columns);
  } else {
    negate(x, y);
    expected = -2.0f;
  }
  const double seconds = now() - begin;
  for (const float element : y)
    if (std::abs(element - expected) > 1e-5f) {
      std::fprintf(stderr, "%s: got %g, expected %g\n", kernel.c_str(), element, expected);
      std::exit(1);
    }
  return seconds;
}

/// Resident memory in bytes.
double resident() {
  std::ifstream statm("/proc/self/statm");
  double total = 0, pages = 0;
  statm >> total >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// The result and what the process has spent in each phase since `before`.
void print(double seconds, const pl::Statistics& before, double bytes = 0) {
  const pl::Statistics s = pl::statistics();
  std::printf(
      "{\"seconds\": %.9f, \"compiles\": %d, \"disk_hits\": %d, \"bytes\": %.0f, \"phases\": "
      "{\"specialise_s\": %.9f,"
      " \"emit_s\": %.9f, \"compile_s\": %.9f, \"link_s\": %.9f}}\n",
      seconds, static_cast<int>(s.compiles - before.compiles),
      static_cast<int>(s.disk_hits - before.disk_hits), bytes,
      s.specialise_seconds - before.specialise_seconds, s.emit_seconds - before.emit_seconds,
      s.compile_seconds - before.compile_seconds, s.link_seconds - before.link_seconds);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "quiet") {
    call("scale_by_rank");
  } else if (mode == "first" && argc > 2) {
    print(call(argv[2]), {});
  } else if (mode == "next") {
    call("softmax");
    const pl::Statistics before = pl::statistics();
    const double seconds = call("scale_by_rank");
    print(seconds, before);
  } else if (mode == "shapes" && argc > 2) {
    call("negate");  // the compiler is loaded and has its working memory: what follows is the kernels' own
    const pl::Statistics before = pl::statistics();
    const double memory = resident(), begin = now();
    const int count = std::atoi(argv[2]);
    for (int i = 0; i < count; ++i) call("softmax", 3, i + 1);
    const double seconds = now() - begin;
    print(seconds, before, resident() - memory);
  } else {
    return 2;
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_jit_child: %s\n", error.what());
  return 1;
}
