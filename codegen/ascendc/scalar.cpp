// Scalars are plain C++ on the scalar pipe. What C++ without a library has not (square roots, exponentials, rounding)
// is done by the vector pipe on a tile of one element.
#include "codegen/ascendc/integer_functions.hpp"
#include "codegen/ascendc/lowering.hpp"

#include "codegen/error.hpp"
#include "codegen/passes/shape_rule.hpp"
#include "codegen/remote.hpp"
#include "codegen/tile_call.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace trilith::codegen::ascendc {
namespace {

std::string floating(float value) {
  if (std::isnan(value)) return "__builtin_nanf(\"\")";
  if (std::isinf(value)) return value < 0 ? "-__builtin_inff()" : "__builtin_inff()";
  char text[64];
  // Short decimals that are exact read best; everything else in hexadecimal, which has one meaning.
  if (std::abs(value) < 1e6F && value * 64 == std::trunc(value * 64)) {
    const char* end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed).ptr;
    std::string decimal(text, static_cast<std::size_t>(end - text));
    if (decimal.find('.') == std::string::npos) decimal += ".0";
    return decimal + "f";
  }
  const char* end = std::to_chars(text, text + sizeof text, std::abs(value), std::chars_format::hex).ptr;
  return (std::signbit(value) ? "-0x" : "0x") + std::string(text, static_cast<std::size_t>(end - text)) + "f";
}

std::string cast_to(DType dtype, const std::string& text) {
  return "static_cast<" + type_name(dtype) + ">(" + text + ")";
}

DType unsigned_of(DType dtype) {
  switch (size_of(dtype)) {
    case 1: return DType::UInt8;
    case 2: return DType::UInt16;
    case 4: return DType::UInt32;
    default: return DType::UInt64;
  }
}

/// Integer arithmetic that wraps: shorter types in their promoted int, longer ones unsigned.
std::string wrapping(DType dtype, const std::string& a, const char* sign, const std::string& b) {
  const DType wide = size_of(dtype) < 4 ? DType::UInt32 : unsigned_of(dtype);
  return cast_to(dtype, cast_to(wide, a) + sign + cast_to(wide, b));
}

}  // namespace

std::string literal(const Constant& constant) {
  switch (constant.dtype) {
    case DType::Bool: return constant.bits != 0 ? "true" : "false";
    case DType::Float16:
    case DType::BFloat16:
    case DType::Float32: return floating(static_cast<float>(constant.as_double()));
    case DType::Int32: {
      const auto value = static_cast<std::int32_t>(constant.as_int64());
      if (value == std::numeric_limits<std::int32_t>::min()) return "(-2147483647 - 1)";
      return std::to_string(value);
    }
    case DType::UInt32: return std::to_string(static_cast<std::uint32_t>(constant.bits)) + "u";
    case DType::Int64:
      if (constant.as_int64() == std::numeric_limits<std::int64_t>::min())
        return "(int64_t{-9223372036854775807} - 1)";
      return "int64_t{" + std::to_string(constant.as_int64()) + "}";
    case DType::UInt64: return "uint64_t{" + std::to_string(constant.bits) + "u}";
    case DType::Float64: return "0.0";
    default: return cast_to(constant.dtype, std::to_string(constant.as_int64()));
  }
}

std::string Context::index(const Expr& expression) {
  if (expression.is_constant()) return std::to_string(expression.value.as_int64());
  const bool plain = expression.op == Op::Add || expression.op == Op::Sub || expression.op == Op::Mul;
  if (plain && expression.type.dtype == DType::Int64) {
    // Numbers of elements: far from overflow where they are right, and checked where they may not be.
    const char* sign = expression.op == Op::Add ? " + " : expression.op == Op::Sub ? " - " : " * ";
    const auto side = [&](const Expr& operand) {
      const std::string text = index(operand);
      return text.find(' ') == std::string::npos ? text : "(" + text + ")";
    };
    return side(expression.operands[0]) + sign + side(expression.operands[1]);
  }
  return scalar(expression);
}

