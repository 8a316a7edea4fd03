// test/kernels/support.hpp -- inputs, tolerances and the two ways of running that the library's tests share.
#pragma once

#include "runtime/support.hpp"

#include <cmath>
#include <functional>
#include <vector>

namespace kernels_test {

/// Numbers in [-2, 2), the same at each call; dtype T.
template <class T>
pl::Array<T> filled(const pl::Index& dims, int seed = 1) {
  pl::Array<T> result(dims);
  std::uint32_t state = static_cast<std::uint32_t>(seed) * 2654435761U + 1;
  for (T& element : result) {
    state = state * 1664525U + 1013904223U;
    element = static_cast<T>(static_cast<float>(state >> 8) / static_cast<float>(1 << 22) - 2.0f);
  }
  return result;
}

template <class T>
double wide(T value) {
  return static_cast<double>(static_cast<float>(value));
}
inline double wide(double value) { return value; }

/// Relative and absolute error that one rounding to T and float arithmetic before it explain.
template <class T>
inline constexpr double tolerance = sizeof(T) == 2   ? 1e-2
                                    : sizeof(T) == 4 ? 2e-5
                                                     : 1e-12;

template <class T>
void expect(const pl::Array<T>& given, const std::vector<double>& expected, double error = tolerance<T>) {
  REQUIRE(given.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::abs(wide(given.data()[i]) - expected[i]) <= error * (1 + std::abs(expected[i]))) continue;
    FAIL_CHECK("element ", i, ": got ", wide(given.data()[i]), ", expected ", expected[i]);
    return;
  }
}

/// Runs `body` natively and compiled.
inline void both_ways(const std::function<void()>& body) {
  {
    INFO("eager");
    const support::Eager eager;
    body();
  }
  INFO("compiled");
  const support::Jit jit;
  body();
  CHECK(jit.context.statistics().eager_calls == 0);
}

}  // namespace kernels_test
