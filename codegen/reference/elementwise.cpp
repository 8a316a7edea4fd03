// What integers and floats have in common, and the integer definitions.
#include "codegen/reference/support.hpp"

#include <limits>

namespace trilith::codegen::reference {
namespace {

template <class T>
T divide(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return static_cast<T>(0 - wide(a));  // the lowest value / -1 wraps instead of trapping
  return static_cast<T>(a / b);
}

/// The remainder with the sign of a.
template <class T>
T modulo(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return 0;
  return static_cast<T>(a % b);
}

/// The remainder with the sign of b.
template <class T>
T remainder(T a, T b) {
  const T result = modulo(a, b);
  if constexpr (std::is_signed_v<T>)
    if (result != 0 && (result < 0) != (b < 0)) return static_cast<T>(result + b);
  return result;
}

template <class T>
bool is_negative(T x) {
  if constexpr (std::is_signed_v<T>) return x < 0;
  return false;
}

template <class T>
void integers(Op op, std::span<const Value> in, Value& out) {
  const auto unary = [&](auto function) { map<T, T>(out, in[0], function); };
  const auto binary = [&](auto function) { map<T, T>(out, in[0], in[1], function); };
  switch (op) {
    case Op::Neg: return unary([](T x) { return 0 - wide(x); });
    case Op::Abs: return unary([](T x) { return is_negative(x) ? 0 - wide(x) : wide(x); });
    case Op::Square: return unary([](T x) { return wide(x) * wide(x); });
    case Op::Sign: return unary([](T x) { return is_negative(x) ? -1 : x != 0; });
    case Op::Relu: return unary([](T x) { return is_negative(x) ? T{0} : x; });
    case Op::Add: return binary([](T a, T b) { return wide(a) + wide(b); });
    case Op::Sub: return binary([](T a, T b) { return wide(a) - wide(b); });
    case Op::Mul: return binary([](T a, T b) { return wide(a) * wide(b); });
    case Op::Div: return binary([](T a, T b) { return divide(a, b); });
    case Op::Fmod: return binary([](T a, T b) { return modulo(a, b); });
    case Op::Rem: return binary([](T a, T b) { return remainder(a, b); });
    case Op::Maximum: return binary([](T a, T b) { return maximum_of(a, b); });
    case Op::Minimum: return binary([](T a, T b) { return minimum_of(a, b); });
    case Op::Clamp:
      return map<T, T>(out, in[0], in[1], in[2],
                       [](T x, T low, T high) { return minimum_of(maximum_of(x, low), high); });
    default: no_such_case(op, in[0].dtype);
  }
}

/// `where` moves bytes and does not look at them: NaN payloads stay.
void where(std::span<const Value> in, Value& out) {
  const std::size_t size = size_of(out.dtype);
  const bool* condition = in[0].data<bool>();
  walk<3>(out.shape, {&in[0].shape, &in[1].shape, &in[2].shape},
          [&](std::int64_t i, const std::array<std::int64_t, 3>& at) {
            const std::size_t side = condition[at[0]] ? 1 : 2;
            std::memcpy(out.bytes.data() + static_cast<std::size_t>(i) * size,
                        in[side].bytes.data() + static_cast<std::size_t>(at[side]) * size, size);
          });
}

}  // namespace

void integer_elementwise(Op op, std::span<const Value> operands, Value& result) {
  visit_integer(result.dtype, [&]<class T>() { integers<T>(op, operands, result); });
}

void elementwise(Op op, std::span<const Value> operands, Value& result) {
  if (op == Op::Where) return where(operands, result);
  if (op == Op::MoveTo) {
    result.bytes = operands[0].bytes;
    return;
  }
  if (is_floating(result.dtype)) return floating_elementwise(op, operands, result);
  integer_elementwise(op, operands, result);
}

}  // namespace trilith::codegen::reference
