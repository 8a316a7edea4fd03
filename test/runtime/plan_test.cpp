// What a recorded plan is checked for: errors and warnings, and ordinary programs that must raise neither.
#include "support.hpp"

using support::contains;
using support::LogLines;
using support::message_of;
using support::numbers;

namespace {

constexpr auto NR = pl::dynamic("NR");
using Rows = pl::Tensor<float, NR, 4>;
using Row = pl::Tensor<float, 4>;

auto copy_row = pl::jit.incore([](Row x, pl::Out<Row> y) { y = pl::store(pl::load(x), y); });
auto add_number = pl::jit.incore([](Row x, pl::Out<Row> y, pl::Scalar<std::int32_t> n) {
  y = pl::store(pl::load(x) + pl::cast<float>(n), y);
});
auto scale =
    pl::jit.incore([](Row x, pl::Out<Row> y, pl::Scalar<float> f) { y = pl::store(pl::load(x) * f, y); });
auto accumulate =
    pl::jit.incore([](Row x, pl::InOut<Row> y) { y = pl::store(pl::load(x) + pl::load(y), y); });

auto copy_orch = pl::jit([](auto x, auto y) { copy_row(x, y); });
auto add_orch = pl::jit([](auto x, auto y, auto n) { add_number(x, y, n); });
auto scale_orch = pl::jit([](auto x, auto y, auto f) { scale(x, y, f); });

pl::RunConfig devices(int count) {
  pl::RunConfig config{.eager = true};
  config.distributed.device_ids.clear();
  for (int id = 0; id < count; ++id) config.distributed.device_ids.push_back(id);
  return config;
}

struct Data {
  pl::Array<float> x = numbers({3, 4});
  pl::Array<float> y{{3, 4}};
};

/// Compiles `body` for a number of devices.
template <class Body>
void compile(int count, Body body) {
  Data data;
  auto host = pl::jit.host([body](Rows x, pl::Out<Rows> y) { body(x, y); });
  (void)host.compile(data.x, data.y, devices(count));
}

}  // namespace

TEST_CASE("two ranks that write one region are a PlanError with both dispatch lines") {
  int line = 0;
  const std::string message = message_of<pl::PlanError>([&] {
    compile(2, [&](Rows x, pl::Out<Rows> y) {
      line = __LINE__ + 1;
      copy_orch(x[0], y[0], pld::device = 0);
      copy_orch(x[1], y[0], pld::device = 1);
    });
  });
  CHECK(contains(message, "ranks 0 and 1 write the same output region: "));
  CHECK(contains(message, "plan_test.cpp:" + std::to_string(line)));
  CHECK(contains(message, "plan_test.cpp:" + std::to_string(line + 1)));
  CHECK(contains(message, "y[r]"));
}

TEST_CASE("ranks that write neighbouring columns of one matrix are no error") {
  compile(2, [](Rows x, pl::Out<Rows> y) {
    auto halves = pl::jit([](auto a, auto b) {
      auto copy_half = pl::jit.incore(
          [](pl::Tensor<float> from, pl::Out<pl::Tensor<float>> to) { to = pl::store(pl::load(from), to); });
      copy_half(a, b);
    });
    for (auto r : pl::range(pld::world_size()))
      halves(x.slice({0, 2 * r}, {3, 2}), y.slice({0, 2 * r}, {3, 2}), pld::device = r);
  });
}

TEST_CASE("one rank may write one region twice") {
  compile(1, [](Rows x, pl::Out<Rows> y) {
    copy_orch(x[0], y[0], pld::device = 0);
    copy_orch(x[1], y[0], pld::device = 0);
  });
}

TEST_CASE("ranks that no dispatch reaches are a PlanError that names them") {
  const std::string message = message_of<pl::PlanError>(
      [] { compile(3, [](Rows x, pl::Out<Rows> y) { copy_orch(x[1], y[1], pld::device = 1); }); });
  CHECK(contains(message, "ranks 0, 2 of 3"));
  CHECK(contains(message, "plan_test.cpp:"));
}

