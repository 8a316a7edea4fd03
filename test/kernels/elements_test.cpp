// Kernels that work element by element: activations, rope, embedding, Adam.
#include "kernels/kernels.hpp"
#include "kernels/support.hpp"

using namespace kernels_test;

namespace {

double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }
double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
}
double silu(double x) { return x / (1 + std::exp(-x)); }

template <class T>
std::vector<double> each(const pl::Array<T>& x, double (*f)(double)) {
  std::vector<double> result;
  for (std::size_t i = 0; i < x.size(); ++i) result.push_back(f(wide(x.data()[i])));
  return result;
}

template <class T>
void activations() {
  for (const std::int64_t n : {1, 15, 16, 17, 131}) {
    const auto x = filled<T>({n}), up = filled<T>({n}, 2);
    pl::Array<T> y({n});
    auto gated_silu = each(x, silu), gated_gelu = each(x, gelu);
    for (std::size_t i = 0; i < x.size(); ++i) {
      gated_silu[i] *= wide(up.data()[i]);
      gated_gelu[i] *= wide(up.data()[i]);
    }
    both_ways([&] {
      pl::kernels::relu<T>(x, y);
      expect(y, each(x, [](double v) { return v > 0 ? v : 0; }), 0);
      pl::kernels::lrelu<T>(x, y, 0.1f);
      expect(y, each(x, [](double v) { return v > 0 ? v : 0.1 * v; }));
      pl::kernels::silu<T>(x, y);
      expect(y, each(x, silu));
      pl::kernels::gelu<T>(x, y);
      expect(y, each(x, gelu));
      pl::kernels::gelu_tanh<T>(x, y);
      expect(y, each(x, gelu_tanh));
      pl::kernels::swiglu<T>(x, up, y);
      expect(y, gated_silu);
      pl::kernels::geglu<T>(x, up, y);
      expect(y, gated_gelu);
    });
  }
}

}  // namespace

TEST_CASE("activations, in float and half") {
  activations<float>();
  activations<pl::half>();
}

TEST_CASE("prelu has a slope for each column") {
  const auto x = filled<float>({3, 9}), slope = filled<float>({9}, 2);
  std::vector<double> expected;
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 9; ++j) expected.push_back(x(i, j) > 0 ? x(i, j) : x(i, j) * slope(j));
  pl::Array<float> y({3, 9});
  both_ways([&] {
    pl::kernels::prelu<float>(x, slope, y);
    expect(y, expected);
  });
}

TEST_CASE("rope turns each pair of elements by its angle") {
  const auto x = filled<float>({6, 20});
  pl::Array<float> cosine({6, 10}), sine({6, 10});
  std::vector<double> expected(120);
  for (std::int64_t s = 0; s < 6; ++s)
    for (std::int64_t i = 0; i < 10; ++i) {
      const double angle = static_cast<double>(s) * std::pow(10000.0, -static_cast<double>(i) / 10);
      cosine(s, i) = static_cast<float>(std::cos(angle));
      sine(s, i) = static_cast<float>(std::sin(angle));
      const double a = x(s, i), b = x(s, i + 10);
      expected[static_cast<std::size_t>(20 * s + i)] = a * std::cos(angle) - b * std::sin(angle);
      expected[static_cast<std::size_t>(20 * s + i + 10)] = b * std::cos(angle) + a * std::sin(angle);
    }
  pl::Array<float> y({6, 20});
  both_ways([&] {
    pl::kernels::rope<float>(x, cosine, sine, y);
    expect(y, expected);
  });
}

TEST_CASE("embedding takes rows by their ids, and an id outside the table is a shape error") {
  const auto table = filled<float>({11, 7});
  pl::Array<std::int32_t> ids({4});
  for (int i = 0; i < 4; ++i) ids(i) = 10 - 3 * i;
  pl::Array<float> y({4, 7});
  both_ways([&] {
    pl::kernels::embedding<float>(table, ids, y);
    for (std::int64_t i = 0; i < 4; ++i)
      for (std::int64_t j = 0; j < 7; ++j) CHECK(y(i, j) == table(ids(i), j));
    pl::Array<std::int32_t> wrong({4}, 11);
    CHECK_THROWS_AS(pl::kernels::embedding<float>(table, wrong, y), pl::ShapeError);
  });
}

TEST_CASE("a step of Adam changes parameter and moments in place") {
  const auto g = filled<float>({23}, 2);
  both_ways([&] {
    auto p = filled<float>({23}), m = filled<float>({23}, 3), v = filled<float>({23}, 4);
    for (float& each : v) each = std::abs(each);
    std::vector<double> parameters, means, squares;
    for (std::size_t i = 0; i < p.size(); ++i) {
      means.push_back(0.9 * m.data()[i] + 0.1 * g.data()[i]);
      squares.push_back(0.99 * v.data()[i] + 0.01 * g.data()[i] * g.data()[i]);
      parameters.push_back(p.data()[i] -
                           0.5 * (means.back() / 0.3) / (std::sqrt(squares.back() / 0.2) + 1e-3));
    }
    pl::kernels::adam_step<float>(p, g, m, v, 0.5f, 0.9f, 0.99f, 1e-3f, 0.3f, 0.2f);
    expect(p, parameters, 1e-4);
    expect(m, means, 1e-4);
    expect(v, squares, 1e-4);
  });
}
