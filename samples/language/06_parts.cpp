// samples/language/06_parts.cpp -- tiles of tiles: slice, concat, assemble, transpose.
//
//   ./samples/run language/06_parts
#include "check.hpp"

using Tensor = pl::Tensor<float>;
using Output = pl::Out<Tensor>;

// (1) Two tiles side by side, or any number of them along any axis.
auto side_by_side = pl::jit.incore(
    [](Tensor a, Tensor b, Output c) { c = pl::store(pl::concat(pl::load(a), pl::load(b)), c); });
auto stacked = pl::jit.incore([](Tensor a, Tensor b, Output c) {
  auto top = pl::load(a);
  auto bottom = pl::load(b);
  c = pl::store(pl::concat({top, bottom, top + bottom}, {.axis = 0}), c);
});

// (2) assemble replaces a region of a tile. The tile is a value that the loop carries from round to round.
auto row_by_row = pl::jit.incore([](Tensor x, Tensor source, Output y) {
  auto tile = pl::load(x);
  auto rows = pl::load(source);
  for (auto i : pl::range(32)) {
    auto row = pl::slice(rows, {i, 0}, {1, 16});
    tile = pl::assemble(tile, row, {i, 0});
  }
  y = pl::store(tile, y);
});

// (3) Two loops: one block in each quarter, turned over where they are off the diagonal.
auto quarters = pl::jit.incore([](Tensor x, Tensor source, Output y) {
  auto tile = pl::load(x);
  auto block = pl::load(source);
  for (auto b : pl::range(2))
    for (auto c : pl::range(2)) {
      auto part = block;
      if (b != c) part = pl::transpose(block);
      tile = pl::assemble(tile, part, {b * 16, c * 16});
    }
  y = pl::store(tile, y);
});

int main() {
  return samples::run([] {
    const auto a = samples::numbers({32, 16}, 1), b = samples::numbers({32, 16}, 2);
    pl::Array<float> wide({32, 32}), tall({96, 16});
    side_by_side(a, b, wide);
    samples::check("concat", wide, [&](auto i, auto j) { return j < 16 ? a(i, j) : b(i, j - 16); }, 0);
    stacked(a, b, tall);
    samples::check(
        "concat of three", tall,
        [&](auto i, auto j) {
          return i < 32 ? a(i, j) : i < 64 ? b(i - 32, j) : a(i - 64, j) + b(i - 64, j);
        },
        0);

    const auto x = samples::numbers({32, 32}, 3), block = samples::numbers({16, 16}, 4);
    pl::Array<float> y({32, 32});
    row_by_row(x, a, y);
    samples::check("assemble in a loop", y, [&](auto i, auto j) { return j < 16 ? a(i, j) : x(i, j); }, 0);
    quarters(x, block, y);
    samples::check(
        "assemble in two loops", y,
        [&](auto i, auto j) { return (i < 16) == (j < 16) ? block(i % 16, j % 16) : block(j % 16, i % 16); },
        0);
  });
}
