// Code for checked runs says what it loads from and stores to its own parts of windows, before it does; other code is
// the same with and without.
#include "emitter/ranks.hpp"

using namespace emitter_test;
using namespace pl::abi;

namespace {

struct Told {
  int mode;
  List offsets, shape;
};

void check_accesses(const Ranks& ranks, int window, const std::vector<Told>& expected) {
  REQUIRE(ranks.asked.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(ranks.asked[i].request.operation == remote_access);
    CHECK(ranks.asked[i].request.window == window);
    CHECK(ranks.asked[i].request.other == -1);
    CHECK(ranks.asked[i].request.mode == expected[i].mode);
    CHECK(ranks.asked[i].offsets == expected[i].offsets);
    CHECK(ranks.asked[i].shape == expected[i].shape);
    CHECK(ranks.asked[i].file == "kernel.cpp");
    CHECK(ranks.asked[i].request.line > 0);
  }
}

}  // namespace

TEST_CASE("checked: loads and stores are told before they happen, in program order, unused loads too") {
  KernelBuilder k("own");
  const Expr x = k.tensor("x", Access::In, DType::Float32, shape({2, 3}));
  const Expr w = k.window("w", DType::Float32, shape({2, 4, 6}));
  const Expr n = k.scalar("n", DType::Int64);
  k.let("unused", load(w, {0, 0, 0}, {2, 4, 6}));
  const Expr part = k.let("part", load(index(w, n), {1, n}, {2, 3}));
  const Expr other = k.let("other", load(x));
  k.store(part + other, {0, 2}, index(w, number(0)));
  const Kernel kernel = k.take();
  const std::vector<ArgumentSpec> specs{TensorSpec{{2, 3}}, TensorSpec{{2, 4, 6}},
                                        Value::scalar(std::int64_t{0})};
  const Call call(kernel, specs, true);
  Ranks ranks;
  std::vector<float> in(6, 1), window(48, 2);
  CHECK(call.run(ranks, {in.data(), window.data()}, {1}) == 0);
  check_accesses(ranks, 1,
                 {{access_load, {0, 0, 0}, {2, 4, 6}},
                  {access_load, {1, 1, 1}, {1, 2, 3}},
                  {access_store, {0, 0, 2}, {1, 2, 3}}});
  CHECK(window[2] == 3);
  CHECK(window[8] == 3);

  // Without it the text knows nothing of it, and what nothing needs goes.
  const Call plain(kernel, specs);
  CHECK(plain.emitted.text.find("remote_access") == std::string::npos);
  CHECK(plain.emitted.text.find("unused") == std::string::npos);
}

TEST_CASE("checked: the run may end at an access, and nothing is stored then") {
  KernelBuilder k("stops");
  const Expr w = k.window("w", DType::Float32, shape({8}));
  k.store(load(w) + literal(1), {0}, w);
  const Call call(k.take(), {TensorSpec{{8}}}, true);
  for (const std::size_t refused : {0, 1}) {
    Ranks ranks;
    std::vector<float> window(8, 5);
    ranks.answer = [&](Remote&) { return ranks.asked.size() == refused + 1 ? fault_remote : fault_none; };
    CHECK(call.run(ranks, {window.data()}) == fault_remote);
    CHECK(ranks.asked.size() == refused + 1);
    CHECK(window == std::vector<float>(8, 5));
  }
}

TEST_CASE("checked: a region outside is the kernel's fault and no access") {
  KernelBuilder k("outside");
  const Expr w = k.window("w", DType::Float32, shape({8}));
  const Expr n = k.scalar("n", DType::Int64);
  k.store(load(w, {n}, {4}), {n}, w);
  const Call call(k.take(), {TensorSpec{{8}}, Value::scalar(std::int64_t{0})}, true);
  Ranks ranks;
  std::vector<float> window(8);
  CHECK(call.run(ranks, {window.data()}, {5}) == fault_range);
  CHECK(ranks.asked.empty());
}

