// Loads and stores against a page that must not be touched: a fault here is the failure.
#include "sweep.hpp"

#include <numeric>

#include <sys/mman.h>
#include <unistd.h>

namespace {

using namespace sweep;

/// One readable page between two that fault.
class GuardedPage {
 public:
  GuardedPage() : size_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    base_ = static_cast<char*>(mmap(nullptr, 3 * size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(base_ != MAP_FAILED);
    REQUIRE(mprotect(base_ + size_, size_, PROT_READ | PROT_WRITE) == 0);
  }
  GuardedPage(const GuardedPage&) = delete;
  GuardedPage& operator=(const GuardedPage&) = delete;
  ~GuardedPage() { munmap(base_, 3 * size_); }
  /// The last `count` elements of the page.
  template <class T>
  T* last(std::size_t count) const {
    return reinterpret_cast<T*>(base_ + 2 * size_) - count;
  }
  template <class T>
  T* first() const {
    return reinterpret_cast<T*>(base_ + size_);
  }

 private:
  std::size_t size_;
  char* base_;
};

template <class T, int N>
void check_partial() {
  const GuardedPage page;
  for (int n = 0; n <= N; ++n) {
    // n elements at the very end of the page, then none after a page's start.
    T* const end = page.last<T>(n);
    for (int i = 0; i < n; ++i) end[i] = static_cast<T>(i + 1);
    auto loaded = device::load_partial<T, N>(end, n, static_cast<T>(7));
    for (int i = 0; i < N; ++i) REQUIRE(device::element(loaded, i) == static_cast<T>(i < n ? i + 1 : 7));
    device::store_partial(end, device::iota<T, N>(T(100)), n);
    for (int i = 0; i < n; ++i) REQUIRE(end[i] == static_cast<T>(100 + i));

    // Elements after the n keep their value.
    T* const start = page.first<T>();
    for (int i = 0; i < N; ++i) start[i] = static_cast<T>(50);
    device::store_partial(start, device::iota<T, N>(T(1)), n);
    for (int i = 0; i < N; ++i) REQUIRE(start[i] == static_cast<T>(i < n ? i + 1 : 50));

    for (const std::int64_t stride : {0, 1, 2, 3, -1, -2}) {
      T* const origin = stride < 0 ? page.last<T>(1) : page.last<T>(n == 0 ? 0 : (n - 1) * stride + 1);
      for (int i = 0; i < n; ++i) origin[i * stride] = static_cast<T>(i + 3);
      loaded = device::load_strided<T, N>(origin, stride, n, static_cast<T>(9));
      for (int i = 0; i < N; ++i)
        REQUIRE(device::element(loaded, i) == (i < n ? origin[i * stride] : static_cast<T>(9)));
      device::store_strided(origin, stride, device::iota<T, N>(T(20)), n);
      for (int i = 0; i < n; ++i)
        REQUIRE(origin[i * stride] == static_cast<T>(20 + (stride == 0 ? n - 1 : i)));
    }
  }
  // Unaligned, whole; n outside [0, N].
  T* const end = page.last<T>(N);
  device::store(end, device::iota<T, N>(T(5)));
  const auto whole = device::load_partial<T, N>(end, N + 3);
  for (int i = 0; i < N; ++i) REQUIRE(device::element(whole, i) == static_cast<T>(5 + i));
  const auto none = device::load_partial<T, N>(end + N, -2);
  for (int i = 0; i < N; ++i) REQUIRE(device::element(none, i) == T(0));
  device::store_partial(end + N, whole, -1);
  T* const aligned = page.first<T>();
  device::store_streaming(aligned, whole);
  device::streaming_fence();
  for (int i = 0; i < N; ++i) REQUIRE(aligned[i] == static_cast<T>(5 + i));
}

TEST_CASE("partial and strided loads and stores touch nothing beside their elements") {
  check_partial<float, device::lanes<float>>();
  check_partial<double, device::lanes<double>>();
  check_partial<double, device::lanes<float>>();
  check_partial<std::int32_t, device::lanes<std::int32_t>>();
  check_partial<std::int64_t, device::lanes<std::int64_t>>();
  check_partial<std::int64_t, device::lanes<std::int32_t>>();
}

template <int N>
void check_mask() {
  const GuardedPage page;
  std::mt19937 random(N);
  for (int n = 0; n <= N; ++n)
    for (int round = 0; round < 20; ++round) {
      bool* const end = page.last<bool>(n);
      for (int i = 0; i < n; ++i) end[i] = random() % 2;
      const auto loaded = device::load_mask_partial<N>(end, n);
      for (int i = 0; i < N; ++i) REQUIRE(device::element(loaded, i) == (i < n && end[i]));
      const std::vector<bool> before(end, end + n);
      device::store_mask_partial(end, device::logical_not(loaded), n);
      for (int i = 0; i < n; ++i) REQUIRE(end[i] == !before[i]);
      REQUIRE((static_cast<std::uint64_t>(device::logical_not(loaded).bits) & ~device::Mask<N>::all) == 0);
      device::store_mask_strided(end, 1, loaded, n);
      for (int i = 0; i < n; ++i) REQUIRE(end[i] == before[i]);
      REQUIRE(device::load_mask_strided<N>(end, 1, n).bits == loaded.bits);
    }
  bool* const end = page.last<bool>(N);
  device::store_mask(end, device::splat_mask<N>(true));
  REQUIRE(std::accumulate(end, end + N, 0) == N);
  REQUIRE(device::all(device::load_mask<N>(end)));
  unsigned char byte = 0;
  std::memcpy(&byte, end, 1);
  REQUIRE(byte == 1);
}

TEST_CASE("masks load and store as bytes and touch nothing beside them") {
  check_mask<device::lanes<float>>();
  check_mask<device::lanes<double>>();
  check_mask<2 * device::lanes<float>>();
}

template <class T, int N>
void check_where() {
  const auto a = device::iota<T, N>(T(0)), b = device::splat<T, N>(T(-3));
  for (int k = 0; k <= N; ++k) {
    const auto less = device::lt(a, device::splat<T, N>(static_cast<T>(k)));
    const auto chosen = device::where(less, a, b);
    for (int i = 0; i < N; ++i) {
      REQUIRE(device::element(less, i) == (i < k));
      REQUIRE(device::element(chosen, i) == (i < k ? static_cast<T>(i) : T(-3)));
    }
    REQUIRE(device::all(less) == (k == N));
    REQUIRE(device::any(less) == (k > 0));
  }
}
TEST_CASE("where chooses element by element, in batches and wides") {
  check_where<float, device::lanes<float>>();
  check_where<double, device::lanes<double>>();
  check_where<double, device::lanes<float>>();
  check_where<std::int64_t, device::lanes<std::int32_t>>();
}

template <class T>
void check_reduce() {
  constexpr int n = device::lanes<T>;
  const auto counted = device::iota<T, n>(T(1));
  CHECK(device::reduce_add(counted) == T(n * (n + 1) / 2));
  CHECK(device::reduce_max(counted) == T(n));
  CHECK(device::reduce_min(counted) == T(1));
  CHECK(device::reduce_mul(device::splat<T, n>(T(2))) == static_cast<T>(std::int64_t{1} << n));
  const auto wide = device::iota<T, 2 * n>(T(1));
  CHECK(device::reduce_add(wide) == T(n * (2 * n + 1)));
  CHECK(device::reduce_max(wide) == T(2 * n));
  CHECK(device::reduce_min(device::neg(wide)) == T(-2 * n));
  if constexpr (std::is_floating_point_v<T>) {
    for (int i = 0; i < n; ++i) {
      T elements[n];
      std::iota(elements, elements + n, T(1));
      elements[i] = std::numeric_limits<T>::quiet_NaN();
      CHECK(std::isnan(device::reduce_max(device::load<T, n>(elements))));
      CHECK(std::isnan(device::reduce_min(device::load<T, n>(elements))));
      std::fill(elements, elements + n, T(-0.0));
      elements[i] = T(0);
      CHECK(!std::signbit(device::reduce_max(device::load<T, n>(elements))));
      CHECK(std::signbit(device::reduce_min(device::load<T, n>(elements))));
    }
    // The documented order: halves folded onto one another.
    T elements[n];
    std::mt19937 random(5);
    for (T& element : elements) element = static_cast<T>(random()) * T(1e-3);
    const T got = device::reduce_add(device::load<T, n>(elements));
    for (int half = n / 2; half > 0; half /= 2)
      for (int i = 0; i < half; ++i) elements[i] += elements[i + half];
    CHECK(got == elements[0]);
  }
}
TEST_CASE("reductions have one order and keep NaN and signed zeros") {
  check_reduce<float>();
  check_reduce<double>();
  check_reduce<std::int32_t>();
  check_reduce<std::int64_t>();
}

}  // namespace
