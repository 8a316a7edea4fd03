// bench/products.hpp -- the peers of bench_matmul.
#pragma once

namespace bench {

/// c = a x b, row-major, [m, k] x [k, n], in Eigen.
void eigen_product(const float* a, const float* b, float* c, long m, long n, long k);

/// Floating-point operations a second of fused multiply-adds that wait for nothing, in a loop of `turns`.
double fma_flops(long turns);

}  // namespace bench
