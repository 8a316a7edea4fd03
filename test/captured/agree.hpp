// test/captured/agree.hpp -- a kernel compiled and run natively, on the same numbers.
#pragma once

#include "runtime/support.hpp"

#include <cmath>
#include <cstring>
#include <string>

namespace captured_test {

using Any = pl::Tensor<float>;
using Out = pl::Out<pl::Tensor<float>>;

/// Runs a kernel (x, y, scalars...) compiled and natively; true when the outputs are equal to the bit and were made by
/// compiled code and by the lambda.
template <class Kernel, class... Scalars>
bool agrees(const Kernel& kernel, const pl::Index& dims, Scalars... scalars) {
  auto x = support::numbers(dims);
  pl::Array<float> compiled(dims), natively(dims);
  {
    const support::Jit jit;
    kernel(x, compiled, scalars...);
    if (jit.context.statistics().eager_calls != 0) return false;
  }
  const support::Eager eager;
  kernel(x, natively, scalars...);
  return std::memcmp(compiled.data(), natively.data(), compiled.size() * sizeof(float)) == 0;
}

/// The first element of what the compiled kernel (y, scalars...) writes; NaN where the lambda writes something else.
template <class Kernel, class... Scalars>
double result(const Kernel& kernel, Scalars... scalars) {
  pl::Array<float> compiled({1}), natively({1});
  {
    const support::Jit jit;
    kernel(compiled, scalars...);
    if (jit.context.statistics().eager_calls != 0) return std::nan("");
  }
  const support::Eager eager;
  kernel(natively, scalars...);
  return compiled(0) == natively(0) ? static_cast<double>(compiled(0)) : std::nan("");
}

/// True when the compiled kernel (y, scalars...) and the lambda write the same number.
template <class Kernel, class... Scalars>
bool same(const Kernel& kernel, Scalars... scalars) {
  return !std::isnan(result(kernel, scalars...));
}

/// `y[0] = value`, for kernels that calculate one number.
#define STORE_NUMBER(value) y = pl::store(pl::full<float>({1}, static_cast<float>(value)), y)

}  // namespace captured_test
