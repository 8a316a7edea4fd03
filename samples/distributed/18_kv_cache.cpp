// samples/distributed/18_kv_cache.cpp -- a cache of keys and values that stays on a worker from call to call.
//
//   ./samples/run distributed/18_kv_cache -d 0,1,2,3
//
// One attention head a rank. Two programs: prefill puts the prompt into the cache, decode looks at it and writes a token.
#include <pl/pl.hpp>
#include <pl/pld.hpp>

#include "common.hpp"

#include <algorithm>
#include <numeric>

constexpr int DEPTH = 8, CONTEXT = 24, PROMPT = 6, VOCABULARY = 12;
constexpr auto NR = pl::dynamic("NR");

using Text = pl::Tensor<std::int32_t, CONTEXT + 1>;
using Table = pl::Tensor<float, 3, VOCABULARY, DEPTH>;  // of each token its query, key and value
using Head = pl::Tensor<float, VOCABULARY, DEPTH>;
using Cache = pl::Tensor<float, 2, CONTEXT, DEPTH>;  // keys, values
using Logits = pl::Tensor<float, VOCABULARY>;
using Sums = pld::DistributedTensor<float, VOCABULARY>;
using Tables = pl::Tensor<float, NR, 3, VOCABULARY, DEPTH>;
using Heads = pl::Tensor<float, NR, VOCABULARY, DEPTH>;
using Caches = pl::Tensor<float, NR, 2, CONTEXT, DEPTH>;

// (1) Key and value of the token at `at` go into the cache, in place.
auto remember = pl::jit.incore([](Text text, pl::Scalar<int> at, Table table, pl::InOut<Cache> cache) {
  auto token = pl::read(pl::load(text), {at});
  for (auto i : pl::range(2))
    cache = pl::store(pl::load(table, {i + 1, token, 0}, {1, 1, DEPTH}), {i, at, 0}, cache);
});

// (2) The token looks at those before it and at itself. The heads' logits are added up among the ranks.
auto attend = pl::jit.incore([](Text text, pl::Scalar<int> at, Table table, Head head, Cache cache,
                                pl::Out<Logits> logits, Sums sums) {
  auto query = pl::load(table[0], {pl::read(pl::load(text), {at}), 0}, {1, DEPTH});
  auto scores = pl::matmul(query, pl::load(cache[0]), {.trans_b = true});
  scores = pl::where(pl::tri<bool>(1, CONTEXT, at), scores, -1e9f);
  auto weights = pl::exp(scores - pl::row_max(scores));
  auto out = pl::matmul(weights, pl::load(cache[1])) / pl::row_sum(weights);
  sums = pl::store(pl::reshape(pl::matmul(out, pl::load(head), {.trans_b = true}), {VOCABULARY}), sums);
  pld::allreduce(sums);
  logits = pl::store(pl::load(sums), logits);
});

// (3) Two programs. The sampler is ordinary C++ that runs when all ranks have finished: greedy, one token more.
auto prefill_device = pl::jit([](Text text, Table table, pl::InOut<Cache> cache) {
  for (int at = 0; at < PROMPT; ++at) remember(text, at, table, cache);
});
auto prefill = pl::jit.host([](Text text, Tables tables, pl::InOut<Caches> caches) {
  for (auto r : pl::range(pld::world_size())) prefill_device(text, tables[r], caches[r], pld::device = r);
});
auto decode_device = pl::jit(
    [](Text text, int at, Table table, Head head, pl::InOut<Cache> cache, pl::Out<Logits> logits, Sums sums) {
      remember(text, at, table, cache);
      attend(text, at, table, head, cache, logits, sums);
    });
auto decode = pl::jit.host([](pl::InOut<Text> text, int at, Tables tables, Heads heads,
                              pl::InOut<Caches> caches, pl::Out<pl::Tensor<float, NR, VOCABULARY>> logits) {
  auto sums = pld::window<float>(pld::alloc_window_buffer<float>({VOCABULARY}), {VOCABULARY});
  for (auto r : pl::range(pld::world_size()))
    decode_device(text, at, tables[r], heads[r], caches[r], logits[r], sums, pld::device = r);
  const auto sample = [at](pl::Tensor<std::int32_t> tokens, pl::Tensor<float> now) {
    tokens.data()[at + 1] =
        static_cast<int>(std::max_element(now.data(), now.data() + VOCABULARY) - now.data());
  };
  pl::host_callback(sample, text, logits);
});

int main(int argc, char** argv) {
  return samples::run("A KV cache that stays on a worker", argc, argv, [](const auto& config, auto ranks) {
    const auto table = samples::numbers({ranks, 3, VOCABULARY, DEPTH}, 1, 1),
               head = samples::numbers({ranks, VOCABULARY, DEPTH}, 2, 1);
    pl::Array<std::int32_t> text({CONTEXT + 1});
    for (int at = 0; at <= PROMPT; ++at) text(at) = at * 5 % VOCABULARY;
    pl::Array<float> caches({ranks, 2, CONTEXT, DEPTH}), logits({ranks, VOCABULARY});
    const auto filled = prefill.compile(text, table, caches, config);
    const auto decoded = decode.compile(text, PROMPT, table, head, caches, logits, config);

    // (4) One worker for both. The cache is allocated there, a shard a rank, and never leaves it.
    const auto worker = filled.prepare({.extra = {&decoded}, .persistent = true});
    const auto cache = worker.template alloc_stacked_tensor<float>({ranks, 2, CONTEXT, DEPTH}, "KV cache");
    worker(text, table, cache);
    for (int at = PROMPT; at < CONTEXT; ++at) worker.run(decoded, text, at, table, head, cache, logits);
    worker.copy_stacked_from(cache, caches);

    // (5) The definition in double precision: the logit of a token behind `at`, from the text alone.
    const auto dot = [](const float& a, const float& b) {
      return std::inner_product(&a, &a + DEPTH, &b, 0.0, std::plus<double>(), std::multiplies<double>());
    };
    const auto golden = [&](std::int64_t at, std::int64_t token) {
      double sum = 0;
      for (std::int64_t r = 0; r < ranks; ++r) {
        double all = 0, out = 0;
        for (std::int64_t t = 0; t <= at; ++t) {
          const double weight = std::exp(dot(table(r, 0, text(at), 0), table(r, 1, text(t), 0)));
          all += weight;
          out += weight * dot(table(r, 2, text(t), 0), head(r, token, 0));
        }
        sum += out / all;
      }
      return sum;
    };
    const auto best = [&](std::int64_t at) -> double {
      int token = 0;
      for (int i = 1; i < VOCABULARY; ++i) token = golden(at, i) > golden(at, token) ? i : token;
      return at < PROMPT ? text(at + 1) : token;
    };
    const auto cached = [&](auto r, auto i, auto at, auto d) { return table(r, i + 1, text(at), d); };
    samples::check("logits", logits, [&](auto, auto token) { return golden(CONTEXT - 1, token); }, 1e-4);
    samples::check("text", text, [&](auto at) { return at == 0 ? 0.0 : best(at - 1); }, 0);
    samples::check("cache", caches, cached, 0);
  });
}
