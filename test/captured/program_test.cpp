// Host, devices and compiled kernels: the program of samples/distributed/02_programming_model.
#include "runtime/support.hpp"

#include <cstring>
#include <stdexcept>

using support::contains;
using support::Jit;
using support::message_of;
using support::numbers;

namespace {

constexpr int ROWS = 8, COLS = 8;
constexpr auto NR = pl::dynamic("NR");

auto scale_by_rank =
    pl::jit.incore([](pl::Tensor<float, ROWS, COLS> x, pl::Out<pl::Tensor<float, ROWS, COLS>> y,
                      pl::Scalar<std::int32_t> rank) {
      auto tile = pl::load(x, {0, 0}, {ROWS, COLS});
      auto rank_f32 = pl::cast<float>(rank);
      auto scaled = pl::mul(tile, rank_f32);
      auto result = pl::add(scaled, tile);
      y = pl::store(result, {0, 0}, y);
      return y;
    });
auto device_orch = pl::jit([](auto x, auto y, auto rank) { return scale_by_rank(x, y, rank); });
auto host_orch =
    pl::jit.host([](pl::Tensor<float, NR, ROWS, COLS> x, pl::Out<pl::Tensor<float, NR, ROWS, COLS>> y) {
      for (auto r : pl::range(pld::world_size())) device_orch(x[r], y[r], r, pld::device = r);
    });

// y[0:4] = x[at:at+4] of a tensor of any length
auto window =
    pl::jit.incore([](pl::Tensor<float> x, pl::Out<pl::Tensor<float>> y, pl::Scalar<std::int64_t> at) {
      y = pl::store(pl::load(x, {at}, {4}), {0}, y);
    });

pl::RunConfig devices(std::vector<int> ids) {
  pl::RunConfig config = support::cached();
  config.distributed.device_ids = std::move(ids);
  return config;
}

}  // namespace

TEST_CASE("compile compiles every kernel once for all ranks, and running compiles nothing more") {
  const support::TemporaryFolder cache;  // of its own: a disk hit of an earlier run would hide the compile
  pl::RunConfig config = devices({4, 7, 2});
  config.cache_dir = cache.path();
  auto x = numbers({3, ROWS, COLS});
  pl::Array<float> y({3, ROWS, COLS});
  auto compiled = host_orch.compile(x, y, config);
  CHECK(compiled.statistics().compiles == 1);
  CHECK(compiled.statistics().memory_hits == 2);
  for (float element : y) CHECK(element == 0.0f);
  for (int round = 0; round < 3; ++round) compiled(x, y, config);
  CHECK(compiled.statistics().compiles == 1);
  CHECK(compiled.statistics().eager_calls == 0);
  for (int r = 0; r < 3; ++r)
    for (int i = 0; i < ROWS * COLS; ++i)
      REQUIRE(y.begin()[r * ROWS * COLS + i] == x.begin()[r * ROWS * COLS + i] * static_cast<float>(r + 1));
  CHECK(contains(compiled.plan(), "compiled for (float[8, 8], out float[8, 8], int32)"));
}

TEST_CASE("the compiled program agrees with the eager one bit for bit") {
  auto x = numbers({2, ROWS, COLS});
  pl::Array<float> y({2, ROWS, COLS}), z({2, ROWS, COLS});
  pl::RunConfig config = devices({0, 1});
  host_orch(x, y, config);
  config.eager = true;
  host_orch(x, z, config);
  CHECK(std::memcmp(y.data(), z.data(), y.size() * sizeof(float)) == 0);
}

TEST_CASE(
    "a fault in one rank's kernel is thrown on the host at the kernel's line, and the program stays usable") {
  auto device = pl::jit([](auto x, auto y, std::int64_t at) { window(x, y, at); });
  auto host = pl::jit.host([&](pl::Tensor<float> x, pl::Out<pl::Tensor<float>> y, std::int64_t at) {
    for (auto r : pl::range(pld::world_size())) device(x[r], y[r], at * r, pld::device = r);
  });
  auto x = numbers({2, 8});
  pl::Array<float> y({2, 4});
  auto compiled = host.compile(x, y, std::int64_t{1}, devices({0, 1}));
  const std::string message = message_of<pl::ShapeError>([&] { compiled(x, y, std::int64_t{5}); });
  CHECK(contains(message, "program_test.cpp:"));
  compiled(x, y, std::int64_t{4});
  CHECK(y(1, 3) == x(1, 7));
  CHECK(y(0, 3) == x(0, 3));
}

TEST_CASE("a kernel and a device entry called from ordinary C++ are the same code") {
  const Jit jit;
  auto x = numbers({ROWS, COLS});
  pl::Array<float> y({ROWS, COLS}), z({ROWS, COLS});
  scale_by_rank(x, y, 2);
  const auto result = device_orch(pl::Tensor<float, ROWS, COLS>(x.view()),
                                  pl::Out<pl::Tensor<float, ROWS, COLS>>(z.view()), 2);
  CHECK(result.get().data() == z.data());
  CHECK(z(7, 7) == y(7, 7));
  CHECK(jit.context.statistics().specialisations.size() == 1);
  CHECK(scale_by_rank.name() == "scale_by_rank");
}
