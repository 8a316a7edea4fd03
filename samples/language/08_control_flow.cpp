// samples/language/08_control_flow.cpp -- loops that end when they like, values carried through them, open extents.
//
//   ./samples/run language/08_control_flow
#include "check.hpp"

#include <algorithm>
#include <utility>

using Tensor = pl::Tensor<float>;
using Output = pl::Out<Tensor>;

// (1) Variables are changed in loops and branches as anywhere in C++: scalars, tiles, tensors. `read` makes a number
//     of one element, and a number decides. Newton's iteration for the square root, to a precision and no further.
auto newton = pl::jit.incore([](Tensor x, Output y, pl::Out<pl::Tensor<std::int32_t>> rounds) {
  auto value = pl::load(x);
  auto root = pl::maximum(value, 1.0f);
  std::int32_t count = 0;
  while (count < 50) {
    auto next = 0.5f * (root + value / root);
    auto change = pl::max(pl::row_max(pl::abs(next - root)), {.axis = 0});
    root = next;
    ++count;
    if (pl::read(change, {0, 0}) < 1e-6f) break;
  }
  y = pl::store(root, y);
  rounds = pl::write(rounds, {0}, count);
});

// (2) Functions may return several values; structs and pairs are taken apart when the kernel is captured.
template <class Tile>
std::pair<Tile, Tile> smaller_and_larger(const Tile& a, const Tile& b) {
  return {pl::minimum(a, b), pl::maximum(a, b)};
}

// (3) An extent with a name belongs to the call, not to the code: one compilation for every N. The same name twice
//     must be the same number, or the call is refused. `pl::Tensor<float>` would compile for each shape.
constexpr auto N = pl::dynamic("N");
using Row = pl::Tensor<float, N, 8>;
auto sort_rows = pl::jit.incore([](pl::InOut<Row> x) {
  const auto rows = x.dim(0);
  // Bubble sort of the eight columns, every row at once; the bounds of `unroll` are constants.
  for (auto i : pl::unroll(7))
    for (auto j : pl::unroll(7 - i)) {
      auto [low, high] =
          smaller_and_larger(pl::load(x, {0, j}, {rows, 1}), pl::load(x, {0, j + 1}, {rows, 1}));
      x = pl::store(low, {0, j}, x);
      x = pl::store(high, {0, j + 1}, x);
    }
});

int main() {
  return samples::run([] {
    auto x = samples::numbers({16, 64}, 1, 50);
    for (float& element : x) element += 50;
    pl::Array<float> y({16, 64});
    pl::Array<std::int32_t> rounds({1});
    newton(x, y, rounds);
    samples::check("square root", y, [&](auto i, auto j) { return std::sqrt(double(x(i, j))); }, 1e-5);
    std::cout << "in " << rounds(0) << " rounds\n";

    const auto before = pl::statistics();
    for (const std::int64_t rows : {1, 7, 64, 1000}) {
      auto sorted = samples::numbers({rows, 8}, 2);
      auto expected = sorted;
      for (std::int64_t i = 0; i < rows; ++i) std::sort(&expected(i, 0), &expected(i, 0) + 8);
      sort_rows(sorted);
      samples::check("sorted rows", sorted, [&](auto i, auto j) { return double(expected(i, j)); }, 0);
    }
    const auto after = pl::statistics();
    std::cout << after.misses + after.disk_hits - before.misses - before.disk_hits
              << " specialisation for 4 shapes\n";
  });
}
