// bench/eigen_products.cpp -- Eigen's matrix products and the speed of the FMA units, compiled by clang 19 with -O3
// -march=native.
#include "products.hpp"

#include <Eigen/Core>

#include <chrono>

namespace bench {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

void eigen_product(const float* a, const float* b, float* c, long m, long n, long k) {
  const Eigen::Map<const Matrix> left(a, m, k), right(b, k, n);
  Eigen::Map<Matrix>(c, m, n).noalias() = left * right;
}

namespace {
#if defined(__AVX512F__)
constexpr int width = 64;
#elif defined(__AVX__)
constexpr int width = 32;
#else
constexpr int width = 16;
#endif
typedef float Vector __attribute__((vector_size(width)));
}  // namespace

double fma_flops(long turns) {
  constexpr int chains = 12;
  Vector sums[chains];
  for (Vector& sum : sums) sum = Vector{} + 1.0f;
  Vector factor = Vector{} + 0.999f, term = Vector{} + 1e-6f;
  asm volatile("" : "+x"(factor), "+x"(term));
  const auto begin = std::chrono::steady_clock::now();
  for (long turn = 0; turn < turns; ++turn) {
#pragma clang loop unroll(full)
    for (Vector& sum : sums) sum = sum * factor + term;
    asm volatile("" : "+x"(sums[0]));  // the loop stays one
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  Vector total = sums[0];
  for (const Vector& sum : sums) total += sum;
  asm volatile("" : : "x"(total));
  return 2.0 * chains * (width / sizeof(float)) * static_cast<double>(turns) / elapsed.count();
}

}  // namespace bench
