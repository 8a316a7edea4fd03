// The one typing rule: which dtypes and shapes an operation takes and what it gives.
#include "codegen/message.hpp"
#include "codegen/reference/support.hpp"

#include <algorithm>

namespace trilith::codegen::reference {
namespace {

std::string_view accepted_dtypes(DTypes rule) {
  switch (rule) {
    case DTypes::Any: return "every dtype";
    case DTypes::Numeric: return "integers and floats";
    case DTypes::Floating: return "floats";
    case DTypes::Integer: return "integers";
    case DTypes::Boolean: return "bool";
    case DTypes::IntegerOrBoolean: return "bool and integers";
    case DTypes::Product: return "floats and int8";
  }
  return {};
}

/// The dtype a user most likely wants to cast to.
std::string_view suggested_dtype(DTypes rule) {
  switch (rule) {
    case DTypes::Boolean: return "bool";
    case DTypes::Integer:
    case DTypes::IntegerOrBoolean: return "std::int32_t";
    default: return "float";
  }
}

void check_dtypes(const Operation& row, std::span<const TypeOf> operands, const pl::Location& location) {
  const std::size_t first = row.op == Op::Where ? 1 : 0;
  if (row.op == Op::Where && operands[0].dtype != DType::Bool)
    throw pl::DtypeError("where: the condition is " + std::string(name_of(operands[0].dtype)) +
                             " and must be bool; write a comparison, such as x != 0",
                         location);
  for (std::size_t i = first + 1; i < operands.size(); ++i)
    if (operands[i].dtype != operands[first].dtype)
      throw pl::DtypeError(std::string(row.name) + ": the operands are " +
                               std::string(name_of(operands[first].dtype)) + " and " +
                               std::string(name_of(operands[i].dtype)) +
                               ", and dtypes are not mixed; convert one with pl::cast<" +
                               std::string(cpp_name_of(operands[first].dtype)) + ">(...)",
                           location);
  if (first < operands.size() && !accepts(row.dtypes, operands[first].dtype))
    throw pl::DtypeError(std::string(row.name) + " takes " + std::string(accepted_dtypes(row.dtypes)) +
                             ", not " + std::string(name_of(operands[first].dtype)) +
                             "; convert with pl::cast<" + std::string(suggested_dtype(row.dtypes)) + ">(...)",
                         location);
}

Shape reduced(const Operation& row, const TypeOf& operand, const pl::Location& location) {
  const std::size_t from_end = row.group == Group::RowReduce ? 1 : 2;
  if (operand.is_scalar || operand.shape.size() < from_end)
    throw pl::ShapeError(
        std::string(row.name) + " needs a tile of rank " + std::to_string(from_end) + " or more, not " +
            (operand.is_scalar ? std::string("a scalar") : "shape " + text_of(operand.shape)),
        location);
  Shape shape = operand.shape;
  shape[shape.size() - from_end] = 1;
  return shape;
}

}  // namespace

std::string text_of(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

void check_shape(const Shape& shape, std::string_view operation, const pl::Location& location) {
  // Element counts and byte sizes must fit in 64 bits with room for every dtype.
  constexpr std::int64_t most_elements = std::int64_t{1} << 56;
  if (shape.size() > max_rank)
    throw pl::ShapeError(std::string(operation) + ": rank " + std::to_string(shape.size()) + " is above " +
                             std::to_string(max_rank),
                         location);
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0) throw pl::ShapeError(message::negative_extent(extent), location);
    if (extent > most_elements / count)
      throw pl::ShapeError(
          std::string(operation) + ": shape " + text_of(shape) + " has more elements than memory can hold",
          location);
    if (extent != 0) count *= extent;
  }
}

void no_such_case(Op op, DType dtype) {
  throw pl::InternalError("the reference has no definition of '" + std::string(operation(op).name) + "' on " +
                          std::string(name_of(dtype)) + "; please report this");
}

Shape broadcast(const Shape& a, const Shape& b, std::string_view operation, const pl::Location& location) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape result(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t x = i + a.size() < rank ? 1 : a[i + a.size() - rank];
    const std::int64_t y = i + b.size() < rank ? 1 : b[i + b.size() - rank];
    if (x != y && x != 1 && y != 1)
      throw pl::ShapeError(message::broadcast(operation, " " + text_of(a) + " and " + text_of(b), i, x, y),
                           location);
    result[i] = x == 1 ? y : x;
  }
  return result;
}

TypeOf result_type(Op op, std::span<const TypeOf> operands, DType result_dtype,
                   const pl::Location& location) {
  const Operation& row = operation(op);
  if (row.group == Group::Structure || row.group == Group::Create || row.group == Group::Move ||
      row.group == Group::Debug || is_tile_call(row.group) || row.group == Group::Reduce ||
      row.group == Group::Identity || row.group == Group::Synchronise || row.group == Group::Remote ||
      operands.size() != static_cast<std::size_t>(row.arity))
    throw pl::InternalError("'" + std::string(row.name) + "' with " + std::to_string(operands.size()) +
                                " operands has no result type; please report this",
                            location);
  check_dtypes(row, operands, location);
  if (row.group == Group::RowReduce || row.group == Group::ColReduce)
    return {operands[0].dtype, false, reduced(row, operands[0], location)};
  TypeOf result{operands[op == Op::Where ? 1 : 0].dtype, true, {}};
  if (row.group == Group::Compare) result.dtype = DType::Bool;
  if (op == Op::Cast) result.dtype = result_dtype;
  for (const TypeOf& operand : operands) {
    result.is_scalar = result.is_scalar && operand.is_scalar;
    result.shape = broadcast(result.shape, operand.shape, row.name, location);
  }
  return result;
}

}  // namespace trilith::codegen::reference
