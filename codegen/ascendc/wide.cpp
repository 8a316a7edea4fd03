// 64-bit integers, of which the vector unit has none: the scalar pipe takes one element after the other.
#include "codegen/ascendc/lowering.hpp"
#include "codegen/error.hpp"

namespace trilith::codegen::ascendc {
namespace {

/// What an operation makes of `a`, `b` and `c`; `T` is their type and `U` the unsigned one, in which sums wrap.
std::string formula(Op op, bool is_signed) {
  const std::string wrapped = "static_cast<T>(static_cast<U>(a) ", b = "static_cast<U>(b))";
  const std::string outside = "b < 0 || b >= 64 ? ", minus = "static_cast<T>(U{0} - static_cast<U>(a))";
  const std::string guarded = std::string("b == 0 ? T{0} : ") + (is_signed ? "b == -1 ? " : "");
  switch (op) {
    case Op::Neg: return minus;
    case Op::Abs: return is_signed ? "a < 0 ? " + minus + " : a" : "a";
    case Op::Square: return "static_cast<T>(static_cast<U>(a) * static_cast<U>(a))";
    case Op::Sign: return is_signed ? "a < 0 ? T{-1} : a > 0 ? T{1} : T{0}" : "a > 0 ? T{1} : T{0}";
    case Op::Relu: return "a > 0 ? a : T{0}";
    case Op::Add: return wrapped + "+ " + b;
    case Op::Sub: return wrapped + "- " + b;
    case Op::Mul: return wrapped + "* " + b;
    case Op::Div: return guarded + (is_signed ? minus + " : " : "") + "a / b";
    case Op::Fmod: return guarded + (is_signed ? "T{0} : " : "") + "a % b";
    case Op::Rem:
      return guarded +
             (is_signed ? "T{0} : a % b != 0 && (a % b < 0) != (b < 0) ? a % b + b : a % b" : "a % b");
    case Op::Maximum: return "a < b ? b : a";
    case Op::Minimum: return "b < a ? b : a";
    case Op::Clamp: return "c < (a < b ? b : a) ? c : a < b ? b : a";
    case Op::Where: return "a ? b : c";
    case Op::Eq: return "a == b";
    case Op::Ne: return "a != b";
    case Op::Lt: return "a < b";
    case Op::Le: return "a <= b";
    case Op::Gt: return "a > b";
    case Op::Ge: return "a >= b";
    case Op::BitAnd: return "a & b";
    case Op::BitOr: return "a | b";
    case Op::BitXor: return "a ^ b";
    case Op::BitNot: return "~a";
    case Op::Shl: return outside + "T{0} : static_cast<T>(static_cast<U>(a) << b)";
    case Op::Shr: return outside + (is_signed ? "a < 0 ? T{-1} : T{0}" : "T{0}") + std::string(" : a >> b");
    default: throw pl::InternalError("AscendC emitter: no formula of " + std::string(operation(op).name));
  }
}

/// The function of one operation, in front of the kernel.
std::string function_of(Call& call, const std::string& name) {
  const bool chooses = call.op() == Op::Where, gives_bool = call.expr.type.dtype == DType::Bool;
  std::string parameters;
  for (std::size_t number = 0; number < call.operands.size(); ++number)
    parameters +=
        std::string(number == 0 ? "" : ", ") + (chooses && number == 0 ? "bool " : "T ") + "abc"[number];
  const std::string value = formula(call.op(), is_signed_integer(call.dtype));
  return "\ntemplate <typename T>\n__aicore__ inline " + std::string(gives_bool ? "bool " : "T ") + name +
         "(" + parameters + ") {\n" +
         (value.find('U') == std::string::npos ? "" : "  using U = uint64_t;\n") + "  return " + value +
         ";\n}\n";
}

}  // namespace

Held lower_wide(Call& call) {
  Vector& v = call.v;
  const bool is_signed = is_signed_integer(call.dtype), gives_bool = call.expr.type.dtype == DType::Bool;
  // Some formulas are others for unsigned numbers.
  const std::string name = "Wide_" + std::string(operation(call.op()).name) + (is_signed ? "" : "_unsigned");
  call.c.function(name, function_of(call, name));
  const Tile result = v.fresh(gives_bool ? DType::Float16 : DType::Int64, call.rows(), call.columns());
  v.by_element(result, call.all(), [&](const std::vector<std::string>& elements) {
    std::string arguments;
    for (std::size_t number = 0; number < elements.size(); ++number) {
      const bool condition = call.op() == Op::Where && number == 0;
      arguments += (number == 0 ? "" : ", ") +
                   (condition ? "static_cast<float>(" + elements[number] + ") != 0.0f"
                              : "static_cast<" + type_name(call.dtype) + ">(" + elements[number] + ")");
    }
    const std::string value = name + "<" + type_name(call.dtype) + ">(" + arguments + ")";
    return gives_bool ? "static_cast<half>(" + value + " ? 1.0f : 0.0f)"
                      : "static_cast<int64_t>(" + value + ")";
  });
  return {{.tile = result}, {}};
}

Held lower(Call& call) {
  const bool wide = size_of(call.dtype) == 8 && call.op() != Op::Cast;
  return wide ? lower_wide(call) : lowering(call.op()).lower(call);
}

}  // namespace trilith::codegen::ascendc
