// Reductions among ranks in every dtype, operation and algorithm, with every number of ranks and size.
#include "through_window.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <vector>

using pld::Algorithm;
using pld::ReduceOp;

namespace {

constexpr int period = 12;
/// Processes of ranks are started for each run: there a few of them do.
std::vector<int> rank_counts() {
  const char* const transport = std::getenv("TRILITH_TRANSPORT");
  if (transport != nullptr && std::string_view(transport) == "processes") return {3};
  return {1, 2, 3, 4, 8, 16};
}

/// Whose sums and products are exact in every dtype and order.
float element(int rank, std::int64_t i) {
  constexpr std::array<float, 4> values{1, -1, 2, 3};
  return values[static_cast<std::size_t>(rank + i % period * 5 / 3) % values.size()];
}

/// The reduction of all ranks' elements, one for each place in the period.
std::array<float, period> golden(ReduceOp op, int ranks) {
  std::array<float, period> result{};
  for (int i = 0; i < period; ++i) {
    float& value = result[static_cast<std::size_t>(i)];
    value = element(0, i);
    for (int r = 1; r < ranks; ++r) {
      const float next = element(r, i);
      value = op == ReduceOp::Sum    ? value + next
              : op == ReduceOp::Prod ? value * next
              : op == ReduceOp::Max  ? std::max(value, next)
                                     : std::min(value, next);
    }
  }
  return result;
}

/// Of every rank's part after the collective, how many elements of [first(rank), last(rank)) are not the golden.
template <class T, class Collective, class Range>
std::int64_t wrong_after(const pl::Array<T>& x, ReduceOp op, const Collective& collective,
                         const Range& range) {
  const int ranks = static_cast<int>(x.dim(0));
  const pl::Array<T> y = windows::through_window(x, collective);
  const auto expected = golden(op, ranks);
  std::int64_t wrong = 0;
  for (int r = 0; r < ranks; ++r) {
    const auto [first, last] = range(r);
    for (std::int64_t i = first; i < last; ++i)
      wrong += static_cast<float>(y(r, i)) != expected[static_cast<std::size_t>(i % period)];
  }
  return wrong;
}

}  // namespace

TEST_CASE_TEMPLATE("an allreduce of every operation, by mesh and ring, is right for all ranks and sizes", T,
                   float, pl::half, pl::bfloat16, std::int32_t) {
  windows::natively = false;
  for (const int ranks : rank_counts())
    for (const std::int64_t size : {1, 17, 257, 4097, 8193, 65537}) {
      const auto x = windows::elements<T>(ranks, size, element);
      for (const auto op : {ReduceOp::Sum, ReduceOp::Max, ReduceOp::Min, ReduceOp::Prod})
        for (const auto algorithm : {Algorithm::Mesh, Algorithm::Ring}) {
          CAPTURE(ranks);
          CAPTURE(size);
          CAPTURE(static_cast<int>(op));
          CHECK(wrong_after(
                    x, op,
                    [&](auto& w, const auto&) { pld::allreduce(w, {.op = op, .algorithm = algorithm}); },
                    [&](int) { return std::pair<std::int64_t, std::int64_t>{0, size}; }) == 0);
        }
    }
}

TEST_CASE_TEMPLATE("collectives that move elements are right for all ranks and sizes", T, float, pl::half,
                   pl::bfloat16, std::int32_t) {
  windows::natively = false;
  // Exact in every dtype, and another one for each rank and element nearby.
  const auto mark = [](int rank, std::int64_t i) { return static_cast<float>((rank * 37 + i % 113) % 251); };
  for (const int ranks : rank_counts())
    for (const std::int64_t part : {1, 17, 257, 4097, 8193, 65537}) {
      const std::int64_t row = (part + ranks - 1) / ranks, size = ranks * row;
      const auto x = windows::elements<T>(ranks, size, mark);
      const int root = ranks / 2, from = ranks - 1, to = ranks / 3;
      CAPTURE(ranks);
      CAPTURE(row);
      /// How many elements are not what `expected(rank, element)` says.
      const auto wrong = [&](const auto& collective, const auto& expected) {
        const auto y = windows::through_window(
            x, [&](auto&, const pld::Window& buffer) { collective(pld::window<T>(buffer, {ranks, row})); });
        std::int64_t count = 0;
        for (int r = 0; r < ranks; ++r)
          for (std::int64_t i = 0; i < size; ++i) count += static_cast<float>(y(r, i)) != expected(r, i);
        return count;
      };
      const auto row_of = [row](std::int64_t i) { return static_cast<int>(i / row); };
      CHECK(wrong([&](const auto& w) { pld::broadcast(w, {.root = root}); },
                  [&](int, std::int64_t i) { return mark(root, i); }) == 0);
      CHECK(wrong([](const auto& w) { pld::allgather(w); },
                  [&](int, std::int64_t i) { return mark(row_of(i), i); }) == 0);
      CHECK(wrong([](const auto& w) { pld::all_to_all(w); },
                  [&](int r, std::int64_t i) { return mark(row_of(i), r * row + i % row); }) == 0);
      CHECK(wrong([&](const auto& w) { pld::scatter(w, {.root = root}); },
                  [&](int r, std::int64_t i) { return mark(row_of(i) == r ? root : r, i); }) == 0);
      CHECK(wrong([&](const auto& w) { pld::gather(w, {.root = root}); },
                  [&](int r, std::int64_t i) { return mark(r == root ? row_of(i) : r, i); }) == 0);
      CHECK(wrong([&](const auto& w) { pld::send_recv(w, {.from = from, .to = to}); },
                  [&](int r, std::int64_t i) { return mark(r == to ? from : r, i); }) == 0);
    }
}

TEST_CASE_TEMPLATE("a reduce and a reduce-scatter of every operation are right for all ranks", T, float,
                   pl::half, pl::bfloat16, std::int32_t) {
  windows::natively = false;
  for (const int ranks : rank_counts())
    for (const std::int64_t row : {1, 17, 257, 4097}) {
      const std::int64_t size = ranks * row;
      const auto x = windows::elements<T>(ranks, size, element);
      for (const auto op : {ReduceOp::Sum, ReduceOp::Max, ReduceOp::Min, ReduceOp::Prod}) {
        CAPTURE(ranks);
        CAPTURE(row);
        CAPTURE(static_cast<int>(op));
        const int root = ranks - 1;
        CHECK(wrong_after(
                  x, op, [&](auto& w, const auto&) { pld::reduce(w, {.root = root, .op = op}); },
                  [&](int r) { return std::pair<std::int64_t, std::int64_t>{0, r == root ? size : 0}; }) ==
              0);
        CHECK(wrong_after(
                  x, op,
                  [&](auto&, const pld::Window& buffer) {
                    pld::reduce_scatter(pld::window<T>(buffer, {ranks, row}), {.op = op});
                  },
                  [&](int r) { return std::pair<std::int64_t, std::int64_t>{r * row, (r + 1) * row}; }) == 0);
      }
    }
}
