// Takes numbers of every rank through a window and a collective that the host calls.
#pragma once

#include "windows.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace windows {

inline constexpr auto NR = pl::dynamic("NR");
inline constexpr auto N = pl::dynamic("N");

template <class T>
using Rows = pl::Tensor<T, NR, N>;
template <class T>
using Row = pl::Tensor<T, N>;

template <class T>
auto make_fill() {
  return pl::jit.incore([](Row<T> x, pld::DistributedTensor<T, N> w) { w = pl::store(pl::load(x), {0}, w); });
}
template <class T>
inline const auto fill = make_fill<T>();
template <class T>
auto make_read_back() {
  return pl::jit.incore(
      [](pl::Out<Row<T>> y, pld::DistributedTensor<T, N> w) { y = pl::store(pl::load(w), y); });
}
template <class T>
inline const auto read_back = make_read_back<T>();
template <class T>
inline auto fill_device = pl::jit([](auto x, auto w) { fill<T>(x, w); });
template <class T>
inline auto read_device = pl::jit([](auto y, auto w) { read_back<T>(y, w); });

template <class T>
T value_at(int rank, std::int64_t i) {
  return static_cast<T>(static_cast<float>((rank * 7 + static_cast<int>(i % 13) * 3) % 5 + 1));
}

template <class T>
T reduced(pld::ReduceOp op, int ranks, std::int64_t i) {
  T result = value_at<T>(0, i);
  for (int r = 1; r < ranks; ++r) {
    const T value = value_at<T>(r, i);
    result = op == pld::ReduceOp::Sum    ? static_cast<T>(result + value)
             : op == pld::ReduceOp::Prod ? static_cast<T>(result * value)
             : op == pld::ReduceOp::Max  ? std::max(result, value)
                                         : std::min(result, value);
  }
  return result;
}

/// value(rank, i) for each of the elements of each rank.
template <class T, class Value>
pl::Array<T> elements(int ranks, std::int64_t size, const Value& value) {
  pl::Array<T> x({ranks, size});
  for (int r = 0; r < ranks; ++r)
    for (std::int64_t i = 0; i < size; ++i) x(r, i) = static_cast<T>(value(r, i));
  return x;
}

/// Every rank's row of x goes into a window, `collective` is called on the host, the window comes back.
template <class T, class Collective>
pl::Array<T> through_window(const pl::Array<T>& x, const Collective& collective) {
  const std::int64_t ranks = x.dim(0), size = x.dim(1);
  pl::Array<T> y({ranks, size});
  auto host = pl::jit.host([&](Rows<T> in, pl::Out<Rows<T>> out) {
    const pld::Window buffer = pld::alloc_window_buffer<T>({size});
    auto w = pld::window<T>(buffer, {size});
    for (auto r : pl::range(pld::world_size())) fill_device<T>(in[r], w, pld::device = r);
    if constexpr (std::is_invocable_v<const Collective&, decltype(w)&>)
      collective(w);
    else
      collective(w, buffer);
    for (auto r : pl::range(pld::world_size())) read_device<T>(out[r], w, pld::device = r);
  });
  host(x, y, config(static_cast<int>(ranks)));
  return y;
}
template <class T, class Collective>
pl::Array<T> through_window(int ranks, std::int64_t size, const Collective& collective) {
  return through_window(elements<T>(ranks, size, value_at<T>), collective);
}

/// As through_window, for a window of one row a rank.
template <class Collective>
pl::Array<float> through_rows(int ranks, std::int64_t row, const Collective& collective) {
  return through_window<float>(ranks, ranks * row, [&](auto&, const pld::Window& buffer) {
    collective(pld::window<float>(buffer, {ranks, row}));
  });
}

}  // namespace windows