TEST_CASE("checked: a product stored where it lies, additions, and loops") {
  KernelBuilder k("product");
  const Expr w = k.window("w", DType::Float32, shape({4, 4}));
  const Expr product = k.let("product", call(Op::Matmul, {load(w), load(w)}));
  k.store(product, {0, 0}, w);
  k.store(full(DType::Float32, {1, 4}, literal(1)), {2, 0}, w, Atomic::Add);
  const Call call(k.take(), {TensorSpec{{4, 4}}}, true);
  Ranks ranks;
  std::vector<float> window(16, 1);
  CHECK(call.run(ranks, {window.data()}) == 0);
  check_accesses(ranks, 0,
                 {{access_load, {0, 0}, {4, 4}},
                  {access_load, {0, 0}, {4, 4}},
                  {access_store, {0, 0}, {4, 4}},
                  {access_add, {2, 0}, {1, 4}}});
  CHECK(window[0] == 4);
  CHECK(window[8] == 5);
}

TEST_CASE("checked: of a gather each row that there is, where indices are run-time numbers") {
  KernelBuilder k("rows");
  const Expr y = k.tensor("y", Access::Out, DType::Float32, shape({3, 2}));
  const Expr i = k.tensor("i", Access::In, DType::Int32, shape({3}));
  const Expr w = k.window("w", DType::Float32, shape({2, 4, 2}));
  const Expr n = k.scalar("n", DType::Int64);
  k.store(call(Op::LoadRow, {index(w, n), list({}), list({}), load(i)}), {0, 0}, y);
  const Call call(k.take(),
                  {TensorSpec{{3, 2}}, TensorSpec{{3}, DType::Int32}, TensorSpec{{2, 4, 2}},
                   Value::scalar(std::int64_t{0})},
                  true);
  Ranks ranks;
  std::vector<float> out(6), window(16);
  std::vector<std::int32_t> rows{3, 0, 2};
  CHECK(call.run(ranks, {out.data(), rows.data(), window.data()}, {1}) == 0);
  check_accesses(ranks, 2,
                 {{access_gather_row, {1, 3, 0}, {1, 1, 2}},
                  {access_gather_row, {1, 0, 0}, {1, 1, 2}},
                  {access_gather_row, {1, 2, 0}, {1, 1, 2}}});
  rows[1] = 4;
  Ranks wrong;
  CHECK(call.run(wrong, {out.data(), rows.data(), window.data()}, {1}) == fault_index);
  CHECK(wrong.asked.size() == 2);
}

TEST_CASE("checked: rounds of pl::parallel run in order, on the thread that the run follows") {
  KernelBuilder k("rounds");
  const Expr w = k.window("w", DType::Float32, shape({4, 8}));
  k.for_(
      "i", 0, 4, 1, [&](const Expr& i) { k.store(full(DType::Float32, {1, 8}, literal(3)), {i, 0}, w); },
      LoopKind::Parallel);
  const Kernel kernel = k.take();
  CHECK(Call(kernel, {TensorSpec{{4, 8}}}).emitted.text.find("run_rounds") != std::string::npos);
  const Call call(kernel, {TensorSpec{{4, 8}}}, true);
  CHECK(call.emitted.text.find("run_rounds") == std::string::npos);
  Ranks ranks;
  std::vector<float> window(32);
  CHECK(call.run(ranks, {window.data()}) == 0);
  // A tile that is filled at the place of its store is what a pl::write is captured as.
  check_accesses(ranks, 0,
                 {{access_write, {0, 0}, {1, 8}},
                  {access_write, {1, 0}, {1, 8}},
                  {access_write, {2, 0}, {1, 8}},
                  {access_write, {3, 0}, {1, 8}}});
}

TEST_CASE("checked: kernels without windows have the same text") {
  KernelBuilder k("plain");
  const Expr x = k.tensor("x", Access::In, DType::Float32, shape({8}));
  const Expr y = k.tensor("y", Access::Out, DType::Float32, shape({8}));
  k.store(load(x) * literal(2), {0}, y);
  const Kernel kernel = k.take();
  const std::vector<ArgumentSpec> specs{TensorSpec{{8}}, TensorSpec{{8}}};
  CHECK(Call(kernel, specs, true).emitted.text == Call(kernel, specs).emitted.text);
}
