// Stores that add, from all blocks of an spmd call, on the model of Ascend hardware as on the simulator.
#include "runtime/support.hpp"

#include <pl/pl.hpp>
#include <pl/pld.hpp>

#include <string>

using support::contains;

namespace {

constexpr int ROW = 8, ROWS = 4;

pl::RunConfig on(const char* platform) {
  pl::RunConfig config = support::cached();
  config.platform = platform;
  return config;
}

auto add_to_place = pl::jit.incore(
    [](pl::Tensor<float, ROW> x, pl::InOut<pl::Tensor<float, ROWS * ROW>> y, pl::Scalar<int> pitch) {
      const int block = static_cast<int>(pl::block_idx());
      y = pl::store(pl::load(x), {pitch * block}, y, {.atomic = pl::Atomic::Add});
    });
auto device =
    pl::jit([](auto x, auto y, auto blocks, auto pitch) { pl::spmd(blocks, add_to_place, x, y, pitch); });

/// What stands in y when `blocks` blocks have added x, each `pitch` elements behind the one before.
pl::Array<float> added(const char* platform, int blocks, int pitch, std::string& message) {
  auto host = pl::jit.host([&](pl::Tensor<float, ROW> x, pl::InOut<pl::Tensor<float, ROWS * ROW>> y) {
    device(x, y, blocks, pitch, pld::device = 0);
  });
  pl::Array<float> x({ROW}), y({ROWS * ROW}, 0.5F);
  for (int i = 0; i < ROW; ++i) x(i) = static_cast<float>(i + 1);
  message = support::message_of<pl::Error>([&] { host(x, y, on(platform)); });
  return y;
}

}  // namespace

TEST_CASE("on the model of the hardware, blocks that add to one place, or each to its own, lose nothing") {
  for (const int pitch : {0, 1, ROW}) {
    std::string message;
    const auto y = added("a2a3model", ROWS, pitch, message);
    CHECK(message.empty());
    for (int at = 0; at < ROWS * ROW; ++at) {
      float sum = 0.5F;
      for (int block = 0; block < ROWS; ++block)
        if (at >= block * pitch && at < block * pitch + ROW)
          sum += static_cast<float>(at - block * pitch + 1);
      CHECK(y(at) == sum);
    }
  }
}

TEST_CASE("on the model of the hardware, a block that adds out of range is told as on the simulator") {
  std::string simulated, modelled;
  (void)added("a2a3sim", ROWS + 1, ROW, simulated);
  (void)added("a2a3model", ROWS + 1, ROW, modelled);
  CHECK(contains(modelled, "atomic_test.cpp:"));
  CHECK(contains(modelled, "offset 32 with extent 8 on axis 0 is not inside the tensor, whose extent is 32"));
  CHECK(modelled == simulated);
}
