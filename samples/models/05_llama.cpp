// samples/models/05_llama.cpp -- a whole language model of one layer and one head: hidden states in, logits out.
//
//   ./samples/run models/05_llama
//
// S = 16 tokens, D = 64, a vocabulary of 64. rmsnorm without weights, rotary embedding that pairs i with i + D/2, a mask
// of -1e9 added to the scores, swiglu, all in float.
#include "golden.hpp"

#include <kernels/linear.hpp>
#include <kernels/rope.hpp>
#include <kernels/softmax.hpp>

constexpr std::int64_t S = 16, D = 64, VOCABULARY = 64;
constexpr float EPS = 1e-6f;

using Tensor = pl::Tensor<float>;
using Output = pl::Out<Tensor>;
namespace k = pl::kernels;
namespace golden = samples::golden;

// (1) What the library does not have in this form.
auto rmsnorm = pl::jit.incore([](Tensor x, Output y) {
  auto tile = pl::load(x);
  y = pl::store(tile / pl::sqrt(pl::row_mean(tile * tile) + EPS), y);
});
auto scores_of = pl::jit.incore([](Tensor q, Tensor key, Tensor mask, Output scores, float scale) {
  auto product = pl::matmul(pl::load(q), pl::load(key), {.trans_b = true});
  scores = pl::store(product * scale + pl::load(mask), scores);
});
auto add = pl::jit.incore([](Tensor a, Tensor b, Output y) { y = pl::store(pl::load(a) + pl::load(b), y); });
auto gate_and_up = pl::jit.incore([](Tensor gate, Tensor up, Output y) {
  auto g = pl::load(gate);
  y = pl::store(g * pl::recip(1 + pl::exp(-g)) * pl::load(up), y);
});

// (2) The weights as one tensor [7, D, D]; `w[i]` is one matrix of it.
enum Weight { QUERY, KEY, VALUE, DENSE, GATE, UP, DOWN, WEIGHTS };

// (3) The model: each call is a task, and what they read and write says how they wait for each other. Query, key and
//     value run side by side, and so do gate and up.
auto model =
    pl::jit([](Tensor x, Tensor w, Tensor head, Tensor cosine, Tensor sine, Tensor mask, Output logits) {
      const auto memory = [&](std::int64_t columns = D) { return pl::create_tensor<float>({S, columns}); };
      auto normed = memory(), q = memory(), key = memory(), value = memory(), q2 = memory(), key2 = memory();
      rmsnorm(x, normed);
      k::matmul<float>(normed, w[QUERY], q);
      k::matmul<float>(normed, w[KEY], key);
      k::matmul<float>(normed, w[VALUE], value);
      k::rope<float>(q, cosine, sine, q2);
      k::rope<float>(key, cosine, sine, key2);

      auto scores = memory(S), attended = memory(), dense = memory(), middle = memory();
      scores_of(q2, key2, mask, scores, 1 / std::sqrt(static_cast<float>(D)));
      k::softmax<float>(scores, scores);
      k::matmul<float>(scores, value, attended);
      k::matmul<float>(attended, w[DENSE], dense);
      add(x, dense, middle);

      auto gate = memory(), up = memory(), mlp = memory(), last = memory();
      rmsnorm(middle, normed);
      k::matmul<float>(normed, w[GATE], gate);
      k::matmul<float>(normed, w[UP], up);
      gate_and_up(gate, up, gate);
      k::matmul<float>(gate, w[DOWN], mlp);
      add(middle, mlp, last);
      rmsnorm(last, normed);
      k::matmul<float>(normed, head, logits);
    });

// (4) In double precision, from the same numbers.
golden::Matrix expected(const pl::Array<float>& x, const pl::Array<float>& w, const pl::Array<float>& head) {
  const auto weight = [&](int which) {
    golden::Matrix result({D, D});
    for (std::int64_t i = 0; i < D * D; ++i) result.data()[i] = w.data()[which * D * D + i];
    return result;
  };
  const auto in = golden::widened(x), normed = golden::rmsnorm(in, EPS);
  const auto q = golden::rope(golden::product(normed, weight(QUERY)));
  const auto key = golden::rope(golden::product(normed, weight(KEY)));
  auto scores = golden::product(q, key, true);
  for (std::int64_t i = 0; i < S; ++i)
    for (std::int64_t j = 0; j < S; ++j)
      scores(i, j) = scores(i, j) / std::sqrt(double(D)) + (j > i ? -1e9 : 0);
  const auto attended = golden::product(golden::softmax(scores), golden::product(normed, weight(VALUE)));
  const auto middle = golden::sum(in, golden::product(attended, weight(DENSE)));
  const auto again = golden::rmsnorm(middle, EPS);
  const auto gated = golden::zip(golden::product(again, weight(GATE)), golden::product(again, weight(UP)),
                                 [](double gate, double up) { return golden::silu(gate) * up; });
  const auto last = golden::sum(middle, golden::product(gated, weight(DOWN)));
  return golden::product(golden::rmsnorm(last, EPS), golden::widened(head));
}

int main() {
  return samples::run([] {
    const auto x = samples::numbers({S, D}, 1, 1), w = samples::numbers({WEIGHTS, D, D}, 2, 0.15f);
    const auto head = samples::numbers({D, VOCABULARY}, 3, 0.15f);
    pl::Array<float> cosine({S, D / 2}), sine({S, D / 2}), mask({S, S}), logits({S, VOCABULARY});
    for (std::int64_t s = 0; s < S; ++s) {
      for (std::int64_t i = 0; i < D / 2; ++i) {
        const double angle = static_cast<double>(s) * std::pow(10000.0, -2.0 * static_cast<double>(i) / D);
        cosine(s, i) = static_cast<float>(std::cos(angle));
        sine(s, i) = static_cast<float>(std::sin(angle));
      }
      for (std::int64_t t = s + 1; t < S; ++t) mask(s, t) = -1e9f;
    }
    model(x, w, head, cosine, sine, mask, logits);
    samples::check("logits", logits, expected(x, w, head), 1e-5);
  });
}