TEST_CASE("a device index out of range is a PlanError at the dispatch") {
  int line = 0;
  for (const int device : {2, -1}) {
    const std::string message = message_of<pl::PlanError>([&] {
      compile(2, [&, device](Rows x, pl::Out<Rows> y) {
        line = __LINE__ + 1;
        copy_orch(x[0], y[0], pld::device = device);
      });
    });
    CHECK(contains(message, "pld::device = " + std::to_string(device)));
    CHECK(contains(message, "2 devices, 0 to 1"));
    CHECK(contains(message, "plan_test.cpp:" + std::to_string(line)));
  }
}

TEST_CASE("every rank with its own slices and one small number: a warning that the rank is not passed down") {
  const LogLines lines;
  compile(2, [](Rows x, pl::Out<Rows> y) {
    for (auto r : pl::range(pld::world_size())) add_orch(x[r], y[r], 0, pld::device = r);
  });
  CHECK(lines.count("rank not passed down") == 1);
}

TEST_CASE("ordinary programs do not raise the rank warning") {
  const LogLines lines;
  // The rank goes down, as a rank or as a number made of it.
  compile(2, [](Rows x, pl::Out<Rows> y) {
    for (auto r : pl::range(pld::world_size())) add_orch(x[r], y[r], r, pld::device = r);
  });
  compile(2, [](Rows x, pl::Out<Rows> y) {
    for (auto r : pl::range(pld::world_size())) add_orch(x[r], y[r], static_cast<int>(r), pld::device = r);
  });
  // A number that is no rank.
  compile(2, [](Rows x, pl::Out<Rows> y) {
    for (auto r : pl::range(pld::world_size())) add_orch(x[r], y[r], 7, pld::device = r);
  });
  // Equal float scalars, and no number at all.
  compile(2, [](Rows x, pl::Out<Rows> y) {
    for (auto r : pl::range(pld::world_size())) scale_orch(x[r], y[r], 1.0f, pld::device = r);
  });
  compile(2, [](Rows x, pl::Out<Rows> y) {
    for (auto r : pl::range(pld::world_size())) copy_orch(x[r], y[r], pld::device = r);
  });
  // A number that counts the calls of a kernel.
  auto counting = pl::jit([](auto x, auto y) {
    for (int i = 0; i < 2; ++i) add_number(x, y, i);
  });
  compile(2, [&](Rows x, pl::Out<Rows> y) {
    for (auto r : pl::range(pld::world_size())) counting(x[r], y[r], pld::device = r);
  });
  // One rank alone.
  compile(1, [](Rows x, pl::Out<Rows> y) { add_orch(x[0], y[0], 0, pld::device = 0); });
  CHECK(lines.count("rank not passed down") == 0);
}

TEST_CASE("one kernel with equal arguments twice on one rank: a warning") {
  const LogLines lines;
  compile(2, [](Rows x, pl::Out<Rows> y) {
    for (auto r : pl::range(pld::world_size())) {
      copy_orch(x[r], y[r], pld::device = r);
      copy_orch(x[r], y[r], pld::device = r);
    }
  });
  CHECK(lines.count("runs twice on rank 0") == 1);
}

TEST_CASE("repeated steps that update their data do not raise the repeat warning") {
  const LogLines lines;
  // InOut: each step goes on from the last.
  auto accumulate_orch = pl::jit([](auto x, auto y) {
    accumulate(x, y);
    accumulate(x, y);
  });
  compile(1, [&](Rows x, pl::Out<Rows> y) { accumulate_orch(x[0], y[0], pld::device = 0); });
  // There and back: the third step reads what the second wrote.
  auto bounce = pl::jit([](auto x, auto y, auto z) {
    copy_row(x, y);
    copy_row(y, z);
    copy_row(z, y);
    copy_row(y, z);
  });
  compile(1, [&](Rows x, pl::Out<Rows> y) { bounce(x[0], y[0], y[1], pld::device = 0); });
  // Cleared between two updates: the second clearing is no mistake.
  auto again = pl::jit([](auto x, auto y) {
    copy_row(x, y);
    accumulate(x, y);
    copy_row(x, y);
  });
  compile(1, [&](Rows x, pl::Out<Rows> y) { again(x[0], y[0], pld::device = 0); });
  // Other arguments.
  compile(1, [](Rows x, pl::Out<Rows> y) {
    copy_orch(x[0], y[0], pld::device = 0);
    copy_orch(x[1], y[1], pld::device = 0);
  });
  CHECK(lines.count("runs twice") == 0);
}
