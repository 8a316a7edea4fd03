// samples/language/07_matmul.cpp -- matrix products: whole, by parts of K, transposed, with what follows fused to them.
//
//   ./samples/run language/07_matmul
#include "golden.hpp"

using Tensor = pl::Tensor<float>;
using Output = pl::Out<Tensor>;
namespace golden = samples::golden;

// (1) [M, K] x [K, N]. On an NPU the operands lie in memories of their own; here pl::move is a hint.
auto matmul = pl::jit.incore([](Tensor a, Tensor b, Output c) {
  auto left = pl::move(pl::load(a), pl::Memory::Left);
  auto right = pl::move(pl::load(b), pl::Memory::Right);
  c = pl::store(pl::matmul(left, right), c);
});

// (2) K in halves: the first product starts the sum, matmul_acc goes on with it. A loop does it for any number of parts.
auto halves = pl::jit.incore([](Tensor a, Tensor b, Output c) {
  auto sum = pl::matmul(pl::load(a, {0, 0}, {64, 32}), pl::load(b, {0, 0}, {32, 64}));
  sum = pl::matmul_acc(sum, pl::load(a, {0, 32}, {64, 32}), pl::load(b, {32, 0}, {32, 64}));
  c = pl::store(sum, c);
});

// (3) The second operand as [N, K]: nothing is moved for it.
auto transposed = pl::jit.incore([](Tensor a, Tensor b, Output c) {
  c = pl::store(pl::matmul(pl::load(a), pl::load(b), {.trans_b = true}), c);
});

// (4) Fused linear: bias and activation while the product is at hand. A bias [N] is added to each row.
auto linear_relu = pl::jit.incore([](Tensor x, Tensor w, Tensor bias, Output y) {
  y = pl::store(pl::relu(pl::matmul_bias(pl::load(x), pl::load(w), pl::load(bias))), y);
});

// (5) Mixed precision: half in, sums in float, a bias for each element, float out. `matmul<pl::half>` would round once.
auto mixed = pl::jit.incore([](pl::Tensor<pl::half> a, pl::Tensor<pl::half> b, Tensor bias, Output y) {
  auto product = pl::matmul(pl::load(a), pl::load(b));
  y = pl::store(product + pl::load(bias), y);
});

int main() {
  return samples::run([] {
    const auto a = samples::numbers({64, 64}, 1), b = samples::numbers({64, 64}, 2);
    const auto bias = samples::numbers({1, 64}, 3);
    const auto wide_a = golden::widened(a), wide_b = golden::widened(b);
    const auto product = golden::product(wide_a, wide_b);
    pl::Array<float> c({64, 64});
    matmul(a, b, c);
    samples::check("matmul", c, product, 1e-3);
    halves(a, b, c);
    samples::check("K in halves", c, product, 1e-3);
    transposed(a, b, c);
    samples::check("second operand transposed", c, golden::product(wide_a, wide_b, true), 1e-3);
    linear_relu(a, b, bias, c);
    samples::check(
        "linear with relu", c, [&](auto i, auto j) { return std::fmax(product(i, j) + bias(0, j), 0); },
        1e-3);

    const auto left = samples::numbers<pl::half>({128, 256}, 4),
               right = samples::numbers<pl::half>({256, 128}, 5);
    const auto each = samples::numbers({128, 128}, 6);
    pl::Array<float> y({128, 128});
    mixed(left, right, each, y);
    const auto sum = golden::product(golden::widened(left), golden::widened(right));
    samples::check("half, bias in float", y, golden::sum(sum, golden::widened(each)), 1e-2);
  });
}
