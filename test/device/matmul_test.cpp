// Matrix products of the device header against a plain triple loop in double, between guard pages.
#include "codegen/xsimd/device/trilith/matmul.hpp"
#include "sweep.hpp"

#include <array>

#include <sys/mman.h>
#include <unistd.h>

namespace {

namespace device = trilith::device;
using device::dynamic;

/// `count` elements that end at a page that faults.
template <class T>
class Guarded {
 public:
  explicit Guarded(std::int64_t count) : count_(count) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
    size_ = (bytes + page - 1) / page * page + 2 * page;
    base_ = static_cast<char*>(mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(base_ != MAP_FAILED);
    REQUIRE(mprotect(base_ + page, size_ - 2 * page, PROT_READ | PROT_WRITE) == 0);
    data_ = reinterpret_cast<T*>(base_ + size_ - page) - count;
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { munmap(base_, size_); }
  [[nodiscard]] T* data() const { return data_; }
  T& operator[](std::int64_t i) const { return data_[i]; }
  [[nodiscard]] std::int64_t size() const { return count_; }

 private:
  std::int64_t count_;
  std::size_t size_ = 0;
  char* base_ = nullptr;
  T* data_ = nullptr;
};

enum class From { Zero, Matrix, Bias, InPlace };

template <class T>
void fill(const Guarded<T>& values, unsigned seed) {
  std::mt19937 random(seed);
  for (std::int64_t i = 0; i < values.size(); ++i) {
    if constexpr (std::is_integral_v<T>)
      values[i] = static_cast<T>(random());
    else
      values[i] = static_cast<T>(static_cast<double>(random()) / 2147483648.0 - 1.0);
  }
}

/// Strides of a matrix: as it is, transposed, with gaps in both axes (never contiguous).
enum class Layout { Rows, Columns, Gaps };

template <class T, std::int64_t M, std::int64_t N, std::int64_t K, Layout LeftLayout, Layout RightLayout>
void check(std::int64_t m, std::int64_t n, std::int64_t k, From from) {
  using A = device::product::Accumulator<T>;
  CAPTURE(m);
  CAPTURE(n);
  CAPTURE(k);
  CAPTURE(static_cast<int>(from));
  const auto strides = [](Layout layout, std::int64_t rows, std::int64_t columns) {
    if (layout == Layout::Rows) return std::pair<std::int64_t, std::int64_t>{columns, 1};
    if (layout == Layout::Columns) return std::pair<std::int64_t, std::int64_t>{1, rows};
    return std::pair<std::int64_t, std::int64_t>{2 * columns + 1, 2};
  };
  const auto [a_row, a_column] = strides(LeftLayout, m, k);
  const auto [b_row, b_column] = strides(RightLayout, k, n);
  const auto needed = [](std::int64_t rows, std::int64_t columns, std::int64_t row, std::int64_t column) {
    return rows == 0 || columns == 0 ? 0 : (rows - 1) * row + (columns - 1) * column + 1;
  };
  const Guarded<T> a(needed(m, k, a_row, a_column)), b(needed(k, n, b_row, b_column));
  const Guarded<A> c(m * n), begin(from == From::Bias ? n : m * n);
  fill(a, 1);
  fill(b, 2);
  fill(begin, 3);
  for (std::int64_t i = 0; i < c.size(); ++i) c[i] = from == From::InPlace ? begin[i] : A(77);
  const A* const start = from == From::Zero ? nullptr : from == From::InPlace ? c.data() : begin.data();
  const std::int64_t start_row = from == From::Bias ? 0 : n;
  std::vector<double> exact(static_cast<std::size_t>(m * n)), bound(exact.size());
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = start == nullptr ? 0 : start[i * start_row + j], size = std::fabs(sum);
      std::uint32_t wrapped = static_cast<std::uint32_t>(static_cast<std::int64_t>(sum));
      for (std::int64_t at = 0; at < k; ++at) {
        const T x = a[i * a_row + at * a_column], y = b[at * b_row + j * b_column];
        sum += static_cast<double>(x) * static_cast<double>(y);
        size += std::fabs(static_cast<double>(x) * static_cast<double>(y));
        if constexpr (std::is_integral_v<T>)
          wrapped += static_cast<std::uint32_t>(x) * static_cast<std::uint32_t>(y);
      }
      if constexpr (std::is_integral_v<T>) sum = static_cast<std::int32_t>(wrapped);
      exact[static_cast<std::size_t>(i * n + j)] = sum;
      bound[static_cast<std::size_t>(i * n + j)] = std::is_integral_v<T> ? 0 : size;
    }
  constexpr auto unit_row = [](Layout layout) { return layout == Layout::Columns ? 1 : dynamic; };
  constexpr auto unit_column = [](Layout layout) { return layout == Layout::Rows ? 1 : dynamic; };
  const auto left = device::matrix<unit_row(LeftLayout), unit_column(LeftLayout)>(a.data(), a_row, a_column);
  const auto right =
      device::matrix<unit_row(RightLayout), unit_column(RightLayout)>(b.data(), b_row, b_column);
  const auto product = device::matrix_product<M, N, K>(left, right, m, n, k);
  const Guarded<A> workspace(product.workspace());
  product.run(c.data(), n, start, start_row, workspace.data());
  double worst = 0;
  const double unit = std::numeric_limits<A>::epsilon() / 2 * static_cast<double>(k + 2);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double got = static_cast<double>(c[static_cast<std::int64_t>(i)]);
    const double error = std::fabs(got - exact[i]);
    if (!(error <= unit * bound[i])) worst = std::max(worst, error);
    if (std::isnan(got)) worst = 1e300;
  }
  CHECK(worst == 0);
}

