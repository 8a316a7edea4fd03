// Kernels built on matrix products: linear layers, batches, split sums, attention with and without pages.
#include "kernels/kernels.hpp"
#include "kernels/support.hpp"

using namespace kernels_test;

namespace {

template <class T>
std::vector<double> product(const pl::Array<T>& a, const pl::Array<T>& b) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < a.dim(0); ++i)
    for (std::int64_t j = 0; j < b.dim(1); ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < a.dim(1); ++k) sum += wide(a(i, k)) * wide(b(k, j));
      result.push_back(sum);
    }
  return result;
}

/// softmax(q k^T scale) v of one head in double; query s sees keys below visible(s).
template <class T>
std::vector<double> attention_of(const pl::Array<T>& q, const pl::Array<T>& k, const pl::Array<T>& v,
                                 double scale, bool causal) {
  std::vector<double> result;
  const std::int64_t heads = q.dim(0), queries = q.dim(1), depth = q.dim(2), keys = k.dim(1);
  for (std::int64_t h = 0; h < heads; ++h)
    for (std::int64_t s = 0; s < queries; ++s) {
      const std::int64_t seen = causal ? s + keys - queries + 1 : keys;
      std::vector<double> weights;
      double sum = 0;
      for (std::int64_t t = 0; t < seen; ++t) {
        double score = 0;
        for (std::int64_t d = 0; d < depth; ++d) score += wide(q(h, s, d)) * wide(k(h, t, d));
        weights.push_back(std::exp(score * scale));
        sum += weights.back();
      }
      for (std::int64_t d = 0; d < depth; ++d) {
        double output = 0;
        for (std::int64_t t = 0; t < seen; ++t)
          output += weights[static_cast<std::size_t>(t)] * wide(v(h, t, d));
        result.push_back(output / sum);
      }
    }
  return result;
}

}  // namespace

TEST_CASE("linear layers with and without an activation") {
  for (const auto& [m, k, n] :
       std::vector<std::array<std::int64_t, 3>>{{1, 1, 1}, {5, 33, 17}, {64, 64, 64}, {3, 0, 7}}) {
    const auto x = filled<float>({m, k}), w = filled<float>({k, n}, 2), bias = filled<float>({n}, 3);
    const auto sums = product(x, w);
    const auto with = [&](const std::function<double(double)>& f, bool biased) {
      std::vector<double> result;
      for (std::size_t i = 0; i < sums.size(); ++i)
        result.push_back(f(sums[i] + (biased ? bias(static_cast<std::int64_t>(i) % n) : 0)));
      return result;
    };
    pl::Array<float> y({m, n});
    both_ways([&] {
      pl::kernels::matmul<float>(x, w, y);
      expect(y, with([](double v) { return v; }, false), 1e-4);
      pl::kernels::linear<float>(x, w, bias, y);
      expect(y, with([](double v) { return v; }, true), 1e-4);
      pl::kernels::linear_relu<float>(x, w, bias, y);
      expect(y, with([](double v) { return v > 0 ? v : 0; }, true), 1e-4);
      pl::kernels::linear_gelu<float>(x, w, bias, y);
      expect(y, with([](double v) { return 0.5 * v * (1 + std::erf(v / std::sqrt(2.0))); }, true), 1e-4);
      pl::kernels::linear_silu<float>(x, w, bias, y);
      expect(y, with([](double v) { return v / (1 + std::exp(-v)); }, true), 1e-4);
    });
  }
}

TEST_CASE("products of half matrices are summed in float") {
  const auto a = filled<pl::half>({9, 70}), b = filled<pl::half>({70, 12}, 2);
  pl::Array<pl::half> c({9, 12});
  both_ways([&] {
    pl::kernels::matmul<pl::half>(a, b, c);
    expect(c, product(a, b), 2e-3);
  });
}

