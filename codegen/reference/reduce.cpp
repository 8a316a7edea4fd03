// Reductions over the last or the second last axis, in index order. Float sums and products are kept in the
// next wider type and rounded once at the end.
#include "codegen/reference/lines.hpp"
#include "codegen/reference/support.hpp"

#include <limits>

namespace trilith::codegen::reference {
namespace {

template <class T>
using Accumulator =
    std::conditional_t<std::is_same_v<T, float> || pl::is_narrow_float<T>, double,
                       std::conditional_t<std::is_same_v<T, double>, long double, std::uint64_t>>;

template <class T, class Function>
void reduce_lines(const Lines& lines, const Value& in, Value& out, const Function& function) {
  const T* data = in.data<T>();
  T* result = out.data<T>();
  for (std::int64_t i = 0; i < lines.outer; ++i)
    for (std::int64_t k = 0; k < lines.inner; ++k) {
      const T* line = lines.extent == 0 ? nullptr : data + i * lines.extent * lines.inner + k;
      result[i * lines.inner + k] = static_cast<T>(function(line));
    }
}

template <class T>
constexpr T lowest() {
  if constexpr (is_floating(dtype_of<T>)) return -std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::lowest();
}
template <class T>
constexpr T highest() {
  if constexpr (is_floating(dtype_of<T>)) return std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::max();
}

enum class Kind { Sum, Prod, Max, Min, Mean };

Kind kind_of(Op op) {
  switch (op) {
    case Op::RowSum:
    case Op::ColSum: return Kind::Sum;
    case Op::RowProd:
    case Op::ColProd: return Kind::Prod;
    case Op::RowMax:
    case Op::ColMax: return Kind::Max;
    case Op::RowMin:
    case Op::ColMin: return Kind::Min;
    case Op::RowMean:
    case Op::ColMean: return Kind::Mean;
    default: no_such_case(op, DType::Float32);
  }
}

template <class T>
void reduce_as(Kind kind, const Lines& lines, const Value& in, Value& out) {
  using A = Accumulator<T>;
  using C = Compute<T>;
  const auto fold = [&](auto first, const auto& combine) {
    reduce_lines<T>(lines, in, out, [&](const T* line) {
      auto total = first;
      for (std::int64_t j = 0; j < lines.extent; ++j) total = combine(total, line[j * lines.inner]);
      return total;
    });
  };
  const auto add = [](A total, T x) { return total + static_cast<A>(x); };
  switch (kind) {
    case Kind::Sum: return fold(A{0}, add);
    case Kind::Prod: return fold(A{1}, [](A total, T x) { return total * static_cast<A>(x); });
    case Kind::Max: return fold(C{lowest<T>()}, [](C total, C x) { return maximum_of(total, x); });
    case Kind::Min: return fold(C{highest<T>()}, [](C total, C x) { return minimum_of(total, x); });
    case Kind::Mean:
      if constexpr (is_floating(dtype_of<T>))
        reduce_lines<T>(lines, in, out, [&](const T* line) {
          A total = 0;
          for (std::int64_t j = 0; j < lines.extent; ++j) total = add(total, line[j * lines.inner]);
          return total / static_cast<A>(lines.extent);
        });
  }
}

}  // namespace

void reduce(Op op, const Value& operand, Value& result) {
  const std::size_t from_end = operation(op).group == Group::RowReduce ? 1 : 2;
  const Lines lines(operand.shape, operand.shape.size() - from_end);
  visit_numeric(operand.dtype, [&]<class T>() { reduce_as<T>(kind_of(op), lines, operand, result); });
}

}  // namespace trilith::codegen::reference
