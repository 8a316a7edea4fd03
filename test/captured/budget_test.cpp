// The budget of specialisations: beyond it one code serves many shapes, where the kernel allows it.
#include "runtime/support.hpp"

#include <cstring>

using support::contains;
using support::LogLines;
using support::message_of;

namespace {

using Any = pl::Tensor<float>;
using Out = pl::Out<pl::Tensor<float>>;

/// This thread compiles with a small budget.
struct Budget {
  explicit Budget(int budget) : context(config_of(budget)) { ++support::hash_round(); }
  static pl::RunConfig config_of(int budget) {
    pl::RunConfig config = support::cached();
    config.specialisation_budget = budget;
    return config;
  }
  pl::Context context;
  pl::ContextScope scope{context};
  [[nodiscard]] std::size_t of(pl::Extents extents) const {
    std::size_t count = 0;
    for (const auto& specialisation : context.statistics().specialisations)
      count += specialisation.extents == extents;
    return count;
  }
  [[nodiscard]] std::size_t all() const { return context.statistics().specialisations.size(); }
};

auto make_softmax() {
  return pl::jit.incore([](Any x, Out y) {
    auto tile = pl::load(x);
    auto shifted = pl::exp(tile - pl::row_max(tile));
    y = pl::store(shifted / pl::row_sum(shifted), y);
  });
}

/// Runs a kernel (x, y) with constants and in the context of the caller; true when the bits are equal.
template <class Kernel>
bool same_bits(const Kernel& kernel, const Kernel& exact, const pl::Index& dims, const pl::Index& out) {
  auto x = support::numbers(dims);
  for (float& element : x) element = element * 0.37f - 5.0f;
  pl::Array<float> y(out), expected(out);
  kernel(x, y);
  const support::Jit unlimited;
  exact(x, expected);
  return std::memcmp(y.data(), expected.data(), y.size() * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("a hundred batch sizes are sixty-four specialisations and one with run-time extents") {
  const LogLines log;
  const Budget budget(64);
  auto scale = pl::jit.incore([](Any x, Out y) { y = pl::store(pl::load(x) * 3.0f, y); });
  for (std::int64_t batch = 2; batch < 102; ++batch) {
    pl::Array<float> x({batch, 9}, 2.0f), y({batch, 9});
    if (batch == 9) continue;  // equal extents are a group of their own
    scale(x, y);
    CHECK(y(batch - 1, 8) == 6.0f);
  }
  CHECK(budget.all() == 65);
  CHECK(budget.of(pl::Extents::Constant) == 64);
  CHECK(budget.of(pl::Extents::RunTime) == 1);
  CHECK(budget.context.statistics().specialisations.back().signature == "float[#0, #1], out float[#0, #1]");
  CHECK(log.count("has 64 specialisations") == 1);
  CHECK(log.count("further shapes run code with run-time extents") == 1);
}

TEST_CASE("beyond the budget results have the bits of constants, at every width") {
  const Budget budget(1);
  auto softmax = make_softmax(), exact = make_softmax();
  for (const std::int64_t rows : {2, 3, 5})
    for (const std::int64_t columns : {0, 2, 7, 8, 9, 15, 16, 17, 31, 33, 64, 127})
      CHECK(same_bits(softmax, exact, {rows, columns}, {rows, columns}));
  CHECK(budget.of(pl::Extents::Constant) == 1);
  CHECK(budget.all() < 8);
}

TEST_CASE("an extent of 1 stays a constant, so that it broadcasts beyond the budget as before") {
  const Budget budget(1);
  auto add = pl::jit.incore([](Any x, Any b, Out y) { y = pl::store(pl::load(x) + pl::load(b), y); });
  for (const std::int64_t n : {4, 5, 6}) {
    pl::Array<float> x({n, 3}, 1.0f), row({1, 3}, 2.0f), column({n, 1}, 3.0f), y({n, 3});
    add(x, row, y);
    CHECK(y(n - 1, 2) == 3.0f);
    add(x, column, y);
    CHECK(y(n - 1, 2) == 4.0f);
  }
  CHECK(budget.of(pl::Extents::RunTime) == 2);
  pl::Array<float> x({7, 3}, 1.0f), wrong({8, 3}, 2.0f), y({7, 3});
  CHECK(contains(message_of<pl::ShapeError>([&] { add(x, wrong, y); }), "budget_test.cpp:"));
}

TEST_CASE("what an unrolled loop needs stays a constant, and the line says so") {
  const LogLines log;
  const Budget budget(1);
  const std::string needs = "budget_test.cpp:" + std::to_string(__LINE__ + 3);
  auto sum = pl::jit.incore([](Any x, Out y) {
    auto total = pl::load(x[0]);
    for (auto i : pl::unroll(1, x.dim(0))) total = total + pl::load(x[i]);
    y = pl::store(total, y);
  });
  for (const std::int64_t n : {2, 3})
    for (const std::int64_t width : {5, 6, 7, 8}) {
      pl::Array<float> x({n, width}, 1.0f), y({width});
      sum(x, y);
      CHECK(y(width - 1) == static_cast<float>(n));
    }
  CHECK(budget.of(pl::Extents::Constant) == 1);
  CHECK(budget.of(pl::Extents::RunTime) == 2);  // one for each number of rounds
  CHECK(log.count("it keeps specialising on the others, since ") == 1);
  CHECK(log.count(needs) == 1);
}

TEST_CASE("where all is needed as constants the kernel keeps specialising") {
  const LogLines log;
  const Budget budget(1);
  const std::string needs = "budget_test.cpp:" + std::to_string(__LINE__ + 3);
  auto sum = pl::jit.incore([](Any x, Out y) {
    auto total = pl::full<float>({1}, 0.0f);
    for (auto i : pl::unroll(x.dim(0))) total = total + pl::load(x, {i}, {1});
    y = pl::store(total, y);
  });
  for (const std::int64_t n : {2, 3, 4}) {
    pl::Array<float> x({n}, 1.0f), y({1});
    sum(x, y);
    sum(x, y);
    CHECK(y(0) == static_cast<float>(n));
  }
  CHECK(budget.of(pl::Extents::Constant) == 1);
  CHECK(budget.of(pl::Extents::ConstantBeyondBudget) == 2);
  CHECK(log.count("(RunConfig.specialisation_budget); it keeps specialising, since ") == 1);
  CHECK(log.count(needs) == 1);
}

TEST_CASE("a computed extent that could be 1 keeps the constants") {
  const Budget budget(1);
  // Half of the rows: one of two, so it broadcasts; two of four, and the kernel adds rows to rows.
  auto add_half = pl::jit.incore([](Any x, Any z, Out y) {
    y = pl::store(pl::load(x, {0, 0}, {x.dim(0) / 2, x.dim(1)}) + pl::load(z), y);
  });
  for (const std::int64_t n : {4, 6, 2, 8}) {
    const std::int64_t rows = n == 2 ? 5 : n / 2;
    pl::Array<float> x({n, 3}, 1.0f), z({rows, 3}, 2.0f), y({rows, 3});
    add_half(x, z, y);
    CHECK(y(rows - 1, 2) == 3.0f);
  }
  CHECK(budget.of(pl::Extents::RunTime) + budget.of(pl::Extents::ConstantBeyondBudget) == 3);
}

TEST_CASE("pl::Const values specialise beyond the budget, and the line names them") {
  const LogLines log;
  const Budget budget(2);
  auto fill = pl::jit.incore(
      [](pl::Const<int> k, Out y) { y = pl::store(pl::full<float>({4}, 0.0f) + static_cast<float>(k), y); });
  pl::Array<float> y({4});
  for (int k = 0; k < 5; ++k) {
    fill(k, y);
    CHECK(y(3) == static_cast<float>(k));
  }
  CHECK(budget.all() == 5);
  CHECK(log.count("pl::Const k at ") == 1);
}

TEST_CASE("in-place calls and handles work beyond the budget as within it") {
  const Budget budget(1);
  auto scale = pl::jit.incore([](Any x, Out y) { y = pl::store(pl::load(x) * 2.0f, y); });
  for (const std::int64_t n : {4, 5, 6}) {
    pl::Array<float> x({n}, 1.0f), y({n});
    scale(x, x);
    CHECK(x(n - 1) == 2.0f);
    auto handle = scale.compile(x, y);
    handle(x, y);
    CHECK(y(n - 1) == 4.0f);
    handle.bind(x, y)();
  }
  pl::Array<float> x({5}), y({5}), other({2, 3}), into({2, 3});
  auto handle = scale.compile(x, y);
  CHECK(contains(message_of<pl::ShapeError>([&] { handle(other, into); }),
                 "was compiled for (float[#0], out float[#0])"));
  CHECK(budget.of(pl::Extents::RunTime) == 1);
}

TEST_CASE("a budget of 0 is no limit, and a negative one is refused") {
  const Budget budget(0);
  auto scale = pl::jit.incore([](Any x, Out y) { y = pl::store(pl::load(x) * 2.0f, y); });
  for (std::int64_t n = 2; n < 8; ++n) {
    pl::Array<float> x({n}, 1.0f), y({n});
    scale(x, y);
  }
  CHECK(budget.of(pl::Extents::Constant) == 6);
  CHECK(contains(message_of<pl::ConfigError>([] { const pl::Context wrong({.specialisation_budget = -1}); }),
                 "specialisation_budget = -1: expected 0 (no limit) or more"));
}
