// Kernels for the tests of the AscendC emitter: bound to dense tensors of constant shapes, and emitted.
#pragma once

#include "codegen/ascendc/emit.hpp"
#include "codegen/specialise.hpp"
#include "emitter/kernels.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ascendc_test {

using namespace emitter_test;

/// A dense tensor, or a scalar where `extents` is left out.
struct Given {
  DType dtype = DType::Float32;
  std::vector<std::int64_t> extents = {};
  bool is_tensor = true;
};

[[nodiscard]] inline Given scalar(DType dtype) { return {dtype, {}, false}; }

[[nodiscard]] inline Signature signature_of(const Kernel& kernel, const std::vector<Given>& arguments) {
  Signature signature;
  for (const Given& given : arguments) {
    ArgumentSignature argument;
    argument.is_tensor = given.is_tensor;
    argument.dtype = given.dtype;
    argument.extents = given.extents;
    signature.arguments.push_back(argument);
  }
  signature.captures.resize(kernel.captures.size());
  return signature;
}

[[nodiscard]] inline ascendc::Emitted emit(const Kernel& kernel, const std::vector<Given>& arguments) {
  const Signature signature = signature_of(kernel, arguments);
  return ascendc::emit(specialise(kernel, signature), signature);
}

}  // namespace ascendc_test
