#include "runtime/mixed_parameters.hpp"

#include "codegen/reference.hpp"
#include "pl/error.hpp"

#include <cstring>

namespace pl::detail {

namespace codegen = trilith::codegen;

MixedParameters mixed_parameters(std::span<const ParameterInfo> given, const KernelIdentity& identity) {
  MixedParameters result;
  if (identity.arguments.empty()) return result;
  std::shared_ptr<const CapturedKernel> captured;
  try {
    captured = captured_kernel(identity);
  } catch (const CaptureError&) {
    return result;  // runs natively, or says so when it is called
  }
  const codegen::Kernel& ir = captured->ir;
  if (ir.parameters.size() != given.size()) return result;
  bool differs = false;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const codegen::Parameter& declared = ir.parameters[i];
    const codegen::Type& type = ir.variables[static_cast<std::size_t>(declared.variable)].type;
    ParameterInfo info = given[i];
    result.given.push_back(info.dtype);
    if (type.is_tensor() && info.tensor) {
      info.access = static_cast<Access>(declared.access);
    } else if (type.is_scalar() && !info.tensor) {
      info.constant = declared.specialised;
      info.dtype = type.dtype;
    }
    differs = differs || info.access != given[i].access || info.constant != given[i].constant ||
              info.dtype != given[i].dtype;
    result.converts = result.converts || info.dtype != given[i].dtype;
    result.parameters.push_back(info);
  }
  if (!differs) result.parameters.clear();
  return result;
}

void MixedParameters::convert(const Argument* from, Argument* to) const {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    to[i] = from[i];
    if (parameters[i].tensor || parameters[i].dtype == given[i]) continue;
    codegen::Value value(given[i], {});
    value.is_scalar = true;
    std::memcpy(value.bytes.data(), &from[i].scalar, value.bytes.size());
    codegen::Attributes as_cpp;
    as_cpp.mode = codegen::CastMode::Trunc;
    const codegen::Value converted = codegen::reference::apply(codegen::Op::Cast, std::span(&value, 1),
                                                               as_cpp, parameters[i].dtype, Location{});
    to[i].scalar = 0;
    std::memcpy(&to[i].scalar, converted.bytes.data(), converted.bytes.size());
  }
}

}  // namespace pl::detail
