// pl::parallel on several threads (RunConfig.threads): the same bits for any number, the same errors, the same memory.
#include "kernels/attention.hpp"
#include "pl/task.hpp"
#include "runtime/support.hpp"

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace {

using Any = pl::Tensor<float>;
using Out = pl::Out<pl::Tensor<float>>;

bool same_bits(const pl::Array<float>& a, const pl::Array<float>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// This thread's kernels run their parallel rounds on so many threads, until the end of the block.
struct Threads {
  explicit Threads(int count) : context(config(count)) {}
  static pl::RunConfig config(int count) {
    pl::RunConfig result = support::cached();
    result.threads = count;
    return result;
  }
  pl::Context context;
  pl::ContextScope scope{context};
};

pl::Array<float> waves(const pl::Index& dims) {
  pl::Array<float> result(dims);
  float next = 0;
  for (float& element : result) element = std::sin(next++) * 0.25f;
  return result;
}

/// A row each, with a carried tile inside, scratch memory that grows and a product.
auto rows = pl::jit.incore([](Any x, Any w, Out y) {
  const auto columns = x.dim(1);
  for (auto i : pl::parallel(x.dim(0))) {
    auto row = pl::load(x, {i, 0}, {1, columns});
    auto weighted = pl::matmul(row, pl::load(w));
    for (int k = 0; k < 3; ++k) weighted = pl::tanh(weighted) + pl::row_max(row) * 0.1f;
    if (i % 2 == 1) weighted = weighted - pl::transpose(pl::transpose(weighted, 0, 1), 0, 1) * 0.5f;
    y = pl::store(weighted, {i, 0}, y);
  }
});

auto blocks = pl::jit.incore([](Any x, Out y, pl::Scalar<int> first, pl::Scalar<int> step) {
  for (auto i : pl::parallel(first, x.dim(0), step))
    y = pl::store(pl::load(x, {i, 0}, {1, 8}) + 1.0f, {i, 0}, y);
});

auto faulty = pl::jit.incore([](Any x, Out y, pl::Scalar<int> by) {
  const int rows = by;
  for (auto i : pl::parallel(x.dim(0))) y = pl::store(pl::load(x, {i * rows, 0}, {1, 8}), {i, 0}, y);
});

auto running_sum = pl::jit.incore([](Any x, Out y) {
  auto sum = pl::zeros<float>({1, 8});
  for (auto i : pl::parallel(x.dim(0))) {
    sum = sum + pl::load(x, {i, 0}, {1, 8});
    y = pl::store(sum, {i, 0}, y);
  }
});

}  // namespace

TEST_CASE("a parallel loop gives the same bits for any number of threads, and natively") {
  const auto x = waves({37, 300}), w = waves({300, 300});
  std::vector<pl::Array<float>> results;
  for (const int count : {1, 2, 3, 8, 64}) {
    const Threads jit(count);
    results.emplace_back(pl::Index{37, 300});
    for (int again = 0; again < 3; ++again) rows(x, w, results.back());
    CHECK(jit.context.statistics().eager_calls == 0);
    CHECK(same_bits(results.front(), results.back()));
  }
}

TEST_CASE("parallel loops with a first round and a step, and with none at all") {
  const auto x = waves({11, 8});
  for (const int first : {0, 3, 10, 11, 40})
    for (const int step : {1, 4}) {
      pl::Array<float> in_order({11, 8}), in_parallel({11, 8});
      {
        const support::Eager eager;
        blocks(x, in_order, first, step);
      }
      const Threads jit(4);
      blocks(x, in_parallel, first, step);
      CHECK(same_bits(in_order, in_parallel));
    }
}

TEST_CASE("a parallel loop that faults tells its first round's fault, whatever the threads") {
  const auto x = waves({64, 8});
  pl::Array<float> y({64, 8});
  std::string said;
  for (const int count : {1, 2, 16}) {
    const Threads jit(count);
    faulty(x, y, 1);
    const std::string now = support::message_of<pl::ShapeError>([&] { faulty(x, y, 9); });
    CHECK(support::contains(
        now, "load: offset 72 with extent 1 on axis 0 is not inside the tensor, whose extent is 64"));
    if (!said.empty()) CHECK(now == said);
    said = now;
    faulty(x, y, 1);
    CHECK(y(63, 7) == x(63, 7));
  }
}

TEST_CASE("a parallel loop that carries a value is run in order") {
  const auto x = waves({100, 8});
  pl::Array<float> expected({100, 8}), given({100, 8});
  {
    const support::Eager eager;
    running_sum(x, expected);
  }
  const Threads jit(4);
  running_sum(x, given);
  CHECK(same_bits(expected, given));
}

TEST_CASE("tasks of a device have parallel loops, and calls with handles of their own") {
  auto entry = pl::jit([](Any x, Any w, Out y, Out z) {
    rows(x, w, y);
    rows(y, w, z);
  });
  const auto x = waves({24, 64}), w = waves({64, 64});
  pl::Array<float> y({24, 64}), z({24, 64}), y1({24, 64}), z1({24, 64});
  {
    const support::Jit jit;
    rows(x, w, y);
    rows(y, w, z);
  }
  const Threads jit(3);
  entry(x.view(), w.view(), Out(y1.view()), Out(z1.view()));
  CHECK(same_bits(y, y1));
  CHECK(same_bits(z, z1));

  pl::Array<float> bound_result({24, 64});
  const auto handle = rows.compile(x, w, bound_result);
  const auto bound = handle.bind(x, w, bound_result);
  bound();
  CHECK(same_bits(y, bound_result));
}

TEST_CASE("the heads of attention may run side by side") {
  const auto q = waves({6, 33, 16}), k = waves({6, 70, 16}), v = waves({6, 70, 16});
  pl::Array<float> one({6, 33, 16}), several({6, 33, 16});
  {
    const support::Jit jit;
    pl::kernels::causal_attention<float>(q, k, v, one, 0.25f);
  }
  const Threads jit(4);
  pl::kernels::causal_attention<float>(q, k, v, several, 0.25f);
  CHECK(same_bits(one, several));
  CHECK(support::contains(pl::kernels::causal_attention<float>.emit("xsimd", q, k, v, one, 0.25f),
                          "device::run_rounds"));
}

TEST_CASE("threads may differ from run to run of one program") {
  auto entry = pl::jit([](Any x, Any w, Out y) { rows(x, w, y); });
  auto program = pl::jit.host([entry](Any x, Any w, Out y) { entry(x, w, y, pld::device = 0); });
  const auto x = waves({24, 64}), w = waves({64, 64});
  pl::Array<float> y({24, 64}), again({24, 64});
  const support::Jit jit;
  auto compiled = program.compile(x.view(), w.view(), Out(y.view()), pl::RunConfig{.threads = 1});
  compiled(x.view(), w.view(), Out(y.view()), pl::RunConfig{.threads = 1});
  compiled(x.view(), w.view(), Out(again.view()), pl::RunConfig{.threads = 4});
  CHECK(same_bits(y, again));
}
