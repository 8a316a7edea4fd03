// Matrix products: a plain triple loop. Floats are summed in double and doubles in long double, in the order of K, and
// rounded once; int8 in int32, wrapping.
#include "codegen/tile_call/linear.hpp"

#include "codegen/reference/tile_calls.hpp"

namespace trilith::codegen::reference {
namespace {

/// A matrix of an operand: where element (i, j) is, i along `rows` and j along `columns` (-1: no such axis).
struct Matrix {
  std::int64_t first = 0, row = 0, column = 0;

  Matrix(const Shape& shape, int rows, int columns) {
    std::int64_t stride = 1;
    for (int axis = static_cast<int>(shape.size()) - 1; axis >= 0; --axis) {
      if (axis == rows) row = stride;
      if (axis == columns) column = stride;
      stride *= shape[static_cast<std::size_t>(axis)];
    }
  }
};

/// Position of the matrix that batch number `batch` of the result reads in an operand.
std::int64_t batch_offset(std::int64_t batch, const Shape& result, const Shape& operand) {
  std::int64_t offset = 0, stride = operand[operand.size() - 1] * operand[operand.size() - 2];
  for (std::size_t back = 3; back <= result.size(); ++back) {
    const std::int64_t position = batch % result[result.size() - back];
    batch /= result[result.size() - back];
    if (back > operand.size()) continue;
    const std::int64_t extent = operand[operand.size() - back];
    if (extent != 1) offset += position * stride;
    stride *= extent;
  }
  return offset;
}

template <class T, class R, class Sum>
void multiply(const CallInputs& in, const ProductAxes& axes, Value& result) {
  const Value &a = in.tile(axes.a), &b = in.tile(axes.b);
  const auto extent = [](const Value& tile, int axis) {
    return axis < 0 ? std::int64_t{1} : tile.shape[static_cast<std::size_t>(axis)];
  };
  const std::int64_t m = extent(a, axes.m), n = extent(b, axes.n), k = extent(a, axes.a_k);
  const T *left = a.data<T>(), *right = b.data<T>();
  const R* start = axes.start < 0 ? nullptr : in.tile(static_cast<std::size_t>(axes.start)).data<R>();
  const std::int64_t start_row = in.op == Op::MatmulBias ? 0 : n;
  const Matrix of_a(a.shape, axes.m, axes.a_k), of_b(b.shape, axes.b_k, axes.n);
  R* out = result.data<R>();
  const std::int64_t batches = m * n == 0 ? 0 : result.size() / (m * n);
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    const bool batched = in.op == Op::BatchMatmul;
    const T* x = left + (batched ? batch_offset(batch, result.shape, a.shape) : 0);
    const T* y = right + (batched ? batch_offset(batch, result.shape, b.shape) : 0);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        Sum sum = start == nullptr ? Sum(0) : static_cast<Sum>(start[i * start_row + j]);
        for (std::int64_t at = 0; at < k; ++at)
          sum += static_cast<Sum>(x[i * of_a.row + at * of_a.column]) *
                 static_cast<Sum>(y[at * of_b.row + j * of_b.column]);
        out[(batch * m + i) * n + j] = static_cast<R>(sum);
      }
  }
}

}  // namespace

void linear(const CallInputs& in, Value& result) {
  const std::size_t first = in.op == Op::MatmulAcc ? 1 : 0;
  const ProductAxes axes =
      product_axes(in.op, in.attributes, in.tile(first).shape.size(), in.tile(first + 1).shape.size());
  switch (in.tile(first).dtype) {
    case DType::Float16: return multiply<pl::half, float, double>(in, axes, result);
    case DType::BFloat16: return multiply<pl::bfloat16, float, double>(in, axes, result);
    case DType::Float32: return multiply<float, float, double>(in, axes, result);
    case DType::Float64: return multiply<double, double, long double>(in, axes, result);
    case DType::Int8: return multiply<std::int8_t, std::int32_t, std::uint32_t>(in, axes, result);
    default: no_such_case(in.op, in.tile(first).dtype);
  }
}

}  // namespace trilith::codegen::reference
