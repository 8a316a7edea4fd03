// Structs, pairs, tuples and arrays inside a kernel: compiled and native runs give the same bits.
#include "captured/agree.hpp"

#include <array>
#include <tuple>
#include <utility>

using captured_test::agrees;
using captured_test::Any;
using captured_test::Out;
using captured_test::result;
using captured_test::same;
using support::contains;
using support::message_of;

namespace {

using Int = pl::Scalar<std::int32_t>;

struct Point {
  int x = 3;
  float y = 0.5f;
};
struct Stats {
  pl::Tile<float> sum, largest;
  Point where;
  int count = 0;
};

struct Counter {
  explicit Counter(int start) : value(start), step(2) { value += 1; }
  Counter(int start, int by) : Counter(start) { step = by; }
  int next() {
    if (value > 100) return -1;
    value += step;
    return value;
  }
  [[nodiscard]] int peek(int factor = 2) const { return value * factor + twice(step); }
  static int twice(int v) { return 2 * v; }
  Counter operator+(const Counter& other) const { return Counter(value + other.value, step); }
  Counter& operator+=(int by) {
    value += by;
    return *this;
  }
  int value;
  int step;
};

inline Point moved(Point p, int by) {
  p.x += by;
  if (by > 5) return {p.x, 9.5f};
  p.y *= 2;
  return p;
}
inline std::pair<pl::Tile<float>, int> halved(const pl::Tile<float>& t, int n) { return {t * 0.5f, n / 2}; }
inline void grow(Stats& stats, int by) { stats.count += by; }

}  // namespace

TEST_CASE("structs as locals: members, copies, assignment, nesting, default members, references") {
  auto kernel = pl::jit.incore([](Any x, Out y, Int n) {
    Point p;
    Point q{n, 2.5f}, r{.x = 4};
    const Point fixed = {7, 1.0f};
    q.x += p.x++ + fixed.x;
    auto copy = q;
    copy.y = -copy.y;
    p = n > 2 ? q : copy;
    r = p = moved(copy, n);
    auto& alias = q;
    alias.x *= 2;
    Stats stats{pl::load(x), pl::load(x) * 2.0f, r};
    for (auto i : pl::range(n)) {
      stats.sum += stats.largest;
      stats.largest = pl::maximum(stats.largest, stats.sum - static_cast<float>(i));
      stats.where.y += 1.0f;
      grow(stats, 3);
    }
    const auto total = stats.sum + stats.largest;
    y = pl::store(total * stats.where.y + static_cast<float>(stats.count + q.x + r.x + stats.where.x + p.x),
                  y);
  });
  for (const int n : {0, 1, 3, 6}) CHECK(agrees(kernel, {5}, n));
}

TEST_CASE("constructors, member functions and operators of a struct") {
  auto kernel = pl::jit.incore([](Out y, Int n) {
    Counter a(n), b(n, 5);
    Counter c = a + b;
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += a.next() * 3 + b.peek();
    (c += 4) += n;
    const Counter d = c;
    STORE_NUMBER(sum % 10007 + c.next() + d.peek(3) + Counter(2).peek() + Counter::twice(n) + (a + d).value);
  });
  for (const int n : {0, 1, 4, 30}) CHECK(same(kernel, n));
}

TEST_CASE("structured bindings of pairs, tuples, arrays and structs, by value and by reference") {
  auto kernel = pl::jit.incore([](Any x, Out y, Int n) {
    auto [half, count] = halved(pl::load(x), n);
    auto [px, py] = Point{n + 1, 1.5f};
    std::pair<int, float> pair{n, 2.5f};
    auto& [first, second] = pair;
    first += 2;
    second = second * static_cast<float>(first);
    int values[3] = {1, n, 3};
    auto [a, b, c] = values;
    auto& [d, e, f] = values;
    e += 10;
    a += d + f;
    std::tuple<int, pl::Tile<float>, bool> triple(n, half, n > 1);
    const auto& [i, tile, flag] = triple;
    auto made = std::make_tuple(pair.first, tile + 1.0f);
    int k = 0;
    pl::Tile<float> t;
    std::tie(k, t) = made;
    std::tie(a, b) = std::make_pair(b, a);
    if (auto [low, high] = std::pair{n, n + 3}; low < 2) k += high;
    std::get<0>(triple) += 5;
    py += static_cast<float>(count + px + a * 3 + b * 5 + c * 7 + i + k + values[1] + (flag ? 1 : 0));
    y = pl::store(
        t * py + std::get<pl::Tile<float>>(made) * pair.second + static_cast<float>(std::get<0>(triple)), y);
  });
  for (const int n : {0, 1, 2, 7}) CHECK(agrees(kernel, {4}, n));
}

TEST_CASE(
    "arrays of scalars: C arrays and std::array, constant and run-time positions, nested, copied, filled") {
  auto kernel = pl::jit.incore([](Out y, Int n) {
    int a[4] = {5, 6};
    float f[3];
    for (int i = 0; i < 3; ++i) f[i] = static_cast<float>(i) * 1.5f;
    std::array<int, 5> b{1, 2, 3, 4, 5};
    auto c = b;
    int grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
    Point points[2] = {{1, 0.5f}, {n, 2.0f}};
    for (int i = 0; i < n; ++i) {
      a[i % 4] += i;
      b[(i + 1) % 5] = a[i & 3] * 2;
      grid[i % 2][i % 3] += b[4 - i % 5];
      points[i % 2].x += grid[1][i % 3];
      ++f[i % 3];
      std::swap(c[1], c[0]);
    }
    int sum = 0;
    for (int v : a) {
      if (v == 7) continue;
      if (v > 90) break;
      sum += v;
    }
    for (auto& v : c) v = v * 2 + sum;
    for (const auto& [px, py] : points) sum += px * static_cast<int>(py);
    for (int v : {1, 2, n.value()}) sum += v;
    c.fill(n);
    b.back() += b.front() + b.at(2);
    int position = 0;
    a[position++] = 3;
    a[position++] += 4;
    STORE_NUMBER(sum * 3 + c[3] + b[n % 5] + a[position] * 2 + grid[n % 2][2] + static_cast<int>(f[2]));
  });
  for (const int n : {0, 1, 2, 5, 11}) CHECK(same(kernel, n));
}

