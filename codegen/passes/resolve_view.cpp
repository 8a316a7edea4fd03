// Tensors: views, loads and stores, all in the coordinates of the parameter. Part of the walk of resolve.hpp.
#include "codegen/message.hpp"
#include "codegen/passes/describe.hpp"
#include "codegen/passes/fold.hpp"
#include "codegen/passes/resolver.hpp"

#include <utility>

namespace trilith::codegen::passes {
bool Resolver::is_view(const Expr& e) const {
  switch (e.op) {
    case Op::Slice:
    case Op::Index:
    case Op::Store: return true;
    case Op::Variable: return captured_.variables[static_cast<std::size_t>(e.variable)].type.is_tensor();
    case Op::Conditional: return is_view(e.operands[1]);
    default: return false;
  }
}

Binding Resolver::view(const Expr& e) {
  switch (e.op) {
    case Op::Variable: {
      const std::optional<Binding>& binding = bound_to(e.variable);
      if (!binding.has_value())
        throw pl::UserError("the tensor `" + name_of_variable(e.variable) +
                                "` is used before it has a value; give it one on every path to this line",
                            at(e.location));
      return *binding;
    }
    case Op::Slice: return sliced(e);
    case Op::Index: return indexed(e);
    case Op::Store: return store(e, e.location);
    case Op::Conditional: {
      const Expr condition = this->condition(e.operands[0]);
      if (condition.is_constant()) return view(e.operands[condition.value.bits != 0 ? 1 : 2]);
      throw pl::UserError(
          "which tensor is meant is known only when the kernel runs; use if/else with a load or store in "
          "each branch",
          at(e.location));
    }
    default:
      throw pl::InternalError(
          "specialise: '" + std::string(operation(e.op).name) + "' where a tensor is needed", at(e.location));
  }
}

std::vector<Expr> Resolver::parameter_offsets(const Binding& source, const std::vector<Expr>& offsets) const {
  std::vector<Expr> result = source.parts;
  for (std::size_t axis = 0; axis < offsets.size(); ++axis) {
    Expr& part = result[source.dropped + axis];
    part = scalar_operation(Op::Add, DType::Int64, {std::move(part), offsets[axis]}, offsets[axis].location);
    part.location = offsets[axis].location;
  }
  return result;
}

/// Refuses what is provably outside on a line that surely runs; the rest is the emitted code's check.
void Resolver::check_region(const Expr& where, const Binding& source, const std::vector<Expr>& offsets,
                            const std::vector<Dim>& shape) const {
  const std::string operation_name(operation(where.op).name);
  const std::string tensor = name_of_variable(source.tensor) + ": " + type_text(out_, source.type);
  const std::size_t rank = source.type.shape.size();
  if (offsets.size() != rank || shape.size() != rank)
    throw pl::ShapeError(message::region_rank(operation_name, rank, offsets.size(), shape.size()),
                         at(where.location));
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const Dim& extent = source.type.shape[axis];
    const bool known_offset = offsets[axis].is_constant();
    const std::int64_t offset = known_offset ? offsets[axis].value.as_int64() : 0;
    const std::int64_t length = shape[axis].is_constant() ? shape[axis].extent : 0;
    const bool outside =
        offset < 0 || (extent.is_constant() && (offset > extent.extent || length > extent.extent - offset));
    if (!outside || !certain()) continue;
    if (!extent.is_constant() || !shape[axis].is_constant() || !known_offset)
      throw pl::ShapeError(operation_name + ": offset " + expression_text(out_, offsets[axis]) +
                               " with extent " + dim_text(shape[axis]) + " on axis " + std::to_string(axis) +
                               " is not inside the tensor " + tensor +
                               "; make the region smaller or move it inside",
                           at(where.location));
    throw pl::ShapeError(message::region(operation_name, axis, offset, length, extent.extent),
                         at(where.location));
  }
}

Binding Resolver::sliced(const Expr& e) {
  Binding result = view(e.operands[0]);
  const std::vector<Expr> offsets = integers(e.operands[1]);
  const std::vector<Dim> shape = dimensions(e.operands[2]);
  check_region(e, result, offsets, shape);
  result.parts = parameter_offsets(result, offsets);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) result.extents[result.dropped + axis] = shape[axis];
  result.type.shape = shape;
  result.location = e.location;
  return result;
}

