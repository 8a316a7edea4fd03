// samples/language/11_split_k.cpp -- one product on several cores: K is shared among them, the sums meet in memory.
//
//   ./samples/run language/11_split_k
//
// With M and N small there are too few blocks of the result for the cores of a device; with K large there is work for
// all of them. Each block multiplies its part of K and adds what it gets to c, element by element, indivisibly.
#include "golden.hpp"

constexpr std::int64_t M = 64, K = 512, N = 64, PARTS = 4;

using Tensor = pl::Tensor<float>;

auto clear = pl::jit.incore([](pl::Out<Tensor> c) { c = pl::store(pl::zeros<float>({M, N}), c); });

// (1) block_idx says which part of the work this block is. The order in which the blocks add is open, so the last bits
//     of a float sum may differ from run to run: `Atomic::Add` is asked for, never chosen silently.
auto add_part = pl::jit.incore([](Tensor a, Tensor b, pl::InOut<Tensor> c) {
  constexpr std::int64_t part = K / PARTS;
  const std::int64_t first = pl::block_idx() * part;
  auto product = pl::matmul(pl::load(a, {0, first}, {M, part}), pl::load(b, {first, 0}, {part, N}));
  c = pl::store(product, c, {.atomic = pl::Atomic::Add});
});

// (2) Two tasks: the second has four blocks, and waits for the first since it adds to what that wrote.
auto split_k = pl::jit([](Tensor a, Tensor b, pl::Out<Tensor> c) {
  clear(c);
  pl::spmd(PARTS, add_part, a, b, c);
});

int main() {
  return samples::run([] {
    const auto a = samples::numbers({M, K}, 1), b = samples::numbers({K, N}, 2);
    pl::Array<float> c({M, N}, 77);
    const auto expected = samples::golden::product(samples::golden::widened(a), samples::golden::widened(b));
    split_k(a, b, c);
    samples::check("4 parts of K", c, expected, 1e-3);
    split_k(a, b, c);
    samples::check("and again", c, expected, 1e-3);
  });
}