std::string Context::element(const Expr& expression, DType dtype) {
  const DType held = held_as(dtype);
  if (expression.is_constant()) {
    const Constant& constant = expression.value;
    if (dtype == DType::Bool) return constant.bits != 0 ? "static_cast<half>(1)" : "static_cast<half>(0)";
    if (held == DType::Int32) {
      const auto bits = static_cast<std::int32_t>(constant.as_int64());
      return literal(Constant::of(bits));
    }
    const std::string text = literal(constant);
    return held == DType::Float16 ? "static_cast<half>(" + text + ")" : text;
  }
  const std::string text = scalar(expression);
  if (dtype == DType::Bool) return "static_cast<half>(" + text + " ? 1.0f : 0.0f)";
  if (held == DType::Float32) return text;
  return "static_cast<" + type_name(held) + ">(" + text + ")";
}

std::string Context::scalar_by_vector(const Expr& expression) {
  const DType dtype = expression.operands[0].type.dtype;
  if (const std::string reason = refusal(expression.op, dtype); !reason.empty())
    refuse(operation(expression.op).name, dtype, reason, location);
  const Block block;
  Vector v(*this, block);
  Call call{v, *this, expression, dtype, {}};
  for (const Expr& operand : expression.operands)
    call.operands.push_back({{.scalar = element(operand, operand.type.dtype)}, {}});
  const Held result = lower(call);
  const std::string element = v.read(result.operand.tile);
  if (expression.type.dtype == DType::Bool) return "(static_cast<float>(" + element + ") != 0.0f)";
  return cast_to(scalar_type(expression.type.dtype), element);
}

