// Comparisons, logic and bits.
#include "codegen/reference/support.hpp"

#include <cmath>
#include <limits>

namespace trilith::codegen::reference {
namespace {

template <class T>
void comparison(Op op, std::span<const Value> in, Value& out) {
  const auto binary = [&](auto function) { map<bool, T>(out, in[0], in[1], function); };
  switch (op) {
    case Op::Eq: return binary([](T a, T b) { return a == b; });
    case Op::Ne: return binary([](T a, T b) { return a != b; });
    case Op::Lt: return binary([](T a, T b) { return a < b; });
    case Op::Le: return binary([](T a, T b) { return a <= b; });
    case Op::Gt: return binary([](T a, T b) { return a > b; });
    case Op::Ge: return binary([](T a, T b) { return a >= b; });
    default: no_such_case(op, in[0].dtype);
  }
}

template <class T>
T shift_left(T a, T b) {
  constexpr int width = std::numeric_limits<std::make_unsigned_t<T>>::digits;
  if (b < 0 || wide(b) >= width) return 0;
  return static_cast<T>(wide(a) << b);
}

/// Right shifts of negative values bring in the sign (C++20).
template <class T>
T shift_right(T a, T b) {
  constexpr int width = std::numeric_limits<std::make_unsigned_t<T>>::digits;
  if (b < 0 || wide(b) >= width) return static_cast<T>(a < 0 ? -1 : 0);
  return static_cast<T>(a >> b);
}

template <class T>
void bits_of(Op op, std::span<const Value> in, Value& out) {
  const auto binary = [&](auto function) { map<T, T>(out, in[0], in[1], function); };
  switch (op) {
    case Op::BitAnd: return binary([](T a, T b) { return a & b; });
    case Op::BitOr: return binary([](T a, T b) { return a | b; });
    case Op::BitXor: return binary([](T a, T b) { return a ^ b; });
    case Op::BitNot:
      return map<T, T>(out, in[0], [](T a) {
        if constexpr (std::is_same_v<T, bool>)
          return !a;
        else
          return ~wide(a);
      });
    default: break;
  }
  if constexpr (!std::is_same_v<T, bool>) {
    if (op == Op::Shl) return binary([](T a, T b) { return shift_left(a, b); });
    if (op == Op::Shr) return binary([](T a, T b) { return shift_right(a, b); });
  }
  no_such_case(op, in[0].dtype);
}

}  // namespace

void compare(Op op, std::span<const Value> operands, Value& result) {
  const DType dtype = operands[0].dtype;
  if (op == Op::IsNan || op == Op::IsInf)
    return visit_floating(dtype, [&]<class T>() {
      map<bool, T>(result, operands[0],
                   [&](Compute<T> x) { return op == Op::IsNan ? std::isnan(x) : std::isinf(x); });
    });
  visit_any(dtype, [&]<class T>() { comparison<T>(op, operands, result); });
}

void logic(Op op, std::span<const Value> operands, Value& result) {
  switch (op) {
    case Op::LogicalAnd:
      return map<bool, bool>(result, operands[0], operands[1], [](bool a, bool b) { return a && b; });
    case Op::LogicalOr:
      return map<bool, bool>(result, operands[0], operands[1], [](bool a, bool b) { return a || b; });
    case Op::LogicalNot: return map<bool, bool>(result, operands[0], [](bool a) { return !a; });
    default: no_such_case(op, operands[0].dtype);
  }
}

void bits(Op op, std::span<const Value> operands, Value& result) {
  if (result.dtype == DType::Bool) return bits_of<bool>(op, operands, result);
  visit_integer(result.dtype, [&]<class T>() { bits_of<T>(op, operands, result); });
}

}  // namespace trilith::codegen::reference
