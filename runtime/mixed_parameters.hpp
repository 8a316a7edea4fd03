// runtime/mixed_parameters.hpp -- generic kernels whose lambda names the types of some parameters.
//
// `[](auto x, pl::Out<pl::Tensor<float>> y, pl::Scalar<float> by)`: in C++ nobody can ask for the types of y and by, so
// the kernel object knows the arguments' types only. What the build captured says which parameter is written, and to
// which dtype a number is converted.
#pragma once

#include "pl/detail/kernel_object.hpp"
#include "runtime/captured_kernel.hpp"

#include <span>
#include <vector>

namespace pl::detail {

struct MixedParameters {
  /// Empty where the arguments' types are the parameters': always, but for generic kernels.
  std::vector<ParameterInfo> parameters;
  std::vector<DType> given;  ///< of each scalar argument
  bool converts = false;     ///< some number is of another dtype than its parameter

  /// `to` has room for every argument.
  void convert(const Argument* from, Argument* to) const;
};

[[nodiscard]] MixedParameters mixed_parameters(std::span<const ParameterInfo> given,
                                               const KernelIdentity& identity);

}  // namespace pl::detail
