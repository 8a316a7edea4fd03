// samples/models/01_transformer_block.cpp -- one block of a transformer from the kernel library.
//
//   ./samples/run models/01_transformer_block [TOKENS HEADS DEPTH]
//
// Root-mean-square norm, causal attention over all heads and a gated MLP, each with its residual; checked against
// double precision. Kernels come from kernels/, each specialised for the shapes it meets.
#include "golden.hpp"

#include <kernels/kernels.hpp>

#include <string>

namespace k = pl::kernels;
namespace golden = samples::golden;
using Matrix = pl::Array<float>;

// (1) A kernel of one's own goes beside those of the library.
auto add = pl::jit.incore([](pl::Tensor<float> a, pl::Tensor<float> b, pl::Out<pl::Tensor<float>> y) {
  y = pl::store(pl::load(a) + pl::load(b), y);
});

struct Block {
  std::int64_t tokens, heads, depth, width = heads * depth, hidden = 2 * width;
  Matrix gain1 = samples::numbers({width}, 1, 1), gain2 = samples::numbers({width}, 2, 1);
  Matrix wq = samples::numbers({width, width}, 3, 0.1f), wk = samples::numbers({width, width}, 4, 0.1f);
  Matrix wv = samples::numbers({width, width}, 5, 0.1f), wo = samples::numbers({width, width}, 6, 0.1f);
  Matrix gate = samples::numbers({width, hidden}, 7, 0.1f), up = samples::numbers({width, hidden}, 8, 0.1f);
  Matrix down = samples::numbers({hidden, width}, 9, 0.1f);

  // (2) [S, H * D] seen as [H, S, D]: a view with strides, nothing is moved.
  pl::Tensor<float> by_head(Matrix& x) const {
    return pl::tensor(x.data(), {heads, tokens, depth}, {depth, width, 1});
  }

  void run(const Matrix& x, Matrix& y) const {
    Matrix normed({tokens, width}), q({tokens, width}), key({tokens, width}), value({tokens, width});
    Matrix attended({tokens, width}), projected({tokens, width}), middle({tokens, width});
    k::rmsnorm<float>(x, gain1, normed, 1e-5f);
    k::matmul<float>(normed, wq, q);
    k::matmul<float>(normed, wk, key);
    k::matmul<float>(normed, wv, value);
    k::causal_attention<float>(by_head(q), by_head(key), by_head(value), by_head(attended),
                               1 / std::sqrt(static_cast<float>(depth)));
    k::matmul<float>(attended, wo, projected);
    add(x, projected, middle);

    Matrix gated({tokens, hidden}), raised({tokens, hidden}), activated({tokens, hidden});
    k::rmsnorm<float>(middle, gain2, normed, 1e-5f);
    k::matmul<float>(normed, gate, gated);
    k::matmul<float>(normed, up, raised);
    k::swiglu<float>(gated, raised, activated);
    k::matmul<float>(activated, down, projected);
    add(middle, projected, y);
  }
};

// (3) The same in plain C++ and double precision, to check against.
golden::Matrix normed(const golden::Matrix& x, const Matrix& gain) {
  golden::Matrix result = golden::rmsnorm(x, 1e-5);
  for (std::int64_t i = 0; i < x.dim(0); ++i)
    for (std::int64_t j = 0; j < x.dim(1); ++j) result(i, j) *= gain(j);
  return result;
}
golden::Matrix times(const golden::Matrix& x, const Matrix& weights) {
  return golden::product(x, golden::widened(weights));
}

golden::Matrix expected(const Block& b, const Matrix& x) {
  const auto in = golden::widened(x), first = normed(in, b.gain1);
  const auto q = times(first, b.wq), key = times(first, b.wk), value = times(first, b.wv);
  golden::Matrix attended({b.tokens, b.width});
  for (std::int64_t h = 0; h < b.heads; ++h) {
    const std::int64_t at = h * b.depth;
    auto scores = golden::product(golden::columns(q, at, b.depth), golden::columns(key, at, b.depth), true);
    for (std::int64_t s = 0; s < b.tokens; ++s)
      for (std::int64_t t = 0; t < b.tokens; ++t)
        scores(s, t) = t <= s ? scores(s, t) / std::sqrt(static_cast<double>(b.depth)) : -INFINITY;
    const auto head = golden::product(golden::softmax(scores), golden::columns(value, at, b.depth));
    for (std::int64_t s = 0; s < b.tokens; ++s)
      for (std::int64_t d = 0; d < b.depth; ++d) attended(s, at + d) = head(s, d);
  }
  const auto middle = golden::sum(in, times(attended, b.wo)), second = normed(middle, b.gain2);
  const auto gated = golden::zip(times(second, b.gate), times(second, b.up),
                                 [](double gate, double up) { return golden::silu(gate) * up; });
  return golden::sum(middle, times(gated, b.down));
}

int main(int argc, char** argv) {
  return samples::run([&] {
    const auto number = [&](int at, std::int64_t usual) { return argc > at ? std::atoll(argv[at]) : usual; };
    const Block block{number(1, 48), number(2, 4), number(3, 16)};
    const Matrix x = samples::numbers({block.tokens, block.width}, 0, 1);
    Matrix y({block.tokens, block.width});
    block.run(x, y);
    const std::string heads = std::to_string(block.heads) + " heads of " + std::to_string(block.depth);
    samples::check(std::to_string(block.tokens) + " tokens, " + heads, y, expected(block, x), 1e-3);
  });
}
