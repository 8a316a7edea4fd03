// Scalar expressions and literals as C++.
#include "codegen/error.hpp"
#include "codegen/xsimd/context.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace trilith::codegen::xsimd {
namespace {

template <class Float, class Bits>
std::string floating(Bits bits, const char* type, const char* suffix) {
  const Float value = std::bit_cast<Float>(bits);
  char text[64];
  if (!std::isfinite(value)) {
    const char* end = std::to_chars(text, text + sizeof text, bits, 16).ptr;
    return std::string("__builtin_bit_cast(") + type + ", 0x" +
           std::string(text, static_cast<std::size_t>(end - text)) + (sizeof(Bits) == 8 ? "ull)" : "u)");
  }
  // Short decimals that are exact read best; everything else in hexadecimal, which has one meaning.
  if (std::abs(value) < Float(1e6) && value * 64 == std::trunc(value * 64)) {
    const char* end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed).ptr;
    std::string decimal(text, static_cast<std::size_t>(end - text));
    if (decimal.find('.') == std::string::npos) decimal += ".0";
    return decimal + suffix;
  }
  const char* end = std::to_chars(text, text + sizeof text, std::abs(value), std::chars_format::hex).ptr;
  return (std::signbit(value) ? "-0x" : "0x") + std::string(text, static_cast<std::size_t>(end - text)) +
         suffix;
}

std::string cast_mode(CastMode mode) {
  constexpr const char* names[] = {"Rint", "Round", "Floor", "Ceil", "Trunc", "Odd"};
  return std::string("device::CastMode::") + names[static_cast<int>(mode)];
}

}  // namespace

std::string literal(const Constant& constant) {
  switch (constant.dtype) {
    case DType::Bool: return constant.bits != 0 ? "true" : "false";
    case DType::Float32: return floating<float>(static_cast<std::uint32_t>(constant.bits), "float", "f");
    case DType::Float64: return floating<double>(constant.bits, "double", "");
    case DType::Float16:
    case DType::BFloat16: {
      const auto value = static_cast<float>(constant.as_double());
      return type_name(constant.dtype) + "(" +
             floating<float>(std::bit_cast<std::uint32_t>(value), "float", "f") + ")";
    }
    case DType::Int32: {
      const auto value = static_cast<std::int32_t>(constant.as_int64());
      if (value == std::numeric_limits<std::int32_t>::min()) return "(-2147483647 - 1)";
      return std::to_string(value);
    }
    case DType::Int64:
      if (constant.as_int64() == std::numeric_limits<std::int64_t>::min())
        return "(std::int64_t{-9223372036854775807} - 1)";
      return "std::int64_t{" + std::to_string(constant.as_int64()) + "}";
    case DType::UInt64: return "std::uint64_t{" + std::to_string(constant.bits) + "u}";
    default: return type_name(constant.dtype) + "{" + std::to_string(constant.as_int64()) + "}";
  }
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') result.push_back('\\');
    if (static_cast<unsigned char>(character) < 32) {
      char octal[5];
      std::snprintf(octal, sizeof octal, "\\%03o", static_cast<unsigned>(character));
      result += octal;
    } else {
      result.push_back(character);
    }
  }
  return result + "\"";
}

std::string Context::call(const Expr& expression, const std::vector<std::string>& operands) {
  std::string text = "device::" + std::string(operation(expression.op).name);
  if (expression.op == Op::Cast) {
    text += "<" + type_name(expression.type.dtype);
    // The mode says how a float becomes an integer; other conversions have one meaning.
    const bool rounds = is_floating(expression.operands[0].type.dtype) && is_integer(expression.type.dtype);
    if (rounds && expression.attributes.mode != CastMode::Rint)
      text += ", " + cast_mode(expression.attributes.mode);
    text += ">";
  }
  text += "(";
  for (std::size_t i = 0; i < operands.size(); ++i) text += (i == 0 ? "" : ", ") + operands[i];
  return text + ")";
}

std::string Context::scalar(const Expr& expression) {
  switch (expression.op) {
    case Op::Constant: return literal(expression.value);
    case Op::Variable: return variables[expression.variable];
    case Op::Conditional:
      return "(" + scalar(expression.operands[0]) + " ? " + scalar(expression.operands[1]) + " : " +
             scalar(expression.operands[2]) + ")";
    case Op::BlockIdx: return "static_cast<std::int32_t>(args->block_index)";
    case Op::BlockNum: return "static_cast<std::int32_t>(args->block_count)";
    case Op::SubblockIdx: return "0";
    default: break;
  }
  switch (operation(expression.op).group) {
    case Group::Elementwise:
    case Group::Compare:
    case Group::Logic:
    case Group::Bits:
    case Group::Cast: break;
    default:
      throw pl::InternalError("emitter: " + std::string(operation(expression.op).name) +
                              " in a scalar expression");
  }
  std::vector<std::string> operands;
  for (const Expr& operand : expression.operands) operands.push_back(scalar(operand));
  return call(expression, operands);
}

std::string Context::index(const Expr& expression) {
  return expression.is_constant() ? std::to_string(expression.value.as_int64()) : scalar(expression);
}

}  // namespace trilith::codegen::xsimd
