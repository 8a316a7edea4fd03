// samples/models/01_transformer_block.cpp -- one block of a transformer from the kernel library.
//
//   ./samples/run models/01_transformer_block [TOKENS HEADS DEPTH]
//
// Root-mean-square norm, causal attention over all heads and a gated MLP, each with its residual; checked against
// double precision. Kernels come from kernels/, each specialised for the shapes it meets.
#include <kernels/kernels.hpp>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <vector>

namespace k = pl::kernels;
using Matrix = pl::Array<float>;

// (1) A kernel of one's own goes beside those of the library.
auto add = pl::jit.incore([](pl::Tensor<float> a, pl::Tensor<float> b, pl::Out<pl::Tensor<float>> y) {
  y = pl::store(pl::load(a) + pl::load(b), y);
});

Matrix filled(const pl::Index& dims, float size, int seed) {
  Matrix result(dims);
  for (std::size_t i = 0; i < result.size(); ++i)
    result.data()[i] = size * std::sin(static_cast<float>(i) * 0.7f + static_cast<float>(seed));
  return result;
}

struct Block {
  std::int64_t tokens, heads, depth, width = heads * depth, hidden = 2 * width;
  Matrix gain1 = filled({width}, 1, 1), gain2 = filled({width}, 1, 2);
  Matrix wq = filled({width, width}, 0.1f, 3), wk = filled({width, width}, 0.1f, 4);
  Matrix wv = filled({width, width}, 0.1f, 5), wo = filled({width, width}, 0.1f, 6);
  Matrix gate = filled({width, hidden}, 0.1f, 7), up = filled({width, hidden}, 0.1f, 8);
  Matrix down = filled({hidden, width}, 0.1f, 9);

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
using Rows = std::vector<std::vector<double>>;

Rows product(const Rows& a, const Matrix& w) {
  Rows result(a.size(), std::vector<double>(static_cast<std::size_t>(w.dim(1))));
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::int64_t j = 0; j < w.dim(1); ++j)
      for (std::int64_t n = 0; n < w.dim(0); ++n)
        result[i][static_cast<std::size_t>(j)] += a[i][static_cast<std::size_t>(n)] * w(n, j);
  return result;
}

Rows normalised(const Rows& x, const Matrix& gain) {
  Rows result = x;
  for (auto& row : result) {
    double squares = 0;
    for (const double element : row) squares += element * element / static_cast<double>(row.size());
    for (std::size_t j = 0; j < row.size(); ++j)
      row[j] *= gain(static_cast<std::int64_t>(j)) / std::sqrt(squares + 1e-5);
  }
  return result;
}

Rows expected(const Block& b, const Matrix& x) {
  Rows in(static_cast<std::size_t>(b.tokens));
  for (std::int64_t s = 0; s < b.tokens; ++s)
    for (std::int64_t j = 0; j < b.width; ++j) in[static_cast<std::size_t>(s)].push_back(x(s, j));
  const Rows normed = normalised(in, b.gain1);
  const Rows q = product(normed, b.wq), key = product(normed, b.wk), value = product(normed, b.wv);
  Rows attended(in.size(), std::vector<double>(static_cast<std::size_t>(b.width)));
  const auto depth = static_cast<std::size_t>(b.depth);
  for (std::size_t h = 0; h < static_cast<std::size_t>(b.heads); ++h)
    for (std::size_t s = 0; s < in.size(); ++s) {
      double sum = 0;
      std::vector<double> weights;
      for (std::size_t t = 0; t <= s; ++t) {
        double score = 0;
        for (std::size_t d = 0; d < depth; ++d) score += q[s][h * depth + d] * key[t][h * depth + d];
        weights.push_back(std::exp(score / std::sqrt(static_cast<double>(depth))));
        sum += weights.back();
      }
      for (std::size_t d = 0; d < depth; ++d)
        for (std::size_t t = 0; t <= s; ++t)
          attended[s][h * depth + d] += weights[t] / sum * value[t][h * depth + d];
    }
  Rows middle = product(attended, b.wo);
  for (std::size_t s = 0; s < in.size(); ++s)
    for (std::size_t j = 0; j < in[s].size(); ++j) middle[s][j] += in[s][j];
  const Rows again = normalised(middle, b.gain2);
  Rows gated = product(again, b.gate);
  const Rows raised = product(again, b.up);
  for (std::size_t s = 0; s < gated.size(); ++s)
    for (std::size_t j = 0; j < gated[s].size(); ++j)
      gated[s][j] *= raised[s][j] / (1 + std::exp(-gated[s][j]));
  Rows result = product(gated, b.down);
  for (std::size_t s = 0; s < in.size(); ++s)
    for (std::size_t j = 0; j < in[s].size(); ++j) result[s][j] += middle[s][j];
  return result;
}

int main(int argc, char** argv) try {
  const auto number = [&](int at, std::int64_t usual) { return argc > at ? std::atoll(argv[at]) : usual; };
  const Block block{number(1, 48), number(2, 4), number(3, 16)};
  const Matrix x = filled({block.tokens, block.width}, 1, 0);
  Matrix y({block.tokens, block.width});
  block.run(x, y);

  const Rows right = expected(block, x);
  for (std::int64_t s = 0; s < block.tokens; ++s)
    for (std::int64_t j = 0; j < block.width; ++j) {
      const double wanted = right[static_cast<std::size_t>(s)][static_cast<std::size_t>(j)];
      if (std::abs(y(s, j) - wanted) <= 1e-3 * (1 + std::abs(wanted))) continue;
      std::cout << "wrong at token " << s << ", column " << j << ": got " << y(s, j) << ", expected "
                << wanted << '\n';
      return 1;
    }
  std::cout << block.tokens << " tokens, " << block.heads << " heads of " << block.depth << ": OK\n";
} catch (const pl::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
