// 256 ranks on however few cores there are: they finish, and who waits uses no time and little memory.
#include "windows.hpp"

#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

namespace {

constexpr auto NR = pl::dynamic("NR");
constexpr int many = 256;
constexpr std::int64_t elements = 64 * 1024 / sizeof(float);

using Answer = pl::Tensor<float, NR, 2>;

pl::RunConfig native(int ranks) {
  pl::RunConfig result = windows::config(ranks);
  result.eager = true;
  return result;
}

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Kilobytes of this process that are in memory.
long resident_kilobytes() {
  std::FILE* file = std::fopen("/proc/self/status", "r");
  REQUIRE(file != nullptr);
  char line[256];
  long result = 0;
  while (std::fgets(line, sizeof line, file) != nullptr)
    if (std::strncmp(line, "VmRSS:", 6) == 0) std::sscanf(line + 6, "%ld", &result);
  std::fclose(file);
  return result;
}

auto all_kernel =
    pl::jit.incore([](pl::Out<pl::Tensor<float, 2>> y, pld::DistributedTensor<float, elements> sums,
                      pld::DistributedTensor<float, NR, 4> rows) {
      const int ranks = pld::nranks(sums), rank = pld::rank(sums);
      pld::barrier(sums);
      for (std::int64_t i = 0; i < elements; ++i) sums.data()[i] = static_cast<float>((rank + i) % 8);
      pld::allreduce(sums);
      for (int p = 0; p < ranks; ++p)
        for (int i = 0; i < 4; ++i) rows.data()[p * 4 + i] = static_cast<float>(rank * ranks + p);
      pld::all_to_all(rows);
      float wrong_sums = 0, wrong_rows = 0;
      // Each sum costs as many steps as there are ranks: a part of them is enough.
      for (std::int64_t i = 0; i < elements; i += 61) {
        float sum = 0;
        for (int p = 0; p < ranks; ++p) sum += static_cast<float>((p + i) % 8);
        wrong_sums += sums.data()[i] != sum ? 1 : 0;
      }
      for (int p = 0; p < ranks; ++p)
        for (int i = 0; i < 4; ++i)
          wrong_rows += rows.data()[p * 4 + i] != static_cast<float>(p * ranks + rank) ? 1 : 0;
      y.data()[0] = wrong_sums;
      y.data()[1] = wrong_rows;
    });
auto all_device = pl::jit([](auto y, auto sums, auto rows) { all_kernel(y, sums, rows); });

auto all_host = pl::jit.host([](pl::Out<Answer> y) {
  const int ranks = pld::world_size();
  auto sums = pld::window<float>(pld::alloc_window_buffer<float>({elements}), {elements});
  auto rows = pld::window<float>(pld::alloc_window_buffer<float>({ranks, 4}), {ranks, 4});
  for (auto r : pl::range(pld::world_size())) all_device(y[r], sums, rows, pld::device = r);
});

}  // namespace

TEST_CASE("256 ranks finish a barrier, an allreduce of 64 KiB and an all-to-all") {
  const long before = resident_kilobytes();
  pl::Array<float> y({many, 2}, -1.0f);
  all_host(y, native(many));
  for (const float wrong : y) CHECK(wrong == 0);
  // Its part of the windows (68 KiB), and stacks and queues: no memory for each pair of ranks.
  const long each = (resident_kilobytes() - before) / many;
  MESSAGE("resident memory a rank: ", each, " KiB");
  CHECK(each < 512);
}

TEST_CASE("ranks that wait use no processor time") {
  std::atomic<int> arrived{0};
  double used = 0;
  auto wait_kernel = pl::jit.incore([&](pl::Out<pl::Tensor<float, 2>> y, pld::DistributedTensor<float, 2> w) {
    if (pld::rank(w) == 0) {
      while (arrived != many - 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until they sleep
      used = -processor_seconds();
      std::this_thread::sleep_for(std::chrono::seconds(1));
      used += processor_seconds();
    } else {
      ++arrived;
    }
    pld::barrier(w);
    y.data()[0] = y.data()[1] = 0;
  });
  auto device = pl::jit([&](auto y, auto w) { wait_kernel(y, w); });
  auto host = pl::jit.host([&](pl::Out<Answer> y) {
    auto w = pld::window<float>(pld::alloc_window_buffer<float>({2}), {2});
    for (auto r : pl::range(pld::world_size())) device(y[r], w, pld::device = r);
  });
  pl::Array<float> y({many, 2}, -1.0f);
  host(y, native(many));
  MESSAGE("processor time of 255 ranks that wait for 1 s: ", used, " s");
  // 255 that spin on two cores would use 2 s.
  CHECK(used < 0.5);
}
