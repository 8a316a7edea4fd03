// bench/plain_loops.hpp -- the peers of bench_kernels: plain loops, Eigen, and copies of the same bytes.
//
// Their sources are compiled by clang 19 with -O3 -march=native, whatever compiler builds the rest. Shapes
// are template arguments inside, as they are constants in a specialised kernel.
#pragma once

#include <cstddef>

namespace bench {

using ScaleFunction = void (*)(const float* x, float s, float* y);
using SoftmaxFunction = void (*)(const float* x, float* y);
using CopyFunction = void (*)(const float* x, float* y, std::size_t count);

// y = x * s + x, loops as one writes them.
void plain_scale_8x8(const float* x, float s, float* y);
void plain_scale_128x128(const float* x, float s, float* y);
void plain_scale_4096x4096(const float* x, float s, float* y);
void plain_softmax_1024x1024(const float* x, float* y);

// The same in Eigen.
void eigen_scale_8x8(const float* x, float s, float* y);
void eigen_scale_128x128(const float* x, float s, float* y);
void eigen_scale_4096x4096(const float* x, float s, float* y);
void eigen_softmax_1024x1024(const float* x, float* y);

// The limit: `count` floats (a multiple of 64, 64-byte aligned) from x to y, through the cache and around it.
void copy_plain(const float* x, float* y, std::size_t count);
void copy_nontemporal(const float* x, float* y, std::size_t count);

}  // namespace bench
