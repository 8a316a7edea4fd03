// Values: scalar trees and tile operations. Part of the walk of resolve.hpp.
#include "codegen/message.hpp"
#include "codegen/passes/describe.hpp"
#include "codegen/passes/fold.hpp"
#include "codegen/passes/literal.hpp"
#include "codegen/passes/resolver.hpp"
#include "codegen/passes/shape_rule.hpp"
#include "codegen/tile_call.hpp"

#include <utility>

namespace trilith::codegen::passes {
Expr default_value(const Type& type, const SourceLocation& location) {
  Expr zero = constant_expression({type.dtype, 0}, location);
  if (!type.is_tile()) return zero;
  Expr value;
  value.op = Op::Full;
  value.type = type;
  value.location = location;
  std::vector<Expr> shape;
  for (const Dim& dim : type.shape) {
    if (dim.is_constant()) {
      shape.push_back(int64_constant(dim.extent, location));
      continue;
    }
    Expr extent;
    extent.op = Op::Variable;
    extent.variable = dim.variable;
    extent.type = Type::scalar(DType::Int64);
    extent.location = location;
    shape.push_back(std::move(extent));
  }
  value.operands = {list_expression(std::move(shape), location), std::move(zero)};
  return value;
}

/// A scalar tree, or a tile: a variable or one operation on variables and scalars. Only what is written as a
/// literal takes the dtype of what is beside it; a constant that folding found keeps its own.
Expr Resolver::evaluate(const Expr& e, const std::string& name) {
  Expr value = value_of_expression(e, name);
  value.literal = e.literal && value.is_constant();
  return value;
}

Expr Resolver::value_of_expression(const Expr& e, const std::string& name) {
  switch (e.op) {
    case Op::Constant: return constant_expression(e.value, e.location);
    case Op::Variable: {
      const std::optional<Binding>& binding = bound_to(e.variable);
      if (!binding.has_value())
        throw pl::UserError("`" + name_of_variable(e.variable) +
                                "` is read before it has a value; give it one on every path to this line",
                            at(e.location));
      return use_of(*binding, e, name_of_variable(e.variable));
    }
    case Op::Conditional: return evaluate_conditional(e, name);
    case Op::Dim:
    case Op::Valid:
    case Op::Rank: return evaluate_extent(e, name);
    case Op::SetValid: return evaluate_set_valid(e, name);
    case Op::Fillpad: return evaluate_fillpad(e, name);
    case Op::Full: return evaluate_full(e, name);
    case Op::Load: return load(e);
    case Op::Read: return evaluate_read(e, name);
    case Op::CommRank:
    case Op::CommSize:
    case Op::RemoteLoad: return remote_value(e, name);
    case Op::BlockIdx:
    case Op::BlockNum:
    case Op::SubblockIdx: return scalar_operation(e.op, DType::Int32, {}, e.location);
    case Op::List:
    case Op::Slice:
    case Op::Index:
    case Op::Store:
    case Op::Print:
      throw pl::InternalError(
          "specialise: '" + std::string(operation(e.op).name) + "' where a value is needed", at(e.location));
    default:
      if (operation(e.op).group == Group::Reduce) return evaluate_reduction(e, name);
      return is_tile_call(e.op) ? evaluate_tile_call(e, name) : evaluate_operation(e, name);
  }
}

Expr Resolver::use_of(const Binding& binding, const Expr& where, const std::string& name) const {
  if (binding.is_view())
    throw pl::InternalError("specialise: the tensor " + name + " where a value is needed",
                            at(where.location));
  Expr value = binding.parts[0];
  value.location = where.location;
  return value;
}

/// Gives a tile operation a variable of its own; scalars and variables stay what they are.
Expr Resolver::atom(Expr value, const std::string& name) {
  if (!value.type.is_tile() || value.op == Op::Variable) return value;
  const SourceLocation location = value.location;
  const VariableId id =
      new_variable(name + "_" + std::string(operation(value.op).name), value.type, location);
  emit(assignment(id, std::move(value), location));
  return use(id, location);
}

Expr Resolver::evaluate_atom(const Expr& e, const std::string& name) { return atom(evaluate(e, name), name); }

Expr Resolver::evaluate_operation(const Expr& e, const std::string& name) {
  Expr result;
  result.op = e.op;
  result.attributes = e.attributes;
  result.location = e.location;
  for (const Expr& operand : e.operands) result.operands.push_back(evaluate_atom(operand, name));
  if (e.op != Op::Cast) unify_literals(captured_, e.op, result.operands);
  if (partly_valid(result.operands)) return on_valid_boxes(std::move(result), e.type.dtype, name);
  result.type = result_type(out_, e.op, result.operands, e.type.dtype, at(e.location));
  return result.type.is_scalar() ? decided(fold(std::move(result))) : result;
}

Expr Resolver::evaluate_conditional(const Expr& e, const std::string& name) {
  Expr condition = this->condition(e.operands[0]);
  if (condition.is_constant()) return evaluate(e.operands[condition.value.bits != 0 ? 1 : 2], name);
  if (e.operands[1].type.is_tile()) return choose_tile(e, std::move(condition), name);
  std::vector<Expr> sides = {evaluate(e.operands[1], name), evaluate(e.operands[2], name)};
  unify_literals(captured_, Op::Conditional, sides);
  if (sides[0].type != sides[1].type)
    throw pl::DtypeError("conditional: one side is " + type_text(out_, sides[0].type) + " and the other " +
                             type_text(out_, sides[1].type) + "; convert one with " +
                             cast_hint(sides[0].type.dtype) + "(...)",
                         at(e.location));
  const DType dtype = sides[0].type.dtype;
  return scalar_operation(Op::Conditional, dtype,
                          {std::move(condition), std::move(sides[0]), std::move(sides[1])}, e.location);
}

Expr Resolver::condition(const Expr& e) {
  Expr value = evaluate(e, "condition");
  if (!value.type.is_scalar())
    throw pl::ShapeError("a condition must be one bool, and this is the tile " + type_text(out_, value.type) +
                             "; choose element by element with pl::where(condition, a, b)",
                         at(e.location));
  return converted(std::move(value), DType::Bool);
}

/// `c ? a : b` on tiles: only one side may be computed, so it becomes an If.
Expr Resolver::choose_tile(const Expr& e, Expr condition, const std::string& name) {
  Statement choice;
  choice.kind = StatementKind::If;
  choice.location = e.location;
  choice.value = std::move(condition);
  Expr sides[2];
  for (int side = 0; side < 2; ++side) {
    std::vector<Statement>& list = side == 0 ? choice.body : choice.else_body;
    open(list);
    ++conditional_;
    sides[side] = evaluate_atom(e.operands[static_cast<std::size_t>(side + 1)], name);
    --conditional_;
    close();
  }
  if (!(sides[0].type == sides[1].type))
    throw pl::ShapeError("conditional: one side is " + type_text(out_, sides[0].type) + " and the other " +
                             type_text(out_, sides[1].type) + "; both must have one shape and dtype",
                         at(e.location));
  const VariableId chosen = new_variable(name, sides[0].type, e.location);
  storage_[static_cast<std::size_t>(chosen)] = true;
  choice.body.push_back(assignment(chosen, std::move(sides[0]), e.location));
  choice.else_body.push_back(assignment(chosen, std::move(sides[1]), e.location));
  emit(std::move(choice));
  return use(chosen, e.location);
}

namespace {

std::pair<Op, Op> row_and_column(Op op) {
  switch (op) {
    case Op::Sum: return {Op::RowSum, Op::ColSum};
    case Op::Prod: return {Op::RowProd, Op::ColProd};
    case Op::Max: return {Op::RowMax, Op::ColMax};
    case Op::Min: return {Op::RowMin, Op::ColMin};
    default: return {Op::RowMean, Op::ColMean};
  }
}

}  // namespace

/// A reduction over any axis: of the rows, of the columns, or of the columns of [outer, extent, inner].
Expr Resolver::evaluate_reduction(const Expr& e, const std::string& name) {
  Expr operand = evaluate_atom(e.operands[0], name);
  const std::string operation_name(operation(e.op).name);
  if (!operand.type.is_tile())
    throw pl::ShapeError(operation_name + " needs a tile, not a scalar", at(e.location));
  std::vector<Dim> whole = operand.type.whole_shape();
  operand.type.physical.clear();
  const std::vector<Dim> shape = operand.type.shape;
  const auto rank = static_cast<std::int32_t>(shape.size());
  std::int32_t axis = e.attributes.axis;
  if (axis < -rank || axis >= rank)
    throw pl::ShapeError(operation_name + ": axis " + std::to_string(axis) + " of a tile of rank " +
                             std::to_string(rank) + "; axes are 0 to rank - 1, or negative from the end",
                         at(e.location));
  if (axis < 0) axis += rank;
  const auto [row, column] = row_and_column(e.op);
  whole[static_cast<std::size_t>(axis)] = Dim{1};
  const auto typed = [&](Expr made) {
    made.type = tile_type(made.type.dtype, std::move(whole), made.type.shape);
    return made;
  };
  const auto make = [&](Op op, std::vector<Expr> operands) {
    Expr made;
    made.op = op;
    made.location = e.location;
    made.operands = std::move(operands);
    made.type = result_type(out_, op, made.operands, made.operands[0].type.dtype, at(e.location));
    return made;
  };
  if (axis + 1 == rank) return typed(make(row, {std::move(operand)}));
  if (axis + 2 == rank) return typed(make(column, {std::move(operand)}));
  const auto reshaped = [&](Expr tile, std::vector<Dim> to) {
    Expr made;
    made.op = Op::Reshape;
    made.location = e.location;
    std::vector<Expr> extents;
    for (const Dim& dim : to) extents.push_back(extent_of(dim, e.location));
    made.type = Type::tile(tile.type.dtype, std::move(to));
    made.operands = {atom(std::move(tile), name), list_expression(std::move(extents), e.location)};
    return made;
  };
  const auto product_of = [&](std::int32_t from, std::int32_t to) {
    Expr product = int64_constant(1, e.location);
    for (std::int32_t i = from; i < to; ++i)
      product = scalar_operation(
          Op::Mul, DType::Int64,
          {std::move(product), extent_of(shape[static_cast<std::size_t>(i)], e.location)}, e.location);
    return dimension_of(product);
  };
  const Dim extent = shape[static_cast<std::size_t>(axis)];
  Expr flat = reshaped(std::move(operand), {product_of(0, axis), extent, product_of(axis + 1, rank)});
  Expr reduced = make(column, {atom(std::move(flat), name)});
  std::vector<Dim> result = shape;
  result[static_cast<std::size_t>(axis)] = Dim{1};
  return typed(reshaped(std::move(reduced), std::move(result)));
}

Expr Resolver::evaluate_tile_call(const Expr& e, const std::string& name) {
  Expr result;
  result.op = e.op;
  result.attributes = e.attributes;
  result.location = e.location;
  result.type = e.type;  // the dtype asked for, if any
  std::optional<DType> beside;
  for (std::size_t i = 0; i < e.operands.size(); ++i) {
    const Expr& operand = e.operands[i];
    if (operand.type.is_tensor()) {
      add_view(operand, result);
      i += 2;
      continue;
    }
    if (operand.op == Op::List) {
      result.operands.push_back(list_expression(integers(operand), operand.location));
      continue;
    }
    result.operands.push_back(evaluate_atom(operand, name));
    const Type& type = result.operands.back().type;
    if (!beside && type.is_tile()) beside = type.dtype;
  }
  if (!beside && !e.type.any_dtype) beside = e.type.dtype;
  for (Expr& operand : result.operands)
    if (operand.literal && operand.is_constant() && beside)
      operand = literal_as(captured_, std::move(operand), *beside, operation(e.op).name);
  if (partly_valid(result.operands)) return on_valid_boxes(std::move(result), e.type.dtype, name);
  const TileCallType type = tile_call_type(out_, result, at(e.location));
  std::vector<Dim> shape;
  for (const Expr& extent : type.shape) shape.push_back(dimension_of(extent));
  result.type = Type::tile(type.dtype, std::move(shape));
  return result;
}

Expr Resolver::evaluate_full(const Expr& e, const std::string& name) {
  const std::vector<Dim> shape = dimensions(e.operands[0]);
  std::vector<Expr> element = {evaluate(e.operands[1], name)};
  if (element[0].type.is_tile())
    throw pl::ShapeError(
        "full: the element must be a scalar, not a tile of shape " + shape_text(out_, element[0].type.shape),
        at(e.location));
  const DType dtype = e.type.any_dtype ? element[0].type.dtype : e.type.dtype;
  if (element[0].literal && element[0].is_constant())
    element[0] = literal_as(captured_, std::move(element[0]), dtype, "full");
  if (element[0].type.dtype != dtype)
    throw pl::DtypeError("full: the element is " + std::string(name_of(element[0].type.dtype)) +
                             " and the tile " + std::string(name_of(dtype)) + "; convert it with " +
                             cast_hint(dtype) + "(...)",
                         at(e.location));
  Expr full = default_value(Type::tile(dtype, shape), e.location);
  full.operands[1] = std::move(element[0]);
  return full;
}

/// Type of a tensor or tile that is asked for its extents.
Type Resolver::type_of(const Expr& e, const std::string& name) {
  return is_view(e) ? view(e).type : evaluate(e, name).type;
}

Expr Resolver::evaluate_extent(const Expr& e, const std::string& name) {
  const Type type = type_of(e.operands[0], name);
  const std::vector<Dim>& shape = e.op == Op::Valid ? type.shape : type.whole_shape();
  const auto rank = static_cast<std::int64_t>(shape.size());
  if (type.is_scalar())
    throw pl::ShapeError(std::string(operation(e.op).name) + ": a scalar has no shape", at(e.location));
  if (e.op == Op::Rank) return int64_constant(rank, e.location);
  const Expr axis = integer(e.operands[1]);
  if (!axis.is_constant())
    throw pl::ShapeError("dim: the axis must be a constant; loop over axes with pl::unroll", at(e.location));
  const std::int64_t number = axis.value.as_int64();
  if (number < 0 || number >= rank)
    throw pl::ShapeError("dim: axis " + std::to_string(number) + " of " + type_text(out_, type) +
                             ", which has rank " + std::to_string(rank) + "; axes count from 0",
                         at(e.location));
  return extent_of(shape[static_cast<std::size_t>(number)], e.location);
}

Expr Resolver::extent_of(const Dim& dim, const SourceLocation& location) const {
  return dim.is_constant() ? int64_constant(dim.extent, location) : use(dim.variable, location);
}

/// An offset, extent or bound: any integer, as int64.
Expr Resolver::integer(const Expr& e) {
  Expr value = evaluate(e, "index");
  if (!value.type.is_scalar() || is_floating(value.type.dtype))
    throw pl::DtypeError("an offset, extent or bound must be an integer, not " + type_text(out_, value.type) +
                             "; convert it with pl::cast<std::int64_t>(...)",
                         at(e.location));
  return converted(std::move(value), DType::Int64);
}

std::vector<Expr> Resolver::integers(const Expr& list) {
  std::vector<Expr> result;
  for (const Expr& item : list.operands) result.push_back(integer(item));
  return result;
}

Dim Resolver::dimension(const Expr& e) {
  const Expr value = integer(e);
  if (value.is_constant() && value.value.as_int64() < 0)
    throw pl::ShapeError(message::negative_extent(value.value.as_int64()), at(e.location));
  return dimension_of(value);
}

/// An int64 scalar as an extent.
Dim Resolver::dimension_of(const Expr& value) {
  if (value.is_constant()) return {value.value.as_int64()};
  // A variable that is assigned in several places may have changed by the time the shape is used.
  if (value.op == Op::Variable && !storage_[static_cast<std::size_t>(value.variable)])
    return {0, value.variable};
  return {0, numbered_extent(value)};
}

std::vector<Dim> Resolver::dimensions(const Expr& list) {
  std::vector<Dim> result;
  for (const Expr& item : list.operands) result.push_back(dimension(item));
  if (result.size() > static_cast<std::size_t>(max_rank))
    throw pl::ShapeError("a shape of rank " + std::to_string(result.size()) + " is above the largest, " +
                             std::to_string(max_rank),
                         at(list.location));
  return result;
}

}  // namespace trilith::codegen::passes
