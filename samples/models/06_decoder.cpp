// samples/models/06_decoder.cpp -- a decoder of twelve layers that writes: prompt, cache of keys and values, greedy tokens.
//
//   ./samples/run models/06_decoder
//
// 64 tokens of prompt in one pass, then 64 tokens one by one; the cache is updated in place. The weights are seeded
// noise, so the text means nothing, but every logit and every token must be what double precision gives.
#include "golden.hpp"

#include <kernels/lookup.hpp>

constexpr std::int64_t LAYERS = 12, WIDTH = 64, HEADS = 4, DEPTH = WIDTH / HEADS, HIDDEN = 128,
                       VOCABULARY = 128;
constexpr std::int64_t PROMPT = 64, GENERATED = 64, CONTEXT = PROMPT + GENERATED;
constexpr float EPS = 1e-5f;
const float SCALE = 1 / std::sqrt(static_cast<float>(DEPTH));

using Tensor = pl::Tensor<float>;
using Output = pl::Out<Tensor>;
using Cache = pl::InOut<Tensor>;
using Tokens = pl::Tensor<std::int32_t>;
namespace golden = samples::golden;

// (1) Parts of kernels: ordinary function templates on tiles.
template <class Tile>
Tile normed(const Tile& x, const Tile& gain) {
  return x * pl::rsqrt(pl::row_mean(pl::square(x)) + EPS) * gain;
}
/// Rotary embedding of [S, WIDTH], head by head: [S, HEADS, DEPTH], halves that are turned, and back.
template <class Tile>
Tile rotated(const Tile& x, const Tile& cosine, const Tile& sine, std::int64_t rows) {
  auto heads = pl::reshape(x, {rows, HEADS, DEPTH});
  auto first = pl::slice(heads, {0, 0, 0}, {rows, HEADS, DEPTH / 2});
  auto second = pl::slice(heads, {0, 0, DEPTH / 2}, {rows, HEADS, DEPTH / 2});
  auto turned = pl::concat(first * cosine - second * sine, second * cosine + first * sine);
  return pl::reshape(turned, {rows, WIDTH});
}

// (2) Queries, keys and values of the new tokens. Keys and values go straight into the cache, behind those that are
//     there; `first` is a run-time number, so a longer text compiles nothing.
auto project = pl::jit.incore([](Tensor x, Tensor gain, Tensor weights, Tensor cosine, Tensor sine,
                                 Output queries, Cache keys, Cache values, std::int64_t first) {
  const auto rows = x.dim(0);
  auto in = normed(pl::load(x), pl::load(gain));
  auto c = pl::reshape(pl::load(cosine), {rows, 1, DEPTH / 2});
  auto s = pl::reshape(pl::load(sine), {rows, 1, DEPTH / 2});
  queries = pl::store(rotated(pl::matmul(in, pl::load(weights[0])), c, s, rows), queries);
  keys = pl::store(rotated(pl::matmul(in, pl::load(weights[1])), c, s, rows), {first, 0}, keys);
  values = pl::store(pl::matmul(in, pl::load(weights[2])), {first, 0}, values);
});

// (3) New token i stands at first + i and sees what is not behind it. Rows of the cache that are not written yet are
//     masked as the future is.
auto attend =
    pl::jit.incore([](Tensor queries, Tensor keys, Tensor values, Output y, std::int64_t first, float scale) {
      const auto rows = queries.dim(0), context = keys.dim(0);
      const auto visible = pl::tri<bool>(rows, context, first);
      for (auto h : pl::range(HEADS)) {
        auto query = pl::load(queries, {0, h * DEPTH}, {rows, DEPTH});
        auto scores =
            pl::matmul(query, pl::load(keys, {0, h * DEPTH}, {context, DEPTH}), {.trans_b = true}) * scale;
        scores = pl::where(visible, scores, -1e9f);
        auto weights = pl::exp(scores - pl::row_max(scores));
        auto sum = pl::matmul(weights, pl::load(values, {0, h * DEPTH}, {context, DEPTH}));
        y = pl::store(sum / pl::row_sum(weights), {0, h * DEPTH}, y);
      }
    });

