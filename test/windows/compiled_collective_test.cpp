// Collectives in compiled kernels: the bits of native ones, with every dtype and op, signals of the user's and without.
#include "compiled_collectives.hpp"

using support::contains;
using windows::Choice;
using windows::config;
using windows::message_of;

namespace {

constexpr int rank_counts[] = {1, 2, 3, 4, 8};

/// What `run` gives natively and compiled, bit for bit.
template <class Run>
bool same_both_ways(const Run& run) {
  windows::natively = true;
  const auto native = run();
  windows::natively = false;
  const auto compiled = run();
  return native.size() == compiled.size() &&
         std::memcmp(native.data(), compiled.data(),
                     static_cast<std::size_t>(native.size()) * sizeof *native.data()) == 0;
}

}  // namespace

TEST_CASE_TEMPLATE("compiled reductions have the bits of native ones", T, std::int8_t, std::int16_t,
                   std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t,
                   pl::half, pl::bfloat16, float, double) {
  // Sums and products that depend on their order.
  const auto uneven = [](int rank, std::int64_t i) {
    return static_cast<T>(1.0f + 0.37f * static_cast<float>(rank) + 0.213f * static_cast<float>(i % 29));
  };
  for (const int ranks : rank_counts)
    for (int op = 0; op < 4; ++op) {
      const auto x = windows::elements<T>(ranks, 33, uneven);
      for (int which = 0; which < 2; ++which) {
        // An allreduce is here for its signals.
        if (which == 1 && ranks != 3) continue;
        const Choice choice{which, op, (op + 1) % ranks, 0, (op + ranks + which) % 2 == 0};
        CAPTURE(ranks);
        CAPTURE(op);
        CAPTURE(which);
        CHECK(same_both_ways([&] { return windows::reduce_with(config(ranks), x, choice); }));
      }
    }
}

TEST_CASE("a compiled reduce gives its root the reduction and leaves the others alone") {
  windows::natively = false;
  const auto x = windows::elements<std::int32_t>(3, 20, windows::value_at<std::int32_t>);
  for (int op = 0; op < 4; ++op) {
    const auto y = windows::reduce_with(config(3), x, {0, op, 1, 0, op % 2 == 0});
    std::int64_t wrong = 0;
    for (int r = 0; r < 3; ++r)
      for (std::int64_t i = 0; i < 20; ++i)
        wrong += y(r, i) !=
                 (r == 1 ? windows::reduced<std::int32_t>(static_cast<pld::ReduceOp>(op), 3, i) : x(r, i));
    CHECK(wrong == 0);
  }
}

TEST_CASE_TEMPLATE("compiled collectives that move data have the bits of native ones", T, std::int8_t,
                   pl::half, float, double) {
  // Each number of ranks is a shape, so a compilation.
  for (const int ranks : rank_counts) {
    if (ranks != 3 && !std::is_same_v<T, float>) continue;
    for (int which = 0; which < 7; ++which) {
      const Choice choice{which, 0, ranks - 1, ranks / 3, (which + ranks) % 2 == 0};
      CAPTURE(ranks);
      CAPTURE(which);
      CHECK(same_both_ways([&] { return windows::move_with<T>(config(ranks), ranks, choice); }));
    }
  }
}

TEST_CASE("a compiled collective is refused with the words and the line of a native one") {
  const auto both = [](const auto& run) {
    windows::natively = true;
    const std::string native = message_of(run);
    windows::natively = false;
    const std::string compiled = message_of(run);
    // Columns are a compiler's own, and any rank may be the first.
    const auto line = [](const std::string& text) {
      return text.substr(0, text.find(':', text.find(".hpp:") + 5));
    };
    const auto words = [](const std::string& text) {
      const std::size_t begin = text.find(" pld::");
      return text.substr(begin, text.find("; on rank ") - begin);
    };
    CHECK(line(native) == line(compiled));
    CHECK(words(native) == words(compiled));
    return compiled;
  };
  const auto x = windows::elements<std::int32_t>(2, 4, windows::value_at<std::int32_t>);
  std::string message =
      both([&] { (void)windows::reduce_with(config(2), x, Choice{.which = 0, .root = 2}); });
  CHECK(contains(message, "compiled_collectives.hpp"));
  CHECK(contains(message, "pld::reduce: root 2 of a window that 2 ranks share; ranks are 0 to 1"));
  CHECK(
      contains(both([&] { (void)windows::move_with<float>(config(2), 2, {.which = 2, .root = 0, .to = 5}); }),
               "pld::send_recv: to 5 of a window"));
  CHECK(contains(both([&] { (void)windows::move_with<float>(config(2), 2, {.which = 1, .root = -1}); }),
                 "pld::gather: root -1 of a window"));
}

