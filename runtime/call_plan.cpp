#include "runtime/call_plan.hpp"

#include "codegen/remote.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace pl::detail {
namespace {

namespace codegen = trilith::codegen;

/// A slot's bytes as the IR keeps constants: integers sign-extended.
codegen::Constant constant_of(codegen::DType dtype, std::uint64_t slot) {
  const std::size_t size = codegen::size_of(dtype);
  if (codegen::is_signed_integer(dtype) && size < 8) {
    const int shift = static_cast<int>(64 - 8 * size);
    slot = static_cast<std::uint64_t>(static_cast<std::int64_t>(slot << shift) >> shift);
  }
  return {dtype, slot};
}

bool has_check(const std::vector<codegen::Statement>& list) {
  return std::any_of(list.begin(), list.end(), [](const codegen::Statement& statement) {
    return statement.value.op == codegen::Op::Check || has_check(statement.body) ||
           has_check(statement.else_body) || has_check(statement.step_body);
  });
}

}  // namespace

ArgumentRules::ArgumentRules(std::span<const ParameterInfo> parameters) {
  struct Seen {
    std::string_view name;
    int parameter, axis;
  };
  std::vector<Seen> seen;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const ParameterInfo& parameter = parameters[i];
    (parameter.tensor ? tensors : scalars).push_back(static_cast<std::uint8_t>(i));
    if (!parameter.tensor) continue;
    if (parameter.access != Access::In) outputs.push_back(static_cast<std::uint8_t>(i));
    windows |= parameter.window;
    for (int axis = 0; axis < parameter.rank; ++axis) {
      const std::string_view name = parameter.names[axis];
      if (name.empty()) continue;
      bool known = false;
      for (const Seen& first : seen)
        if (first.name == name) {
          equal_extents.push_back({first.parameter, first.axis, static_cast<int>(i), axis, name});
          known = true;
          break;
        }
      if (!known) seen.push_back({name, static_cast<int>(i), axis});
    }
  }
}

CallPlan::CallPlan(std::shared_ptr<const CapturedKernel> captured, std::span<const ParameterInfo> parameters,
                   std::size_t closure_size_limit)
    : kernel(std::move(captured)) {
  const codegen::Kernel& ir = kernel->ir;
  const auto wrong = [&](const std::string& what) {
    return CaptureError("the captured kernel \"" + ir.name + "\" and the lambda in the program do not fit: " +
                            what + "; build again, with the flags that the target has",
                        kernel->location());
  };
  if (ir.parameters.size() != parameters.size())
    throw wrong(std::to_string(ir.parameters.size()) + " parameters were captured, the lambda has " +
                std::to_string(parameters.size()));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto& variable = ir.variables[static_cast<std::size_t>(ir.parameters[i].variable)];
    if (variable.type.is_tensor() != parameters[i].tensor)
      throw wrong("parameter " + variable.name + " is a tensor in one and a scalar in the other");
    if (!parameters[i].tensor && variable.type.dtype != parameters[i].dtype)
      throw wrong("parameter " + variable.name + " has two dtypes");
    std::uint8_t in_key = 0;
    if (variable.type.is_tensor() && !kernel->external) {
      if (variable.type.any_shape) in_key = 0xff;
      for (std::size_t axis = 0; axis < variable.type.shape.size(); ++axis)
        if (const codegen::Dim& dim = variable.type.shape[axis];
            !dim.is_constant() && ir.variables[static_cast<std::size_t>(dim.variable)].specialised)
          in_key = static_cast<std::uint8_t>(in_key | 1U << axis);
    }
    extents_in_key.push_back(in_key);
  }
  may_wait = codegen::may_wait(ir);
  indexes_arrays = has_check(ir.body);
  for (std::size_t i = 0; i < ir.captures.size(); ++i) {
    const auto& variable = ir.variables[static_cast<std::size_t>(ir.captures[i].variable)];
    const auto size = static_cast<std::uint32_t>(codegen::size_of(variable.type.dtype));
    if (ir.captures[i].offset + size > closure_size_limit)
      throw wrong("capture " + variable.name + " lies outside the closure");
    captures.push_back({ir.captures[i].offset, size, static_cast<bool>(kernel->specialise_capture[i])});
  }
  check_capacity(parameters.size(), captures.size());
}

void check_capacity(std::size_t parameters, std::size_t captures) {
  if (1 + parameters * (1 + max_rank) + captures > static_cast<std::size_t>(Key::capacity) || parameters > 64)
    throw CaptureError("a kernel has " + std::to_string(parameters) + " parameters and " +
                       std::to_string(captures) + " captures; expected at most 64 parameters");
}

