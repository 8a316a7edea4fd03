// bench/plain_loops.cpp -- plain loops; compiled by clang 19 with -O3 -march=native.
#include "plain_loops.hpp"

#include <algorithm>
#include <cmath>

namespace bench {
namespace {

template <std::size_t Rows, std::size_t Columns>
void scale(const float* __restrict x, float s, float* __restrict y) {
  for (std::size_t i = 0; i < Rows; ++i)
    for (std::size_t j = 0; j < Columns; ++j)
      y[i * Columns + j] = x[i * Columns + j] * s + x[i * Columns + j];
}

template <std::size_t Rows, std::size_t Columns>
void softmax(const float* __restrict x, float* __restrict y) {
  for (std::size_t i = 0; i < Rows; ++i, x += Columns, y += Columns) {
    float maximum = x[0];
    for (std::size_t j = 1; j < Columns; ++j) maximum = std::max(maximum, x[j]);
    float sum = 0;
    for (std::size_t j = 0; j < Columns; ++j) sum += y[j] = std::exp(x[j] - maximum);
    for (std::size_t j = 0; j < Columns; ++j) y[j] /= sum;
  }
}

// A vector of the compiler's own, so that the copies stay loops: written over floats they become calls of
// memcpy, which goes around the cache or not as it likes.
using Vector [[gnu::vector_size(64)]] = float;

}  // namespace

void plain_scale_8x8(const float* x, float s, float* y) { scale<8, 8>(x, s, y); }
void plain_scale_128x128(const float* x, float s, float* y) { scale<128, 128>(x, s, y); }
void plain_scale_4096x4096(const float* x, float s, float* y) { scale<4096, 4096>(x, s, y); }
void plain_softmax_1024x1024(const float* x, float* y) { softmax<1024, 1024>(x, y); }

void copy_plain(const float* x, float* y, std::size_t count) {
  const auto* from = reinterpret_cast<const Vector*>(x);
  auto* to = reinterpret_cast<Vector*>(y);
  for (std::size_t i = 0; i < count / 16; i += 4) {
    to[i] = from[i];
    to[i + 1] = from[i + 1];
    to[i + 2] = from[i + 2];
    to[i + 3] = from[i + 3];
    asm volatile("" ::: "memory");  // keeps the loop from becoming a memcpy
  }
}

void copy_nontemporal(const float* x, float* y, std::size_t count) {
  const auto* from = reinterpret_cast<const Vector*>(x);
  auto* to = reinterpret_cast<Vector*>(y);
  for (std::size_t i = 0; i < count / 16; ++i) __builtin_nontemporal_store(from[i], to + i);
  asm volatile("sfence" ::: "memory");
}

}  // namespace bench
