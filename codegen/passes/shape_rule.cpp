#include "codegen/passes/shape_rule.hpp"

#include "codegen/message.hpp"
#include "codegen/passes/describe.hpp"
#include "codegen/reference.hpp"

#include <algorithm>
#include <string>

namespace trilith::codegen::passes {
namespace {

Type reduced(const Kernel& kernel, const Operation& row, const Expr& operand, const pl::Location& location) {
  const std::size_t axes = row.group == Group::RowReduce ? 1 : 2;
  if (!operand.type.is_tile() || operand.type.shape.size() < axes)
    throw pl::ShapeError(
        std::string(row.name) + " needs a tile of rank " + std::to_string(axes) + " or more, not " +
            (operand.type.is_tile() ? "shape " + shape_text(kernel, operand.type.shape) : "a scalar"),
        location);
  Type type = operand.type;
  type.shape[type.shape.size() - axes] = Dim{1};
  return type;
}

}  // namespace

std::vector<Dim> broadcast(const Kernel& kernel, const std::vector<Dim>& a, const std::vector<Dim>& b,
                           std::string_view operation, const pl::Location& location) {
  const std::size_t rank = std::max(a.size(), b.size());
  std::vector<Dim> result(rank);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const Dim x = axis + a.size() < rank ? Dim{1} : a[axis + a.size() - rank];
    const Dim y = axis + b.size() < rank ? Dim{1} : b[axis + b.size() - rank];
    Dim& to = result[axis];
    if (x == y || y.is(1)) {
      to = x;
    } else if (x.is(1)) {
      to = y;
    } else if (x.is_constant() && y.is_constant()) {
      throw pl::ShapeError(
          message::broadcast(operation, " " + shape_text(kernel, a) + " and " + shape_text(kernel, b), axis,
                             x.extent, y.extent),
          location);
    } else {
      to = y.is_constant() ? y : x;
    }
  }
  return result;
}

Type result_type(const Kernel& kernel, Op op, const std::vector<Expr>& operands, DType cast_to,
                 const pl::Location& location) {
  const Operation& row = operation(op);
  if (row.group == Group::Identity) return Type::scalar(DType::Int32);
  const bool reduces = row.group == Group::RowReduce || row.group == Group::ColReduce;
  // dtypes follow the reference's own rule; shapes are symbolic here, so it sees a stand-in for each.
  std::vector<reference::TypeOf> stand_ins;
  for (const Expr& operand : operands)
    stand_ins.push_back(
        {operand.type.dtype, !reduces && operand.type.is_scalar(), Shape(reduces ? 2 : 0, 1)});
  const reference::TypeOf rule = reference::result_type(op, stand_ins, cast_to, location);
  if (reduces) return reduced(kernel, row, operands[0], location);
  Type type = Type::scalar(rule.dtype);
  for (const Expr& operand : operands) {
    if (!operand.type.is_tile()) continue;
    type.shape = type.is_tile() ? broadcast(kernel, type.shape, operand.type.shape, row.name, location)
                                : operand.type.shape;
    type.kind = TypeKind::Tile;
  }
  return type;
}

bool needs_shape_check(const std::vector<Expr>& operands) {
  for (const Expr& a : operands)
    for (const Expr& b : operands)
      for (std::size_t i = 1; i <= std::min(a.type.shape.size(), b.type.shape.size()); ++i) {
        const Dim& x = a.type.shape[a.type.shape.size() - i];
        const Dim& y = b.type.shape[b.type.shape.size() - i];
        if (!(x == y) && !x.is(1) && !y.is(1)) return true;
      }
  return false;
}

}  // namespace trilith::codegen::passes