TEST_CASE("arrays of tiles in unrolled loops, and with a run-time position") {
  auto kernel = pl::jit.incore([](Any x, Out y, Int n) {
    std::array<pl::Tile<float>, 3> parts;
    for (auto i : pl::unroll(3)) parts[i] = pl::load(x, {i, 0}, {1, 4});
    pl::Tile<float> sums[2] = {parts[0], parts[1] * 2.0f};
    for (auto i : pl::range(n)) sums[i % 2] += parts[i % 3];
    y = pl::store(sums[0] + sums[n % 2], {0, 0}, y);
  });
  for (const int n : {0, 1, 2, 7}) CHECK(agrees(kernel, {3, 4}, n));
}

struct Start {
  int at = 4;
  pl::Tile<float> tile;
};

struct Twice {
  explicit Twice(const pl::Tile<float>& x) { tile = x + x; }
  pl::Tile<float> tile;
};

TEST_CASE("arrays whose elements have constructors begin with what those give") {
  auto kernel = pl::jit.incore([](Any x, Out y, Int n) {
    pl::Tile<float> parts[3];
    for (auto i : pl::unroll(3)) parts[i] = pl::load(x, {i, 0}, {1, 4});
    std::pair<int, float> pairs[2];
    pairs[1].first += n;
    Start starts[2][2];
    starts[1][0].tile = Twice(parts[2]).tile;
    starts[0][1].at += n;
    const int sum = starts[0][1].at + starts[1][0].at + pairs[0].first + pairs[1].first;
    y = pl::store(parts[0] + parts[1] + starts[1][0].tile * static_cast<float>(sum), {0, 0}, y);
  });
  for (const int n : {0, 1, 5}) CHECK(agrees(kernel, {3, 4}, n));
}

TEST_CASE("integer scalars stand beside loop variables, extents and elements of tensors") {
  auto kernel =
      pl::jit.incore([](Any x, Out y, Int n, pl::Scalar<std::uint8_t> small, pl::Scalar<double> wide) {
        const auto rest = pl::minimum(x.dim(0) - n, n + 1);
        pl::Scalar<int> sum = 1;
        for (auto i : pl::range(rest)) {
          if (i < n) sum += i * 3;
          if (n >= i) sum += x.dim(1) - small;
          sum -= i << small;
        }
        std::int16_t step = 2;
        bool odd = sum % 2 == 1;
        const float factor = 0.5f;
        auto scaled = pl::where(odd, wide * factor, wide);
        const auto both = n * step + odd;
        auto row = pl::load(x, {n - rest + pl::maximum(rest, x.dim(0) - x.dim(0)), 0}, {1, 4});
        y = pl::store(row * pl::cast<float>(sum + both) + pl::cast<float>(scaled), {0, 0}, y);
      });
  for (const int n : {0, 1, 2}) CHECK(agrees(kernel, {3, 4}, n, std::uint8_t{2}, 1.75));
}

TEST_CASE("constexpr arrays, structs and pairs hold their values") {
  static constexpr std::array<std::pair<int, float>, 3> weights{{{1, 0.5f}, {2, 0.25f}, {3, 0.125f}}};
  auto kernel = pl::jit.incore([](Out y, Int n) {
    constexpr Point origin{2, 3.5f};
    constexpr int table[2][2] = {{1, 2}, {3, 4}};
    float sum = origin.y;
    for (int i = 0; i < 3; ++i) sum += static_cast<float>(weights[i].first) * weights[i].second;
    for (const auto& [a, b] : weights) sum += b * static_cast<float>(a);
    STORE_NUMBER(sum + static_cast<float>(table[n & 1][1] + origin.x));
  });
  for (const int n : {0, 1, 2}) CHECK(same(kernel, n));
}

TEST_CASE("a position outside an array is a fault at the kernel's line") {
  auto kernel = pl::jit.incore([](Out y, Int n) {
    int values[4] = {1, 2, 3, 4};
    STORE_NUMBER(values[n]);  // the line of the fault
  });
  auto written = pl::jit.incore([](Out y, Int n) {
    std::array<int, 4> values{1, 2, 3, 4};
    values[n] = 7;
    STORE_NUMBER(values[0]);
  });
  const support::Jit jit;
  pl::Array<float> y({1}, -1.0f);
  kernel(y, 3);
  CHECK(y(0) == 4.0f);
  for (const int n : {4, -1, 1000000}) {
    const std::string text =
        "index " + std::to_string(n) + " of an array of 4 elements; positions count from 0";
    std::string message = message_of<pl::ShapeError>([&] { kernel(y, n); });
    CHECK(contains(message, text));
    CHECK(contains(message, "values_test.cpp:"));
    CHECK(contains(message_of<pl::ShapeError>([&] { written(y, n); }), text));
  }
  CHECK(y(0) == 4.0f);  // nothing was written
}
