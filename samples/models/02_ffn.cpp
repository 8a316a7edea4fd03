// samples/models/02_ffn.cpp -- the feed-forward part of a transformer, three activations, as tasks of a device.
//
//   ./samples/run models/02_ffn
//
// y = activation(x Wgate) Wdown, and swiglu: y = (silu(x Wgate) * x Wup) Wdown. The two products of swiglu need nothing
// of each other and may run on two cores.
#include "golden.hpp"

#include <kernels/activation.hpp>
#include <kernels/linear.hpp>

constexpr std::int64_t TOKENS = 64, WIDTH = 64, HIDDEN = 128;

using Tensor = pl::Tensor<float>;
namespace k = pl::kernels;
namespace golden = samples::golden;

// (1) An orchestration is a lambda of the device level: it makes memory and calls kernels, and each call is a task. A
//     template makes one for each activation.
template <class Activation>
auto make_ffn(const Activation& activation) {
  return pl::jit([activation](Tensor x, Tensor gate, Tensor down, pl::Out<Tensor> y) {
    auto hidden = pl::create_tensor<float>({x.dim(0), gate.dim(1)});
    auto activated = pl::create_tensor<float>({x.dim(0), gate.dim(1)});
    k::matmul<float>(x, gate, hidden);
    activation(hidden, activated);
    k::matmul<float>(activated, down, y);
  });
}

auto swiglu_ffn = pl::jit([](Tensor x, Tensor gate, Tensor up, Tensor down, pl::Out<Tensor> y) {
  auto gated = pl::create_tensor<float>({x.dim(0), gate.dim(1)});
  auto raised = pl::create_tensor<float>({x.dim(0), gate.dim(1)});
  k::matmul<float>(x, gate, gated);
  k::matmul<float>(x, up, raised);
  k::swiglu<float>(gated, raised, gated);  // (2) in place: waits for both products
  k::matmul<float>(gated, down, y);
});

int main() {
  return samples::run([] {
    const auto x = samples::numbers({TOKENS, WIDTH}, 1, 1), gate = samples::numbers({WIDTH, HIDDEN}, 2, 0.3f);
    const auto up = samples::numbers({WIDTH, HIDDEN}, 3, 0.3f),
               down = samples::numbers({HIDDEN, WIDTH}, 4, 0.3f);
    const auto hidden = golden::product(golden::widened(x), golden::widened(gate));
    const auto raised = golden::product(golden::widened(x), golden::widened(up));
    const auto wide_down = golden::widened(down);
    pl::Array<float> y({TOKENS, WIDTH});

    make_ffn(k::gelu<float>)(x, gate, down, y);
    samples::check("gelu", y, golden::product(golden::map(hidden, golden::gelu), wide_down), 1e-3);
    make_ffn(k::relu<float>)(x, gate, down, y);
    const auto relu = [](double value) { return std::fmax(value, 0); };
    samples::check("relu", y, golden::product(golden::map(hidden, relu), wide_down), 1e-3);
    swiglu_ffn(x, gate, up, down, y);
    const auto product = [](double a, double b) { return golden::silu(a) * b; };
    samples::check("swiglu", y, golden::product(golden::zip(hidden, raised, product), wide_down), 1e-3);
  });
}
