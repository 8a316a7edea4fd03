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

namespace {

/// " [{given}, 8] and [3, 8]": the extents that do not agree stand `back` from the end. Nothing where others are run-time
/// values, too, which the fault does not tell.
std::string both_shapes(const Expr& first, const std::string& a, const Expr& second, const std::string& b,
                        std::size_t back) {
  std::string text;
  for (const auto& [tile, number] : {std::pair(&first, a), std::pair(&second, b)}) {
    const std::vector<Dim>& shape = tile->type.shape;
    text += text.empty() ? " [" : " and [";
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      const bool meets = shape.size() - axis == back;
      if (!meets && !shape[axis].is_constant()) return "";
      text += (axis == 0 ? "" : ", ") + (meets ? number : std::to_string(shape[axis].extent));
    }
    text += "]";
  }
  return text;
}

void check_operands(const Expr& value, std::vector<ShapeCheck>& checks) {
  std::vector<const Expr*> tiles;
  for (const Expr& operand : value.operands)
    if (operand.type.is_tile()) tiles.push_back(&operand);
  for (const Expr* tile : tiles) {
    const std::vector<Dim>&shape = tile->type.shape, &result = value.type.shape;
    for (std::size_t back = 1; back <= shape.size(); ++back) {
      const Dim &given = shape[shape.size() - back], &expected = result[result.size() - back];
      if (given == expected || given.is(1)) continue;
      const bool first = tile == tiles.front();
      const std::string a = first ? message::given_word : message::expected_word,
                        b = first ? message::expected_word : message::given_word;
      const std::string shapes = tiles.size() == 2 ? both_shapes(*tiles[0], a, *tiles[1], b, back) : "";
      checks.push_back({given, expected,
                        message::broadcast(operation(value.op).name, shapes, result.size() - back, a, b)});
    }
  }
}

}  // namespace

std::vector<ShapeCheck> shape_checks(const Kernel& kernel, const Expr& value) {
  std::vector<ShapeCheck> checks;
  const Group group = operation(value.op).group;
  if (value.op == Op::Full) {
    for (std::size_t axis = 0; axis < value.type.shape.size(); ++axis) {
      const Dim& dim = value.type.shape[axis];
      if (!dim.is_constant() && kernel.variables[dim.variable].kind != VariableKind::Extent)
        checks.push_back({dim, {}, "full " + std::to_string(axis)});
    }
  } else if (value.type.is_tile() && group != Group::RowReduce && group != Group::ColReduce) {
    check_operands(value, checks);
  }
  return checks;
}

}  // namespace trilith::codegen::passes
