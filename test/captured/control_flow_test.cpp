// Every form of control flow of a kernel: compiled and native runs of the same lambda give the same bits.
#include "captured/agree.hpp"

// Cases that fall through are what is tested, with and without the attribute.
#pragma GCC diagnostic ignored "-Wimplicit-fallthrough"

using captured_test::agrees;
using captured_test::Any;
using captured_test::Out;
using captured_test::result;
using captured_test::same;

namespace {

using Int = pl::Scalar<std::int32_t>;
using Long = pl::Scalar<std::int64_t>;

enum class Mode { Off, Slow = 5, Fast };

}  // namespace

TEST_CASE("for: every comparison, step and counter type") {
  auto forms = pl::jit.incore([](Out y, Int n) {
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += i;
    for (int i = 1; i <= n; i++) sum = sum * 3 + i;
    for (int i = n; i > 0; --i) sum = sum * 2 + i;
    for (int i = n; i >= 0; i--) sum += i * 7;
    for (int i = 0; i != n; ++i) sum ^= i;
    for (int i = n; i != 0; --i) sum += i & 3;
    for (int i = 0; i < n; i += 3) sum = sum * 5 + i;
    for (int i = n; i > 0; i -= 2) sum = sum * 5 - i;
    for (std::int64_t i = 0; i < n; i += 2) sum += static_cast<int>(i);
    for (int i = 0, j = n; i < j; ++i, --j) sum += i * j;
    for (int i = 1; i < n; i *= 2) sum += i;
    for (int i = 0; i * i < n; ++i) sum += 100;
    for (int i = 0; n > i; i = i + 1) sum += 1000;
    int k = 0;
    for (; k < n;) ++k;
    for (;; ++k)
      if (k > 2 * n) break;
    STORE_NUMBER((sum + k) % 100003);
  });
  for (const int n : {0, 1, 2, 7, 12}) CHECK(same(forms, n));
}

TEST_CASE("for: the counter changed in the body, and a bound that the body changes") {
  auto kernel = pl::jit.incore([](Out y, Int n) {
    int sum = 0, bound = n;
    for (int i = 0; i < n; ++i) {
      if (i % 3 == 0) ++i;
      sum = sum * 3 + i;
    }
    for (int i = 0; i < bound; ++i) {
      if (i == 2) bound = bound - 2;
      sum += 10 + i;
    }
    STORE_NUMBER(sum);
  });
  for (const int n : {0, 1, 4, 9}) CHECK(same(kernel, n));
}

TEST_CASE("range-for over range, parallel, unroll and pipeline, with a first, a last and a step") {
  auto kernel = pl::jit.incore([](Any x, Out y, Int n) {
    auto sum = pl::zeros<float>({1, 4});
    for (auto i : pl::range(n)) sum += pl::load(x, {i, 0}, {1, 4});
    for (auto i : pl::range(1, n)) sum = sum * 0.5f + pl::load(x, {i, 0}, {1, 4});
    for (auto i : pl::range(n - 1, -1, -2)) sum = sum * 0.5f + pl::load(x, {i, 0}, {1, 4});
    for (auto i : pl::range(0, n, 3)) sum = sum * 0.5f + pl::load(x, {i, 0}, {1, 4});
    for (auto i : pl::unroll(2)) sum = sum * 0.5f + pl::load(x, {i, 0}, {1, 4});
    for (auto i : pl::unroll(5, 1, -2)) sum = sum * 0.5f + pl::load(x, {i, 0}, {1, 4});
    for (auto i : pl::pipeline(n, {.stage = 3})) sum = sum * 0.5f + pl::load(x, {i, 0}, {1, 4});
    for (auto i : pl::pipeline(n)) sum = sum * 0.5f + pl::load(x, {i, 0}, {1, 4});
    for (auto i : pl::parallel(8)) y = pl::store(sum + static_cast<float>(i), {i, 0}, y);
    for (auto i : pl::parallel(0, 8, 3)) y = pl::store(sum - static_cast<float>(i), {i, 0}, y);
  });
  for (const int n : {1, 2, 8}) CHECK(agrees(kernel, {8, 4}, n));
}

TEST_CASE("unroll over the rank of a tensor, and with break and continue") {
  auto kernel = pl::jit.incore([](Any x, Out y, Int n) {
    float sum = 0;
    for (auto axis : pl::unroll(x.rank())) sum = sum * 10 + static_cast<float>(x.dim(axis));
    for (auto i : pl::unroll(6)) {
      if (i == 1) continue;
      if (i > n.value()) break;
      sum += static_cast<float>(i);
    }
    y = pl::store(pl::load(x) + sum, y);
  });
  for (const int n : {-1, 0, 3, 9}) {
    CHECK(agrees(kernel, {3, 4}, n));
    CHECK(agrees(kernel, {2, 3, 2}, n));
  }
}

