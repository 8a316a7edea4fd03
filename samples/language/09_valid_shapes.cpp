// samples/language/09_valid_shapes.cpp -- tiles of which only a part is valid: ends of tensors, lengths known at the call.
//
//   ./samples/run language/09_valid_shapes
#include "golden.hpp"

constexpr std::int64_t ROWS = 128, COLUMNS = 64;

using Tensor = pl::Tensor<float>;
using Output = pl::Out<Tensor>;
namespace golden = samples::golden;

// (1) Tiles of one size over a tensor that they do not divide: a clamped load is valid as far as the tensor goes, and
//     the store writes what is valid and no more. An NPU likes such tiles: their buffers have one size.
auto twice = pl::jit.incore([](Tensor x, Output y) {
  for (auto i : pl::range(0, x.dim(0), ROWS)) {
    auto tile = pl::load(x, {i, 0}, {ROWS, COLUMNS}, {.clamp = true});
    y = pl::store(2 * tile, {i, 0}, y);
  }
});

// (2) A length that the caller knows. fillpad makes all of the tile valid: where nothing was, there is minus infinity,
//     which exp makes 0. The length is a run-time number: no compilation for another one.
auto padded_softmax = pl::jit.incore([](Tensor x, Output y, std::int64_t length) {
  auto tile = pl::load(x, {0, 0}, {ROWS, COLUMNS}, {.valid = {ROWS, length}});
  auto padded = pl::fillpad(tile, pl::Pad::min);
  auto powers = pl::exp(padded - pl::row_max(padded));
  y = pl::store(powers / pl::row_sum(powers), y);
});

// (3) Without padding: operations and reductions see valid cells only, so the mean divides by their number. The loop
//     chooses what is valid for each block of columns.
auto mean_of = pl::jit.incore([](Tensor x, Output means, std::int64_t length) {
  auto sum = pl::zeros<float>({ROWS, 1});
  for (std::int64_t j = 0; j < length; j += 16) {
    const std::int64_t count = length - j < 16 ? length - j : 16;
    sum += pl::row_sum(pl::load(x, {0, j}, {ROWS, 16}, {.valid = {ROWS, count}}));
  }
  means = pl::store(sum / pl::cast<float>(length), means);
});

int main() {
  return samples::run([] {
    for (const std::int64_t rows : {128, 200, 1}) {
      const auto x = samples::numbers({rows, COLUMNS}, 1);
      pl::Array<float> y({rows, COLUMNS});
      twice(x, y);
      samples::check("clamped", y, [&](auto i, auto j) { return 2.0 * x(i, j); }, 1e-5);
    }
    const auto x = samples::numbers({ROWS, COLUMNS}, 2);
    pl::Array<float> y({ROWS, COLUMNS}), means({ROWS, 1});
    for (const std::int64_t length : {64, 37, 1}) {
      const auto right = golden::softmax(golden::columns(golden::widened(x), 0, length));
      padded_softmax(x, y, length);
      samples::check(
          "softmax of " + std::to_string(length), y,
          [&](auto i, auto j) { return j < length ? right(i, j) : 0.0; }, 1e-5);
      mean_of(x, means, length);
      const auto mean = [&](std::int64_t i, std::int64_t) {
        double sum = 0;
        for (std::int64_t j = 0; j < length; ++j) sum += x(i, j);
        return sum / static_cast<double>(length);
      };
      samples::check("mean of " + std::to_string(length), means, mean, 1e-5);
    }
  });
}