constexpr From starts[] = {From::Zero, From::Matrix, From::Bias, From::InPlace};

/// Extents that only the run knows: one instance for each pair of layouts.
template <class T>
void check_run_time(std::int64_t m, std::int64_t n, std::int64_t k) {
  using enum Layout;
  for (const From from : starts) {
    check<T, dynamic, dynamic, dynamic, Rows, Rows>(m, n, k, from);
    check<T, dynamic, dynamic, dynamic, Rows, Columns>(m, n, k, from);
    check<T, dynamic, dynamic, dynamic, Columns, Rows>(m, n, k, from);
    check<T, dynamic, dynamic, dynamic, Gaps, Gaps>(m, n, k, from);
  }
}
/// Constant extents, from which the way is chosen.
template <class T, std::int64_t M, std::int64_t N, std::int64_t K, Layout L = Layout::Rows,
          Layout R = Layout::Rows>
void check_constant() {
  for (const From from : starts) check<T, M, N, K, L, R>(M, N, K, from);
}

template <class T>
void check_shapes() {
  using enum Layout;
  constexpr int n = device::lanes<device::product::Accumulator<T>>;
  for (const auto& [rows, columns, depth] : {std::array{1, 1, 1},
                                             {3, 5, 0},
                                             {0, 5, 7},
                                             {5, 0, 7},
                                             {1, n - 1, n + 1},
                                             {n, n, n},
                                             {n + 1, 2 * n + 1, n - 1},
                                             {37, 41, 43},
                                             {2, 131, 17},
                                             {67, 3, 19},
                                             {61, 1, 37},
                                             {1, 61, 2},
                                             {151, 131, 401}})
    check_run_time<T>(rows, columns, depth);
  check_constant<T, 3, 5, 0>();
  check_constant<T, 5, 0, 7>();
  check_constant<T, 37, 41, 43>();                      // direct
  check_constant<T, n + 1, 2 * n, n, Columns>();        // direct, whole vectors
  check_constant<T, 3, 19, 37, Rows, Columns>();        // lines of the left operand
  check_constant<T, 61, 1, 37, Rows, Columns>();        // lines of the right operand
  check_constant<T, 1, 1, 131, Rows, Columns>();        // a dot product
  check_constant<T, 61, 1, 37, Columns>();              // a streamed column
  check_constant<T, 1, 9001, 11>();                     // a streamed row
  check_constant<T, 67, 131, 301, Columns, Columns>();  // packed
}