// (4) The rest of a layer, in place on the hidden states.
auto finish =
    pl::jit.incore([](Cache x, Tensor attended, Tensor dense, Tensor gain, Tensor gate_up, Tensor down) {
      auto middle = pl::load(x) + pl::matmul(pl::load(attended), pl::load(dense));
      auto in = normed(middle, pl::load(gain));
      auto gated = pl::silu(pl::matmul(in, pl::load(gate_up[0]))) * pl::matmul(in, pl::load(gate_up[1]));
      x = pl::store(middle + pl::matmul(gated, pl::load(down)), x);
    });

// (5) Logits of every new token; the best of the last one is the next token of the text.
auto decide = pl::jit.incore(
    [](Tensor x, Tensor gain, Tensor head, Output logits, pl::InOut<Tokens> tokens, std::int64_t next) {
      const auto rows = x.dim(0);
      auto all = pl::matmul(normed(pl::load(x), pl::load(gain)), pl::load(head));
      logits = pl::store(all, logits);
      auto best = pl::row_argmax(pl::slice(all, {rows - 1, 0}, {1, VOCABULARY}));
      tokens = pl::store(pl::reshape(best, {1}), {next}, tokens);
    });

struct Model {
  pl::Array<float> embedding = samples::numbers({VOCABULARY, WIDTH}, 1, 1.7f);
  pl::Array<float> gains = samples::numbers({2 * LAYERS + 1, WIDTH}, 2, 1.5f);
  pl::Array<float> attention = samples::numbers({LAYERS, 4, WIDTH, WIDTH}, 3, 0.2f);
  pl::Array<float> gate_up = samples::numbers({LAYERS, 2, WIDTH, HIDDEN}, 4, 0.2f);
  pl::Array<float> down = samples::numbers({LAYERS, HIDDEN, WIDTH}, 5, 0.15f);
  pl::Array<float> head = samples::numbers({WIDTH, VOCABULARY}, 6, 0.5f);
  pl::Array<float> cosine{{CONTEXT, DEPTH / 2}}, sine{{CONTEXT, DEPTH / 2}};
};

// (6) One pass over `count` new tokens: the lambda runs on the device's thread and names its tasks; they run in the order
//     that what they read and write asks for.
auto forward = pl::jit([](pl::InOut<Tokens> tokens, Tensor embedding, Tensor gains, Tensor attention,
                          Tensor gate_up, Tensor down, Tensor head, Tensor cosine, Tensor sine, Cache keys,
                          Cache values, Output logits, std::int64_t first, std::int64_t count) {
  auto x = pl::create_tensor<float>({count, WIDTH});
  auto queries = pl::create_tensor<float>({count, WIDTH});
  auto attended = pl::create_tensor<float>({count, WIDTH});
  const auto c = cosine.slice({first, 0}, {count, DEPTH / 2}), s = sine.slice({first, 0}, {count, DEPTH / 2});
  pl::kernels::embedding<float>(embedding, tokens.slice({first}, {count}), x);
  for (std::int64_t l = 0; l < LAYERS; ++l) {
    project(x, gains[2 * l], attention[l], c, s, queries, keys[l], values[l], first);
    attend(queries, keys[l], values[l], attended, first, SCALE);
    finish(x, attended, attention[l][3], gains[2 * l + 1], gate_up[l], down[l]);
  }
  decide(x, gains[2 * LAYERS], head, logits.slice({first, 0}, {count, VOCABULARY}), tokens, first + count);
});

