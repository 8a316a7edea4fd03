// Every call at the wrong level is refused where it stands, with the way to mend it.
#include "support.hpp"

using support::contains;
using support::Eager;
using support::message_of;

namespace {

constexpr auto NR = pl::dynamic("NR");
using Rows = pl::Tensor<float, NR, 4>;
using Row = pl::Tensor<float, 4>;

auto copy_row = pl::jit.incore([](Row x, pl::Out<Row> y) { y = pl::store(pl::load(x), y); });
auto device_orch = pl::jit([](auto x, auto y) { copy_row(x, y); });

const pl::RunConfig two_devices{.distributed = {.device_ids = {0, 1}}, .eager = true};

struct Data {
  pl::Array<float> x{{2, 4}, 1.0f};
  pl::Array<float> y{{2, 4}};
};

}  // namespace

TEST_CASE("an in-core kernel called from the host orchestrator is a LevelError that names the way down") {
  Data data;
  auto host = pl::jit.host([](Rows x, pl::Out<Rows> y) { copy_row(x[0], y[0]); });
  const std::string message = message_of<pl::LevelError>([&] { host(data.x, data.y, two_devices); });
  CHECK(contains(
      message,
      " was called in a host orchestrator; a kernel runs on a device: dispatch the pl::jit wrapper"));
  CHECK(contains(message, "host → device → core"));
  CHECK(contains(message, "levels_test.cpp:"));
}

TEST_CASE("a dispatch without a device is a LevelError") {
  Data data;
  auto host = pl::jit.host([](Rows x, pl::Out<Rows> y) { device_orch(x[0], y[0]); });
  const std::string message = message_of<pl::LevelError>([&] { host(data.x, data.y, two_devices); });
  CHECK(contains(message, "without a device"));
  CHECK(contains(message, "pld::device = r"));
}

TEST_CASE("pld::rank on the host is a LevelError") {
  Data data;
  auto host = pl::jit.host([](Rows, pl::Out<Rows>) { (void)pld::rank(); });
  CHECK(contains(
      message_of<pl::LevelError>([&] { host(data.x, data.y, two_devices); }),
      "pld::rank() was called in a host orchestrator, which has no rank; it loops over all of them"));
}

TEST_CASE("pld::world_size is the host's alone") {
  Data data;
  CHECK(contains(message_of<pl::LevelError>([] { (void)pld::world_size(); }), "outside a program"));
  auto device = pl::jit([](auto, auto) { (void)pld::world_size(); });
  auto host = pl::jit.host([&](Rows x, pl::Out<Rows> y) {
    for (auto r : pl::range(pld::world_size())) device(x[r], y[r], pld::device = r);
  });
  CHECK(contains(message_of<pl::LevelError>([&] { host(data.x, data.y, two_devices); }),
                 "in a device orchestration"));
  const Eager eager;
  auto kernel = pl::jit.incore([](Row, pl::Out<Row>) { (void)pld::world_size(); });
  CHECK(contains(message_of<pl::LevelError>([&] { kernel(data.x[0], data.y[0]); }), "in an in-core kernel"));
}

TEST_CASE("entries do not nest, on a device or in a kernel") {
  Data data;
  const Eager eager;
  auto outer = pl::jit([](auto x, auto y) { device_orch(x, y); });
  CHECK(contains(message_of<pl::LevelError>([&] { outer(data.x[0], data.y[0]); }),
                 " was called on a device; entries do not nest"));
  auto kernel = pl::jit.incore([](Row x, pl::Out<Row> y) { device_orch(x, y); });
  CHECK(contains(message_of<pl::LevelError>([&] { kernel(data.x[0], data.y[0]); }),
                 ", in an in-core kernel; entries do not nest"));
}

TEST_CASE("host orchestrators do not nest") {
  Data data;
  auto inner = pl::jit.host([](Rows, pl::Out<Rows>) {});
  auto host = pl::jit.host([&](Rows x, pl::Out<Rows> y) { inner(x, y); });
  CHECK(contains(message_of<pl::LevelError>([&] { host(data.x, data.y, two_devices); }),
                 "a host orchestrator was called in a host orchestrator; they do not nest"));
  auto device = pl::jit([&](auto x, auto y) { inner(x, y); });
  const Eager eager;
  CHECK(contains(message_of<pl::LevelError>([&] { device(data.x.view(), data.y.view()); }),
                 "a host orchestrator was called on a device; call it from ordinary C++"));
}

TEST_CASE("tile operations at host and device level are LevelErrors") {
  Data data;
  auto host = pl::jit.host([](Rows x, pl::Out<Rows>) { (void)pl::load(x); });
  CHECK(
      contains(message_of<pl::LevelError>([&] { host(data.x, data.y, two_devices); }), "host orchestrator"));
  const Eager eager;
  auto device = pl::jit([](auto x, auto) {
    (void)pl::exp(pl::Tile<float>());
    (void)x;
  });
  CHECK(contains(message_of<pl::LevelError>([&] { device(data.x[0], data.y[0]); }), "device orchestration"));
}

TEST_CASE("after a LevelError the thread is back in ordinary C++") {
  Data data;
  auto host = pl::jit.host([](Rows x, pl::Out<Rows> y) { copy_row(x[0], y[0]); });
  CHECK_THROWS_AS(host(data.x, data.y, two_devices), pl::LevelError);
  CHECK(pl::detail::current_level() == pl::detail::Level::None);
  CHECK_FALSE(pl::recording());
  const Eager eager;
  copy_row(data.x[0], data.y[0]);
  CHECK(data.y(0, 0) == 1.0f);
}

TEST_CASE("a kernel that runs natively may call another one") {
  Data data;
  const Eager eager;
  auto outer = pl::jit.incore([](Row x, pl::Out<Row> y) { copy_row(x, y); });
  outer(data.x[1], data.y[1]);
  CHECK(data.y(1, 3) == 1.0f);
}