TEST_CASE("products of float matrices of every layout, start and odd size") { check_shapes<float>(); }
TEST_CASE("products of double matrices of every layout, start and odd size") { check_shapes<double>(); }
TEST_CASE("products of int8 matrices are exact, also of extremes") { check_shapes<std::int8_t>(); }

TEST_CASE("int8 sums wrap in int32") {
  constexpr std::int64_t k = 140000;  // 140000 * 128 * 128 is above 2^31
  std::vector<std::int8_t> a(k, -128), b(k, -128);
  std::int32_t c = 0;
  const auto product =
      device::matrix_product<1, 1, k>(device::matrix<k, 1>(a.data()), device::matrix<1, 1>(b.data()));
  product.run(&c, 1, nullptr, 0, nullptr);
  CHECK(c == static_cast<std::int32_t>(static_cast<std::uint32_t>(k * 16384)));
}

TEST_CASE("every way but dot products sums along K in order: the same bits whatever the shape around it") {
  constexpr std::int64_t k = 1000;
  std::vector<float> a(40 * k), b(k * 200), c(40 * 200), row(200), expected(40 * 200);
  std::mt19937 random(9);
  for (auto* values : {&a, &b})
    for (float& value : *values) value = static_cast<float>(random()) / 4294967296.0f - 0.5f;
  const auto left = device::matrix<k, 1>(a.data());
  const auto right = device::matrix<200, 1>(b.data());
  const auto all = device::matrix_product<40, 200, k>(left, right);
  std::vector<float> workspace(static_cast<std::size_t>(all.workspace()));
  all.run(c.data(), 200, nullptr, 0, workspace.data());
  for (std::int64_t i = 0; i < 40; ++i)
    for (std::int64_t j = 0; j < 200; ++j) {
      float sum = 0;
      for (std::int64_t at = 0; at < k; ++at) {
        const float x = a[static_cast<std::size_t>(i * k + at)],
                    y = b[static_cast<std::size_t>(at * 200 + j)];
        sum = device::native::has_fma ? std::fma(x, y, sum) : x * y + sum;
      }
      expected[static_cast<std::size_t>(i * 200 + j)] = sum;
    }
  CHECK(c == expected);
  const auto first = device::matrix_product<1, 200, k>(left, right);
  first.run(row.data(), 200, nullptr, 0, nullptr);
  CHECK(std::equal(row.begin(), row.end(), expected.begin()));
}

template <class T>
void check_special(std::int64_t m, std::int64_t n, std::int64_t k) {
  const T nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
  for (const bool columns : {false, true}) {
    std::vector<T> a(static_cast<std::size_t>(m * k), T(1)), b(static_cast<std::size_t>(k * n), T(1));
    std::vector<T> c(static_cast<std::size_t>(m * n));
    const std::int64_t row = m / 2, other = m - 1;
    a[static_cast<std::size_t>(row * k + k - 1)] = nan;
    if (other != row) a[static_cast<std::size_t>(other * k)] = infinity;
    const auto left = device::matrix<dynamic, 1>(a.data(), k);
    const auto run = [&](const auto& right) {
      const auto product = device::matrix_product<dynamic, dynamic, dynamic>(left, right, m, n, k);
      std::vector<T> workspace(static_cast<std::size_t>(product.workspace()));
      product.run(c.data(), n, nullptr, 0, workspace.data());
    };
    if (columns)
      run(device::matrix<1, dynamic>(b.data(), 1, k));
    else
      run(device::matrix<dynamic, 1>(b.data(), n));
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const T got = c[static_cast<std::size_t>(i * n + j)];
        if (i == row)
          REQUIRE(std::isnan(got));
        else
          REQUIRE(got == (i == other ? infinity : static_cast<T>(k)));
      }
  }
}
TEST_CASE("NaN and infinity stay in the rows they belong to") {
  check_special<float>(3, 5, 7);
  check_special<float>(37, 41, 43);
  check_special<double>(17, 9, 33);
}

}  // namespace
