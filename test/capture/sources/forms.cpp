// Every form the front end captures; forms_test.cpp checks the IR of each by its name.
#include <pl/pl.hpp>

#include "helpers.hpp"

constexpr int ROWS = 8, COLS = 4;
constexpr auto N = pl::dynamic("N");
using Matrix = pl::Tensor<float, ROWS, COLS>;

auto scale = pl::jit.incore([](Matrix x, pl::Out<Matrix> y, pl::Scalar<std::int32_t> rank) {
  auto tile = pl::load(x, {0, 0}, {ROWS, COLS});
  auto factor = pl::cast<float>(rank);
  auto scaled = pl::mul(tile, factor);
  y = pl::store(pl::add(scaled, tile), {0, 0}, y);
  return y;
});

auto operators = pl::jit.incore([](pl::Tensor<float> x, pl::Out<pl::Tensor<float>> y, pl::Scalar<float> s) {
  auto t = -pl::load(x) * s + 0.1 - 2;
  t /= 3.0f;
  auto m = (t > 0.0f) && !(t == 1.0f);
  y = pl::store(pl::where(m, t, pl::exp(t - pl::row_max(t))), y);
});

auto counted = pl::jit.incore([](pl::Tensor<float, N, 4> x, pl::Out<pl::Tensor<float, N, 4>> y) {
  for (int i = 0; i <= x.dim(0) - 1; i += 2) y = pl::store(pl::load(x, {i, 0}, {1, 4}), {i, 0}, y);
  for (std::int64_t j = 3; j > 0; --j) pl::print(pl::Scalar<std::int64_t>(j));
});

auto ranges = pl::jit.incore([](Matrix x, pl::Out<Matrix> y, pl::Scalar<int> n) {
  auto sum = pl::zeros<float>({1, 4});
  for (auto i : pl::range(n)) sum += pl::load(x, {i, 0}, {1, 4});
  for (auto i : pl::unroll(1, 3)) sum = sum + pl::load(x, {i, 0}, {1, 4});
  for (int i : pl::pipeline(n, {.stage = 3})) sum = sum + pl::load(x, {i, 0}, {1, 4});
  for (auto i : pl::parallel(0, 8, 2)) {
    ++i;
    y = pl::store(sum, {i, 0}, y);
  }
});

auto control = pl::jit.incore([](Matrix x, pl::Out<Matrix> y, pl::Scalar<int> n) {
  auto t = pl::load(x);
  int k = n;
  if (k < 0) return;
  while (k > 0 && k != 7) {
    if (k == 3) {
      --k;
      continue;
    }
    t = t * 2.0f;
    k -= 2;
    if (k == 5) break;
  }
  do {
    k++;
  } while (k < 4);
  switch (k) {
    case 1:
    case 2: t = t + 1.0f; break;
    case 9: t = t + 2.0f; [[fallthrough]];
    default: t = t + 3.0f;
  }
  float f = k > 2 ? 1.5f : 2.5f;
  y = pl::store(k > 3 ? t : t * f, y);
});

auto helpers = pl::jit.incore([](Matrix x, pl::Out<Matrix> y, pl::Scalar<int> n) {
  auto twice = [&](auto t) { return t + t; };
  auto a = twice(pl::load(x));
  auto b = helper_sum(a, a);
  const int c = clamp_to(n, 1, 5) + plus_one(2);
  y = pl::store(b * pl::cast<float>(c), y);
});

auto constants = pl::jit.incore([](Matrix x, pl::Out<Matrix> y) {
  constexpr int table[] = {10, 20, 30};
  constexpr float half = 0.5f;
  int sum = table[1] + COLS + TILE;
  for (int i = 0; i < 3; ++i) sum += table[i];
  y = pl::store(pl::load(x) * half + pl::cast<float>(sum), y);
});

auto views = pl::jit.incore([](pl::Tensor<float, N, 8, 4> x, pl::Out<pl::Tensor<float, N, 8, 4>> y, pl::Scalar<int> r) {
  auto row = x[r];
  auto part = row.slice({0, 0}, {4, 4});
  auto t = pl::load(part) + pl::load(x[0], {0, 0}, {4, 4});
  auto target = y[r];
  target = pl::store(t, {4, 0}, target);
});

auto erased = pl::jit.incore([](pl::Tensor<> x, pl::Out<pl::Tensor<>> y) { y = pl::store(pl::load(x) + 1, y); });

auto specialised = pl::jit.incore([](pl::Tensor<float> x, pl::Out<pl::Tensor<float>> y, pl::Const<int> rows) {
  y = pl::store(pl::load(x, {0, 0}, {rows, x.dim(1)}), {0, 0}, y);
});

auto scalars = pl::jit.incore([](pl::Out<pl::Tensor<std::int32_t, 1>> y, pl::Scalar<int> a, pl::Scalar<float> f, bool flag) {
  int b = a * 3 % 5;
  b <<= 2;
  b += static_cast<int>(f * 2.0f);
  const int c = b++ + (flag ? 1 : 0);
  double d = c;
  if (d > 1.5 || !flag) b = -b;
  y = pl::store(pl::full<std::int32_t>({1}, b), y);
});

auto generic = pl::jit.incore([](auto x, auto y) { y = pl::store(pl::load(x) + pl::load(x), y); });

void use_generic(pl::Tensor<float> f, pl::Out<pl::Tensor<float>> g, pl::Tensor<std::int32_t> i,
                 pl::Out<pl::Tensor<std::int32_t>> j) {
  generic(f, g);
  generic(i, j);
  generic(f, g);
}

template <class T, int... Sizes>
auto from_template() {
  return pl::jit.incore([](pl::Tensor<T> x, pl::Out<pl::Tensor<T>> y) {
    constexpr int count = sizeof...(Sizes);
    if constexpr (sizeof(T) == 8)
      y = pl::store(pl::load(x) * count, y);
    else
      y = pl::store(pl::load(x), y);
  });
}
auto from_float = from_template<float, 1, 2>();
auto from_double = from_template<double, 1, 2, 3>();

enum class Mode { Off, On };

auto captures(int count, float factor) {
  const bool flag = count > 2;
  const Mode mode = flag ? Mode::On : Mode::Off;
  return pl::jit.incore([=, extra = factor * 2](Matrix x, pl::Out<Matrix> y) {
    auto t = pl::load(x) * factor + extra;
    if (flag && mode == Mode::On)
      for (int i = 0; i < count; ++i) t = t + 1.0f;
    y = pl::store(t, y);
  });
}

#define KERNEL(name, body) auto name = pl::jit.incore([](Matrix x, pl::Out<Matrix> y) { body })
#define TWICE(value) ((value) + (value))
KERNEL(from_macro, auto t = pl::load(x); y = pl::store(TWICE(t /* a comment, with ) and , in it */), y););