TEST_CASE("a batch of products") {
  const auto a = filled<float>({3, 4, 5}), b = filled<float>({3, 5, 6}, 2);
  std::vector<double> expected;
  for (std::int64_t n = 0; n < 3; ++n)
    for (std::int64_t i = 0; i < 4; ++i)
      for (std::int64_t j = 0; j < 6; ++j) {
        double sum = 0;
        for (std::int64_t k = 0; k < 5; ++k) sum += static_cast<double>(a(n, i, k)) * b(n, k, j);
        expected.push_back(sum);
      }
  pl::Array<float> c({3, 4, 6});
  both_ways([&] {
    pl::kernels::batched_matmul<float>(a, b, c);
    expect(c, expected, 1e-4);
  });
}

TEST_CASE(
    "attention, full and causal, equals softmax of all scores, also where blocks do not divide the lengths") {
  for (const auto& [heads, queries, keys, depth] : std::vector<std::array<std::int64_t, 4>>{
           {1, 1, 1, 8}, {2, 5, 5, 16}, {1, 64, 64, 32}, {2, 70, 130, 24}, {1, 129, 129, 8}}) {
    const auto q = filled<float>({heads, queries, depth}), k = filled<float>({heads, keys, depth}, 2),
               v = filled<float>({heads, keys, depth}, 3);
    const float scale = 1 / std::sqrt(static_cast<float>(depth));
    pl::Array<float> y({heads, queries, depth});
    both_ways([&] {
      pl::kernels::attention<float>(q, k, v, y, scale);
      expect(y, attention_of(q, k, v, scale, false), 1e-4);
      pl::kernels::causal_attention<float>(q, k, v, y, scale);
      expect(y, attention_of(q, k, v, scale, true), 1e-4);
    });
  }
}

TEST_CASE("paged attention equals attention over the pages' rows, for sequences of every length") {
  constexpr std::int64_t batch = 4, heads = 2, depth = 8, page = 4, pages = 9, most = 3;
  const auto q = filled<float>({batch, heads, depth});
  const auto k = filled<float>({pages, page, heads, depth}, 2),
             v = filled<float>({pages, page, heads, depth}, 3);
  pl::Array<std::int32_t> table({batch, most}), lengths({batch});
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t i = 0; i < most; ++i) table(b, i) = static_cast<std::int32_t>((5 * b + 2 * i) % pages);
    lengths(b) = static_cast<std::int32_t>(std::array{1, 4, 7, 12}[static_cast<std::size_t>(b)]);
  }
  table(0, 1) = 77;  // behind the last page of a sequence of one key: never read
  std::vector<double> expected;
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t h = 0; h < heads; ++h) {
      std::vector<double> weights;
      double sum = 0;
      for (std::int64_t t = 0; t < lengths(b); ++t) {
        double score = 0;
        for (std::int64_t d = 0; d < depth; ++d)
          score += static_cast<double>(q(b, h, d)) * k(table(b, t / page), t % page, h, d);
        weights.push_back(std::exp(score * 0.25));
        sum += weights.back();
      }
      for (std::int64_t d = 0; d < depth; ++d) {
        double output = 0;
        for (std::int64_t t = 0; t < lengths(b); ++t)
          output += weights[static_cast<std::size_t>(t)] * v(table(b, t / page), t % page, h, d);
        expected.push_back(output / sum);
      }
    }
  pl::Array<float> y({batch, heads, depth});
  both_ways([&] {
    pl::kernels::paged_attention<float>(q, k, v, table, lengths, y, 0.25f);
    expect(y, expected, 1e-4);
  });
}

TEST_CASE(
    "a product split along its inner extent, in one part, in parts that do not divide it, and in too many") {
  const auto a = filled<float>({3, 50}), b = filled<float>({50, 20}, 2);
  pl::Array<float> c({3, 20});
  both_ways([&] {
    for (const std::int32_t parts : {1, 4, 7, 64}) {
      c.fill(0);
      pl::kernels::split_k_matmul<float>(a.view(), b.view(), pl::Out<pl::Tensor<float>>(c.view()), parts);
      expect(c, product(a, b), 1e-4);
    }
  });
}
