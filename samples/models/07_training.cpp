// samples/models/07_training.cpp -- a small network learns: gradients written by hand, Adam from the kernel library.
//
//   ./samples/run models/07_training
//
// Three arms of a spiral are told apart by 2 -> 32 -> 3 neurons. One kernel goes forward and back; a second one changes
// every parameter. Each loss on the way must be what double precision gives.
#include "golden.hpp"

#include <kernels/training.hpp>

constexpr std::int64_t POINTS = 96, HIDDEN = 32, CLASSES = 3, STEPS = 150;
constexpr float RATE = 0.05f, BETA1 = 0.9f, BETA2 = 0.999f, EPS = 1e-8f;

using Tensor = pl::Tensor<float>;
using Output = pl::Out<Tensor>;
using Labels = pl::Tensor<std::int32_t>;
namespace golden = samples::golden;

// (1) Forward, and the gradient of the mean cross entropy backward. Products with a transposed operand move nothing.
auto gradients = pl::jit.incore([](Tensor x, Labels labels, Tensor w1, Tensor b1, Tensor w2, Tensor b2,
                                   Output dw1, Output db1, Output dw2, Output db2, Output loss) {
  auto in = pl::load(x), second = pl::load(w2);
  auto hidden = pl::tanh(pl::matmul_bias(in, pl::load(w1), pl::load(b1)));
  auto scores = pl::matmul_bias(hidden, second, pl::load(b2));
  auto shifted = scores - pl::row_max(scores);
  auto powers = pl::exp(shifted);
  auto sum = pl::row_sum(powers);
  auto right =
      pl::cast<float>(pl::arange<std::int32_t>({1, CLASSES}) == pl::load(labels));  // one 1 in each row
  loss = pl::store(pl::col_mean(pl::log(sum) - pl::row_sum(shifted * right)), loss);

  auto error = (powers / sum - right) * (1.0f / POINTS);
  dw2 = pl::store(pl::matmul(hidden, error, {.trans_a = true}), dw2);
  db2 = pl::store(pl::col_sum(error), db2);
  auto back = pl::matmul(error, second, {.trans_b = true}) * (1.0f - pl::square(hidden));
  dw1 = pl::store(pl::matmul(in, back, {.trans_a = true}), dw1);
  db1 = pl::store(pl::col_sum(back), db1);
});

// (2) All parameters lie in one array, so that one call changes all of them; these are views of its parts.
constexpr std::int64_t W1 = 0, B1 = W1 + 2 * HIDDEN, W2 = B1 + HIDDEN, B2 = W2 + HIDDEN * CLASSES,
                       ALL = B2 + CLASSES;
struct Parts {
  explicit Parts(pl::Array<float>& all)
      : w1(pl::tensor(all.data() + W1, {2, HIDDEN})),
        b1(pl::tensor(all.data() + B1, {1, HIDDEN})),
        w2(pl::tensor(all.data() + W2, {HIDDEN, CLASSES})),
        b2(pl::tensor(all.data() + B2, {1, CLASSES})) {}
  Tensor w1, b1, w2, b2;
};

// (3) The same step in double precision.
struct Golden {
  golden::Matrix x, all, g, m, v;
  double step(const Labels& labels, int t) {
    const auto part = [&](std::int64_t first, std::int64_t rows, std::int64_t columns) {
      golden::Matrix result({rows, columns});
      std::copy_n(&all(0, first), rows * columns, result.begin());
      return result;
    };
    const auto plus = [](golden::Matrix y, const golden::Matrix& bias) {
      for (std::int64_t i = 0; i < y.dim(0); ++i)
        for (std::int64_t j = 0; j < y.dim(1); ++j) y(i, j) += bias(0, j);
      return y;
    };
    const auto keep = [&](std::int64_t first, const golden::Matrix& d) {
      std::copy(d.begin(), d.end(), &g(0, first));
    };
    const golden::Matrix ones({1, POINTS}, 1.0), second = part(W2, HIDDEN, CLASSES);
    const auto hidden = golden::map(plus(golden::product(x, part(W1, 2, HIDDEN)), part(B1, 1, HIDDEN)),
                                    [](double a) { return std::tanh(a); });
    auto error = golden::softmax(plus(golden::product(hidden, second), part(B2, 1, CLASSES)));
    double loss = 0;
    for (std::int64_t i = 0; i < POINTS; ++i) {
      double& right = error(i, labels.data()[i]);
      loss -= std::log(right) / POINTS;
      right -= 1;
    }
    error = golden::map(error, [](double a) { return a / POINTS; });
    auto back = golden::zip(golden::product(error, second, true), hidden,
                            [](double a, double h) { return a * (1 - h * h); });
    keep(W2, golden::product(golden::transposed(hidden), error));
    keep(B2, golden::product(ones, error));
    keep(W1, golden::product(golden::transposed(x), back));
    keep(B1, golden::product(ones, back));
    for (std::int64_t i = 0; i < ALL; ++i) {
      m(0, i) = BETA1 * m(0, i) + (1 - BETA1) * g(0, i);
      v(0, i) = BETA2 * v(0, i) + (1 - BETA2) * g(0, i) * g(0, i);
      all(0, i) -=
          RATE * m(0, i) / (1 - std::pow(BETA1, t)) / (std::sqrt(v(0, i) / (1 - std::pow(BETA2, t))) + EPS);
    }
    return loss;
  }
};

int main() {
  return samples::run([] {
    pl::Array<float> x({POINTS, 2}), all = samples::numbers({1, ALL}, 1, 0.7f), g({1, ALL}), m({1, ALL}),
                                     v({1, ALL});
    pl::Array<std::int32_t> labels({POINTS, 1});
    for (std::int64_t i = 0; i < POINTS; ++i) {
      const float radius = 0.1f + static_cast<float>(i / 3) / (POINTS / 3),
                  arm = static_cast<float>(i % 3) * 2.0944f;
      labels(i, 0) = static_cast<std::int32_t>(i % 3);
      x(i, 0) = radius * std::cos(3 * radius + arm);
      x(i, 1) = radius * std::sin(3 * radius + arm);
    }
    Golden golden{golden::widened(x), golden::widened(all), golden::Matrix({1, ALL}),
                  golden::Matrix({1, ALL}), golden::Matrix({1, ALL})};
    Parts p(all), d(g);
    pl::Array<float> losses({STEPS, 1});
    pl::Array<double> right({STEPS, 1});
    for (int t = 1; t <= STEPS; ++t) {
      gradients(x, labels, p.w1, p.b1, p.w2, p.b2, d.w1, d.b1, d.w2, d.b2,
                losses.view().slice({t - 1, 0}, {1, 1}));
      pl::kernels::adam_step<float>(all, g, m, v, RATE, BETA1, BETA2, EPS, 1 - std::pow(BETA1, float(t)),
                                    1 - std::pow(BETA2, float(t)));
      right(t - 1, 0) = golden.step(labels.view(), t);
    }
    samples::check("losses", losses, right, 1e-4);
    samples::check("parameters", all, golden.all, 1e-2);
    std::cout << "from " << losses(0, 0) << " to " << losses(STEPS - 1, 0) << '\n';
  });
}
