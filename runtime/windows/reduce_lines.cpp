#include "runtime/windows/reduce_lines.hpp"

#include "codegen/half.hpp"
#include "runtime/windows/with_number.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

namespace pl::detail {
namespace {

using trilith::codegen::DType;

template <class T>
struct Accumulator {
  using type = T;
};
template <>
struct Accumulator<pl::half> {
  using type = float;
};
template <>
struct Accumulator<pl::bfloat16> {
  using type = float;
};

template <class A>
A combine(ReduceOperation operation, A a, A b) {
  if constexpr (std::is_integral_v<A>) {
    using U = std::make_unsigned_t<A>;
    // Wider than int: a product of two uint16 must not overflow a signed int.
    using W = std::conditional_t<(sizeof(U) < sizeof(unsigned)), unsigned, U>;
    switch (operation) {
      case ReduceOperation::Sum: return static_cast<A>(static_cast<W>(a) + static_cast<W>(b));
      case ReduceOperation::Prod: return static_cast<A>(static_cast<W>(a) * static_cast<W>(b));
      case ReduceOperation::Max: return a < b ? b : a;
      case ReduceOperation::Min: return b < a ? b : a;
    }
  } else {
    switch (operation) {
      case ReduceOperation::Sum: return a + b;
      case ReduceOperation::Prod: return a * b;
      case ReduceOperation::Max: return a > b || a != a ? a : b;
      case ReduceOperation::Min: return a < b || a != a ? a : b;
    }
  }
  return a;
}

// So many accumulators stay in the first-level cache, with what is added to them.
constexpr std::int64_t block = 1024;

template <class T, ReduceOperation operation>
void reduce_as(std::span<const char* const> lines, std::span<char* const> targets, std::int64_t count) {
  using A = typename Accumulator<T>::type;
  std::array<A, block> sums;
  for (std::int64_t begin = 0; begin < count; begin += block) {
    const std::int64_t length = std::min(block, count - begin);
    const auto line = [&](std::size_t number) { return reinterpret_cast<const T*>(lines[number]) + begin; };
    const T* const first = line(0);
    if (lines.size() == 1) {
      for (std::int64_t i = 0; i < length; ++i) sums[i] = static_cast<A>(first[i]);
    } else {
      const T* const second = line(1);
      for (std::int64_t i = 0; i < length; ++i)
        sums[i] = combine<A>(operation, static_cast<A>(first[i]), static_cast<A>(second[i]));
    }
    for (std::size_t number = 2; number < lines.size(); ++number) {
      const T* const next = line(number);
      for (std::int64_t i = 0; i < length; ++i)
        sums[i] = combine<A>(operation, sums[i], static_cast<A>(next[i]));
    }
    for (char* const target : targets) {
      T* const to = reinterpret_cast<T*>(target) + begin;
      for (std::int64_t i = 0; i < length; ++i) to[i] = static_cast<T>(sums[i]);
    }
  }
}

}  // namespace

void reduce_lines(DType dtype, ReduceOperation operation, std::span<const char* const> lines,
                  std::span<char* const> targets, std::int64_t count) {
  with_number(dtype, "a reduction", [&]<class T>(T*) {
    switch (operation) {
      case ReduceOperation::Sum: return reduce_as<T, ReduceOperation::Sum>(lines, targets, count);
      case ReduceOperation::Max: return reduce_as<T, ReduceOperation::Max>(lines, targets, count);
      case ReduceOperation::Min: return reduce_as<T, ReduceOperation::Min>(lines, targets, count);
      case ReduceOperation::Prod: return reduce_as<T, ReduceOperation::Prod>(lines, targets, count);
    }
  });
}

}  // namespace pl::detail