Binding Resolver::indexed(const Expr& e) {
  Binding result = view(e.operands[0]);
  const Expr position = integer(e.operands[1]);
  if (result.type.shape.empty()) throw pl::ShapeError(message::no_leading_axis, at(e.location));
  const Dim extent = result.type.shape.front();
  if (certain() && position.is_constant() &&
      (position.value.as_int64() < 0 || (extent.is_constant() && position.value.as_int64() >= extent.extent)))
    throw pl::ShapeError(extent.is_constant()
                             ? message::leading_index(position.value.as_int64(), extent.extent)
                             : "x[i]: index " + std::to_string(position.value.as_int64()) +
                                   " is outside axis 0; positions count from 0",
                         at(e.location));
  // Of a slice the offset is another number than the index.
  if (result.parts[result.dropped].is_constant() && result.parts[result.dropped].value.as_int64() == 0)
    result.indexed |= std::uint32_t{1} << result.dropped;
  result.parts = parameter_offsets(result, {position});
  result.extents[result.dropped] = Dim{1};
  ++result.dropped;
  result.type.shape.erase(result.type.shape.begin());
  result.location = e.location;
  return result;
}

Expr Resolver::load(const Expr& e) {
  const Binding source = view(e.operands[0]);
  const std::size_t rank = source.type.shape.size();
  std::vector<Expr> offsets = integers(e.operands[1]);
  std::vector<Dim> shape = dimensions(e.operands[2]);
  if (offsets.empty() && shape.empty()) {  // pl::load(x): the whole tensor
    offsets.assign(rank, int64_constant(0, e.location));
    shape = source.type.shape;
  }
  std::vector<Dim> valid = shape;
  if (e.operands.size() > 3) valid = asked_valid(e.operands[3], shape, "load", e.location);
  if (e.attributes.clamp) cut_to_tensor(source, offsets, valid, e.location);
  check_region(e, source, offsets, valid);
  std::vector<Expr> lengths;
  for (std::size_t axis = 0; axis < source.dropped; ++axis) lengths.push_back(int64_constant(1, e.location));
  for (const Dim& dim : valid) lengths.push_back(extent_of(dim, e.location));
  Expr result;
  result.op = Op::Load;
  result.type = tile_type(source.type.dtype, std::move(shape), std::move(valid));
  result.location = e.location;
  result.attributes.indexed = source.indexed;
  result.operands = {use(source.tensor, e.location),
                     list_expression(parameter_offsets(source, offsets), e.location),
                     list_expression(std::move(lengths), e.location)};
  return result;
}

/// A tensor operand of a tile call: the parameter, the region of it, and how many axes the view dropped.
void Resolver::add_view(const Expr& e, Expr& call) {
  const Binding source = view(e);
  std::vector<Expr> lengths;
  for (const Dim& extent : source.extents) lengths.push_back(extent_of(extent, e.location));
  call.attributes.axis = static_cast<std::int32_t>(source.dropped);
  call.operands.push_back(use(source.tensor, e.location));
  call.operands.push_back(list_expression(source.parts, e.location));
  call.operands.push_back(list_expression(std::move(lengths), e.location));
}

/// Emits the store and gives the view that was stored to: `y = pl::store(tile, offsets, y)`.
Binding Resolver::store(const Expr& e, const SourceLocation& location) {
  Binding target = view(e.operands[2]);
  const std::string name = name_of_variable(target.tensor);
  Expr tile = evaluate_atom(e.operands[0], name);
  for (const Parameter& parameter : captured_.parameters)
    if (parameter.variable == target.tensor && parameter.access == Access::In)
      throw pl::UserError("store: " + name + " is read-only; declare it pl::Out<...> or pl::InOut<...>",
                          at(location));
  if (!tile.type.is_tile())
    throw pl::ShapeError(
        "store: a scalar is no tile; make one of the shape to be written with pl::full<T>({...}, value)",
        at(location));
  if (tile.type.dtype != target.type.dtype)
    throw pl::DtypeError("store: the tile is " + std::string(name_of(tile.type.dtype)) + " and the tensor " +
                             name + " is " + std::string(name_of(target.type.dtype)) +
                             "; convert the tile with " + cast_hint(target.type.dtype) + "(...)",
                         at(location));
  if (e.attributes.atomic == Atomic::Add && tile.type.dtype == DType::Bool)
    throw pl::DtypeError("store: bools cannot be added; convert the tile with pl::cast<std::int32_t>(...)",
                         at(location));
  std::vector<Expr> offsets = integers(e.operands[1]);
  if (offsets.empty()) offsets.assign(target.type.shape.size(), int64_constant(0, location));
  check_region(e, target, offsets, tile.type.shape);
  Statement statement;
  statement.kind = StatementKind::Evaluate;
  statement.location = location;
  statement.value.op = Op::Store;
  statement.value.attributes = e.attributes;
  statement.value.attributes.indexed = target.indexed;
  statement.value.location = e.location;
  statement.value.operands = {std::move(tile),
                              list_expression(parameter_offsets(target, offsets), e.location),
                              use(target.tensor, e.location)};
  emit(std::move(statement));
  target.location = location;
  return target;
}

}  // namespace trilith::codegen::passes
