// samples/distributed/18_kv_cache.cpp -- a cache of keys and values that stays on a worker from call to call.
//
//   ./samples/run distributed/18_kv_cache -d 0,1,2,3
//
// One attention head a rank. Two programs: prefill puts the prompt into the cache, decode looks at it and writes a token.
#include <pl/pl.hpp>
#include <pl/pld.hpp>

#include "common.hpp"
#include "golden.hpp"

constexpr int DEPTH = 8, CONTEXT = 24, PROMPT = 6, VOCABULARY = 12;

using Text = pl::Tensor<std::int32_t, CONTEXT + 1>;
using Table = pl::Tensor<float, 3, VOCABULARY, DEPTH>;  // of each token its query, key and value
using Cache = pl::Tensor<float, 2, CONTEXT, DEPTH>;     // keys, values
using Floats = pl::Tensor<float>;                       // of any shape: a part, or one for every rank

// (1) Key and value of the token at `at` go into the cache, in place.
auto remember = pl::jit.incore([](Text text, pl::Scalar<int> at, Table table, pl::InOut<Cache> cache) {
  auto token = pl::read(pl::load(text), {at});
  for (auto i : pl::range(2))
    cache = pl::store(pl::load(table, {i + 1, token, 0}, {1, 1, DEPTH}), {i, at, 0}, cache);
});

// (2) The token looks at those before it and at itself. The heads' logits are added up among the ranks.
auto attend = pl::jit.incore([](Text text, pl::Scalar<int> at, Table table, Floats head, Cache cache,
                                pl::Out<Floats> logits, pld::DistributedTensor<float> sums) {
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
auto prefill_device = pl::jit([](auto text, auto table, auto cache) {
  for (int at = 0; at < PROMPT; ++at) remember(text, at, table, cache);
});
auto prefill = pl::jit.host([](Text text, Floats table, pl::InOut<Floats> cache) {
  for (auto r : pl::range(pld::world_size())) prefill_device(text, table[r], cache[r], pld::device = r);
});
auto decode_device = pl::jit([](auto text, int at, auto table, auto head, auto cache, auto out, auto sums) {
  remember(text, at, table, cache);
  attend(text, at, table, head, cache, out, sums);
});
auto decode = pl::jit.host([](pl::InOut<Text> text, int at, Floats table, Floats head,
                              pl::InOut<Floats> cache, pl::Out<Floats> logits) {
  auto sums = pld::window<float>(pld::alloc_window_buffer<float>({VOCABULARY}), {VOCABULARY});
  for (auto r : pl::range(pld::world_size()))
    decode_device(text, at, table[r], head[r], cache[r], logits[r], sums, pld::device = r);
  const auto sample = [at](pl::Tensor<std::int32_t> now, pl::Tensor<float> all) {
    now.data()[at + 1] = std::int32_t(std::max_element(all.data(), all.data() + VOCABULARY) - all.data());
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

    // (5) The same in double precision from the text alone: its last logits, the best token behind each, the cache.
    namespace golden = samples::golden;
    const auto expected = [&](std::int64_t tokens) {
      golden::Matrix sum({tokens, VOCABULARY});
      for (std::int64_t r = 0; r < ranks; ++r) {
        const auto rows = [&](auto part) {
          return golden::matrix(tokens, DEPTH, [&](auto t, auto d) { return table(r, part, text(t), d); });
        };
        const auto heads = golden::matrix(VOCABULARY, DEPTH, [&](auto i, auto d) { return head(r, i, d); });
        sum = golden::sum(sum, golden::product(golden::attention(rows(0), rows(1), rows(2)), heads, true));
      }
      return std::vector<double>(sum.end() - VOCABULARY, sum.end());
    };
    const auto best = [&](std::int64_t at) -> double {
      const auto all = expected(std::max<std::int64_t>(at, 1));
      return at <= PROMPT ? text(at) : std::ranges::max_element(all) - all.begin();
    };
    samples::check("logits", logits, [all = expected(CONTEXT)](auto, auto i) { return all[i]; }, 1e-4);
    samples::check("text", text, best, 0);
    const auto row = [&](auto r, auto i, auto at, auto d) { return table(r, i + 1, text(at), d); };
    samples::check("cache", caches, row, 0);
  });
}