TEST_CASE("a signal that is no cell for each rank is refused in compiled kernels, too") {
  BOTH_WAYS
  auto kernel =
      pl::jit.incore([](pld::DistributedTensor<float, 4> w, pld::DistributedTensor<std::int32_t, 2> cells,
                        pl::Scalar<int> first) { pld::barrier(w, {.signal = cells.slice({first}, {1})}); });
  auto device = pl::jit([&](auto w, auto cells, int first) { kernel(w, cells, first); });
  const auto refusal = [&](int first) {
    auto host = pl::jit.host([&](pl::Out<windows::Rows<float>>) {
      auto w = pld::window<float>(pld::alloc_window_buffer<float>({4}), {4});
      auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({2}), {2});
      for (auto r : pl::range(pld::world_size())) device(w, cells, first, pld::device = r);
    });
    pl::Array<float> y({2, 1});
    return message_of([&] { host(y, config(2)); });
  };
  CHECK(contains(refusal(1), "pld::barrier: .signal is int32[1] among 2 ranks; give one cell for each rank"));
  CHECK(contains(refusal(2), "offset 2 with extent 1 on axis 0"));
}

TEST_CASE("a signal in the memory of the call's own data or counts is refused") {
  BOTH_WAYS
  auto kernel = pl::jit.incore([](pld::DistributedTensor<float, 2, 4> w,
                                  pld::DistributedTensor<std::int32_t, 8> cells, pl::Scalar<int> which) {
    if (which == 0) pld::allreduce(cells, {.signal = cells.slice({2}, {2})});
    if (which == 1) pld::all_to_all_v(w, cells.slice({0}, {2}), {.signal = cells.slice({1}, {2})});
    if (which == 2) {
      pld::barrier(cells, {.signal = cells});
      pld::allreduce(cells.slice({2}, {6}), {.signal = cells.slice({0}, {2})});
    }
  });
  auto device = pl::jit([&](auto w, auto cells, int which) { kernel(w, cells, which); });
  const auto refusal = [&](int which) {
    auto host = pl::jit.host([&](pl::Out<windows::Rows<float>>) {
      auto w = pld::window<float>(pld::alloc_window_buffer<float>({2, 4}), {2, 4});
      auto cells = pld::window<std::int32_t>(pld::alloc_window_buffer<std::int32_t>({8}), {8});
      for (auto r : pl::range(pld::world_size())) device(w, cells, which, pld::device = r);
    });
    pl::Array<float> y({2, 1});
    return message_of([&] { host(y, config(2)); });
  };
  CHECK(contains(
      refusal(0),
      "pld::allreduce: .signal is int32[2] in the memory of the data or the counts of the same call"));
  CHECK(
      contains(refusal(1), "pld::all_to_all_v: .signal is int32[2] in the memory of the data or the counts"));
  CHECK(refusal(2).empty());
}

TEST_CASE("a collective of one rank on a window in which it already is in one is refused") {
  BOTH_WAYS
  // The first block never gets out of its barrier.
  auto kernel = pl::jit.incore([](pld::DistributedTensor<float, 4> w, pl::Out<pl::Tensor<float, 4>> y) {
    if (pld::rank(w) == 0) pld::barrier(w);
    y = pl::store(pl::load(w), y);
  });
  auto device = pl::jit([&](auto w, auto y) { pl::spmd(2, kernel, w, y); });
  auto host = pl::jit.host([&](pl::Out<pl::Tensor<float, windows::NR, 4>> y) {
    auto w = pld::window<float>(pld::alloc_window_buffer<float>({4}), {4});
    for (auto r : pl::range(pld::world_size())) device(w, y[r], pld::device = r);
  });
  pl::Array<float> y({2, 4});
  CHECK(contains(message_of([&] { host(y, config(2)); }),
                 "while rank 0 is in another collective of that window, in another block or task"));
}
