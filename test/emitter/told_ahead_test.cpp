// Code for checked runs tells of single elements that a loop touches in front of the loop, all rounds in one request; of
// other accesses, and where one that moves in another way could end the loop in any round, at their place.
#include "emitter/ranks.hpp"

using namespace emitter_test;
using namespace pl::abi;

namespace {

/// "write {0} by {1}, 8 rounds": what was told, in order.
std::vector<std::string> told(const Ranks& ranks) {
  const auto text = [](const List& numbers) {
    std::string result = "{";
    for (const std::int64_t number : numbers)
      result += (result.size() == 1 ? "" : ", ") + std::to_string(number);
    return result + "}";
  };
  std::vector<std::string> result;
  for (const Asked& asked : ranks.asked) {
    if (asked.request.operation != remote_access) {
      result.emplace_back("request");
      continue;
    }
    static constexpr const char* names[] = {"load ", "store ", "add ", "read ", "write "};
    result.push_back(names[asked.request.mode] + text(asked.offsets));
    if (asked.request.value != 0)
      result.back() +=
          " by " + text(asked.other_offsets) + ", " + std::to_string(asked.request.value) + " rounds";
    if (asked.shape != List(asked.offsets.size(), 1)) result.back() += " of " + text(asked.shape);
  }
  return result;
}

using Words = std::vector<std::string>;

Expr element(const Expr& tensor, const Items& offsets) {
  return load(tensor, offsets, Items(offsets.size(), Item(1)));
}

}  // namespace

TEST_CASE("told ahead: all rounds of a loop in one request for each of its accesses") {
  KernelBuilder k("rounds");
  const Expr w = k.window("w", DType::Float32, shape({8}));
  k.for_("i", 1, 7, 2, [&](const Expr& i) { k.store(element(w, {i}) + literal(1), {i + integer(1)}, w); });
  const Call call(k.take(), {TensorSpec{{8}}}, true);
  Ranks ranks;
  std::vector<float> window(8, 5);
  CHECK(call.run(ranks, {window.data()}) == 0);
  CHECK(told(ranks) == Words{"load {1} by {2}, 3 rounds", "store {2} by {2}, 3 rounds"});
  CHECK(window == std::vector<float>{5, 5, 6, 5, 6, 5, 6, 5});
}

TEST_CASE("told ahead: falling loops, several axes, run-time numbers, scalars of the body, additions") {
  KernelBuilder k("lines");
  const Expr w = k.window("w", DType::Int32, shape({6, 9}));
  const Expr n = k.scalar("n", DType::Int32);
  k.for_("i", 3, -1, -1, [&](const Expr& i) {
    const Expr j = k.let("j", cast(DType::Int32, i) * n + literal(1));
    k.store(full(DType::Int32, {1, 1}, j), {i, j}, w, Atomic::Add);
  });
  const Call call(k.take(), {TensorSpec{{6, 9}, DType::Int32}, Value::scalar(std::int32_t{0})}, true);
  Ranks ranks;
  std::vector<std::int32_t> window(54);
  CHECK(call.run(ranks, {window.data()}, {2}) == 0);
  CHECK(told(ranks) == Words{"add {3, 7} by {-1, -2}, 4 rounds"});
  CHECK(window[3 * 9 + 7] == 7);
  CHECK(window[1] == 1);
}

TEST_CASE("told ahead: what lies outside is the kernel's fault, after the rounds before it") {
  KernelBuilder k("leaves");
  const Expr w = k.window("w", DType::Float32, shape({8}));
  const Expr n = k.scalar("n", DType::Int64);
  k.for_("i", n, 10, 1, [&](const Expr& i) { k.store(full(DType::Float32, {1}, literal(2)), {i}, w); });
  const Call call(k.take(), {TensorSpec{{8}}, Value::scalar(std::int64_t{0})}, true);
  std::vector<float> window(8);
  Ranks ranks;
  CHECK(call.run(ranks, {window.data()}, {5}) == fault_range);
  CHECK(told(ranks) == Words{"write {5} by {1}, 3 rounds"});
  CHECK(window[7] == 2);
  for (const std::int64_t first : {-1, 8, 20}) {
    Ranks none;
    CHECK(call.run(none, {window.data()}, {static_cast<std::uint64_t>(first)}) ==
          (first == 20 ? fault_none : fault_range));
    CHECK(none.asked.empty());
  }
}

TEST_CASE("told ahead: sums that wrap are told as far as they are what they would be without") {
  KernelBuilder k("wraps");
  const Expr w = k.window("w", DType::Float32, shape({8}));
  const Expr n = k.scalar("n", DType::Int32);
  // 2^31 * i + i: in 32 bits it jumps out and comes back.
  k.for_("i", 0, 4, 1, [&](const Expr& i) {
    k.store(full(DType::Float32, {1}, literal(2)), {cast(DType::Int32, i) * n}, w);
  });
  const Call call(k.take(), {TensorSpec{{8}}, Value::scalar(std::int32_t{0})}, true);
  std::vector<float> window(8);
  Ranks ranks;
  CHECK(call.run(ranks, {window.data()}, {0x80000001U}) == fault_range);
  CHECK(told(ranks).size() == 1);
  CHECK(ranks.asked[0].request.value == 1);
}

TEST_CASE(
    "told in their rounds: accesses behind a branch, beside a signal, at numbers from memory, of regions") {
  KernelBuilder k("in_order");
  const Expr w = k.window("w", DType::Int32, shape({8}));
  const Expr s = k.window("s", DType::Int32, shape({4}));
  const auto write = [&](const Item& at) { k.store(full(DType::Int32, {1}, literal(2)), {at}, w); };
  k.for_("i", 0, 2, 1, [&](const Expr& i) { k.if_(i < integer(1), [&] { write(i); }); });
  k.for_("i", 0, 2, 1, [&](const Expr& i) {
    write(i);
    k.remote(Op::Notify, {s, integer(0), list({0}), integer(1)});
  });
  k.for_("i", 0, 2, 1, [&](const Expr& i) {
    const Expr from = k.let("from", read(k.let("t", element(s, {i})), {0}));
    write(from);
  });
  k.for_("i", 0, 2, 1, [&](const Expr& i) { write(i * i); });
  k.for_("i", 0, 2, 1, [&](const Expr& i) { k.store(full(DType::Int32, {2}, literal(2)), {i}, w); });
  const Call call(k.take(), {TensorSpec{{8}, DType::Int32}, TensorSpec{{4}, DType::Int32}}, true);
  std::vector<std::int32_t> window(8), numbers{5, 3, 0, 0};
  Ranks ranks;
  CHECK(call.run(ranks, {window.data(), numbers.data()}) == 0);
  CHECK(told(ranks) == Words{"write {0}",                                       // a branch
                             "write {0}", "request", "write {1}", "request",    // a signal
                             "load {0}", "write {5}", "load {1}", "write {3}",  // from memory
                             "write {0}", "write {1}",                          // no line
                             "write {0} of {2}", "write {1} of {2}"});          // regions
}
