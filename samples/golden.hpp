// samples/golden.hpp -- matrix products, norms and the like in plain C++ and double precision, to check against.
//
// Matrices are pl::Array<double> of rank 2. Nothing here is fast, and nothing here uses a kernel.
#pragma once

#include "check.hpp"

#include <algorithm>

namespace samples::golden {

using Matrix = pl::Array<double>;

template <class T>
Matrix widened(const pl::Array<T>& x) {
  Matrix result({x.dim(0), x.dim(1)});
  std::transform(x.begin(), x.end(), result.begin(), [](T element) { return wide(element); });
  return result;
}

/// Of elements f(row, column).
template <class F>
Matrix matrix(std::int64_t rows, std::int64_t columns, F f) {
  Matrix result({rows, columns});
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) result(i, j) = f(i, j);
  return result;
}

/// a b, or a b^T where `transposed`.
inline Matrix product(const Matrix& a, const Matrix& b, bool transposed = false) {
  Matrix result({a.dim(0), b.dim(transposed ? 0 : 1)});
  for (std::int64_t i = 0; i < result.dim(0); ++i)
    for (std::int64_t k = 0; k < a.dim(1); ++k)
      for (std::int64_t j = 0; j < result.dim(1); ++j)
        result(i, j) += a(i, k) * (transposed ? b(j, k) : b(k, j));
  return result;
}

/// `count` columns of x from `first` on.
inline Matrix columns(const Matrix& x, std::int64_t first, std::int64_t count) {
  Matrix result({x.dim(0), count});
  for (std::int64_t i = 0; i < x.dim(0); ++i)
    for (std::int64_t j = 0; j < count; ++j) result(i, j) = x(i, first + j);
  return result;
}

inline Matrix transposed(const Matrix& x) {
  Matrix result({x.dim(1), x.dim(0)});
  for (std::int64_t i = 0; i < x.dim(0); ++i)
    for (std::int64_t j = 0; j < x.dim(1); ++j) result(j, i) = x(i, j);
  return result;
}

/// f of every element.
template <class F>
Matrix map(Matrix x, F f) {
  std::transform(x.begin(), x.end(), x.begin(), f);
  return x;
}
/// f of every two elements at one place.
template <class F>
Matrix zip(Matrix a, const Matrix& b, F f) {
  std::transform(a.begin(), a.end(), b.begin(), a.begin(), f);
  return a;
}
inline Matrix sum(Matrix a, const Matrix& b) { return zip(std::move(a), b, std::plus<>()); }

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
inline double silu(double x) { return x * sigmoid(x); }
inline double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }

/// Of each row: e^(x - max) / sum.
inline Matrix softmax(Matrix x) {
  for (std::int64_t i = 0; i < x.dim(0); ++i) {
    double maximum = -INFINITY, sum = 0;
    for (std::int64_t j = 0; j < x.dim(1); ++j) maximum = std::max(maximum, x(i, j));
    for (std::int64_t j = 0; j < x.dim(1); ++j) sum += x(i, j) = std::exp(x(i, j) - maximum);
    for (std::int64_t j = 0; j < x.dim(1); ++j) x(i, j) /= sum;
  }
  return x;
}

/// What rows of queries read from the values of a head.
inline Matrix attention(const Matrix& queries, const Matrix& keys, const Matrix& values) {
  return product(softmax(product(queries, keys, true)), values);
}

/// Of each row: x / sqrt(mean(x^2) + eps).
inline Matrix rmsnorm(Matrix x, double eps) {
  for (std::int64_t i = 0; i < x.dim(0); ++i) {
    double squares = 0;
    for (std::int64_t j = 0; j < x.dim(1); ++j) squares += x(i, j) * x(i, j);
    const double scale = 1 / std::sqrt(squares / static_cast<double>(x.dim(1)) + eps);
    for (std::int64_t j = 0; j < x.dim(1); ++j) x(i, j) *= scale;
  }
  return x;
}

/// Rotary embedding of a head: the pair (x[i], x[i + D/2]) of row s is turned by (first + s) base^(-2i/D).
inline Matrix rope(const Matrix& x, std::int64_t first = 0, double base = 10000) {
  Matrix result = x;
  const std::int64_t half = x.dim(1) / 2;
  for (std::int64_t s = 0; s < x.dim(0); ++s)
    for (std::int64_t i = 0; i < half; ++i) {
      const double angle = static_cast<double>(first + s) *
                           std::pow(base, -static_cast<double>(i) / static_cast<double>(half));
      result(s, i) = x(s, i) * std::cos(angle) - x(s, i + half) * std::sin(angle);
      result(s, i + half) = x(s, i + half) * std::cos(angle) + x(s, i) * std::sin(angle);
    }
  return result;
}

}  // namespace samples::golden
