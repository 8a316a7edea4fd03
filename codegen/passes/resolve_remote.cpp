// Operations on windows: the same views, offsets and regions as loads and stores. What only a run can tell, such as
// how many ranks there are, the host checks. Part of the walk of resolve.hpp.
#include "codegen/message.hpp"
#include "codegen/passes/describe.hpp"
#include "codegen/passes/fold.hpp"
#include "codegen/passes/resolver.hpp"
#include "codegen/remote.hpp"

#include <cstdint>
#include <limits>
#include <utility>

namespace trilith::codegen::passes {
namespace {

std::string name_of_operation(const Expr& e) { return std::string(name_in_pld(e.op)); }

std::vector<Expr> zeros(std::size_t count, const SourceLocation& location) {
  return std::vector<Expr>(count, int64_constant(0, location));
}

}  // namespace

/// An operand that is a window, or a view of one.
Binding Resolver::window(const Expr& e, int operand) {
  Binding window = view(e.operands[static_cast<std::size_t>(operand)]);
  for (const Parameter& parameter : captured_.parameters)
    if (parameter.variable == window.tensor && !parameter.window)
      throw pl::UserError(name_of_operation(e) + ": " + name_of_variable(window.tensor) +
                              " is no window; declare it pld::DistributedTensor<...>",
                          at(e.location));
  return window;
}

/// The same of int32.
Binding Resolver::cells(const Expr& e, int operand) {
  Binding window = this->window(e, operand);
  if (window.type.dtype != DType::Int32)
    throw pl::DtypeError(name_of_operation(e) + ": the cells of " + name_of_variable(window.tensor) +
                             " are " + std::string(name_of(window.type.dtype)) +
                             " and must be int32; declare it pld::DistributedTensor<std::int32_t, ...>",
                         at(e.location));
  return window;
}

/// What the operation works on.
Binding Resolver::target(const Expr& e, const RemoteOperands& roles) {
  Binding window =
      e.op == Op::Notify || is_signal_wait(e.op) ? cells(e, roles.window) : this->window(e, roles.window);
  if (!accepts(operation(e.op).dtypes, window.type.dtype) ||
      (e.attributes.atomic == Atomic::Add && window.type.dtype == DType::Bool))
    throw pl::DtypeError(name_of_operation(e) + ": bools cannot be added; use a window of another dtype",
                         at(e.location));
  return window;
}

/// The number of a rank.
Expr Resolver::peer(const Expr& e, int operand) {
  Expr peer = integer(e.operands[static_cast<std::size_t>(operand)]);
  if (certain() && peer.is_constant() && peer.value.as_int64() < 0)
    throw pl::CommError(name_of_operation(e) + ": there is no rank " + std::to_string(peer.value.as_int64()) +
                            "; ranks count from 0 to pld::nranks(window) - 1",
                        at(e.location));
  return peer;
}

Expr Resolver::signal_value(const Expr& e, const RemoteOperands& roles) {
  Expr value = integer(e.operands[static_cast<std::size_t>(roles.value)]);
  if (value.is_constant() && (value.value.as_int64() < std::numeric_limits<std::int32_t>::min() ||
                              value.value.as_int64() > std::numeric_limits<std::int32_t>::max()))
    throw pl::CommError(name_of_operation(e) + ": " + std::to_string(value.value.as_int64()) +
                            " is no value of a cell, which is an int32",
                        at(e.location));
  return value;
}

/// The other tensor of a put or get must be like the window.
void Resolver::check_other(const Expr& e, const Binding& window, const Binding& other) const {
  const std::string what = name_of_operation(e) + ": " + name_of_variable(other.tensor) + " is " +
                           type_text(out_, other.type) + " and the window " +
                           name_of_variable(window.tensor) + " " + type_text(out_, window.type);
  if (other.type.dtype != window.type.dtype)
    throw pl::DtypeError(what + "; both must have one dtype", at(e.location));
  if (other.type.shape.size() != window.type.shape.size())
    throw pl::ShapeError(what + "; both must have one rank: take a part with x[i]", at(e.location));
  if (e.op != Op::RemoteGet) return;
  for (const Parameter& parameter : captured_.parameters)
    if (parameter.variable == other.tensor && parameter.access == Access::In)
      throw pl::UserError("get: " + name_of_variable(other.tensor) +
                              " is read-only; declare it pl::Out<...> or pl::InOut<...>",
                          at(e.location));
}

/// Cells that a collective uses beside its data, as a region of their window.
void Resolver::set_cells(const Expr& e, const CellOperands& roles, Expr& result) {
  if (!roles.given()) return;
  const Binding binding = cells(e, roles.window);
  const auto set = [&](int role, Expr value) {
    result.operands[static_cast<std::size_t>(role)] = std::move(value);
  };
  std::vector<Expr> lengths(binding.dropped, int64_constant(1, e.location));
  for (const Dim& dim : binding.type.shape) lengths.push_back(extent_of(dim, e.location));
  set(roles.window, use(binding.tensor, e.location));
  set(roles.offsets,
      list_expression(parameter_offsets(binding, zeros(binding.type.shape.size(), e.location)), e.location));
  set(roles.shape, list_expression(std::move(lengths), e.location));
}

/// The operation with its operands resolved: offsets and shapes in the coordinates of the parameters.
Expr Resolver::remote(const Expr& e, const std::string& name) {
  const RemoteOperands roles = remote_operands(e);
  Expr result;
  result.op = e.op;
  result.attributes = e.attributes;
  result.location = e.location;
  result.operands.resize(e.operands.size());
  const auto role = [&](int number) -> Expr& { return result.operands[static_cast<std::size_t>(number)]; };
  const auto given = [&](int number) -> const Expr& { return e.operands[static_cast<std::size_t>(number)]; };
  if (e.op == Op::Fence) return result;
  if (roles.tile >= 0) role(roles.tile) = evaluate_atom(given(roles.tile), name);
  const Binding target = this->target(e, roles);
  const std::size_t rank = target.type.shape.size();
  role(roles.window) = use(target.tensor, e.location);
  if (roles.peer >= 0) role(roles.peer) = peer(e, roles.peer);
  if (roles.to >= 0) role(roles.to) = peer(e, roles.to);
  set_cells(e, roles.counts, result);
  set_cells(e, roles.signal, result);
  if (roles.value >= 0) role(roles.value) = signal_value(e, roles);
  if (is_rank_scalar(e.op)) {
    result.type = Type::scalar(DType::Int32);
    return result;
  }

  std::vector<Expr> offsets = integers(given(roles.offsets));
  std::vector<Dim> shape;
  if (roles.tile >= 0) {
    const Type& tile = role(roles.tile).type;
    if (!tile.is_tile())
      throw pl::ShapeError(name_of_operation(e) +
                               ": a scalar is no tile; make one of the shape to be written with "
                               "pl::full<T>({...}, value)",
                           at(e.location));
    if (tile.dtype != target.type.dtype)
      throw pl::DtypeError(name_of_operation(e) + ": the tile is " + std::string(name_of(tile.dtype)) +
                               " and the window " + name_of_variable(target.tensor) + " is " +
                               std::string(name_of(target.type.dtype)) + "; convert the tile with " +
                               cast_hint(target.type.dtype) + "(...)",
                           at(e.location));
    shape = tile.shape;
    if (offsets.empty()) offsets = zeros(rank, e.location);
  } else if (roles.value >= 0) {
    if (offsets.empty()) offsets = zeros(rank, e.location);
    shape.assign(rank, Dim{1});
  } else if (roles.other >= 0) {
    const Binding other = view(given(roles.other));
    check_other(e, target, other);
    std::vector<Expr> other_offsets = integers(given(roles.other_offsets));
    shape = dimensions(given(roles.shape));
    const bool any = !offsets.empty() || !other_offsets.empty() || !shape.empty();
    if (any && (offsets.empty() || other_offsets.empty() || shape.empty()))
      throw pl::ShapeError(name_of_operation(e) +
                               ": dst_offsets, src_offsets and shape belong together; give all of them or "
                               "none, which means the whole tensor",
                           at(e.location));
    if (!any) {
      offsets = other_offsets = zeros(rank, e.location);
      shape = other.type.shape;
    }
    check_region(e, other, other_offsets, shape);
    role(roles.other) = use(other.tensor, e.location);
    role(roles.other_offsets) = list_expression(parameter_offsets(other, other_offsets), e.location);
  } else {
    shape = dimensions(given(roles.shape));
    if (offsets.empty() && shape.empty()) {
      offsets = zeros(rank, e.location);
      shape = target.type.shape;
    }
    // A shape alone is the region at the origin, as natively.
    if (offsets.empty()) offsets = zeros(rank, e.location);
    if (is_collective(e.op)) result.attributes.axis = static_cast<std::int32_t>(target.dropped);
  }
  check_region(e, target, offsets, shape);
  if (has_rows(e.op) && rank == 0)
    throw pl::ShapeError(name_of_operation(e) + ": the window " + name_of_variable(target.tensor) +
                             " has no rows; it needs one for each rank",
                         at(e.location));
  role(roles.offsets) = list_expression(parameter_offsets(target, offsets), e.location);
  if (roles.shape >= 0) {
    std::vector<Expr> lengths(target.dropped, int64_constant(1, e.location));
    for (const Dim& dim : shape) lengths.push_back(extent_of(dim, e.location));
    role(roles.shape) = list_expression(std::move(lengths), e.location);
  }
  if (e.op == Op::RemoteLoad) result.type = Type::tile(target.type.dtype, shape);
  return result;
}

/// A scalar that the host is asked for gets a variable of its own.
Expr Resolver::remote_value(const Expr& e, const std::string& name) {
  Expr value = remote(e, name);
  if (!value.type.is_scalar()) return value;
  const VariableId id = new_variable(name, value.type, e.location);
  emit(assignment(id, std::move(value), e.location));
  return use(id, e.location);
}

}  // namespace trilith::codegen::passes
