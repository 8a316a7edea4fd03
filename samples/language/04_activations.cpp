// samples/language/04_activations.cpp -- activations: from the operations, from the table, from the kernel library.
//
//   ./samples/run language/04_activations
#include "golden.hpp"

#include <kernels/activation.hpp>

constexpr std::int64_t ROWS = 32, COLUMNS = 128;

using Tensor = pl::Tensor<float>;
using Output = pl::Out<Tensor>;
namespace golden = samples::golden;

// (1) Put together from exp and division. A function that a kernel calls is captured with it, so formulas can have
//     names; templates and lambdas work as well.
template <class Tile>
Tile swish(const Tile& x) {
  return x / (1 + pl::exp(-x));
}
auto silu = pl::jit.incore([](Tensor x, Output y) { y = pl::store(swish(pl::load(x)), y); });

// (2) Most need no formula: pl::silu, pl::gelu, pl::relu, pl::softplus, … are operations.
auto gelu = pl::jit.incore([](Tensor x, Output y) { y = pl::store(pl::gelu(pl::load(x)), y); });

// (3) Two inputs in one pass over memory: what is between load and store needs no memory of its own.
auto swiglu = pl::jit.incore([](Tensor gate, Tensor up, Output y) {
  auto g = pl::load(gate);
  y = pl::store(g * pl::sigmoid(g) * pl::load(up), y);
});

// (4) A choice for each element: both sides are computed, the condition picks one.
auto leaky = pl::jit.incore([](Tensor x, Output y, float slope) {
  auto tile = pl::load(x);
  y = pl::store(pl::where(tile > 0, tile, tile * slope), y);
});

int main() {
  return samples::run([] {
    const auto x = samples::numbers({ROWS, COLUMNS}, 1, 6), up = samples::numbers({ROWS, COLUMNS}, 2);
    pl::Array<float> y({ROWS, COLUMNS});
    const auto expect = [&](const char* what, auto function) {
      samples::check(
          what, y, [&](auto i, auto j) { return function(double(x(i, j)), double(up(i, j))); }, 1e-5);
    };
    silu(x, y);
    expect("silu", [](double a, double) { return golden::silu(a); });
    gelu(x, y);
    expect("gelu", [](double a, double) { return golden::gelu(a); });
    swiglu(x, up, y);
    expect("swiglu", [](double a, double b) { return golden::silu(a) * b; });
    leaky(x, y, 0.1f);
    expect("leaky relu", [](double a, double) { return a > 0 ? a : 0.1f * a; });

    // (5) Or take a kernel that is there. y may be x itself: `in place` needs no second tensor.
    pl::kernels::relu<float>(x, y);
    expect("relu of the library", [](double a, double) { return std::fmax(a, 0); });
    y = x;
    pl::kernels::geglu<float>(y, up, y);
    expect("geglu in place", [](double a, double b) { return golden::gelu(a) * b; });
  });
}
