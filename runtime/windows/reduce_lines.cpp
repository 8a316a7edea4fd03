#include "runtime/windows/reduce_lines.hpp"

#include "codegen/half.hpp"
#include "runtime/windows/with_number.hpp"

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

template <class T, ReduceOperation operation>
void take_line(typename Accumulator<T>::type* into, const T* line, std::int64_t count) {
  using A = typename Accumulator<T>::type;
  for (std::int64_t i = 0; i < count; ++i) into[i] = combine<A>(operation, into[i], static_cast<A>(line[i]));
}

template <class T>
void take_as(void* memory, ReduceOperation operation, const void* from, std::int64_t count, bool first) {
  using A = typename Accumulator<T>::type;
  auto* into = static_cast<A*>(memory);
  const auto* line = static_cast<const T*>(from);
  if (first) {
    for (std::int64_t i = 0; i < count; ++i) into[i] = static_cast<A>(line[i]);
    return;
  }
  switch (operation) {
    case ReduceOperation::Sum: take_line<T, ReduceOperation::Sum>(into, line, count); return;
    case ReduceOperation::Max: take_line<T, ReduceOperation::Max>(into, line, count); return;
    case ReduceOperation::Min: take_line<T, ReduceOperation::Min>(into, line, count); return;
    case ReduceOperation::Prod: take_line<T, ReduceOperation::Prod>(into, line, count); return;
  }
}

template <class T>
void give_as(const void* memory, void* to, std::int64_t count) {
  const auto* from = static_cast<const typename Accumulator<T>::type*>(memory);
  auto* line = static_cast<T*>(to);
  for (std::int64_t i = 0; i < count; ++i) line[i] = static_cast<T>(from[i]);
}

}  // namespace

LineReducer::LineReducer(DType dtype, ReduceOperation operation, std::int64_t capacity)
    : dtype_(dtype),
      operation_(operation),
      capacity_(capacity > 0 ? capacity : 1),
      // Eight bytes an element: no accumulator is wider.
      memory_(static_cast<std::size_t>(capacity_)) {}

void LineReducer::take(const void* line, std::int64_t count, bool first) {
  with_number(dtype_, "a reduction",
              [&]<class T>(T*) { take_as<T>(memory_.data(), operation_, line, count, first); });
}

void LineReducer::give(void* line, std::int64_t count) {
  with_number(dtype_, "a reduction", [&]<class T>(T*) { give_as<T>(memory_.data(), line, count); });
}

}  // namespace pl::detail
