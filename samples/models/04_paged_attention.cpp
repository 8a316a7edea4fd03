// samples/models/04_paged_attention.cpp -- one new token of each sequence against keys and values that lie in pages.
//
//   ./samples/run models/04_paged_attention
//
// Four sequences of different length, 16 heads of 128, bfloat16, pages of 128 tokens: what a server keeps of its users.
// The pages of a sequence lie anywhere; its row of the block table names them in order.
#include "check.hpp"

#include <kernels/paged_attention.hpp>

#include <algorithm>
#include <vector>

constexpr std::int64_t BATCH = 4, HEADS = 16, DEPTH = 128, PAGE = 128, MOST = 4, PAGES = 13;
constexpr std::int32_t LENGTHS[BATCH] = {1, 128, 300, 511};
const float SCALE = 1 / std::sqrt(static_cast<float>(DEPTH));

using pl::bfloat16;

int main() {
  return samples::run([] {
    // (1) The cache of the whole server: keys and values of PAGES pages, [page, token, head, depth].
    const auto keys = samples::numbers<bfloat16>({PAGES, PAGE, HEADS, DEPTH}, 1);
    const auto values = samples::numbers<bfloat16>({PAGES, PAGE, HEADS, DEPTH}, 2);
    const auto queries = samples::numbers<bfloat16>({BATCH, HEADS, DEPTH}, 3);

    // (2) Which pages are whose. -1: a page that the sequence does not have and that is never looked at.
    pl::Array<std::int32_t> table({BATCH, MOST}, -1), lengths({BATCH});
    std::int32_t free_page = 5;
    for (std::int64_t b = 0; b < BATCH; ++b) {
      lengths(b) = LENGTHS[b];
      for (std::int64_t page = 0; page * PAGE < LENGTHS[b]; ++page) {
        table(b, page) = free_page;
        free_page = (free_page + 5) % PAGES;
      }
    }

    // (3) One kernel call; the lengths are read as it runs, so a longer sequence compiles nothing.
    pl::Array<bfloat16> y({BATCH, HEADS, DEPTH});
    pl::kernels::paged_attention<bfloat16>(queries, keys, values, table, lengths, y, SCALE);

    // (4) The definition, for one element of the result after the other.
    std::vector<double> weights;
    std::int64_t weights_of = -1;
    const auto expected = [&](std::int64_t b, std::int64_t h, std::int64_t d) {
      const auto key = [&](std::int64_t t) { return std::pair{table(b, t / PAGE), t % PAGE}; };
      if (weights_of != b * HEADS + h) {
        weights_of = b * HEADS + h;
        weights.assign(static_cast<std::size_t>(lengths(b)), 0);
        double sum = 0, largest = -INFINITY;
        for (std::int64_t t = 0; t < lengths(b); ++t) {
          double& score = weights[static_cast<std::size_t>(t)];
          for (std::int64_t i = 0; i < DEPTH; ++i)
            score += samples::wide(queries(b, h, i)) *
                     samples::wide(keys(key(t).first, key(t).second, h, i)) * SCALE;
          largest = std::max(largest, score);
        }
        for (double& weight : weights) sum += weight = std::exp(weight - largest);
        for (double& weight : weights) weight /= sum;
      }
      double result = 0;
      for (std::int64_t t = 0; t < lengths(b); ++t)
        result +=
            weights[static_cast<std::size_t>(t)] * samples::wide(values(key(t).first, key(t).second, h, d));
      return result;
    };
    samples::check("lengths 1, 128, 300 and 511", y, expected, 2e-2);
  });
}
