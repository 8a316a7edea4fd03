// samples/models/03_flash_attention.cpp -- attention that never holds the scores: a running maximum and a running sum.
//
//   ./samples/run models/03_flash_attention
//
// Q is 64x128, K and V are 1024x128; sixteen blocks of 64 keys pass by (Dao et al. 2022, "FlashAttention").
#include "golden.hpp"

constexpr std::int64_t QUERIES = 64, KEYS = 1024, DEPTH = 128, BLOCK = 64;
constexpr float SCALE = 0.08838834764831845f;  // 1 / sqrt(DEPTH)

namespace golden = samples::golden;

// (1) One kernel for every dtype: float, or half with float sums.
template <class T>
auto make_flash_attention() {
  return pl::jit.incore([](pl::Tensor<T> q, pl::Tensor<T> k, pl::Tensor<T> v, pl::Out<pl::Tensor<float>> y) {
    auto queries = pl::load(q);
    // (2) What the loop carries: assigned in it, no more. -inf would do for the maximum, but -inf - -inf is NaN.
    auto maximum = pl::full<float>({QUERIES, 1}, -3e38f);
    auto sum = pl::zeros<float>({QUERIES, 1});
    auto output = pl::zeros<float>({QUERIES, DEPTH});
    for (auto i : pl::range(KEYS / BLOCK)) {
      auto keys = pl::load(k, {i * BLOCK, 0}, {BLOCK, DEPTH});
      auto values = pl::load(v, {i * BLOCK, 0}, {BLOCK, DEPTH});
      auto scores = pl::matmul(queries, keys, {.trans_b = true}) * SCALE;
      // (3) A larger maximum makes everything summed so far smaller.
      auto larger = pl::maximum(maximum, pl::row_max(scores));
      auto rescale = pl::exp(maximum - larger);
      auto weights = pl::exp(scores - larger);
      sum = sum * rescale + pl::row_sum(weights);
      output = pl::matmul_acc(output * rescale, pl::cast<T>(weights), values);
      maximum = larger;
    }
    y = pl::store(output / sum, y);
  });
}

template <class T>
void run(const char* what, double tolerance) {
  const auto q = samples::numbers<T>({QUERIES, DEPTH}, 1), k = samples::numbers<T>({KEYS, DEPTH}, 2);
  const auto v = samples::numbers<T>({KEYS, DEPTH}, 3);
  pl::Array<float> y({QUERIES, DEPTH});
  const auto flash_attention = make_flash_attention<T>();
  flash_attention(q, k, v, y);

  // (4) The definition, with all scores at hand.
  auto scores = golden::product(golden::widened(q), golden::widened(k), true);
  scores = golden::softmax(golden::map(scores, [](double score) { return score * SCALE; }));
  samples::check(what, y, golden::product(scores, golden::widened(v)), tolerance);
}

int main() {
  return samples::run([] {
    run<float>("float", 1e-5);
    run<pl::half>("half, float sums", 1e-3);
  });
}
