#include "codegen/passes/literal.hpp"

#include "codegen/error.hpp"
#include "codegen/passes/describe.hpp"
#include "codegen/passes/fold.hpp"

#include <string>
#include <utility>

namespace trilith::codegen::passes {
namespace {

bool fits(const Constant& value, DType dtype) {
  const int bits = static_cast<int>(8 * size_of(dtype));
  const bool negative = is_signed_integer(value.dtype) && value.as_int64() < 0;
  if (is_signed_integer(dtype)) {
    if (value.dtype == DType::UInt64 && value.bits >> 63 != 0) return false;
    return bits == 64 || (value.as_int64() >= -(std::int64_t{1} << (bits - 1)) &&
                          value.as_int64() < std::int64_t{1} << (bits - 1));
  }
  return !negative && (bits == 64 || value.bits < std::uint64_t{1} << bits);
}

std::string range_text(DType dtype) {
  const int bits = static_cast<int>(8 * size_of(dtype));
  if (is_signed_integer(dtype))
    return "-2^" + std::to_string(bits - 1) + " to 2^" + std::to_string(bits - 1) + "-1";
  return "0 to 2^" + std::to_string(bits) + "-1";
}

std::string kind_text(const Expr& operand) { return operand.type.is_tile() ? "tile" : "scalar"; }

}  // namespace

Expr literal_as(const Kernel& kernel, Expr literal, DType dtype, std::string_view operation) {
  const DType given = literal.type.dtype;
  if (given == dtype) return literal;
  const std::string start = std::string(operation) + ": the constant " + constant_text(literal.value) + " ";
  const std::string beside = std::string(name_of(dtype)) + " operand";
  if (given == DType::Bool || dtype == DType::Bool)
    throw pl::DtypeError(start + "is " + std::string(name_of(given)) + " and stands beside a " + beside +
                             "; convert one of them with pl::cast",
                         place(kernel, literal.location));
  if (is_floating(given) && !is_floating(dtype))
    throw pl::DtypeError(start + "is floating and stands beside an " + beside +
                             "; write an integer, or convert the other operand with " + cast_hint(given),
                         place(kernel, literal.location));
  if (is_integer(given) && is_integer(dtype) && !fits(literal.value, dtype))
    throw pl::DtypeError(start + "is out of range for " + std::string(name_of(dtype)) + " (" +
                             range_text(dtype) + "); write one in range, or convert the other operand with " +
                             cast_hint(DType::Int64),
                         place(kernel, literal.location));
  Expr cast;
  cast.op = Op::Cast;
  cast.type = Type::scalar(dtype);
  cast.attributes.mode = CastMode::Rint;
  cast.location = literal.location;
  cast.operands.push_back(std::move(literal));
  return fold(std::move(cast));
}

namespace {
/// The dtype in which C++ compares constants: the floating one, else the wider.
DType common_dtype(const std::vector<Expr>& constants) {
  DType common = constants[0].type.dtype;
  for (const Expr& constant : constants) {
    const DType dtype = constant.type.dtype;
    const bool wider = size_of(dtype) > size_of(common);
    if (is_floating(dtype) ? !is_floating(common) || wider : !is_floating(common) && wider) common = dtype;
  }
  return common;
}
}  // namespace

void unify_dtypes(const Kernel& kernel, Op op, std::vector<Expr>& operands, DType fallback,
                  const SourceLocation& location) {
  const std::size_t first = op == Op::Where ? 1 : 0;
  const Expr* deciding = nullptr;
  for (std::size_t i = first; i < operands.size(); ++i) {
    const Expr& operand = operands[i];
    if (operand.type.is_tile()) {
      deciding = &operand;
      break;
    }
    if (deciding == nullptr && !operand.literal) deciding = &operand;
  }
  const DType dtype = deciding != nullptr                     ? deciding->type.dtype
                      : operation(op).group == Group::Compare ? common_dtype(operands)
                                                              : fallback;
  const std::string decided_by = deciding != nullptr ? kind_text(*deciding) : "scalar";
  for (std::size_t i = first; i < operands.size(); ++i) {
    Expr& operand = operands[i];
    if (operand.type.dtype == dtype) continue;
    if (operand.literal && operand.is_constant()) {
      operand = literal_as(kernel, std::move(operand), dtype, operation(op).name);
      continue;
    }
    throw pl::DtypeError(std::string(operation(op).name) + ": operand " + std::to_string(i + 1) + " is a " +
                             std::string(name_of(operand.type.dtype)) + " " + kind_text(operand) +
                             " and stands beside a " + std::string(name_of(dtype)) + " " + decided_by +
                             "; nothing is converted silently, write " + cast_hint(dtype) + "(…)",
                         place(kernel, location));
  }
}

}  // namespace trilith::codegen::passes
