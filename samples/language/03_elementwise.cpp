// samples/language/03_elementwise.cpp -- tiles in arithmetic: whole tensors, chunks of them, and numbers beside them.
//
//   ./samples/run language/03_elementwise
#include "check.hpp"

constexpr std::int64_t ROWS = 512, COLUMNS = 128, CHUNK = 128;

using Tensor = pl::Tensor<float>;
using Output = pl::Out<Tensor>;

// (1) `load` makes a tile of a tensor, operators work element by element, `store` writes a tile. Every operator has a
//     name as well: pl::add(a, b) is a + b.
auto multiply_add = pl::jit.incore([](Tensor a, Tensor b, Output c) {
  auto left = pl::load(a);
  auto right = pl::load(b);
  c = pl::store(pl::add(left * right, right), c);
});

// (2) In chunks: the extents of a tile stay, its offset moves. That is how a core with a small memory works through
//     a tensor of any size.
auto chunked_add = pl::jit.incore([](Tensor a, Tensor b, Output c) {
  for (auto i : pl::range(ROWS / CHUNK)) {
    auto left = pl::load(a, {i * CHUNK, 0}, {CHUNK, COLUMNS});
    auto right = pl::load(b, {i * CHUNK, 0}, {CHUNK, COLUMNS});
    c = pl::store(left + right, {i * CHUNK, 0}, c);
  }
});

// (3) Where the rows are not a multiple of a chunk, the last chunk has fewer: extents are numbers like others.
auto ragged_add = pl::jit.incore([](Tensor a, Tensor b, Output c) {
  const auto rows = a.dim(0), columns = a.dim(1);
  for (std::int64_t i = 0; i < rows; i += 100) {
    const std::int64_t count = rows - i < 100 ? rows - i : 100;
    c = pl::store(pl::load(a, {i, 0}, {count, columns}) + pl::load(b, {i, 0}, {count, columns}), {i, 0}, c);
  }
});

// (4) Numbers beside tiles: a constant takes the tile's dtype; `shift` is given at the call and costs no compilation
//     when it changes; `power` is a constant of the code, one specialisation for each value.
auto scalars = pl::jit.incore([](Tensor x, Output y, pl::Scalar<float> shift, pl::Const<int> power) {
  auto tile = 0.5 * pl::load(x) + shift;
  auto result = tile;
  for (auto i : pl::unroll(1, power)) {
    (void)i;
    result = result * tile;
  }
  y = pl::store(result, y);
});

int main() {
  return samples::run([] {
    const auto a = samples::numbers({ROWS, COLUMNS}, 1), b = samples::numbers({ROWS, COLUMNS}, 2);
    pl::Array<float> c({ROWS, COLUMNS});

    multiply_add(a, b, c);
    samples::check("a * b + b", c, [&](auto i, auto j) { return double(a(i, j)) * b(i, j) + b(i, j); }, 1e-5);
    const auto sum = [&](auto i, auto j) { return double(a(i, j)) + b(i, j); };
    chunked_add(a, b, c);
    samples::check("chunks of 128 rows", c, sum, 1e-5);
    c.fill(0);
    ragged_add(a, b, c);
    samples::check("chunks of 100 rows", c, sum, 1e-5);

    for (const float shift : {1.0f, -3.0f}) {
      scalars(a, c, shift, 3);
      samples::check(
          "(x / 2 + shift)^3", c, [&](auto i, auto j) { return std::pow(0.5 * a(i, j) + shift, 3); }, 1e-5);
    }
    // (5) A lambda may capture numbers; they are read at each call, as scalar parameters are.
    float limit = 0.5f;
    auto clip = pl::jit.incore(
        [limit](Tensor x, Output y) { y = pl::store(pl::clamp(pl::load(x), -limit, limit), y); });
    clip(a, c);
    samples::check(
        "clipped", c, [&](auto i, auto j) { return std::fmin(0.5, std::fmax(-0.5, a(i, j))); }, 1e-5);
  });
}