// (7) The same text in double precision, all tokens at once: logits, and the keys of the last layer.
struct Expected {
  golden::Matrix logits, keys;
};
golden::Matrix matrix(const float* data, std::int64_t rows, std::int64_t columns) {
  golden::Matrix result({rows, columns});
  std::copy(data, data + rows * columns, result.begin());
  return result;
}
Expected expected(const Model& model, const pl::Array<std::int32_t>& tokens) {
  const std::int64_t count = CONTEXT - 1;  // the last token is written, but never read
  const auto norm = [&](const golden::Matrix& x, std::int64_t which) {
    auto result = golden::rmsnorm(x, EPS);
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t j = 0; j < WIDTH; ++j) result(i, j) *= model.gains(which, j);
    return result;
  };
  golden::Matrix x({count, WIDTH}), keys({count, WIDTH});
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t j = 0; j < WIDTH; ++j) x(i, j) = model.embedding(tokens(i), j);
  for (std::int64_t l = 0; l < LAYERS; ++l) {
    const auto weight = [&](std::int64_t which) {
      return matrix(&model.attention(l, which, 0, 0), WIDTH, WIDTH);
    };
    const auto in = norm(x, 2 * l);
    const auto q = golden::product(in, weight(0)), k = golden::product(in, weight(1));
    const auto v = golden::product(in, weight(2));
    golden::Matrix attended({count, WIDTH});
    for (std::int64_t h = 0; h < HEADS; ++h) {
      const auto key = golden::rope(golden::columns(k, h * DEPTH, DEPTH));
      auto scores = golden::product(golden::rope(golden::columns(q, h * DEPTH, DEPTH)), key, true);
      for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t j = 0; j < count; ++j)
          scores(i, j) = j <= i ? scores(i, j) / std::sqrt(double(DEPTH)) : -INFINITY;
      const auto result = golden::product(golden::softmax(scores), golden::columns(v, h * DEPTH, DEPTH));
      for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t j = 0; j < DEPTH; ++j) {
          attended(i, h * DEPTH + j) = result(i, j);
          keys(i, h * DEPTH + j) = key(i, j);
        }
    }
    x = golden::sum(x, golden::product(attended, weight(3)));
    const auto again = norm(x, 2 * l + 1);
    const auto gate = golden::product(again, matrix(&model.gate_up(l, 0, 0, 0), WIDTH, HIDDEN));
    const auto up = golden::product(again, matrix(&model.gate_up(l, 1, 0, 0), WIDTH, HIDDEN));
    const auto gated = golden::zip(gate, up, [](double a, double b) { return golden::silu(a) * b; });
    x = golden::sum(x, golden::product(gated, matrix(&model.down(l, 0, 0), HIDDEN, WIDTH)));
  }
  return {golden::product(norm(x, 2 * LAYERS), golden::widened(model.head)), keys};
}

int main() {
  return samples::run([] {
    Model model;
    for (std::int64_t s = 0; s < CONTEXT; ++s)
      for (std::int64_t i = 0; i < DEPTH / 2; ++i) {
        const double angle =
            static_cast<double>(s) * std::pow(10000.0, -2.0 * static_cast<double>(i) / DEPTH);
        model.cosine(s, i) = static_cast<float>(std::cos(angle));
        model.sine(s, i) = static_cast<float>(std::sin(angle));
      }
    pl::Array<std::int32_t> tokens({CONTEXT});
    for (std::int64_t i = 0; i < PROMPT; ++i)
      tokens(i) = static_cast<std::int32_t>((i * 37 + 11) % VOCABULARY);
    pl::Array<float> keys({LAYERS, CONTEXT, WIDTH}), values({LAYERS, CONTEXT, WIDTH}),
        logits({CONTEXT, VOCABULARY});

    // (8) The prompt, then token after token. Two shapes, so each kernel is compiled twice.
    for (std::int64_t first = 0; first < CONTEXT - 1; first = std::max(first + 1, PROMPT))
      forward(tokens, model.embedding, model.gains, model.attention, model.gate_up, model.down, model.head,
              model.cosine, model.sine, keys, values, logits, first, first == 0 ? PROMPT : 1);

    // (9) Every logit, the cache of the last layer, and every token against the golden. The last row was never written.
    const Expected right = expected(model, tokens);
    const auto or_zero = [](const golden::Matrix& m, auto i, auto j) {
      return i < CONTEXT - 1 ? m(i, j) : 0.0;
    };
    samples::check("logits", logits, [&](auto i, auto j) { return or_zero(right.logits, i, j); }, 1e-4);
    pl::Array<float> last({CONTEXT, WIDTH});
    std::copy(keys.end() - CONTEXT * WIDTH, keys.end(), last.begin());
    samples::check(
        "keys of the last layer", last, [&](auto i, auto j) { return or_zero(right.keys, i, j); }, 1e-4);
    std::cout << GENERATED << " tokens:";
    for (std::int64_t i = PROMPT; i < CONTEXT; ++i) {
      std::cout << ' ' << tokens(i);
      const double* row = &right.logits(i - 1, 0);
      const auto best = std::max_element(row, row + VOCABULARY) - row;
      if (tokens(i) == best) continue;
      std::cout << "\nwrong: token " << i << " is " << tokens(i) << ", expected " << best << '\n';
      std::exit(1);
    }
    std::cout << "\ngreedy tokens: OK\n";
  });
}
