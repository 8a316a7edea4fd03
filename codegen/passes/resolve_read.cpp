// One element of a tile as a scalar: a statement of its own, since it may fault. Part of the walk of
// resolve.hpp.
#include "codegen/message.hpp"
#include "codegen/passes/describe.hpp"
#include "codegen/passes/fold.hpp"
#include "codegen/passes/resolver.hpp"

#include <utility>

namespace trilith::codegen::passes {

Expr Resolver::evaluate_read(const Expr& e, const std::string& name) {
  Expr tile = evaluate_atom(e.operands[0], name);
  std::vector<Expr> offsets = integers(e.operands[1]);
  if (!tile.type.is_tile()) throw pl::ShapeError("read: a scalar has no elements", at(e.location));
  const std::vector<Dim>& shape = tile.type.shape;
  if (offsets.size() != shape.size())
    throw pl::ShapeError("read: " + std::to_string(offsets.size()) + " offsets in a tile of rank " +
                             std::to_string(shape.size()) + "; give one for each axis",
                         at(e.location));
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (!offsets[axis].is_constant()) continue;
    const std::int64_t given = offsets[axis].value.as_int64();
    if (given < 0 || (shape[axis].is_constant() && given >= shape[axis].extent))
      throw pl::ShapeError(
          message::index_outside("read: axis " + std::to_string(axis), given, shape[axis].extent),
          at(e.location));
  }
  Expr read;
  read.op = Op::Read;
  read.type = Type::scalar(tile.type.dtype);
  read.location = e.location;
  read.operands = {std::move(tile), list_expression(std::move(offsets), e.operands[1].location)};
  const VariableId id = new_variable(name, read.type, e.location);
  emit(assignment(id, std::move(read), e.location));
  return use(id, e.location);
}

}  // namespace trilith::codegen::passes
