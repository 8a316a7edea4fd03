#include "codegen/passes/bind_signature.hpp"

#include "codegen/error.hpp"
#include "codegen/passes/describe.hpp"

#include <map>
#include <string>
#include <utility>

namespace trilith::codegen::passes {
namespace {

std::string argument_start(const Variable& variable, std::size_t index) {
  return "argument " + std::to_string(index + 1) + " (" + variable.name + "): ";
}

std::string given_and_declared(const Kernel& kernel, const Variable& variable, std::size_t index,
                               const ArgumentSignature& given) {
  return argument_start(variable, index) + argument_text(given.dtype, given.extents) +
         " was given, but the kernel declares " + type_text(kernel, variable.type);
}

void check_dtype(const Kernel& kernel, const Variable& variable, std::size_t index,
                 const ArgumentSignature& given) {
  const pl::Location location = place(kernel, variable.location);
  if (!variable.type.any_dtype && variable.type.dtype != given.dtype)
    throw pl::DtypeError(given_and_declared(kernel, variable, index, given) + "; pass an array of " +
                             std::string(name_of(variable.type.dtype)) + " or declare pl::Tensor<>",
                         location);
}

void check_shape(const Kernel& kernel, const Variable& variable, std::size_t index,
                 const ArgumentSignature& given) {
  const pl::Location location = place(kernel, variable.location);
  if (given.extents.size() > static_cast<std::size_t>(max_rank))
    throw pl::ShapeError(argument_start(variable, index) + "rank " + std::to_string(given.extents.size()) +
                             " is above the largest, " + std::to_string(max_rank) +
                             "; merge axes before the call",
                         location);
  if (variable.type.any_shape) return;
  const std::vector<Dim>& declared = variable.type.shape;
  bool agrees = declared.size() == given.extents.size();
  for (std::size_t axis = 0; agrees && axis < declared.size(); ++axis)
    agrees = !declared[axis].is_constant() || given.extents[axis] < 0 ||
             declared[axis].extent == given.extents[axis];
  if (!agrees)
    throw pl::ShapeError(given_and_declared(kernel, variable, index, given) +
                             "; pass a tensor of that shape, or declare pl::Tensor<T> for any shape or "
                             "pl::dynamic for a run-time extent",
                         location);
}

/// The variables of shared extents that were made so far.
using SharedExtents = std::map<std::int64_t, VariableId>;

void bind_tensor(Kernel& kernel, VariableId id, const ArgumentSignature& given, SharedExtents& shared) {
  const std::string name = kernel.variables[static_cast<std::size_t>(id)].name;
  const SourceLocation location = kernel.variables[static_cast<std::size_t>(id)].location;
  Type type = kernel.variables[static_cast<std::size_t>(id)].type;
  type.dtype = given.dtype;
  if (type.any_shape) {
    type.shape.clear();
    for (std::size_t axis = 0; axis < given.extents.size(); ++axis) {
      if (given.extents[axis] >= 0) {
        type.shape.push_back({given.extents[axis]});
        continue;
      }
      const bool is_shared = is_shared_extent(given.extents[axis]);
      if (const auto known = shared.find(given.extents[axis]); is_shared && known != shared.end()) {
        type.shape.push_back({0, known->second});
        continue;
      }
      if (is_shared) shared[given.extents[axis]] = static_cast<VariableId>(kernel.variables.size());
      kernel.variables.push_back(
          {name + "_" + std::to_string(axis), Type::scalar(DType::Int64), VariableKind::Extent, location});
      type.shape.push_back({0, static_cast<VariableId>(kernel.variables.size() - 1)});
    }
  }
  type.any_dtype = type.any_shape = false;
  kernel.variables[static_cast<std::size_t>(id)].type = std::move(type);
}

/// `pl::specialised` extents become constants, wherever they stand in a type or an expression.
void bind_specialised_extents(Bound& bound, const Signature& signature) {
  Kernel& kernel = bound.kernel;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const Type& type = kernel.variables[static_cast<std::size_t>(kernel.parameters[i].variable)].type;
    for (std::size_t axis = 0; axis < type.shape.size(); ++axis) {
      const Dim& dim = type.shape[axis];
      if (dim.is_constant() || !kernel.variables[static_cast<std::size_t>(dim.variable)].specialised)
        continue;
      const std::int64_t extent = signature.arguments[i].extents[axis];
      if (extent >= 0) bound.constants[static_cast<std::size_t>(dim.variable)] = Constant::of(extent);
    }
  }
  for (Variable& variable : kernel.variables)
    for (Dim& dim : variable.type.shape)
      if (!dim.is_constant() && bound.constants[static_cast<std::size_t>(dim.variable)])
        dim = {bound.constants[static_cast<std::size_t>(dim.variable)]->as_int64()};
}

void check_scalar(const Kernel& kernel, const Variable& variable, std::size_t index,
                  const ArgumentSignature& given) {
  if (given.dtype != variable.type.dtype)
    throw pl::DtypeError(argument_start(variable, index) + std::string(name_of(given.dtype)) +
                             " was given, but the kernel declares a scalar of " +
                             std::string(name_of(variable.type.dtype)) + "; convert it before the call",
                         place(kernel, variable.location));
}

}  // namespace

Bound bind_signature(const Kernel& captured, const Signature& signature) {
  if (captured.specialised) throw pl::InternalError("specialise: the kernel is specialised already");
  if (signature.arguments.size() != captured.parameters.size() ||
      (!signature.captures.empty() && signature.captures.size() != captured.captures.size()))
    throw pl::InternalError(
        "specialise: the signature has " + std::to_string(signature.arguments.size()) + " arguments and " +
        std::to_string(signature.captures.size()) + " captures, kernel " + captured.name + " has " +
        std::to_string(captured.parameters.size()) + " and " + std::to_string(captured.captures.size()));
  Bound bound{captured, {}};
  Kernel& kernel = bound.kernel;
  bound.constants.resize(kernel.variables.size());
  SharedExtents shared;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const Parameter& parameter = kernel.parameters[i];
    const Variable variable = kernel.variables[static_cast<std::size_t>(parameter.variable)];
    const ArgumentSignature& given = signature.arguments[i];
    if (given.is_tensor != variable.type.is_tensor())
      throw pl::DtypeError(argument_start(variable, i) + (given.is_tensor ? "a tensor" : "a scalar") +
                               " was given, but the kernel declares a " +
                               (given.is_tensor ? "scalar" : "tensor"),
                           place(kernel, variable.location));
    if (given.is_tensor) {
      check_dtype(kernel, variable, i, given);
      check_shape(kernel, variable, i, given);
      bind_tensor(kernel, parameter.variable, given, shared);
      continue;
    }
    check_scalar(kernel, variable, i, given);
    if (!parameter.specialised) continue;
    if (!given.value.has_value() || given.value->dtype != variable.type.dtype)
      throw pl::InternalError("specialise: no value of the pl::Const parameter " + variable.name,
                              place(kernel, variable.location));
    bound.constants[static_cast<std::size_t>(parameter.variable)] = given.value;
  }
  for (std::size_t i = 0; i < signature.captures.size(); ++i)
    if (signature.captures[i].has_value())
      bound.constants[static_cast<std::size_t>(kernel.captures[i].variable)] = signature.captures[i];
  bound.constants.resize(kernel.variables.size());
  bind_specialised_extents(bound, signature);
  kernel.fast_math = signature.fast_math;
  return bound;
}

}  // namespace trilith::codegen::passes
