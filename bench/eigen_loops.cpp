// bench/eigen_loops.cpp -- Eigen, in its best form for these shapes; compiled by clang 19 with -O3
// -march=native.
#include "plain_loops.hpp"

#include <Eigen/Core>

namespace bench {
namespace {

template <int Rows, int Columns>
using Array = Eigen::Array<float, Rows, Columns, Eigen::RowMajor>;

template <int Rows, int Columns>
void scale(const float* x, float s, float* y) {
  const Eigen::Map<const Array<Rows, Columns>> from(x);
  Eigen::Map<Array<Rows, Columns>>{y} = from * s + from;
}

// Row by row: the row stays in the first-level cache between its passes, the whole array would not.
template <int Rows, int Columns>
void softmax(const float* x, float* y) {
  for (int i = 0; i < Rows; ++i) {
    const Eigen::Map<const Array<1, Columns>> from(x + i * Columns);
    Eigen::Map<Array<1, Columns>> to(y + i * Columns);
    to = (from - from.maxCoeff()).exp();
    to *= 1.0f / to.sum();
  }
}

}  // namespace

void eigen_scale_8x8(const float* x, float s, float* y) { scale<8, 8>(x, s, y); }
void eigen_scale_128x128(const float* x, float s, float* y) { scale<128, 128>(x, s, y); }
void eigen_scale_4096x4096(const float* x, float s, float* y) { scale<4096, 4096>(x, s, y); }
void eigen_softmax_1024x1024(const float* x, float* y) { softmax<1024, 1024>(x, y); }

}  // namespace bench