TEST_CASE("while, do, nested loops, break and continue") {
  auto kernel = pl::jit.incore([](Any x, Out y, Int n) {
    auto t = pl::load(x);
    int k = n, rounds = 0;
    while (k > 0) {
      --k;
      if (k % 5 == 3) continue;
      if (k == 11) break;
      int inner = 0;
      while (true) {
        if (++inner > k) break;
        if (inner == 2) continue;
        t = t + 0.5f;
      }
      rounds += inner;
    }
    do {
      t = t * 1.5f;
      if (rounds > 40) break;
      rounds += 7;
    } while (rounds < 20);
    do rounds--;
    while (rounds > 3 && rounds != 9);
    while (int left = rounds - 1) {
      rounds = left;
      if (left < 0) break;
    }
    y = pl::store(t + static_cast<float>(rounds), y);
  });
  for (const int n : {0, 1, 4, 9, 20}) CHECK(agrees(kernel, {5}, n));
}

TEST_CASE("if and else with initialisers and declarations, if constexpr, and the conditional operator") {
  auto kernel = pl::jit.incore([](Any x, Out y, Int n) {
    auto t = pl::load(x);
    if (int twice = 2 * n; twice > 6)
      t = t + static_cast<float>(twice);
    else if (twice < 0)
      t = -t;
    else
      t = t - static_cast<float>(twice);
    if (int rest = n % 4) t = t * static_cast<float>(rest);
    if constexpr (sizeof(std::int32_t) == 4)
      t = t + 1.0f;
    else
      t = t + 2.0f;
    const float f = n > 3 ? n > 5 ? 1.25f : 2.5f : 0.75f;
    auto chosen = n > 1 ? t * f : t - f;
    t = n > 4 ? chosen : n > 2 ? t : -chosen;
    if (n == 7) {
    }
    if (n != 3)
      ;
    else
      t = t / 3.0f;
    y = pl::store(t, y);
  });
  for (const int n : {-2, 0, 1, 2, 3, 4, 5, 6, 8}) CHECK(agrees(kernel, {6}, n));
}

TEST_CASE("switch: fall through, default in the middle, break, nested, enum and negative labels") {
  auto kernel = pl::jit.incore([](Out y, Int n, Int m) {
    int value = 0;
    switch (n) {
      case 0: value = 1; break;
      case 1: value += 10;
      case 2: value += 100; [[fallthrough]];
      default: value += 1000;
      case -3: {
        value += 7;
        switch (m) {
          case 1: value *= 2; break;
          case 2: value *= 3;
          default: value -= 1;
        }
        break;
      }
      case 4:
      case 5: value = 5;
    }
    switch (const auto mode = static_cast<Mode>(m.value()); mode) {
      case Mode::Off: value += 20000; break;
      case Mode::Slow: value += 30000; break;
      case Mode::Fast: value += 40000;
    }
    for (int i = 0; i < 4; ++i) {
      switch (i) {
        case 1: continue;
        case 3: break;
        default: value += 3;
      }
      value += 50000;
    }
    STORE_NUMBER(value);
  });
  for (const int n : {-3, -1, 0, 1, 2, 3, 4, 5, 6})
    for (const int m : {0, 1, 2, 5, 6}) {
      CAPTURE(n);
      CAPTURE(m);
      CHECK(same(kernel, n, m));
    }
}

TEST_CASE("early return, from branches and loops, with and without a value") {
  auto kernel = pl::jit.incore([](Any x, Out y, Int n) {
    y = pl::store(pl::load(x), y);
    if (n == 0) return y;
    for (auto i : pl::range(10)) {
      if (i == n.value()) {
        y = pl::store(pl::load(x) * static_cast<float>(i), y);
        return y;
      }
      while (i > 4) {
        y = pl::store(pl::load(x) - 1.0f, y);
        return y;
      }
    }
    y = pl::store(pl::load(x) * 100.0f, y);
    return y;
  });
  for (const int n : {0, 1, 3, 7, 12}) CHECK(agrees(kernel, {4}, n));
  auto without = pl::jit.incore([](Out y, Int n) {
    STORE_NUMBER(1);
    if (n < 0) return;
    do {
      if (n > 3) return;
      STORE_NUMBER(2);
    } while (false);
    if (n == 3) return;
    STORE_NUMBER(3);
  });
  CHECK(result(without, -1) == 1);
  CHECK(result(without, 4) == 1);
  CHECK(result(without, 3) == 2);
  CHECK(result(without, 0) == 3);
}