std::string Context::scalar(const Expr& expression) {
  const DType dtype = expression.type.dtype;
  if (dtype == DType::Float64)
    refuse(operation(expression.op).name, dtype, "the device has no double; use float", location);
  switch (expression.op) {
    case Op::Constant: return literal(expression.value);
    case Op::Variable: return variables[expression.variable];
    case Op::Conditional:
      return "(" + scalar(expression.operands[0]) + " ? " + scalar(expression.operands[1]) + " : " +
             scalar(expression.operands[2]) + ")";
    case Op::BlockIdx: spmd = true; return "static_cast<int32_t>(AscendC::GetBlockIdx())";
    case Op::BlockNum: spmd = true; return "static_cast<int32_t>(AscendC::GetBlockNum())";
    case Op::SubblockIdx: return "0";
    default: break;
  }
  const DType from = expression.operands.empty() ? dtype : expression.operands[0].type.dtype;
  if (from == DType::Float64)
    refuse(operation(expression.op).name, from, "the device has no double; use float", location);
  const bool floats = is_floating(from), narrow = is_narrow_float(from) || is_narrow_float(dtype);
  std::vector<std::string> in;
  const auto operands = [&] {
    for (const Expr& operand : expression.operands) in.push_back(scalar(operand));
  };
  const auto binary = [&](const char* sign) {
    operands();
    return "(" + in[0] + sign + in[1] + ")";
  };
  switch (expression.op) {
    case Op::Eq: return binary(" == ");
    case Op::Ne: return binary(" != ");
    case Op::Lt: return binary(" < ");
    case Op::Le: return binary(" <= ");
    case Op::Gt: return binary(" > ");
    case Op::Ge: return binary(" >= ");
    case Op::LogicalAnd: return binary(" && ");
    case Op::LogicalOr: return binary(" || ");
    case Op::LogicalNot: operands(); return "!" + in[0];
    case Op::Cast: {
      if (narrow) break;
      if (floats && is_integer(dtype)) break;
      operands();
      if (dtype == DType::Bool) return "(" + in[0] + " != 0)";
      return cast_to(dtype, in[0]);
    }
    case Op::Add:
    case Op::Sub:
    case Op::Mul: {
      const char* sign = expression.op == Op::Add ? " + " : expression.op == Op::Sub ? " - " : " * ";
      if (narrow) break;
      operands();
      return floats ? "(" + in[0] + sign + in[1] + ")" : wrapping(dtype, in[0], sign, in[1]);
    }
    case Op::Neg:
      if (floats) {
        operands();
        return "(-" + in[0] + ")";
      }
      operands();
      return wrapping(dtype, "0", " - ", in[0]);
    case Op::Square:
      if (narrow) break;
      operands();
      return floats ? "(" + in[0] + " * " + in[0] + ")" : wrapping(dtype, in[0], " * ", in[0]);
    case Op::Div:
      if (narrow) break;
      operands();
      if (floats) return "(" + in[0] + " / " + in[1] + ")";
      return guarded(dtype, in[0], in[1], " / ", wrapping(dtype, "0", " - ", in[0]));
    case Op::Fmod:
      if (floats) break;
      operands();
      return guarded(dtype, in[0], in[1], " % ", "0");
    case Op::Rem:
      if (floats) break;
      operands();
      if (!is_signed_integer(dtype)) return guarded(dtype, in[0], in[1], " % ", "0");
      function("Remainder", functions::remainder);
      return "Remainder<" + type_name(dtype) + ", true>(" + in[0] + ", " + in[1] + ")";
    case Op::Maximum:
      if (floats) break;
      operands();
      return "(" + in[0] + " < " + in[1] + " ? " + in[1] + " : " + in[0] + ")";
    case Op::Minimum:
      if (floats) break;
      operands();
      return "(" + in[1] + " < " + in[0] + " ? " + in[1] + " : " + in[0] + ")";
    case Op::Where: operands(); return "(" + in[0] + " ? " + in[1] + " : " + in[2] + ")";
    case Op::BitAnd:
    case Op::BitOr:
    case Op::BitXor: {
      operands();
      const char* sign = expression.op == Op::BitAnd ? " & " : expression.op == Op::BitOr ? " | " : " ^ ";
      if (dtype == DType::Bool)
        return "((" + in[0] + (expression.op == Op::BitXor ? " != " : sign) + in[1] + ") != 0)";
      return cast_to(dtype, in[0] + sign + in[1]);
    }
    case Op::BitNot: operands(); return dtype == DType::Bool ? "!" + in[0] : cast_to(dtype, "~" + in[0]);
    case Op::Shl:
    case Op::Shr: {
      operands();
      const std::string width = std::to_string(8 * size_of(dtype));
      const std::string inside = "(" + in[1] + " >= 0 && " + in[1] + " < " + width + ")";
      if (expression.op == Op::Shl)
        return "(" + inside + " ? " + cast_to(dtype, cast_to(unsigned_of(dtype), in[0]) + " << " + in[1]) +
               " : " + cast_to(dtype, "0") + ")";
      return "(" + inside + " ? " + cast_to(dtype, in[0] + " >> " + in[1]) + " : " +
             cast_to(dtype, in[0] + " < 0 ? -1 : 0") + ")";
    }
    default: break;
  }
  switch (operation(expression.op).group) {
    case Group::Elementwise:
    case Group::Compare:
    case Group::Cast: return scalar_by_vector(expression);
    default:
      throw pl::InternalError("AscendC emitter: " + std::string(operation(expression.op).name) +
                              " in a scalar expression");
  }
}

/// a / b and a % b without the traps of C++: 0 where b is 0, `minus_one` where it is -1.
std::string Context::guarded(DType dtype, const std::string& a, const std::string& b, const char* sign,
                             const std::string& minus_one) const {
  std::string text = "(" + b + " == 0 ? " + cast_to(dtype, "0") + " : ";
  if (is_signed_integer(dtype)) text += b + " == -1 ? " + cast_to(dtype, minus_one) + " : ";
  return text + cast_to(dtype, a + sign + b) + ")";
}