codegen::Signature make_signature(const CallPlan& plan, std::span<const ParameterInfo> parameters,
                                  const Argument* arguments, const Measured* measured, const void* closure,
                                  const RunConfig& config) {
  const codegen::Kernel& ir = plan.kernel->ir;
  codegen::Signature signature;
  signature.fast_math = config.fast_math;
  signature.checked = config.check && plan.kernel->external == nullptr && codegen::uses_windows(ir);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto& variable = ir.variables[static_cast<std::size_t>(ir.parameters[i].variable)];
    codegen::ArgumentSignature argument;
    argument.is_tensor = parameters[i].tensor;
    if (parameters[i].tensor) {
      const ViewRef& view = arguments[i].view;
      argument.dtype = view.dtype;
      argument.layout = measured[i].layout;
      argument.extents.assign(view.extents, view.extents + view.rank);
      if (plan.kernel->external) argument.extents.assign(argument.extents.size(), -1);
      if (!variable.type.any_shape) {
        if (static_cast<int>(variable.type.shape.size()) != view.rank)
          throw ShapeError("argument " + variable.name + " is " + describe(view) +
                           "; the kernel's annotation has rank " +
                           std::to_string(variable.type.shape.size()));
        for (std::size_t axis = 0; axis < argument.extents.size(); ++axis)
          if (const codegen::Dim& dim = variable.type.shape[axis];
              !dim.is_constant() && !ir.variables[static_cast<std::size_t>(dim.variable)].specialised)
            argument.extents[axis] = -1;
      }
    } else {
      argument.dtype = parameters[i].dtype;
      if (parameters[i].constant) argument.value = constant_of(parameters[i].dtype, arguments[i].scalar);
    }
    signature.arguments.push_back(std::move(argument));
  }
  for (std::size_t i = 0; i < plan.captures.size(); ++i) {
    const auto& variable = ir.variables[static_cast<std::size_t>(ir.captures[i].variable)];
    signature.captures.emplace_back();
    if (plan.captures[i].specialised)
      signature.captures.back() = constant_of(variable.type.dtype, read_capture(closure, plan.captures[i]));
  }
  return signature;
}

std::string describe(const codegen::Kernel& kernel, const codegen::Signature& signature) {
  const auto constant_text = [](const codegen::Constant& constant) {
    if (!codegen::is_floating(constant.dtype)) return std::to_string(constant.as_int64());
    char digits[32];  // 17 digits tell any two doubles apart: the text is part of keys
    std::snprintf(digits, sizeof digits, "%.17g", constant.as_double());
    return std::string(digits);
  };
  std::string text;
  for (std::size_t i = 0; i < signature.arguments.size(); ++i) {
    const codegen::ArgumentSignature& argument = signature.arguments[i];
    const codegen::Parameter& parameter = kernel.parameters[i];
    const auto& variable = kernel.variables[static_cast<std::size_t>(parameter.variable)];
    if (i != 0) text += ", ";
    if (parameter.access == codegen::Access::Out) text += "out ";
    if (parameter.access == codegen::Access::InOut) text += "inout ";
    if (argument.value) text += "const ";
    text += codegen::name_of(argument.dtype);
    if (argument.is_tensor) {
      text += "[";
      for (std::size_t axis = 0; axis < argument.extents.size(); ++axis) {
        if (axis != 0) text += ", ";
        if (argument.extents[axis] >= 0) {
          text += std::to_string(argument.extents[axis]);
        } else if (codegen::is_shared_extent(argument.extents[axis])) {
          text += "#" + std::to_string(codegen::shared_extent(argument.extents[axis]));  // its own inverse
        } else if (variable.type.any_shape) {
          text += "?";
        } else {
          const auto extent = static_cast<std::size_t>(variable.type.shape[axis].variable);
          text += kernel.variables[extent].name;
        }
      }
      text += "]";
      if (argument.layout == codegen::Layout::InnerDense) text += " inner-dense";
      if (argument.layout == codegen::Layout::Strided) text += " strided";
    }
    if (argument.value) text += " = " + constant_text(*argument.value);
  }
  for (std::size_t i = 0; i < signature.captures.size(); ++i)
    if (signature.captures[i]) {
      const auto& variable = kernel.variables[static_cast<std::size_t>(kernel.captures[i].variable)];
      text += ", captured " + variable.name + " = " + constant_text(*signature.captures[i]);
    }
  if (signature.fast_math) text += ", fast-math";
  if (signature.checked) text += ", checked";
  return text;
}

}  // namespace pl::detail