TEST_CASE("scalars, tiles and views are carried through loops and branches") {
  auto kernel = pl::jit.incore([](Any x, Out y, Int n) {
    auto row = x[0];
    auto previous = pl::load(row);
    auto current = previous + 1.0f;
    float scale = 1;
    for (int i = 0; i < n; ++i) {
      row = x[i % 3];
      auto next = pl::load(row) * scale + previous;
      previous = current;
      current = next;
      if (i % 2 == 0) {
        scale = scale * 0.5f + 0.25f;
        row = x[2];
      }
      current += pl::load(row);
    }
    pl::Tile<float> late;
    if (n > 2)
      late = current;
    else
      late = previous;
    pl::store(late, {0}, y[1]);
    auto target = y[0];
    target = pl::store(current * scale, target);
  });
  for (const int n : {0, 1, 2, 5, 8}) CHECK(agrees(kernel, {3, 4}, n));
}

TEST_CASE("a swap in a loop, and a tile that is first given in a loop") {
  auto kernel = pl::jit.incore([](Any x, Out y, Int n) {
    auto a = pl::load(x), b = pl::load(x) * 2.0f;
    int p = 1, q = 2;
    pl::Tile<float> last = a;
    for (auto i : pl::range(n)) {
      auto t = a;
      a = b;
      b = t;
      std::swap(p, q);
      last = a * static_cast<float>(p) + static_cast<float>(i);
    }
    y = pl::store(last - b, y);
  });
  for (const int n : {0, 1, 2, 3}) CHECK(agrees(kernel, {4}, n));
}

TEST_CASE("operators with effects: short circuit, comma, chained and compound assignment, increments") {
  auto kernel = pl::jit.incore([](Out y, Int n) {
    int calls = 0, a = 0, b = 0, c = 0;
    const auto touch = [&](int k) {
      calls = calls * 10 + k;
      return k > 1;
    };
    if (touch(1) && touch(2)) a += 1;
    if (touch(3) || touch(4)) a += 2;
    if ((touch(n) && touch(5)) || touch(6)) a += 4;
    a = b = c = n + 1;
    a += b -= c *= 2;
    b = (c++, --a, c + a);
    c = a++ - b-- * 2;
    c += ++a;
    a <<= 2;
    a |= 1;
    b ^= 5;
    c = -c % 7;
    a /= 3;
    bool flag = n > 2;
    flag &= n < 9;
    STORE_NUMBER(calls % 10007 + a * 3 + b * 5 + c * 7 + (flag ? 1 : 0));
  });
  for (const int n : {0, 1, 2, 3, 8, 12}) CHECK(same(kernel, n));
}

TEST_CASE(
    "casts of every spelling, sizeof, constexpr values and functions, static_assert, enum values, "
    "references") {
  auto kernel = pl::jit.incore([](Out y, Int n, pl::Scalar<float> f) {
    constexpr int size = 3;
    constexpr auto square = [](int v) { return v * v; };
    static_assert(square(size) == 9, "known when the program is built");
    static constexpr int table[] = {2, 3, 5, 7};
    int i = static_cast<int>(f) + int(f * 2) + (int)f + int{n};
    std::int64_t wide = n;
    wide = wide * 1000000007;
    double d = 0.5 * static_cast<double>(f);
    float g = static_cast<float>(d) + static_cast<float>(n);
    auto& alias = i;
    const auto& fixed = i;
    auto copy = i;
    alias += 4;
    copy += fixed;
    const Mode mode = n > 2 ? Mode::Fast : Mode::Slow;
    i += static_cast<int>(mode) + (mode == Mode::Fast) + static_cast<int>(sizeof(float)) +
         static_cast<int>(wide % 1000);
    i += table[n & 3] + table[1] + square(n);
    bool flag = i;
    STORE_NUMBER(static_cast<float>(i + copy) + g + (flag ? 0.5f : 0.25f) + (!n ? 1 : 0) + true);
  });
  for (const int n : {0, 1, 3, 8})
    for (const float f : {-2.75f, 0.0f, 3.5f}) CHECK(same(kernel, n, f));
}

TEST_CASE("a loop's bound that is changed through a lambda, a reference or a member is read in every round") {
  auto kernel = pl::jit.incore([](Out y, Int n) {
    int bound = n, other = n, sum = 0;
    auto shrink = [&] { --bound; };
    for (int i = 0; i < bound; ++i) {
      shrink();
      sum += 1;
    }
    auto& alias = other;
    const int& watched = other;
    for (int i = 0; i < other; ++i) {
      alias -= 1;
      sum += 100;
    }
    other = n;
    for (int i = 0; i < watched; ++i) {
      other -= 2;
      sum += 10000;
    }
    STORE_NUMBER(sum);
  });
  CHECK(result(kernel, 0) == 0);
  CHECK(result(kernel, 4) == 20202);
  CHECK(result(kernel, 7) == 30404);
}