void Context::fault_if(const std::string& condition, std::int32_t code, const SourceLocation& at,
                       const std::string& what, const std::string& given, const std::string& expected,
                       const std::string& length) {
  checks.push_back({code, what, at});
  location = at;
  open("if (" + condition + ") {", false);
  program.nodes.push_back({.kind = Node::Kind::Code,
                           .text = "Fault(workspace, " + std::to_string(checks.size()) + ", " + given + ", " +
                                   expected + ", " + length + ");",
                           .location = at});
  program.nodes.push_back({.kind = Node::Kind::Code, .text = "return;", .leaves = true, .location = at});
  close();
}

void Context::check_region(const Statement& statement) {
  const fuse::Region region = fuse::region_of(kernel, statement);
  const std::vector<std::int64_t> tensor = constant_extents(kernel.variables[region.tensor].type.shape);
  const auto part = peer_parts.find(region.tensor);
  const std::string what = part != peer_parts.end() ? "pld::" + std::string(name_in_pld(part->second.op))
                           : statement.value.op == Op::Store ? "store"
                                                             : "load";
  for (std::size_t axis = 0; axis < tensor.size(); ++axis) {
    const Expr& offset = region.offsets->operands[axis];
    const Dim& shape = region.shape[axis];
    const bool can_be_negative = !shape.is_constant() && ranges[shape.variable].first < 0;
    if (range_of(offset).first >= 0 && !can_be_negative && ends_inside(offset, shape, tensor[axis])) continue;
    const std::string at = index(offset), limit = std::to_string(tensor[axis]);
    const std::string size = shape.is_constant() ? std::to_string(shape.extent) : variables[shape.variable];
    const std::string last =
        shape.is_constant() ? std::to_string(tensor[axis] - shape.extent) : limit + " - " + size;
    const std::string condition =
        (can_be_negative ? size + " < 0 || " : "") + at + " < 0 || " + at + " > " + last;
    if ((statement.value.attributes.indexed >> axis & 1) != 0) {
      fault_if(condition, fault_index, offset.location.line != 0 ? offset.location : statement.location,
               "x[i]", at, limit);
      continue;
    }
    fault_if(condition, fault_range, statement.location, what + " " + std::to_string(axis), at, limit, size);
  }
}

/// What the run has to find of the shapes of an operation; of a tile made of a number also that it fits its room.
void Context::check_shapes(const Statement& statement) {
  for (const passes::ShapeCheck& check : passes::shape_checks(kernel, statement.value)) {
    const Extent given = extent(check.given, statement.location);
    if (check.expected) {
      const std::string expected = extent(*check.expected, statement.location).text();
      fault_if(given.text() + " != " + expected, fault_shape, statement.location, check.what, given.text(),
               expected);
      continue;
    }
    const std::string name = variables[check.given.variable];
    if (ranges[check.given.variable].first < 0)
      fault_if(name + " < 0", fault_shape, statement.location, check.what, name, "0");
  }
  check_room(statement.value, statement.location);
}

/// A tile of a shape that the kernel names: its extents are no larger than its room.
void Context::check_room(const Expr& value, const SourceLocation& at) {
  if (value.op != Op::Full && (shape_operand(value.op) < 0 || value.op == Op::TileSlice)) return;
  for (std::size_t axis = 0; axis < value.type.shape.size(); ++axis) {
    const Dim& dim = value.type.shape[axis];
    if (dim.is_constant()) continue;
    const Extent room = extent(dim, at);
    if (ranges[dim.variable].last <= room.most) continue;
    const std::string name = variables[dim.variable], most = std::to_string(room.most);
    fault_if(name + " > " + most, fault_range, at,
             std::string(operation(value.op).name) + " " + std::to_string(axis), "0", most, name);
  }
}

}  // namespace trilith::codegen::ascendc
