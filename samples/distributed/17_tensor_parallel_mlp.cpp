// samples/distributed/17_tensor_parallel_mlp.cpp -- two layers shared among ranks: the first by columns, the second by
// rows.
//
//   ./samples/run distributed/17_tensor_parallel_mlp -d 0,1,2,3
//
// y = gelu(x Wup) Wdown + bias. A rank that has some columns of Wup and the same rows of Wdown computes its part of the
// hidden state alone, and a partial sum of y: one allreduce for the two layers.
#include <pl/pl.hpp>
#include <pl/pld.hpp>

#include "common.hpp"
#include "golden.hpp"

constexpr int TOKENS = 16, WIDTH = 32, SHARE = 24;  // SHARE columns of the hidden state a rank
constexpr auto NR = pl::dynamic("NR");

using Input = pl::Tensor<float, TOKENS, WIDTH>;
using Hidden = pl::Tensor<float, TOKENS, SHARE>;
using Up = pl::Tensor<float, WIDTH, SHARE>;
using Down = pl::Tensor<float, SHARE, WIDTH>;
using Bias = pl::Tensor<float, WIDTH>;
using Sums = pld::DistributedTensor<float, TOKENS, WIDTH>;

// (1) By columns: whole dot products, so the activation can follow at once.
auto up_part = pl::jit.incore([](Input x, Up up, pl::Out<Hidden> hidden) {
  hidden = pl::store(pl::gelu(pl::matmul(pl::load(x), pl::load(up))), hidden);
});

// (2) By rows: partial sums, added up among the ranks. The bias comes behind the sum: it counts once, not once a rank.
auto down_part = pl::jit.incore([](Hidden hidden, Down down, Bias bias, pl::Out<Input> y, Sums sums) {
  sums = pl::store(pl::matmul(pl::load(hidden), pl::load(down)), sums);
  pld::allreduce(sums);
  y = pl::store(pl::load(sums) + pl::load(bias), y);
});

// (3) Two tasks of a device. The hidden state lives there only.
auto device_orch = pl::jit([](Input x, Up up, Down down, Bias bias, pl::Out<Input> y, Sums sums) {
  auto hidden = pl::create_tensor<float>({TOKENS, SHARE});
  up_part(x, up, hidden);
  down_part(hidden, down, bias, y, sums);
});

// (4) Every rank gets all of x, and its share of the weights.
auto host_orch =
    pl::jit.host([](Input x, pl::Tensor<float, NR, WIDTH, SHARE> up, pl::Tensor<float, NR, SHARE, WIDTH> down,
                    Bias bias, pl::Out<pl::Tensor<float, NR, TOKENS, WIDTH>> y) {
      auto sums = pld::window<float>(pld::alloc_window_buffer<float>({TOKENS, WIDTH}), {TOKENS, WIDTH});
      for (auto r : pl::range(pld::world_size()))
        device_orch(x, up[r], down[r], bias, y[r], sums, pld::device = r);
    });

int main(int argc, char** argv) {
  return samples::run("A two-layer network over ranks", argc, argv, [](const auto& config, auto ranks) {
    namespace golden = samples::golden;
    const auto x = samples::numbers({TOKENS, WIDTH}, 1, 1), bias = samples::numbers({WIDTH}, 4);
    const auto up = samples::numbers({ranks, WIDTH, SHARE}, 2, 0.3f),
               down = samples::numbers({ranks, SHARE, WIDTH}, 3, 0.3f);
    pl::Array<float> y({ranks, TOKENS, WIDTH});
    host_orch(x, up, down, bias, y, config);

    // (5) The whole network at once, in double precision.
    golden::Matrix all_up({WIDTH, ranks * SHARE}), all_down({ranks * SHARE, WIDTH});
    for (std::int64_t r = 0; r < ranks; ++r)
      for (std::int64_t i = 0; i < WIDTH; ++i)
        for (std::int64_t j = 0; j < SHARE; ++j) {
          all_up(i, r * SHARE + j) = up(r, i, j);
          all_down(r * SHARE + j, i) = down(r, j, i);
        }
    const auto hidden = golden::map(golden::product(golden::widened(x), all_up), golden::gelu);
    const auto expected = golden::product(hidden, all_down);
    samples::check("output", y, [&](auto, auto i, auto j) { return expected(i, j) + bias(j); }, 1e-4);
  });
}
